// OGB's node-property layout, as tables and as archives, written here from its documented form.
#include <cmath>
#include <filesystem>

#include "readers/support.h"

namespace gnnmg::data {
namespace {

using base::Status;
using Edges = std::vector<std::pair<int64_t, int64_t>>;
using Ids = std::vector<int64_t>;

class Ogb : public testing::Test {
 protected:
  std::string path() const { return dir_.file("ogbn_tiny"); }
  void put(const std::string& name, const std::string& text) {
    dir_.write("ogbn_tiny/" + name, gzip(text));
  }
  void remove(const std::string& name) { std::filesystem::remove(path() + "/" + name); }
  void put_tables() {
    put("raw/num-node-list.csv.gz", "4\n");
    put("raw/num-edge-list.csv.gz", "3\n");
    put("raw/edge.csv.gz", "0,1\n1,2\n0,3\n");
    put("raw/node-feat.csv.gz", "0.5,-1\n1,2\n3,4e2\n5,6\n");
    put("raw/node-label.csv.gz", "0\n2\n1\nnan\n");
    put_splits();
  }
  void put_splits() {
    put("split/time/train.csv.gz", "2\n0\n");
    put("split/time/valid.csv.gz", "1\n");
    put("split/time/test.csv.gz", "3\n");
  }
  void put_archives() {
    std::filesystem::create_directories(path() + "/raw");
    write_npz(path() + "/raw/data.npz",
              {{"edge_index", npy_of<int64_t>({0, 1, 0, 1, 2, 3}, "(2, 3)")},
               {"node_feat", npy_text("<f2", "(4, 1)", raw<int16_t>({0, 0x3c00, 0x4000, 0x4200}))},
               {"node_year", npy_of<int64_t>({2001, 2002, 2003, 2004}, "(4, 1)")},
               {"edge_reltype", npy_of<int64_t>({0, 1, 0}, "(3, 1)")},
               {"num_nodes_list", npy_of<int64_t>({4}, "(1,)")},
               {"num_edges_list", npy_of<int64_t>({3}, "(1,)")}});
    write_npz(path() + "/raw/node-label.npz",
              {{"node_label", npy_of<float>({0, 2, 1, NAN}, "(4, 1)")}});
    put_splits();
  }
  DatasetRef open(const OpenOptions& options = {}) { return opener_.open(path(), options); }
  void expect_refused(const std::vector<std::string>& parts, Status status = Status::kFormat) {
    expect_error(status, parts, [&] { open(); });
  }
  test::TempDir dir_;
  Opener opener_;
};

TEST_F(Ogb, Tables) {
  put_tables();
  const DatasetRef dataset = open();
  EXPECT_EQ(dataset->name, "ogbn_tiny");
  EXPECT_EQ(edges(*dataset->graph), (Edges{{0, 1}, {0, 3}, {1, 2}})) << "as listed";
  EXPECT_EQ(values<float>(dense(*dataset, "x")),
            (std::vector<float>{0.5f, -1, 1, 2, 3, 400, 5, 6}));
  EXPECT_EQ(dense(*dataset, "x").shape(), base::Shape({4, 2}));
  EXPECT_EQ(dataset->task, Task::kMulticlass);
  EXPECT_EQ(values<int64_t>(dense(*dataset, "y")), (Ids{0, 2, 1, -1}));
  EXPECT_EQ(dataset->num_classes, 3);
  const Split& split = dataset->split("time", 0);
  EXPECT_EQ(ids(split, SplitPart::kTrain), (Ids{0, 2}));
  EXPECT_EQ(ids(split, SplitPart::kValidation), (Ids{1}));
  EXPECT_EQ(ids(split, SplitPart::kTest), (Ids{3}));
  OpenOptions options;
  options.undirected = 1;
  EXPECT_EQ(open(options)->graph->num_edges(), 6);
}

TEST_F(Ogb, Archives) {
  put_archives();
  const DatasetRef dataset = open();
  EXPECT_EQ(edges(*dataset->graph), (Edges{{0, 1}, {1, 2}, {0, 3}}));
  EXPECT_EQ(dense(*dataset, "x").dtype(), base::DType::kF16);
  EXPECT_EQ(values<int64_t>(dense(*dataset, "y")), (Ids{0, 2, 1, -1}));
  EXPECT_EQ(values<int64_t>(dense(*dataset, "year")), (Ids{2001, 2002, 2003, 2004}));
  EXPECT_EQ(values<int64_t>(std::get<base::Tensor>(*dataset->graph->edge_column("reltype"))),
            (Ids{0, 1, 0}));
  EXPECT_EQ(dataset->splits.size(), 1u);
}

TEST_F(Ogb, FurtherTables) {
  put_tables();
  put("raw/node_year.csv.gz", "2013\n2015\n20000001\n2009\n");
  put("raw/node_score.csv.gz", "1\n0.5\n16777217\n\n0\n");
  put("raw/edge-feat.csv.gz", "1,2\n3,4\n5,6.5\n");
  put("raw/edge_kind.csv.gz", "1\n0\n1\n");
  opener_.log();
  const DatasetRef dataset = open();
  const std::string log = opener_.log(), rounded = "integers beyond 16777216 are rounded";
  EXPECT_NE(log.find("node_score.csv.gz: " + rounded), log.npos) << log;
  EXPECT_EQ(log.find("node_year.csv.gz: " + rounded), log.npos) << log;
  EXPECT_EQ(values<int64_t>(dense(*dataset, "year")), (Ids{2013, 2015, 20000001, 2009}))
      << "no float holds the third";
  EXPECT_EQ(values<float>(dense(*dataset, "score")), (std::vector<float>{1, 0.5f, 16777216.0f, 0}))
      << "rounded among numbers";
  const auto& edge_columns = dataset->graph->edge_columns();
  EXPECT_EQ(std::get<base::Tensor>(edge_columns.at("x")).shape(), base::Shape({3, 2}));
  EXPECT_EQ(std::get<base::Tensor>(edge_columns.at("kind")).dtype(), base::DType::kI64);
}

TEST_F(Ogb, IntegersAreExactOrRefused) {
  put_tables();
  constexpr int64_t kBeyondDouble = (int64_t{1} << 53) + 1;
  for (const int64_t large : {int64_t{16777217}, int64_t{1577836801}, kBeyondDouble, INT64_MAX,
                              -kBeyondDouble, INT64_MIN + 1}) {
    for (int place = 0; place < 4; ++place) {  // the first row as well as later ones
      Ids expected{7, -1, 16777216, 0};
      expected[place] = large;
      std::string text;
      for (const int64_t value : expected) text += base::text(value, "\n");
      put("raw/node_time.csv.gz", text);
      EXPECT_EQ(values<int64_t>(dense(*open(), "time")), expected) << text;
    }
  }
  for (const char* large : {"9223372036854775808", "-9223372036854775808", "1e17"}) {
    put("raw/node_time.csv.gz", base::text("1\n", large, "\n3\n4\n"));
    expect_refused({"node_time.csv.gz, line 2", "64 bits"}, Status::kRange);
    put("raw/node_time.csv.gz", base::text("1\n", large, "\n0.5\n4\n"));
    EXPECT_EQ(dense(*open(), "time").dtype(), base::DType::kF32) << "decimal text is rounded";
  }
  put("raw/node_time.csv.gz", "1\n2\n0.5\n1e39\n");
  expect_refused({"node_time.csv.gz, line 4", "1e39", "32-bit floats"}, Status::kRange);
  put("raw/node_time.csv.gz", "1577836801\n0.5\nnan\n-0.0\n");
  const std::vector<float> mixed = values<float>(dense(*open(), "time"));
  EXPECT_EQ(mixed[0], 1577836800.0f);
  EXPECT_EQ(mixed[1], 0.5f);
  EXPECT_TRUE(std::isnan(mixed[2]));
  EXPECT_TRUE(std::signbit(mixed[3]));
  put("raw/node_time.csv.gz", "1577836801\n2\nnan\n4\n");
  EXPECT_EQ(values<float>(dense(*open(), "time"))[0], 1577836800.0f) << "NaN makes it floats";
}

TEST_F(Ogb, CountsThatNoFloatHolds) {
  put_tables();
  put("raw/num-edge-list.csv.gz", "16777217\n");
  expect_refused({"3 rows, expected 16777217"});
}

TEST_F(Ogb, NamesThatAreTaken) {
  put_tables();
  for (const char* name : {"x", "y"}) {
    const std::string file = base::text("raw/node_", name, ".csv.gz");
    put(file, "1\n2\n3\n4\n");
    expect_refused({name == std::string("x") ? "node-feat.csv.gz" : "node-label.csv.gz",
                    base::text("second tensor named \"", name, "\"")});
    remove(file);
  }
  put("raw/edge-feat.csv.gz", "1\n2\n3\n");
  put("raw/edge_x.csv.gz", "1\n2\n3\n");
  expect_refused({"edge_x.csv.gz", "second tensor named \"x\""});
  remove("raw/edge_x.csv.gz");
  put("raw/node_.csv.gz", "1\n2\n3\n4\n");
  expect_refused({"node_.csv.gz", "expected a name"});
}

TEST_F(Ogb, TheTaskFollowsFromTheLabels) {
  put_tables();
  put("raw/node-label.csv.gz", "0,1\n1,nan\n0,0\n1,1\n");
  EXPECT_EQ(open()->task, Task::kBinary);
  EXPECT_EQ(open()->num_classes, 2);
  EXPECT_TRUE(std::isnan(dense(*open(), "y").as<const float>()[3]));
  put("raw/node-label.csv.gz", "0.5\n1\n-2\n1e9\n");
  EXPECT_EQ(open()->task, Task::kRegression);
  put("raw/node-label.csv.gz", "0,1\n1,2\n0,0\n1,1\n");
  EXPECT_EQ(open()->task, Task::kRegression);
  remove("raw/node-label.csv.gz");
  EXPECT_EQ(open()->task, Task::kNone);
}

// A table of labels must mean the same as an archive of the same numbers, of any type.
TEST_F(Ogb, AnIndexBesideTheLabels) {
  put_tables();
  const auto says = [&](const std::string& labels) {
    put("raw/node-label.csv.gz", labels);
    opener_.log();
    open();
    return opener_.log().find("the first column numbers the rows, as an index does") !=
           std::string::npos;
  };
  EXPECT_TRUE(says("0,5\n1,6\n2,5\n3,6\n"));
  EXPECT_TRUE(says("1,0.5\n2,6\n3,5\n4,6\n"));
  EXPECT_FALSE(says("0,5\n1,6\n2,5\n4,6\n"));
  EXPECT_FALSE(says("0\n1\n2\n3\n"));
}

TEST_F(Ogb, LabelsMeanTheSameInBothForms) {
  struct Case {
    std::string table;
    std::vector<int64_t> numbers;  // the same, row by row
    int64_t columns;
    Task task;
    int64_t num_classes;
  };
  const std::vector<Case> cases = {
      {"0\n2\n1\n0\n", {0, 2, 1, 0}, 1, Task::kMulticlass, 3},
      {"0\n1\n1\n0\n", {0, 1, 1, 0}, 1, Task::kMulticlass, 2},
      {"0,1\n1,1\n0,0\n1,0\n", {0, 1, 1, 1, 0, 0, 1, 0}, 2, Task::kBinary, 2},
      {"0,1\n1,2\n0,0\n1,7\n", {0, 1, 1, 2, 0, 0, 1, 7}, 2, Task::kRegression, 2},
      {"3,4,5\n0,1,9\n2,2,2\n1,0,1\n",
       {3, 4, 5, 0, 1, 9, 2, 2, 2, 1, 0, 1},
       3,
       Task::kRegression,
       3}};
  for (const Case& c : cases) {
    put_tables();
    put("raw/node-label.csv.gz", c.table);
    const DatasetRef table = open();
    EXPECT_EQ(table->task, c.task) << c.table;
    EXPECT_EQ(table->num_classes, c.num_classes) << c.table;
    put_archives();
    const std::string shape = base::text("(4, ", c.columns, ")");
    const auto as = [&]<typename T>(T) {
      return npy_of<T>(std::vector<T>(c.numbers.begin(), c.numbers.end()), shape);
    };
    for (const std::string& array :
         {as(int64_t{}), as(int32_t{}), as(uint8_t{}), as(float{}), as(double{})}) {
      write_npz(path() + "/raw/node-label.npz", {{"node_label", array}});
      const DatasetRef archive = open();
      EXPECT_EQ(archive->task, c.task) << c.table;
      EXPECT_EQ(archive->num_classes, c.num_classes) << c.table;
      if (c.task == Task::kMulticlass)
        EXPECT_EQ(values<int64_t>(dense(*archive, "y")), values<int64_t>(dense(*table, "y")));
      else
        EXPECT_EQ(values<float>(dense(*archive, "y")), values<float>(dense(*table, "y")));
    }
    std::filesystem::remove(path() + "/raw/data.npz");
  }
  put_archives();
  const auto label = [&](const std::string& array) {
    write_npz(path() + "/raw/node-label.npz", {{"node_label", array}});
  };
  label(npy_text("|b1", "(4, 2)", std::string("\0\1\1\1\0\0\1\0", 8)));
  EXPECT_EQ(open()->task, Task::kBinary);
  label(npy_of<int64_t>({0, 1, 1, 16777217, 0, 0, 1, 7}, "(4, 2)"));
  expect_refused({"\"node_label\"", "row 1", "16777217 is not exact as f32"}, Status::kRange);
  label(npy_of<int64_t>({0, -2, 1, 1}, "(4, 1)"));
  expect_refused({"\"node_label\"", "row 1", "label -2"}, Status::kRange);
  label(npy_text("<f2", "(4, 2)", raw<uint16_t>({0x3c00, 0x3800, 0, 0x3c00, 0, 0, 0, 0})));
  EXPECT_EQ(values<float>(dense(*open(), "y")), (std::vector<float>{1, 0.5, 0, 1, 0, 0, 0, 0}));
  label(npy_of<float>({0, 1, INFINITY, 1, 0, 2, 0, 0}, "(4, 2)"));
  expect_refused({"\"node_label\"", "row 1", "inf"}, Status::kNan);
}

TEST_F(Ogb, SetsThatListEachEdgeOnce) {
  put_tables();
  std::filesystem::rename(path(), dir_.file("ogbn_products"));
  EXPECT_EQ(opener_.open(dir_.file("ogbn_products/"))->graph->num_edges(), 6);
}

TEST_F(Ogb, CountsAreHeldAgainstTheRows) {
  put_tables();
  put("raw/num-node-list.csv.gz", "5\n");
  expect_refused({"node-feat.csv.gz", "4 rows, expected 5 by", "num-node-list.csv.gz"});
  put("raw/num-node-list.csv.gz", "4\n");
  put("raw/num-edge-list.csv.gz", "2\n");
  expect_refused({"edge.csv.gz", "3 rows, expected 2 by", "num-edge-list.csv.gz"});
  put("raw/num-edge-list.csv.gz", "3\n");
  put("raw/node-label.csv.gz", "0\n1\n");
  expect_refused({"node-label.csv.gz", "2 rows, expected 4"});
  put("raw/node-label.csv.gz", "0\n1\n1\n0\n");
  put("raw/edge_kind.csv.gz", "1\n");
  expect_refused({"edge_kind.csv.gz", "1 rows, expected 3"});
  remove("raw/edge_kind.csv.gz");
  put("raw/num-node-list.csv.gz", "2\n2\n");
  expect_refused({"num-node-list.csv.gz", "2 graphs"}, Status::kUnsupported);
  put("raw/num-node-list.csv.gz", "-4\n");
  expect_refused({"num-node-list.csv.gz", "-4"});
  put("raw/num-node-list.csv.gz", "4.5\n");
  expect_refused({"num-node-list.csv.gz", "one integer"});
  remove("raw/num-node-list.csv.gz");
  expect_refused({"num-node-list.csv.gz", "open"}, Status::kNotFound);
}

// Names of nodes beside the numbers do not stop a set from being opened.
TEST_F(Ogb, TablesOfTexts) {
  put_tables();
  put("raw/node_name.csv.gz", "a\nb\nc\n4\n");
  put("raw/node_year.csv.gz", "1\n2\n3\n4\n");
  const DatasetRef dataset = open();
  EXPECT_EQ(dataset->graph->node_column("name"), nullptr);
  EXPECT_NE(dataset->graph->node_column("year"), nullptr);
  EXPECT_NE(opener_.log().find("left out: node_name"), std::string::npos);
  put("raw/node_year.csv.gz", "year\n1\n2\n3\n4\n");
  expect_refused({"node_year.csv.gz, line 1: \"year\"", "commas between numbers and no header"});
}

TEST_F(Ogb, RowsThatCannotBeRead) {
  put_tables();
  put("raw/node-feat.csv.gz", "0.5,-1\n1,2\n3\n5,6\n");
  expect_refused({"node-feat.csv.gz, line 3", "1 columns, expected 2"});
  put("raw/node-feat.csv.gz", "0.5,-1\n1,2\n3,x\n5,6\n");
  expect_refused({"node-feat.csv.gz, line 3", "\"x\"", "expected a number"});
  put("raw/node-feat.csv.gz", "a,b\n0.5,-1\n1,2\n3,4\n5,6\n");
  expect_refused({"node-feat.csv.gz, line 1: \"a\"", "commas between numbers and no header"});
  put("raw/node-feat.csv.gz", "0.5,-1\n1,2\n3,\n5,6\n");
  expect_refused({"node-feat.csv.gz, row 2, column 1"}, Status::kNan);
  put("raw/node-feat.csv.gz", "0.5,-1\n1,2\n3,4\n5,6\n");
  put("raw/edge.csv.gz", "0,1\n1,4\n0,3\n");
  expect_refused({"edge.csv.gz, line 2", "target 4", "0 to 3"}, Status::kRange);
  put("raw/edge.csv.gz", "0,1\n1,2,3\n0,3\n");
  expect_refused({"edge.csv.gz, line 2", "3 columns, expected 2"});
  put("raw/edge.csv.gz", "0,1,1\n1,2,1\n0,3,1\n");
  expect_refused({"edge.csv.gz", "3 columns, expected source and target"});
  put("raw/edge.csv.gz", "source,target\n1,2\n0,3\n");
  expect_refused(
      {"edge.csv.gz, line 1: \"source,target\"", "commas between numbers and no header"});
  std::string damaged = gzip("0,1\n1,2\n0,3\n");
  damaged[damaged.size() - 7] ^= 1;
  dir_.write("ogbn_tiny/raw/edge.csv.gz", damaged);
  expect_refused({"edge.csv.gz"}, Status::kChecksum);
  dir_.write("ogbn_tiny/raw/edge.csv.gz", gzip("0,1\n1,2\n0,3\n").substr(0, 20));
  expect_refused({"edge.csv.gz"});
}

TEST_F(Ogb, BadSplits) {
  put_tables();
  put("split/time/test.csv.gz", "4\n");
  expect_refused({"split/time, test, position 0", "node 4", "0 to 3"}, Status::kRange);
  put("split/time/test.csv.gz", "0\n");
  expect_refused({"split/time, test, position 0", "node 0 is already in train"});
  put("split/time/test.csv.gz", "0.5\n");
  expect_refused({"split/time/test.csv.gz", "one node id"});
  for (const char* part : {"train", "valid", "test"}) {
    const std::string name = base::text("split/time/", part, ".csv.gz");
    const std::string whole = test::slurp(path() + "/" + name);
    dir_.write("ogbn_tiny/" + name, "");
    expect_refused({name, "has 0 bytes, expected gzip data"});
    dir_.write("ogbn_tiny/" + name, whole);
  }
  put("split/time/test.csv.gz", "");
  EXPECT_EQ(open()->splits.at(0).ids[2].rows(), 0) << "an empty part is the gzip of nothing";
  remove("split/time/test.csv.gz");
  expect_refused({"split/time/test.csv.gz", "open"}, Status::kNotFound);
  remove("split/time/train.csv.gz");
  opener_.log();
  EXPECT_TRUE(open()->splits.empty());
  EXPECT_NE(opener_.log().find("split/time: holds no train.csv.gz, train.csv or split_dict.pt"),
            std::string::npos);
  put("splits/time/train.csv.gz", "2\n");
  open();
  EXPECT_NE(opener_.log().find("files that the format does not know are left out: splits/\n"),
            std::string::npos);
}

TEST_F(Ogb, ValidationPartsOfOtherNames) {
  for (const char* name : {"val", "validation"}) {
    put_tables();
    remove("split/time/valid.csv.gz");
    put(base::text("split/time/", name, ".csv.gz"), "1\n");
    EXPECT_EQ(values<int64_t>(open()->splits.at(0).ids[1]), (std::vector<int64_t>{1})) << name;
    remove(base::text("split/time/", name, ".csv.gz"));
  }
  expect_refused({"split/time/valid.csv.gz", "open"}, Status::kNotFound);
}

TEST_F(Ogb, NamesWithNul) {
  put_archives();
  std::string archive = test::slurp(path() + "/raw/data.npz");
  for (size_t at; (at = archive.find("node_year")) != archive.npos;) archive[at + 6] = '\0';
  dir_.write("ogbn_tiny/raw/data.npz", archive);
  expect_refused({"raw/data.npz", "node_y\\x00ar", "control characters"});
}

TEST_F(Ogb, BadArchives) {
  put_archives();
  const auto write = [&](const std::string& edge_index, const std::string& nodes,
                         const std::string& edges) {
    write_npz(path() + "/raw/data.npz",
              {{"edge_index", edge_index}, {"num_nodes_list", nodes}, {"num_edges_list", edges}});
  };
  const std::string pairs = npy_of<int64_t>({0, 1, 0, 1, 2, 3}, "(2, 3)");
  const std::string three = npy_of<int64_t>({3}, "(1,)"), four = npy_of<int64_t>({4}, "(1,)");
  write(pairs, four, three);
  EXPECT_EQ(open()->feature_dim(), 0);
  write(pairs, three, three);
  expect_refused({"\"node_label\"", "4 rows, expected 3"});
  write(pairs, four, four);
  expect_refused({"edge_index", "3 edges, expected 4"});
  write(npy_of<int64_t>({0, 1, 0, 1, 2, 3}, "(3, 2)"), four, three);
  expect_refused({"edge_index", "[3, 2]", "[2, E]"});
  write(pairs, npy_of<int64_t>({2, 2}, "(2,)"), three);
  expect_refused({"num_nodes_list", "2 graphs"}, Status::kUnsupported);
  write(pairs, npy_of<int64_t>({int64_t{1} << 40}, "(1,)"), three);
  expect_refused({"\"node_label\"", "4 rows, expected 1099511627776"});
  remove("raw/node-label.npz");
  std::filesystem::remove_all(path() + "/split");
  expect_refused({"num_nodes_list", "1099511627776 nodes"}, Status::kRange);
  write(pairs, three, three);
  expect_refused({"edge_index", "node 3", "0 to 2"}, Status::kRange);
  // Rows without columns take no bytes, so they prove no nodes.
  for (const char* name : {"node_feat", "node_year"}) {
    write_npz(path() + "/raw/data.npz",
              {{"edge_index", pairs},
               {"num_nodes_list", npy_of<int64_t>({int64_t{1} << 40}, "(1,)")},
               {"num_edges_list", three},
               {name, npy_of<float>({}, "(1099511627776, 0)")}});
    expect_refused({"num_nodes_list", "1099511627776 nodes"}, Status::kRange);
  }
  write_npz(path() + "/raw/data.npz",
            {{"edge_index", pairs},
             {"num_nodes_list", npy_of<int64_t>({int64_t{1} << 40}, "(1,)")},
             {"num_edges_list", three}});
  write_npz(path() + "/raw/node-label.npz",
            {{"node_label", npy_of<float>({}, "(1099511627776, 0)")}});
  expect_refused({"num_nodes_list", "1099511627776 nodes"}, Status::kRange);
}

// Three graphs of 3, 2 and 1 nodes, their edges listed once.
TEST_F(Ogb, PropertiesOfGraphs) {
  const auto put_graphs = [&] {
    put("raw/num-node-list.csv.gz", "3\n2\n1\n");
    put("raw/num-edge-list.csv.gz", "2\n1\n0\n");
    put("raw/edge.csv.gz", "0,1\n1,2\n0,1\n");
    put("raw/edge-feat.csv.gz", "7\n8\n9\n");
    put("raw/node-feat.csv.gz", "1\n2\n3\n4\n5\n6\n");
    put("raw/graph-label.csv.gz", "1\n0\n1\n");
    put("split/scaffold/train.csv.gz", "2\n0\n");
    put("split/scaffold/valid.csv.gz", "1\n");
    put("split/scaffold/test.csv.gz", "");
  };
  put_graphs();
  const DatasetRef dataset = open();
  EXPECT_EQ(values<int64_t>(dataset->graph_ptr), (Ids{0, 3, 5, 6}));
  EXPECT_EQ(dataset->task, Task::kMulticlass);
  EXPECT_EQ(values<int64_t>(*dataset->labels()), (Ids{1, 0, 1}));
  EXPECT_EQ(edges(*dataset->graph), (Edges{{0, 1}, {1, 2}, {3, 4}}));
  EXPECT_EQ(values<float>(dense(*dataset, "x")), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(values<float>(std::get<base::Tensor>(*dataset->graph->edge_column("x"))),
            (std::vector<float>{7, 8, 9}));
  EXPECT_EQ(ids(dataset->split("scaffold", 0), SplitPart::kTrain), (Ids{0, 2}));

  put("raw/graph-label.csv.gz", "1,nan\n0,1\n1,0\n");
  EXPECT_EQ(open()->task, Task::kBinary);
  put("raw/graph-label.csv.gz", "1\n0\n");
  expect_refused({"graph-label.csv.gz", "2 rows, expected 3"});
  put_graphs();
  put("raw/num-node-list.csv.gz", "3\n-1\n4\n");
  expect_refused({"num-node-list.csv.gz, row 1: -1, expected 0"});
  put("raw/num-node-list.csv.gz", "3\n3\n");
  expect_refused({"num-edge-list.csv.gz", "counts for 3 graphs", "for 2"});
  put("raw/num-node-list.csv.gz", "2\n3\n1\n");
  expect_refused({"edge.csv.gz, row 1: node 2, expected 0 to 1 in graph 0"}, Status::kRange);
  put_graphs();
  put("raw/num-edge-list.csv.gz", "2\n2\n0\n");
  expect_refused({"edge.csv.gz", "3 rows, expected 4"});
  put_graphs();
  put("split/scaffold/test.csv.gz", "3\n");
  expect_refused({"graph 3, expected 0 to 2"}, Status::kRange);
  put_graphs();
  remove("raw/node-feat.csv.gz");
  EXPECT_EQ(sparse(*open(), "x").num_cols, 2) << "degrees 0 and 1";
}

TEST_F(Ogb, TypedSetsAreNamed) {
  put_tables();
  put("raw/triplet-type-list.csv.gz", "paper,cites,paper\n");
  expect_refused({"triplet-type-list.csv.gz", "several types"}, Status::kUnsupported);
}

}  // namespace
}  // namespace gnnmg::data
