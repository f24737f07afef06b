// Planetoid's raw files: the gaps of test.index, repeated edges, number formats, and hostile
// pickles.
#include <filesystem>

#include "readers/pickles.h"
#include "readers/python3.h"
#include "readers/support.h"

namespace gnnmg::data {
namespace {

using base::Status;
using pickles::finish;
using Ids = std::vector<int64_t>;

// Eight nodes: 0 to 4 in allx, 7 and 5 in tx (in this order), 6 in neither.
class Planetoid : public testing::Test {
 protected:
  void SetUp() override {
    put("y", finish(pickles::array("i4", {2, 3}, raw<int32_t>({1, 0, 0, 0, 1, 0}))));
    put("allx", finish(pickles::csr(5, 4, {0, 1, 2, 3, 3, 4}, {0, 1, 2, 3}, {1, 1, 1, 1})));
    put("ally", finish(pickles::array(
                    "i4", {5, 3}, raw<int32_t>({1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0}))));
    put("tx", finish(pickles::csr(2, 4, {0, 2, 3}, {0, 3, 1}, {2, 3, 4})));
    put("ty", finish(pickles::array("i4", {2, 3}, raw<int32_t>({0, 1, 0, 0, 0, 1}))));
    put("graph", finish(pickles::dict_of_lists({{0, {1, 1, 2}},
                                                {1, {0, 0}},
                                                {2, {0, 3}},
                                                {3, {3}},
                                                {4, {5}},
                                                {5, {4}},
                                                {6, {}},
                                                {7, {0}}})));
    put("test.index", "7\n5\n");
  }
  void put(const std::string& part, const std::string& bytes) {
    dir_.write("tiny/ind.tiny." + part, bytes);
  }
  DatasetRef open(const OpenOptions& options = {}) {
    return opener_.open(dir_.file("tiny"), options);
  }
  void expect_refused(const std::vector<std::string>& parts, Status status = Status::kFormat) {
    expect_error(status, parts, [&] { open(); });
  }
  test::TempDir dir_;
  Opener opener_;
};

// PubMed's graph as Python 2 wrote it: 19717 lists, 88676 neighbors, a memo entry each.
TEST_F(Planetoid, GraphsOfTheirSizeAreRead) {
  constexpr int64_t kNodes = 19717, kNeighbors = 88676;
  const auto integer = [](int64_t value) {
    return value < 256 ? "K" + std::string(1, static_cast<char>(value))
                       : "M" + raw<uint16_t>({static_cast<uint16_t>(value)});
  };
  std::string graph = pickles::global("collections", "defaultdict") +
                      pickles::global("__builtin__", "list") + "\x85Rr" + raw<int32_t>({1}) + "(";
  for (int64_t node = 0; node < kNodes; ++node) {
    const int64_t begin = kNeighbors * node / kNodes, end = kNeighbors * (node + 1) / kNodes;
    graph += integer(node) + "]r" + raw<int32_t>({static_cast<int32_t>(node + 2)}) + "(";
    for (int64_t i = begin; i < end; ++i) graph += integer(i * 7919 % kNodes);
    graph += "e";
  }
  put("graph", finish(graph + "u"));
  put("test.index", "x\n");  // read after the graph
  expect_refused({".test.index", "expected a node from 5 to 19716, found \"x\""});
}

// Geom-GCN's splits, which PyTorch Geometric keeps beside the files.
TEST_F(Planetoid, SplitsInFilesOfTheirOwn) {
  const auto mask = [](uint8_t node) {
    std::vector<uint8_t> bits(8);
    bits[node] = 1;
    return npy_text("|b1", "(8,)", raw(bits));
  };
  for (const char* name :
       {"tiny_split_0.6_0.2_0.npz", "tiny_split_0.6_0.2_1.npz", "other_split_0.6_0.2_0.npz"})
    write_npz(dir_.file(std::string("tiny/") + name),
              {{"train_mask", mask(0)}, {"val_mask", mask(1)}, {"test_mask", mask(2)}});
  dir_.write("tiny/more.csv", "1\n");
  const DatasetRef dataset = open();
  ASSERT_EQ(dataset->splits.size(), 3u);
  EXPECT_EQ(dataset->splits[0].name, "public");
  EXPECT_EQ(ids(dataset->split("0.6_0.2", 1), SplitPart::kTest), std::vector<int64_t>{2});
  EXPECT_NE(opener_.log().find("left out: more.csv"), std::string::npos);
}

TEST_F(Planetoid, RowsFindTheirNodes) {
  const DatasetRef dataset = open();
  EXPECT_EQ(dataset->name, "tiny");
  EXPECT_EQ(dataset->graph->num_nodes(), 8);
  EXPECT_EQ(dataset->num_classes, 3);
  const base::CsrMatrix& x = sparse(*dataset, "x");
  EXPECT_EQ(values<int64_t>(x.indptr), (Ids{0, 1, 2, 3, 3, 4, 5, 5, 7}));
  EXPECT_EQ(values<int32_t>(x.indices), (std::vector<int32_t>{0, 1, 2, 3, 1, 0, 3}));
  EXPECT_EQ(values<float>(x.values), (std::vector<float>{1, 1, 1, 1, 4, 2, 3}));
  EXPECT_EQ(values<int64_t>(dense(*dataset, "y")), (Ids{0, 1, 2, 0, -1, 2, -1, 1}));
  const Split& split = dataset->split("public", 0);
  EXPECT_EQ(ids(split, SplitPart::kTrain), (Ids{0, 1}));
  EXPECT_EQ(ids(split, SplitPart::kValidation), (Ids{2, 3, 4})) << "at most 500 of what is left";
  EXPECT_EQ(ids(split, SplitPart::kTest), (Ids{5, 7}));
}

TEST_F(Planetoid, EdgesAreMadeUndirectedAndSingle) {
  // {0,1} {0,2} {2,3} {4,5} {0,7} both ways, without the loop at 3.
  EXPECT_EQ(open()->graph->num_edges(), 10);
  EXPECT_NE(opener_.log().find("11 edges listed (1 self-loops dropped), 10 with"),
            std::string::npos);
  OpenOptions options;
  options.undirected = 0;
  EXPECT_EQ(open(options)->graph->num_edges(), 11) << "as listed: 3 + 2 + 2 + 1 + 1 + 1 + 0 + 1";
}

TEST_F(Planetoid, NumberFormats) {
  put("ally", finish(pickles::array("f8", {5, 3},
                                    raw<double>({1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0}))));
  put("ty", finish(pickles::array("i8", {2, 3}, raw<int64_t>({0, 0, 1, 0, 0, 1}), true)));
  put("y", finish(pickles::array("i4", {2, 3}, raw<int32_t>({1 << 24, 0, 0, 0, 1 << 24, 0}), false,
                                 ">")));
  EXPECT_EQ(values<int64_t>(dense(*open(), "y")), (Ids{0, 1, 2, 0, -1, 2, -1, 1}));
  const std::string scalar =
      pickles::global("numpy.core.multiarray", "scalar") +
      pickles::tuple(
          {pickles::global("numpy", "dtype") +
               pickles::tuple({pickles::text("i8"), pickles::integer(0), pickles::integer(1)}) +
               "R" +
               pickles::tuple({pickles::integer(3), pickles::text("<"), "N", "N", "N",
                               pickles::integer(-1), pickles::integer(-1), pickles::integer(0)}) +
               "b",
           pickles::text(raw<int64_t>({3}))}) +
      "R";
  std::string graph = "}(";
  for (int64_t node = 0; node < 8; ++node)
    graph += pickles::integer(node) + pickles::list({scalar});
  put("graph", finish(graph + "u"));
  EXPECT_EQ(open()->graph->num_edges(), 14) << "a plain dict, and NumPy's integers";
}

// networkx.to_dict_of_lists() of a graph of edges alone leaves such nodes out.
TEST_F(Planetoid, NodesWithoutAnEntry) {
  put("graph", finish(pickles::dict_of_lists(
                   {{0, {1, 1, 2}}, {1, {0, 0}}, {2, {0, 3}}, {3, {3}}, {4, {5}}, {5, {4}}})));
  const DatasetRef dataset = open();
  EXPECT_EQ(dataset->graph->num_nodes(), 8);
  EXPECT_EQ(dataset->graph->num_edges(), 8);
  put("graph", finish(pickles::dict_of_lists({{0, {1}}, {1, {0}}, {2, {}}})));
  expect_refused({"ind.tiny.allx", "5 rows, expected at most 3, the nodes in"});
}

TEST_F(Planetoid, ListsOfRowsThatDisagree) {
  const Python3 python(2, true);
  const auto lil = [&](const std::vector<std::string>& rows, const std::vector<std::string>& data,
                       const char* dtype = "f4") {
    put("tx", python.finish(python.sparse("lil", 2, 4,
                                          {{"dtype", python.dtype(dtype)},
                                           {"rows", python.objects(rows)},
                                           {"data", python.objects(data)}})));
  };
  const std::string one = python.list({python.integer(1)}), none = python.list({});
  lil({one, none}, {python.list({python.real(0.1)}), none});
  EXPECT_EQ(values<float>(sparse(*open(), "x").values), (std::vector<float>{1, 1, 1, 1, 0.1f}));
  lil({one, one}, {python.list({"\x88"}), python.list({python.scalar(3)})}, "b1");
  EXPECT_EQ(values<float>(sparse(*open(), "x").values), (std::vector<float>{1, 1, 1, 1, 3, 1}));
  lil({one, none}, {python.list({python.integer(16777217)}), none}, "i8");
  expect_refused({"ind.tiny.tx, data", "element 0 is 16777217", "round_values"}, Status::kRange);
  lil({one, none}, {none, none});
  expect_refused({"ind.tiny.tx, row 0", "its columns and its values differ in number"});
  lil({one, none}, {one});
  expect_refused({"ind.tiny.tx", "has 2 rows, and values of 1"});
  lil({one, none, none}, {one, none, none});
  expect_refused({"ind.tiny.tx, rows", "4 elements, expected 3 by the shape"});
  lil({python.list({python.integer(4)}), none}, {one, none});
  expect_refused({"ind.tiny.tx, rows", "element 0 is 4, expected 0 to 3"});
}

TEST_F(Planetoid, MatricesThatAreDicts) {
  for (const bool new_names : {false, true})
    for (const int protocol : {0, 2, 4}) {
      const Python3 python(protocol, new_names);
      const auto entry = [&](int64_t row, int64_t column, const std::string& value) {
        return std::pair(python.tuple({python.integer(row), python.integer(column)}), value);
      };
      const auto dok = [&](const std::vector<std::pair<std::string, std::string>>& entries,
                           const char* dtype = "f4") {
        put("tx", python.finish(python.dok(2, 4, dtype, entries)));
      };
      dok({entry(0, 3, python.real(0.1)), entry(1, 0, python.scalar(2))});
      EXPECT_EQ(values<float>(sparse(*open(), "x").values),
                (std::vector<float>{1, 1, 1, 1, 2, 0.1f}));
      dok({});
      EXPECT_EQ(sparse(*open(), "x").nnz(), 4);
      dok({entry(0, 4, python.real(1))});
      expect_refused({"ind.tiny.tx, col", "element 0 is 4, expected 0 to 3"});
      dok({entry(0, 1, python.integer(16777217))}, "i8");
      expect_refused({"ind.tiny.tx, data", "element 0 is 16777217", "round_values"},
                     Status::kRange);
      dok({{python.integer(1), python.real(1)}});
      expect_refused({"ind.tiny.tx", "expected an entry's row and column"});
    }
}

TEST_F(Planetoid, CollectionsOfNeighbors) {
  for (const int protocol : {0, 1, 2, 3, 4, 5}) {
    SCOPED_TRACE(protocol);
    const Python3 python(protocol, true);
    const auto ints = [&](const std::vector<int64_t>& values) {
      std::vector<std::string> all;
      for (const int64_t value : values) all.push_back(python.integer(value));
      return all;
    };
    const auto graph = [&](const std::string& first) {
      std::vector<std::pair<std::string, std::string>> entries = {{python.integer(0), first}};
      for (int64_t node = 1; node < 8; ++node)
        entries.emplace_back(python.integer(node), python.list({}));
      put("graph", python.finish(python.dict(entries)));
      OpenOptions as_listed;
      as_listed.undirected = 0;
      opener_.log();
      std::vector<int64_t> targets;
      for (const auto& [source, target] : edges(*open(as_listed)->graph)) targets.push_back(target);
      return targets;
    };
    const auto says = [&] {
      return opener_.log().find("dicts of neighbors have values") != std::string::npos;
    };
    EXPECT_EQ(graph(python.deque(ints({3, 1}))), (Ids{1, 3}));
    EXPECT_EQ(graph(python.range(1, 8, 3)), (Ids{1, 4, 7}));
    EXPECT_EQ(graph(python.range(7, 2, -2)), (Ids{3, 5, 7}));
    EXPECT_EQ(graph(python.range(5, 5, 1)), Ids{});
    EXPECT_EQ(graph(python.dict({{python.integer(2), python.dict({})}})), Ids{2});
    EXPECT_FALSE(says()) << "to_dict_of_dicts() of a graph without attributes";
    EXPECT_EQ(graph(python.counter({{python.integer(2), python.integer(5)}})), Ids{2});
    EXPECT_TRUE(says());
    EXPECT_EQ(graph(python.dict(
                  {{python.integer(6), python.dict({{python.text("w"), python.real(2)}})}})),
              Ids{6});
    EXPECT_TRUE(says());
    expect_error(Status::kFormat, {"node 0", "a range of step 0"},
                 [&] { graph(python.range(0, 1, 0)); });
    expect_error(Status::kRange, {"node 0", "a range of 9223372036854775807 integers, expected"},
                 [&] { graph(python.range(-4, INT64_MAX, 1)); });
    expect_error(Status::kRange, {"node 0", "a range of 4000000 integers"},
                 [&] { graph(python.range(0, 4'000'000, 1)); });
  }
}

TEST_F(Planetoid, FeaturesThatAreBools) {
  const Python3 python(2, true);
  const auto bools = [&](int64_t rows, const std::vector<uint8_t>& cells) {
    return python.finish(python.array("b1", {rows, 4}, raw(cells)));
  };
  put("allx", bools(5, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1}));
  put("tx", bools(2, {1, 1, 0, 0, 0, 0, 0, 1}));
  const auto dataset = open();
  EXPECT_EQ(values<int32_t>(sparse(*dataset, "x").indices),
            (std::vector<int32_t>{0, 1, 2, 3, 3, 0, 1}));
  EXPECT_EQ(values<float>(sparse(*dataset, "x").values), std::vector<float>(7, 1));
}

TEST_F(Planetoid, LabelsInSparseMatrices) {
  const Python3 python(2, true);
  const auto expected = values<int64_t>(dense(*open(), "y"));
  put("ally", finish(pickles::csr(5, 3, {0, 1, 2, 3, 4, 4}, {0, 1, 2, 0}, {1, 1, 1, 1})));
  put("ty", python.finish(python.dok(
                2, 3, "f4",
                {{python.tuple({python.integer(0), python.integer(1)}), python.real(1)},
                 {python.tuple({python.integer(1), python.integer(2)}), python.real(1)}})));
  EXPECT_EQ(values<int64_t>(dense(*open(), "y")), expected);
  put("ty", finish(pickles::csr(2, 3, {0, 1, 3}, {1, 0, 2}, {1, 1, 1})));
  expect_refused({"ind.tiny.ty, row 1: expected one 1 among zeros"});
  put("ty", finish(pickles::csr(2, 3, {0, 1, 2}, {1, 2}, {1, 2})));
  expect_refused({"ind.tiny.ty, row 1: expected one 1 among zeros"});
}

// PyTorch Geometric reads numbers in any notation, in one line or several.
TEST_F(Planetoid, TestNodesInAnyNotation) {
  const auto expected = values<int64_t>(dense(*open(), "y"));
  for (const char* text : {"7.0\n5.0\n", "7.000e+00\r\n5.000e+00", "7 5\n", " 7\t+5 \n\n"}) {
    put("test.index", text);
    EXPECT_EQ(values<int64_t>(dense(*open(), "y")), expected) << text;
  }
  put("test.index", "7.5\n5\n");
  expect_refused({"test.index, line 1", "\"7.5\""});
}

TEST_F(Planetoid, HalvesAndFrozenSets) {
  const Python3 python(2, true);
  // 1 to 8 as halves.
  put("tx", python.finish(python.array(
                "f2", {2, 4},
                raw<uint16_t>({0x3c00, 0x4000, 0x4200, 0, 0x4500, 0x4600, 0x4700, 0x4800}))));
  EXPECT_EQ(values<float>(sparse(*open(), "x").values),
            (std::vector<float>{1, 1, 1, 1, 5, 6, 7, 8, 1, 2, 3}));
  for (const int protocol : {2, 4}) {
    const Python3 writer(protocol, true);
    const std::string one = protocol == 4
                                ? "(" + writer.integer(1) + "\x91"
                                : writer.global("__builtin__", "frozenset") +
                                      writer.tuple({writer.list({writer.integer(1)})}) + "R";
    std::vector<std::pair<std::string, std::string>> entries;
    for (int64_t node = 0; node < 8; ++node) entries.emplace_back(writer.integer(node), one);
    put("graph", writer.finish(writer.dict(entries)));
    EXPECT_EQ(open()->graph->num_edges(), 14) << protocol;
  }
}

TEST_F(Planetoid, FilesThatDisagree) {
  put("test.index", "7\n");
  expect_refused({"ind.tiny.test.index", "1 nodes, expected 2 as in", "ind.tiny.tx"});
  put("test.index", "7\n7\n");
  expect_refused({"ind.tiny.test.index, line 2", "node 7 occurs twice"});
  put("test.index", "7\n4\n");
  expect_refused({"test.index, line 2", "from 5 to 7", "\"4\""});
  put("test.index", "7\n3000000000\n");
  expect_refused({"test.index, line 2", "\"3000000000\""});
  put("test.index", "7\nx\n");
  expect_refused({"test.index, line 2", "\"x\""});
  put("test.index", "7\n5\n");
  put("tx", finish(pickles::csr(2, 5, {0, 2, 3}, {0, 3, 1}, {2, 3, 4})));
  expect_refused({"ind.tiny.tx", "5 columns, expected 4"});
  put("tx", finish(pickles::csr(2, 4, {0, 2, 3}, {0, 4, 1}, {2, 3, 4})));
  expect_refused({"ind.tiny.tx, indices", "element 1 is 4", "0 to 3"});
  put("tx", finish(pickles::csr(2, 4, {0, 3, 2}, {0, 3, 1}, {2, 3, 4})));
  expect_refused({"ind.tiny.tx, indptr", "falls"});
  put("tx", finish(pickles::csr(int64_t{1} << 40, 4, {0, 2, 3}, {0, 3, 1}, {2, 3, 4})));
  expect_refused({"ind.tiny.tx, _shape", "1099511627776"});
}

TEST_F(Planetoid, LabelsThatDisagree) {
  put("ally", finish(pickles::array("i4", {4, 3}, raw(std::vector<int32_t>(12, 0)))));
  expect_refused({"ind.tiny.ally", "4 rows, expected 5"});
  put("ally", finish(pickles::array("i4", {5, 3}, raw(std::vector<int32_t>(15, 1)))));
  expect_refused({"ind.tiny.ally, row 0", "expected one 1 among zeros"});
  put("ally", finish(pickles::array("i4", {15}, raw(std::vector<int32_t>(15, 0)))));
  expect_refused({"ind.tiny.ally", "[15]", "[n, classes]; numpy.eye(classes)[labels] makes it"});
  put("ally", finish(pickles::array("i4", {5, 3}, "short")));
  expect_refused({"ind.tiny.ally"});
  put("ally", finish(pickles::array("i4", {5, int64_t{1} << 62}, "short")));
  expect_refused({"ind.tiny.ally"});
  put("ally", finish(pickles::array("O4", {5, 3}, std::string(60, '\0'))));
  expect_refused({"ind.tiny.ally", "dtype", "O4"});
  put("ally", finish(pickles::array("i4", {5, -3}, std::string(60, '\0'))));
  expect_refused({"ind.tiny.ally", "-3"});
  put("ally", finish(pickles::list({pickles::integer(1)})));
  expect_refused(
      {"ind.tiny.ally", "expected a NumPy array, found a list; numpy.array() makes one"});
  put("ally", "PK\x03\x04");
  expect_refused({"ind.tiny.ally: is a file of torch.save() or a zip archive", "pickle.dump("});
  put("ally", "\x1f\x8b\x08");
  expect_refused({"ind.tiny.ally: is compressed by gzip", "decompress it"});
}

TEST_F(Planetoid, TrainingLabelsThatDisagree) {
  put("y", finish(pickles::array("i4", {2, 3}, raw<int32_t>({1, 0, 0, 0, 0, 1}))));
  expect_refused({"ind.tiny.y, row 1: class 2, expected 1 as in", "ind.tiny.ally"});
  put("y", finish(pickles::array("i4", {2, 3}, raw<int32_t>({0, 0, 0, 0, 1, 0}))));
  expect_refused({"ind.tiny.y, row 0: class -1, expected 0"});
  put("y", finish(pickles::array("i4", {2, 3}, raw<int32_t>({1, 0, 0, 0, 3, 0}))));
  expect_refused({"ind.tiny.y, row 1", "expected one 1 among zeros"});
  put("y", test::slurp(dir_.file("tiny/ind.tiny.ally")));
  expect_refused({"ind.tiny.y: 5 rows, expected fewer than the 5 of", "ind.tiny.allx"});
  put("y", finish(pickles::array("i4", {2, 2}, raw<int32_t>({1, 0, 0, 1}))));
  expect_refused({"ind.tiny.y: 2 columns, expected 3 as in"});
}

TEST_F(Planetoid, GraphsThatDisagree) {
  put("graph", finish(pickles::dict_of_lists({{0, {1}}, {1, {9}}})));
  expect_refused({"ind.tiny.graph", "neighbors of node 1", "node 9", "0 to 1"}, Status::kRange);
  put("graph", finish(pickles::dict_of_lists({{0, {1}}, {5, {0}}})));
  expect_refused({"ind.tiny.graph", "entry 1", "node 5"}, Status::kRange);
  put("graph", finish("}" + pickles::text("ada") + pickles::list({}) + "s"));
  expect_refused(
      {"ind.tiny.graph, entry 0: the node \"ada\", expected a number; number the nodes"});
  put("graph", finish(pickles::list({})));
  expect_refused({"ind.tiny.graph: expected a dict, found a list"});
  put("graph", finish(pickles::dict_of_lists({{0, {}}, {0, {}}})));
  expect_refused({"ind.tiny.graph", "node 0 occurs twice"});
  put("graph", finish(pickles::dict_of_lists({{0, {1}}, {1, {0}}})));
  expect_refused({"ind.tiny.allx", "5 rows, expected at most 2"});
  put("graph", finish("}(" + pickles::integer(0) + pickles::integer(1) + "u"));
  expect_refused({"ind.tiny.graph, node 0", "expected a list"});
  put("graph", finish(pickles::text("x")));
  expect_refused({"ind.tiny.graph", "expected a dict"});
}

TEST_F(Planetoid, NothingIsRun) {
  const std::string calls[] = {
      pickles::global("os", "system") + pickles::tuple({pickles::text("touch it-ran")}) + "R",
      pickles::global("posix", "system") + pickles::tuple({pickles::text("id")}) + "R",
      pickles::global("__builtin__", "eval") + pickles::tuple({pickles::text("1")}) + "R",
      pickles::global("__builtin__", "getattr") + pickles::tuple({pickles::text("1")}) + "R",
      pickles::global("numpy", "load") + pickles::tuple({pickles::text("1")}) + "R"};
  for (const std::string& call : calls) {
    put("graph", finish(call));
    const size_t end = call.find('\n', call.find('\n') + 1);
    std::string name = call.substr(1, end - 1);
    name[name.find('\n')] = '.';
    expect_refused({"ind.tiny.graph", name});
  }
}

TEST_F(Planetoid, FilesAreFoundByPrefixAndMissedByName) {
  EXPECT_EQ(opener_.open(dir_.file("tiny/ind.tiny"))->name, "tiny");
  EXPECT_EQ(opener_.open(dir_.file("tiny/ind.tiny.graph"))->name, "tiny");
  EXPECT_EQ(opener_.open(dir_.path())->name, "tiny") << "in a folder below";
  dir_.write("tiny/ind.other.graph", "x");
  expect_error(Status::kFormat, {"holds 2 data sets of format planetoid", "ind.other", "ind.tiny"},
               [&] { open(); });
  std::filesystem::remove(dir_.file("tiny/ind.other.graph"));
  std::filesystem::remove(dir_.file("tiny/ind.tiny.ty"));
  expect_refused({"ind.tiny.ty", "open"}, Status::kNotFound);
}

}  // namespace
}  // namespace gnnmg::data
