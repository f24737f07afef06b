// The own format: opening gives back exactly the data set that was saved, for every kind of graph,
// and nothing else is accepted.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "data/arrays.h"
#include "data/fingerprint.h"
#include "data/native_metadata.h"
#include "io/bytes.h"
#include "io/npy.h"
#include "readers/support.h"

namespace gnnmg::data {
namespace {

using base::Status;
using nlohmann::json;

std::string slurp_text(const std::string& path) { return test::slurp(path); }

void overwrite(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

// The small graph with sparse features "s", and two splits.
DatasetRef small_dataset(base::ThreadPool& pool, const std::string& feature = "x") {
  graph::GraphParts parts = small_graph(pool)->parts();
  parts.node_columns[0].emplace(
      "s", base::CsrMatrix{4, 3, tensor<int64_t>({0, 1, 1, 3, 3}, {5}),
                           tensor<int32_t>({2, 0, 1}, {3}), tensor<float>({0.5f, 1, 2}, {3})});
  const std::vector<uint8_t> first = {1, 2, 3, 0}, second = {3, 1, 2, 0};
  Dataset dataset = *make_dataset(
      graph::Graph::create(std::move(parts)), feature, "y", false,
      {split_from_codes(first, "public", 0, "f"), split_from_codes(second, "public", 1, "f")});
  dataset.name = "small";
  dataset.source = "a test";
  return std::make_shared<const Dataset>(std::move(dataset));
}

class Native : public testing::Test {
 protected:
  // Saves and returns the folder.
  std::string save(const Dataset& dataset, const std::string& name = "set") {
    const std::string path = dir_.file(name);
    save_dataset(dataset, path);
    return path;
  }
  // Saves the small data set and changes its metadata.
  std::string save_changed(const std::function<void(json&)>& change) {
    const std::string path = save(*small_dataset(opener_.pool()), base::text("set", count_++));
    json document = json::parse(slurp_text(path + "/metadata.json"));
    change(document);
    overwrite(path + "/metadata.json", document.dump());
    return path;
  }
  void expect_refused(const std::vector<std::string>& parts,
                      const std::function<void(json&)>& change, Status status = Status::kFormat) {
    const std::string path = save_changed(change);
    expect_error(status, parts, [&] { opener_.open(path); });
  }
  test::TempDir dir_;
  Opener opener_;
  int count_ = 0;
};

TEST_F(Native, EdgeIdsAreSavedWhereTensorsGoByThem) {
  const DatasetRef weighted = small_dataset(opener_.pool());
  ASSERT_TRUE(weighted->graph->csc().edge_ids.defined());
  EXPECT_TRUE(std::filesystem::exists(save(*weighted) + "/edge-edge.edge_ids.npy"));
  graph::GraphParts parts = weighted->graph->parts();
  parts.edge_columns[0].clear();
  const DatasetRef plain =
      make_dataset(graph::Graph::create(std::move(parts)), "x", "y", false, weighted->splits);
  const std::string path = save(*plain, "plain");
  EXPECT_FALSE(std::filesystem::exists(path + "/edge-edge.edge_ids.npy"));
  const DatasetRef opened = opener_.open(path);
  EXPECT_FALSE(opened->graph->csc().edge_ids.defined());
  EXPECT_EQ(values<int32_t>(opened->graph->csc().indices),
            values<int32_t>(plain->graph->csc().indices));
  EXPECT_EQ(fingerprint(*opened, opened->splits[0]), fingerprint(*plain, plain->splits[0]));
}

TEST_F(Native, FoldersWithEdgeIdsThatNothingNeedsOpen) {
  const std::string path =
      save_changed([](json& document) { document["edge_types"][0]["tensors"] = json::array(); });
  const DatasetRef opened = opener_.open(path);
  const DatasetRef saved = small_dataset(opener_.pool());
  EXPECT_TRUE(opened->graph->csc().edge_ids.defined());
  const auto listed = edges(*saved->graph);
  for (int64_t e = 0; e < opened->graph->num_edges(); ++e)
    EXPECT_EQ(listed[opened->graph->csc().edge_id(e)].first, opened->graph->csc().source(e));
}

TEST_F(Native, RoundTrip) {
  const DatasetRef saved = small_dataset(opener_.pool());
  const std::string path = save(*saved);
  for (const bool map : {true, false}) {
    OpenOptions options;
    options.map_files = map;
    const DatasetRef opened = opener_.open(path, options);
    EXPECT_EQ(opened->name, "small");
    EXPECT_EQ(opened->source, "a test");
    EXPECT_EQ(opened->task, Task::kMulticlass);
    EXPECT_EQ(opened->num_classes, 2);
    EXPECT_EQ(opened->feature, "x");
    EXPECT_EQ(opened->label, "y");
    EXPECT_EQ(edges(*opened->graph), edges(*saved->graph));
    EXPECT_EQ(values<float>(dense(*opened, "x")), values<float>(dense(*saved, "x")));
    EXPECT_EQ(values<int64_t>(dense(*opened, "y")), values<int64_t>(dense(*saved, "y")));
    EXPECT_EQ(values<float>(std::get<base::Tensor>(*opened->graph->edge_column("weight"))),
              (std::vector<float>{1, 2, 3, 4, 5}));
    const base::CsrMatrix& s = sparse(*opened, "s");
    EXPECT_EQ(s.num_cols, 3);
    EXPECT_EQ(values<int64_t>(s.indptr), (std::vector<int64_t>{0, 1, 1, 3, 3}));
    EXPECT_EQ(values<float>(s.values), (std::vector<float>{0.5f, 1, 2}));
    ASSERT_EQ(opened->splits.size(), 2u);
    EXPECT_EQ(ids(opened->split("public", 1), SplitPart::kTrain), (std::vector<int64_t>{1}));
    EXPECT_EQ(ids(opened->split("public", 0), SplitPart::kTest), (std::vector<int64_t>{2}));
  }
}

TEST_F(Native, SavingAgainGivesTheSameFiles) {
  const std::string first = save(*small_dataset(opener_.pool()), "first");
  const std::string second = save(*opener_.open(first), "second");
  for (const auto& entry : std::filesystem::directory_iterator(first))
    EXPECT_EQ(slurp_text(entry.path()), slurp_text(second + "/" + entry.path().filename().string()))
        << entry.path();
}

TEST_F(Native, NothingButTheFolderIsLeft) {
  save(*small_dataset(opener_.pool()));
  for (const std::string& name : dir_.list())
    EXPECT_EQ(name.find(".tmp"), std::string::npos) << name;
}

TEST_F(Native, AnExistingPathIsNotTouched) {
  const DatasetRef dataset = small_dataset(opener_.pool());
  dir_.write("set/keep", "me");
  expect_error(Status::kInvalidArgument, {"/set", "exists already"}, [&] { save(*dataset); });
  EXPECT_EQ(slurp_text(dir_.file("set/keep")), "me");
  expect_error(Status::kNotFound, {"/missing/", "make folder"},
               [&] { save(*dataset, "missing/set"); });
  expect_error(Status::kInvalidArgument, {"path \"\""}, [&] { save_dataset(*dataset, ""); });
}

TEST_F(Native, TypedGraphs) {
  graph::GraphParts parts;
  parts.schema = {{"paper", "author/x"}, {{1, 0, "writes"}, {0, 0, "cites"}, {0, 1, "writes"}}};
  parts.num_nodes = {3, 2};
  const auto csc = [&](std::vector<int64_t> sources, std::vector<int64_t> targets, int64_t from,
                       int64_t to) {
    const auto n = static_cast<int64_t>(sources.size());
    return graph::csc_from_coo(tensor(sources, {n}).view(), tensor(targets, {n}).view(), from, to,
                               opener_.pool());
  };
  parts.topology = {csc({1, 0, 1}, {2, 0, 0}, 2, 3), csc({}, {}, 3, 3), csc({2}, {1}, 3, 2)};
  parts.node_columns.resize(2);
  parts.node_columns[1].emplace("x", tensor<float>({1, 2}, {2, 1}));
  parts.node_columns[1].emplace("y", tensor<float>({1, 0}, {2, 1}));
  parts.node_columns[0].emplace("a b/../c", tensor<int32_t>({7, 8, 9}, {3}));
  parts.node_columns[0].emplace("a b_.._c", tensor<int32_t>({1, 2, 3}, {3}));
  parts.edge_columns.resize(3);
  parts.edge_columns[0].emplace("time", tensor<double>({0.1, 0.2, 0.3}, {3}));
  const std::vector<uint8_t> codes = {2, 1};
  const DatasetRef saved = make_dataset(graph::Graph::create(std::move(parts)), "x", "y", true,
                                        {split_from_codes(codes, "s", 3, "f")}, 0, 1);
  const DatasetRef opened = opener_.open(save(*saved));
  EXPECT_EQ(opened->graph->schema(), saved->graph->schema());
  EXPECT_EQ(opened->node_type, 1);
  EXPECT_EQ(opened->task, Task::kBinary);
  EXPECT_EQ(opened->graph->num_nodes(0), 3);
  for (int32_t type = 0; type < 3; ++type)
    EXPECT_EQ(edges(*opened->graph, type), edges(*saved->graph, type)) << type;
  EXPECT_EQ(values<int32_t>(std::get<base::Tensor>(*opened->graph->node_column("a b/../c", 0))),
            (std::vector<int32_t>{7, 8, 9}));
  EXPECT_EQ(values<int32_t>(std::get<base::Tensor>(*opened->graph->node_column("a b_.._c", 0))),
            (std::vector<int32_t>{1, 2, 3}));
  EXPECT_EQ(values<double>(std::get<base::Tensor>(*opened->graph->edge_column("time", 0))),
            (std::vector<double>{0.1, 0.2, 0.3}));
  EXPECT_EQ(ids(opened->split("s", 3), SplitPart::kTrain), (std::vector<int64_t>{1}));
}

TEST_F(Native, EveryElementType) {
  graph::GraphParts parts = small_graph(opener_.pool())->parts();
  for (base::DType dtype :
       {base::DType::kF32, base::DType::kF64, base::DType::kF16, base::DType::kBF16,
        base::DType::kI64, base::DType::kI32, base::DType::kU8, base::DType::kBool}) {
    base::Tensor column = base::Tensor::zeros(dtype, {4, 3});
    static_cast<uint8_t*>(column.data())[5] = 1;
    parts.node_columns[0].emplace(base::dtype_name(dtype), column);
  }
  const DatasetRef saved = make_dataset(graph::Graph::create(std::move(parts)), "", "", false, {});
  const std::string path = save(*saved);
  for (const bool map : {true, false}) {
    OpenOptions options;
    options.map_files = map;
    const DatasetRef opened = opener_.open(path, options);
    for (const auto& [name, column] : saved->graph->node_columns()) {
      const base::Tensor &before = std::get<base::Tensor>(column), &after = dense(*opened, name);
      EXPECT_EQ(after.dtype(), before.dtype()) << name;
      EXPECT_EQ(after.shape(), before.shape()) << name;
      EXPECT_EQ(std::memcmp(after.data(), before.data(), before.view().num_bytes()), 0) << name;
    }
  }
}

TEST_F(Native, EmptyGraphs) {
  graph::GraphParts parts;
  parts.num_nodes = {0};
  const base::Tensor none = tensor<int64_t>({}, {0});
  parts.topology = {graph::csc_from_coo(none.view(), none.view(), 0, 0, opener_.pool())};
  parts.node_columns.resize(1);
  parts.node_columns[0].emplace("x", base::Tensor::empty(base::DType::kF32, {0, 5}));
  const DatasetRef opened =
      opener_.open(save(*make_dataset(graph::Graph::create(std::move(parts)), "x", "", false, {})));
  EXPECT_EQ(opened->graph->num_nodes(), 0);
  EXPECT_EQ(opened->feature_dim(), 5);
}

TEST_F(Native, IntegerFeaturesBecomeFloats) {
  graph::GraphParts parts = small_graph(opener_.pool())->parts();
  parts.node_columns[0].insert_or_assign("x", tensor<int64_t>({0, 1, 2, 3, 4, 5, 6, 7}, {4, 2}));
  parts.node_columns[0].insert_or_assign("i", tensor<int64_t>({1, 2, 3, INT64_MAX}, {4}));
  const std::string path = save(*make_dataset(graph::Graph::create(parts), "x", "y", false, {}));
  for (const bool map : {true, false}) {
    OpenOptions options;
    options.map_files = map;
    const DatasetRef opened = opener_.open(path, options);
    EXPECT_EQ(values<float>(dense(*opened, "x")), (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(values<int64_t>(dense(*opened, "i"))[3], INT64_MAX) << "no features";
  }
  parts.node_columns[0].insert_or_assign("x", tensor<int32_t>({0, 16777217, 2, 3}, {4}));
  const std::string large =
      save(*make_dataset(graph::Graph::create(parts), "x", "y", false, {}), "large");
  expect_error(Status::kRange, {"node-node-x.npy, row 1, column 0: 16777217", "round_values"},
               [&] { opener_.open(large); });
  OpenOptions options;
  options.round_values = true;
  EXPECT_EQ(dense(*opener_.open(large, options), "x").as<const float>()[1], 16777216.0f);

  parts.node_columns[0].insert_or_assign("x", tensor<double>({0, 1e300, 2, 3}, {4}));
  const std::string wide =
      save(*make_dataset(graph::Graph::create(parts), "x", "y", false, {}), "wide");
  expect_error(Status::kRange, {"node-node-x.npy, row 1, column 0: 1e+300", "32-bit floats"},
               [&] { opener_.open(wide, options); });
}

// Every position in blocks that are looked at as a whole, and after the last whole one.
TEST(CheckFinite, FindsTheFirst) {
  for (const int64_t count : {1, 7, 2048, 2049, 5000}) {
    std::vector<float> floats(count, -3.4e38f);
    std::vector<double> doubles(count, 1e38);
    std::vector<uint16_t> halves(count, 0xfbff);
    std::vector<uint8_t> bools(count, 1);
    EXPECT_EQ(find_not_finite(floats.data(), base::DType::kF32, count), -1);
    EXPECT_EQ(find_not_finite(halves.data(), base::DType::kF16, count), -1);
    for (const int64_t at : {count - 1, count / 2, int64_t{0}}) {
      floats[at] = at % 2 ? NAN : -INFINITY;
      doubles[at] = 1e300;
      halves[at] = 0x7c00;
      bools[at] = 2;
      EXPECT_EQ(find_not_finite(floats.data(), base::DType::kF32, count), at);
      EXPECT_EQ(find_not_finite(doubles.data(), base::DType::kF64, count), at);
      EXPECT_EQ(find_not_finite(halves.data(), base::DType::kF16, count), at);
      EXPECT_EQ(find_not_finite(halves.data(), base::DType::kBF16, count), -1);
      expect_error(Status::kRange, {base::text("t, row ", at, ", column 0: a bool of value 2")},
                   [&] { check_bools({bools.data(), base::DType::kBool, {count}}, "t"); });
    }
  }
}

TEST_F(Native, FeaturesThatAreNotFinite) {
  graph::GraphParts parts = small_graph(opener_.pool())->parts();
  parts.node_columns[0].insert_or_assign("x", tensor<float>({0, 1, 2, 3, 4, NAN, 6, 7}, {4, 2}));
  const std::string path =
      save(*make_dataset(graph::Graph::create(std::move(parts)), "x", "y", false, {}));
  OpenOptions options;
  for (const bool map : {true, false}) {
    options.map_files = map;
    expect_error(Status::kNan, {"node-node-x.npy, row 2, column 1"},
                 [&] { opener_.open(path, options); });
  }
  options.check_finite = false;
  EXPECT_TRUE(std::isnan(dense(*opener_.open(path, options), "x").as<const float>()[5]));

  DatasetRef with_sparse = small_dataset(opener_.pool(), "s");
  sparse(*with_sparse, "s").values.as<float>()[1] = -INFINITY;
  const std::string other = save(*with_sparse, "other");
  expect_error(Status::kNan, {"node-node-s.values.npy, row 2, column 0"},
               [&] { opener_.open(other); });
}

TEST_F(Native, EdgeWeightsThatAreNotFinite) {
  graph::GraphParts parts = small_graph(opener_.pool())->parts();
  parts.edge_columns[0].insert_or_assign("weight", tensor<float>({0, 1, 2, NAN, 4}, {5}));
  parts.edge_columns[0].insert_or_assign("time", tensor<float>({NAN, 1, 2, 3, 4}, {5}));
  const std::string path =
      save(*make_dataset(graph::Graph::create(std::move(parts)), "x", "y", false, {}));
  OpenOptions options;
  for (const bool map : {true, false}) {
    options.map_files = map;
    expect_error(Status::kNan, {"-weight.npy, row 3, column 0"},
                 [&] { opener_.open(path, options); });
  }
  options.check_finite = false;
  EXPECT_NO_THROW(opener_.open(path, options));
}

TEST_F(Native, NewerVersionsAreRefusedByNumber) {
  expect_refused(
      {"metadata.json", "version 3", "reads up to 2"},
      [](json& document) {
        document["version"] = 3;
        document["what the future brings"] = 1;
      },
      Status::kVersion);
  expect_refused({"version", "0, expected 1 to 2"}, [](json& d) { d["version"] = 0; });
  expect_refused({"version", "expected an integer"}, [](json& d) { d["version"] = "1"; });
  const std::string path = save_changed([](json& d) { d["format"] = "other"; });
  OpenOptions options;
  expect_error(Status::kFormat, {"expected a data set"}, [&] { opener_.open(path, options); });
}

TEST_F(Native, MetadataIsHeldAgainstItself) {
  auto x = [](json& d) -> json& { return d["node_types"][0]["tensors"][1]["array"]; };
  expect_refused({".node_types[0].tensors[1].array", "3 rows, expected 4"},
                 [&](json& d) { x(d)["shape"][0] = 3; });
  expect_refused({"tensors[1].array", "unknown element type \"f33\""},
                 [&](json& d) { x(d)["dtype"] = "f33"; });
  expect_refused({"tensors[1].array", "dimensions, expected 1 to 4"},
                 [&](json& d) { x(d)["shape"] = json::array(); });
  expect_refused({"tensors[1].array.shape[1]", "-2"}, [&](json& d) { x(d)["shape"][1] = -2; });
  for (const int64_t size : {int64_t{1} << 62, INT64_MAX})
    expect_refused({"metadata.json.node_types[0].tensors[1].array.shape", "does not fit 64 bits"},
                   [&](json& d) { x(d)["shape"] = {4, size, 0}; });
  for (const char* name : {"../x.npy", "/etc/passwd", "a/b.npy", "", ".x.npy"})
    expect_refused({"tensors[1].array"}, [&](json& d) { x(d)["file"] = name; });
  expect_refused({"the key \"task\" is missing"}, [](json& d) { d.erase("task"); });
  expect_refused({"unknown key \"extra\""}, [](json& d) { d["extra"] = 1; });
  expect_refused({"edge_types[0]", "unknown key \"extra\""},
                 [](json& d) { d["edge_types"][0]["extra"] = 1; });
  expect_refused({"splits[0]", "10001 splits, expected at most 10000"}, [](json& d) {
    d["splits"][0]["indices"] = std::vector<int>(10001, 0);
    d["splits"][0]["codes"]["shape"][0] = 10001;
  });
  expect_refused({".task", "\"guess\""}, [](json& d) { d["task"] = "guess"; });
  expect_refused({".label", "no dense tensor \"s\""}, [](json& d) { d["label"] = "s"; });
  expect_refused({".label", "f32 [4, 2], expected i64 [4]"}, [](json& d) { d["label"] = "x"; });
  expect_refused({".feature", "no tensor \"z\""}, [](json& d) { d["feature"] = "z"; });
  expect_refused({".num_classes", "2, expected 0"}, [](json& d) {
    d["label"] = "";
    d["task"] = "none";
  });
  expect_refused({".label", "expected a tensor's name"}, [](json& d) { d["label"] = ""; });
  expect_refused({"edge_types[0].indptr", "i64 [5], expected i64 [6]"}, [](json& d) {
    d["node_types"][0]["num_nodes"] = 5;
    d["node_types"][0]["tensors"] = json::array();
    d["splits"] = json::array();
  });
  expect_refused({"edge_types[0].source", "no node type \"?\""},
                 [](json& d) { d["edge_types"][0]["source"] = "?"; });
  expect_refused({"splits[0].codes", "expected u8 [1, 4]"},
                 [](json& d) { d["splits"][0]["indices"] = {0}; });
  expect_refused({"splits[0]", "split \"public\" 0 occurs twice"},
                 [](json& d) { d["splits"][0]["indices"] = {0, 0}; });
  expect_refused({"node_types", "empty"}, [](json& d) {
    d["node_types"] = json::array();
    d["edge_types"] = json::array();
    d["splits"] = json::array();
  });
  expect_refused({"node_type", "1, expected 0 to 0"}, [](json& d) { d["node_type"] = 1; });
  expect_refused({"tensors[2]", "the name \"x\" occurs twice"},
                 [](json& d) { d["node_types"][0]["tensors"][2]["name"] = "x"; });
  expect_refused({"tensors[0].layout", "\"coo\""},
                 [](json& d) { d["node_types"][0]["tensors"][0]["layout"] = "coo"; });
  expect_refused({"schema", "no edge type"}, [](json& d) { d["edge_types"] = json::array(); });
}

TEST_F(Native, NamesEndWhereTheyDoInC) {
  const std::string cut("na\0me", 5);
  const auto refused = [&](const std::string& key, const std::function<json&(json&)>& name) {
    expect_refused({"metadata.json." + key + ":", "\"na\\x00me\" holds a NUL byte"},
                   [&](json& d) { name(d) = cut; });
  };
  refused("name", [](json& d) -> json& { return d["name"]; });
  refused("source", [](json& d) -> json& { return d["source"]; });
  refused("feature", [](json& d) -> json& { return d["feature"]; });
  refused("label", [](json& d) -> json& { return d["label"]; });
  refused("splits[0].name", [](json& d) -> json& { return d["splits"][0]["name"]; });
  refused("node_types[0].name", [](json& d) -> json& { return d["node_types"][0]["name"]; });
  refused("edge_types[0].name", [](json& d) -> json& { return d["edge_types"][0]["name"]; });
  refused("node_types[0].tensors[1].name",
          [](json& d) -> json& { return d["node_types"][0]["tensors"][1]["name"]; });
}

TEST_F(Native, FilesAreHeldAgainstTheMetadata) {
  const auto changed = [&](const std::string& file, const std::string& text, Status status,
                           const std::vector<std::string>& parts) {
    const std::string path = save(*small_dataset(opener_.pool()), base::text("files", count_++));
    ASSERT_TRUE(std::filesystem::exists(path + "/" + file)) << file;
    overwrite(path + "/" + file, text);
    for (const bool map : {true, false}) {
      OpenOptions options;
      options.map_files = map;
      expect_error(status, parts, [&] { opener_.open(path, options); });
    }
  };
  changed("node-node-x.npy", npy_of<float>({1, 2, 3, 4}, "(4, 1)"), Status::kFormat,
          {"node-node-x.npy", "shape [4, 1], expected [4, 2]"});
  changed("node-node-x.npy", npy_of<int32_t>({1, 2, 3, 4, 5, 6, 7, 8}, "(4, 2)"), Status::kFormat,
          {"node-node-x.npy", "another type than f32"});
  changed("node-node-x.npy", npy_of<float>({1, 2, 3}, "(4, 2)"), Status::kFormat,
          {"node-node-x.npy"});
  changed("node-node-x.npy", "", Status::kFormat, {"node-node-x.npy"});
  changed("node-node-y.npy", npy_of<int64_t>({0, 1, 2, -1}, "(4,)"), Status::kRange,
          {"node-node-y.npy", "row 2", "label 2"});
  changed("edge-edge.indices.npy", npy_of<int32_t>({0, 1, 2, 4, 0}, "(5,)"), Status::kRange,
          {"edge-edge.indices.npy: indices[3] is 4"});
  changed("edge-edge.indptr.npy", npy_of<int64_t>({0, 3, 2, 4, 5}, "(5,)"), Status::kRange,
          {"edge-edge.indptr.npy: indptr[2] is 2", "at least 3"});
  changed("edge-edge.edge_ids.npy", npy_of<int32_t>({0, 1, 1, 2, 3}, "(5,)"), Status::kRange,
          {"edge-edge.edge_ids.npy: edge_ids", "repeats"});
  changed("node-node-s.indices.npy", npy_of<int32_t>({2, 0, 3}, "(3,)"), Status::kRange,
          {"node-node-s.indices.npy", "tensor 's'", "3"});
  changed("split-public.npy", npy_of<uint8_t>({1, 2, 3, 0, 3, 1, 9, 0}, "(2, 4)"), Status::kFormat,
          {"split-public.npy, row 1, node 2", "found 9"});
}

TEST_F(Native, WeightsAreKept) {
  Dataset dataset = *small_dataset(opener_.pool());
  EXPECT_FALSE(opener_.open(save(dataset, "plain"))->class_weights.defined());
  dataset.class_weights = tensor<double>({0.5, 2}, {2});
  dataset.sample_weights = tensor<double>({1, 0, 3, 0.25}, {4});
  const std::string path = save(dataset);
  const DatasetRef opened = opener_.open(path);
  EXPECT_EQ(values<double>(opened->class_weights), (std::vector<double>{0.5, 2}));
  EXPECT_EQ(values<double>(opened->sample_weights), (std::vector<double>{1, 0, 3, 0.25}));

  const std::string metadata = slurp_text(path + "/metadata.json");
  const auto refused = [&](const std::vector<std::string>& parts,
                           const std::function<void(json&)>& change) {
    json document = json::parse(metadata);
    change(document);
    overwrite(path + "/metadata.json", document.dump());
    expect_error(Status::kFormat, parts, [&] { opener_.open(path); });
  };
  refused({"class_weights", "[3]"}, [](json& d) { d["class_weights"]["shape"] = {3}; });
  refused({"sample_weights", "f32"}, [](json& d) { d["sample_weights"]["dtype"] = "f32"; });
  refused({"sample_weights", "no labels"}, [](json& d) {
    d["task"] = "none";
    d["label"] = "";
    d["num_classes"] = 0;
    d.erase("class_weights");
  });
  overwrite(path + "/metadata.json", metadata);
  io::write_npy(path + "/class_weights.npy", tensor<double>({-1, 2}, {2}).view());
  expect_error(Status::kFormat, {"class_weights.npy", "class weights[0] is -1"},
               [&] { opener_.open(path); });
}

TEST_F(Native, MissingFilesAreNamed) {
  const std::string path = save(*small_dataset(opener_.pool()));
  std::filesystem::remove(path + "/node-node-x.npy");
  expect_error(Status::kNotFound, {"node-node-x.npy", "open"}, [&] { opener_.open(path); });
}

TEST_F(Native, BigEndianAndFortranFilesAreConverted) {
  const std::string path = save(*small_dataset(opener_.pool()));
  std::string swapped = raw<float>({0, 1, 2, 3, 4, 5, 6, 7});
  for (size_t i = 0; i < swapped.size(); i += 4)
    std::reverse(swapped.begin() + i, swapped.begin() + i + 4);
  overwrite(path + "/node-node-x.npy", npy_text(">f4", "(4, 2)", swapped));
  EXPECT_EQ(values<float>(dense(*opener_.open(path), "x")),
            (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7}));
  overwrite(path + "/node-node-x.npy",
            npy_text("<f4", "(4, 2)", raw<float>({0, 2, 4, 6, 1, 3, 5, 7}), true));
  EXPECT_EQ(values<float>(dense(*opener_.open(path), "x")),
            (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST_F(Native, LimitsAndCancel) {
  const std::string path = save(*small_dataset(opener_.pool()));
  OpenOptions options;
  options.max_bytes = 600;
  expect_error(Status::kInvalidArgument, {"max_file_bytes"}, [&] { opener_.open(path, options); });
  opener_.cancel().cancel();
  expect_error(Status::kCancelled, {"opening a data set"}, [&] { opener_.open(path); });
}

TEST_F(Native, NamesMustBeUtf8) {
  Dataset dataset = *small_dataset(opener_.pool());
  dataset.name = "\xff\xfe";
  expect_error(Status::kInvalidArgument, {"UTF-8"}, [&] { save(dataset); });
  EXPECT_TRUE(dir_.list().empty());
}

TEST(NativeMetadata, TextIsStable) {
  const std::string text =
      R"({"format":"gnnmg-dataset","version":1,"name":"n","source":"","task":"none",)"
      R"("num_classes":0,"node_type":0,"feature":"","label":"","node_types":[{"name":"node",)"
      R"("num_nodes":0,"tensors":[]}],"edge_types":[],"splits":[]})";
  const native::Metadata metadata = native::parse_metadata(io::as_bytes(text), "m");
  const std::string written = native::metadata_text(metadata);
  EXPECT_EQ(json::parse(written), json::parse(text));
  EXPECT_TRUE(native::looks_native(std::string_view(written).substr(0, 64)));
  expect_error(Status::kFormat, {"m", "expected \"format\""},
               [] { native::parse_metadata(io::as_bytes("[]"), "m"); });
  expect_error(Status::kFormat, {"m", "not valid JSON"},
               [] { native::parse_metadata(io::as_bytes("{"), "m"); });
}

}  // namespace
}  // namespace gnnmg::data
