// The plain layout: every form of features and splits, and errors that name file and row.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "readers/support.h"

namespace gnnmg::data {
namespace {

using base::Status;
using Edges = std::vector<std::pair<int64_t, int64_t>>;

class Plain : public testing::Test {
 protected:
  void SetUp() override {
    put("edges.npy", npy_of<int32_t>({0, 1, 1, 2, 0, 3}, "(3, 2)"));
    put("labels.npy", npy_of<int32_t>({0, 1, 2, -1}, "(4,)"));
  }
  std::string put(const std::string& name, const std::string& bytes) {
    return dir_.write("tiny/plain/" + name, bytes);
  }
  std::string path() const { return dir_.file("tiny/plain"); }
  DatasetRef open(const OpenOptions& options = {}) { return opener_.open(path(), options); }
  void expect_refused(const std::vector<std::string>& parts, Status status = Status::kFormat,
                      const OpenOptions& options = {}) {
    expect_error(status, parts, [&] { open(options); });
  }
  test::TempDir dir_;
  Opener opener_;
};

TEST_F(Plain, EdgesBecomeUndirected) {
  const DatasetRef dataset = open();
  EXPECT_EQ(dataset->name, "tiny");
  EXPECT_EQ(dataset->graph->num_nodes(), 4);
  EXPECT_EQ(edges(*dataset->graph), (Edges{{0, 1}, {0, 3}, {1, 0}, {1, 2}, {2, 1}, {3, 0}}));
  EXPECT_EQ(dataset->feature, "");
  EXPECT_EQ(dataset->num_classes, 3);
  EXPECT_EQ(opener_.open(dir_.file("tiny"))->name, "tiny");
  OpenOptions options;
  options.undirected = 0;
  EXPECT_EQ(edges(*open(options)->graph), (Edges{{0, 1}, {0, 3}, {1, 2}}));
  options.undirected = 2;
  expect_refused({"undirected 2"}, Status::kInvalidArgument, options);
}

TEST_F(Plain, FoldersOfSplitsAreNamed) {
  put("splits/a.npy", npy_of<uint8_t>({1, 1, 2, 3}, "(4,)"));
  EXPECT_TRUE(open()->splits.empty());
  EXPECT_NE(opener_.log().find("files that the format does not know are left out: splits/\n"),
            std::string::npos);
}

TEST_F(Plain, OtherIntegerTypesOfEdges) {
  put("edges.npy", npy_of<int64_t>({0, 1, 3, 2}, "(2, 2)"));
  EXPECT_EQ(open()->graph->num_edges(), 4);
  put("edges.npy", npy_text("<u2", "(1, 2)", std::string("\x00\x00\x03\x00", 4)));
  EXPECT_EQ(open()->graph->num_edges(), 2);
  put("edges.npy", npy_of<uint8_t>({0, 3}, "(1, 2)"));
  EXPECT_EQ(open()->graph->num_edges(), 2);
  put("edges.npy", npy_of<int32_t>({}, "(0, 2)"));
  EXPECT_EQ(open()->graph->num_edges(), 0);
}

TEST_F(Plain, BadEdges) {
  put("edges.npy", npy_of<int32_t>({0, 1, 1, 4}, "(2, 2)"));
  expect_refused({"tiny/plain/edges.npy, row 1", "node 4", "expected 0 to 3"}, Status::kRange);
  put("edges.npy", npy_of<int32_t>({0, 1, -1, 0}, "(2, 2)"));
  expect_refused({"edges.npy, row 1", "node -1"}, Status::kRange);
  put("edges.npy", npy_of<int32_t>({0, 1, 1, 0}, "(4,)"));
  expect_refused({"edges.npy", "[4]", "expected [E, 2]"});
  put("edges.npy", npy_of<int32_t>({0, 1, 1, 0, 2, 3}, "(2, 3)"));
  expect_refused({"edges.npy", "[2, 3], expected [E, 2]; transpose it"});
  put("edges.npy", npy_of<float>({0, 1}, "(1, 2)"));
  expect_refused({"edges.npy", "f32", "expected integers"});
  put("edges.npy", npy_of<int32_t>({0, 1}, "(2, 2)"));
  expect_refused({"edges.npy"});
  put("edges.npy", npy_text("|O", "(1, 2)", std::string(16, '\0')));
  expect_refused({"edges.npy"});
}

TEST_F(Plain, DenseFeatures) {
  put("feat.npy", npy_of<float>({1, 2, 3, 4, 5, 6, 7, 8}, "(4, 2)"));
  const DatasetRef dataset = open();
  EXPECT_EQ(dataset->feature_dim(), 2);
  EXPECT_EQ(dense(*dataset, "x").as<const float>()[3], 4);
  put("feat.npy", npy_of<float>({1, 2, 3}, "(3, 1)"));
  expect_refused({"feat.npy", "3 rows, expected 4, the number of nodes"});
  put("feat.npy", npy_of<float>({1, 2, 3, 4}, "(4,)"));
  expect_refused({"feat.npy", "[4]", "expected [N, F]"});
  put("feat.npy", npy_of<float>({1, 2, 3, 4, NAN, 6, 7, 8}, "(4, 2)"));
  expect_refused({"feat.npy, row 2, column 0", "NaN"}, Status::kNan);
  OpenOptions options;
  options.check_finite = false;
  EXPECT_TRUE(std::isnan(dense(*open(options), "x").as<const float>()[4]));
}

TEST_F(Plain, IntegerFeaturesBecomeFloats) {
  const auto expect_floats = [&](const std::vector<float>& expected) {
    const DatasetRef dataset = open();
    const base::Tensor& x = dense(*dataset, "x");
    ASSERT_EQ(x.dtype(), base::DType::kF32);
    EXPECT_EQ(values<float>(x), expected);
  };
  put("feat.npy", npy_of<int32_t>({1, -2, 16777216, 1 << 30}, "(4, 1)"));
  expect_floats({1, -2, 16777216, 1 << 30});
  put("feat.npy", npy_of<int64_t>({1, int64_t{1} << 40, INT64_MIN, 0}, "(4, 1)"));
  expect_floats({1, 1099511627776.0f, -9223372036854775808.0f, 0});
  put("feat.npy", npy_of<uint8_t>({0, 1, 2, 255, 4, 5, 6, 7}, "(4, 2)"));
  expect_floats({0, 1, 2, 255, 4, 5, 6, 7});
  put("feat.npy", npy_text("|b1", "(4, 1)", std::string("\0\1\1\0", 4)));
  expect_floats({0, 1, 1, 0});
  OpenOptions round;
  round.round_values = true;
  for (const int64_t bad : {int64_t{16777217}, INT64_MAX}) {
    put("feat.npy", npy_of<int64_t>({1, 2, 3, 4, 5, bad, 7, 8}, "(4, 2)"));
    expect_refused(
        {"feat.npy, row 2, column 1", std::to_string(bad), "32-bit float", "round_values"},
        Status::kRange);
    EXPECT_EQ(values<float>(dense(*open(round), "x"))[5], static_cast<float>(bad));
  }
}

TEST_F(Plain, WideFeaturesFitNarrowFloats) {
  constexpr double kLargest = 3.4028235677973362e38;  // the last that does not round to infinity
  put("feat.npy", npy_of<double>({0.1, kLargest, -kLargest, 4}, "(4, 1)"));
  EXPECT_EQ(dense(*open(), "x").dtype(), base::DType::kF64) << "for models of that type";
  EXPECT_EQ(values<double>(dense(*open(), "x"))[0], 0.1);
  OpenOptions options;
  for (const bool round : {false, true}) {
    options.round_values = round;
    for (const double bad : {1e300, -3.4028235677973366e38}) {
      put("feat.npy", npy_of<double>({1, 2, bad, 4}, "(4, 1)"));
      expect_refused({"feat.npy, row 2, column 0", bad > 0 ? "1e+300" : "-3.4028235677973366e+38",
                      "32-bit floats"},
                     Status::kRange, options);
    }
    put("feat.npy", npy_of<double>({1, 2, 3, -INFINITY}, "(4, 1)"));
    expect_refused({"feat.npy, row 3, column 0", "infinity"}, Status::kNan, options);
  }
  options.check_finite = false;
  EXPECT_EQ(open(options)->feature_dim(), 1);
}

TEST_F(Plain, SparseFeaturesInThreeFiles) {
  put("feat_indptr.npy", npy_of<int64_t>({0, 2, 2, 3, 4}, "(5,)"));
  put("feat_indices.npy", npy_of<int32_t>({4, 0, 1, 1}, "(4,)"));
  put("feat_data.npy", npy_of<float>({1, 2, 3, 4}, "(4,)"));
  EXPECT_EQ(sparse(*open(), "x").num_cols, 5) << "by its last column";
  put("meta.json", R"({"feat_dim": 9, "feat_nnz": 4, "nodes": 4, "name": "named"})");
  const DatasetRef dataset = open();
  EXPECT_EQ(dataset->name, "named");
  EXPECT_EQ(dataset->feature_dim(), 9);
  put("meta.json", R"({"feat_dim": 4})");
  expect_refused({"feat_indices.npy", "element 0 is 4", "expected 0 to 3"});
  put("meta.json", R"({"feat_dim": 9, "feat_nnz": 5})");
  expect_refused({"feat_indptr.npy", "holds 4, expected 5", "feat_nnz", "meta.json"});
  put("meta.json", "{}");
  put("feat_indptr.npy", npy_of<int64_t>({0, 2, 1, 3, 4}, "(5,)"));
  expect_refused({"feat_indptr.npy", "falls from 2 to 1 at element 2"});
  put("feat_indptr.npy", npy_of<int64_t>({0, 2, 2, 3, 5}, "(5,)"));
  expect_refused({"feat_indptr.npy", "ends with 5", "4"});
  put("feat_indptr.npy", npy_of<int64_t>({0, 2, 4}, "(3,)"));
  expect_refused({"feat_indptr.npy", "2 rows, expected 4"});
  put("feat_indptr.npy", npy_of<int64_t>({}, "(0,)"));
  expect_refused({"feat_indptr.npy"});
  put("feat_data.npy", npy_of<float>({1, 2, 3}, "(3,)"));
  put("feat_indptr.npy", npy_of<int64_t>({0, 2, 2, 3, 4}, "(5,)"));
  expect_refused({"feat_indices.npy", "4 elements, expected 3"});
}

TEST_F(Plain, ColumnsThatNoMatrixHas) {
  put("feat_indptr.npy", npy_of<int64_t>({0, 2, 2, 3, 4}, "(5,)"));
  put("feat_data.npy", npy_of<float>({1, 2, 3, 4}, "(4,)"));
  put("feat_indices.npy", npy_of<int64_t>({0, INT64_MAX, 1, 1}, "(4,)"));
  expect_refused({"tiny/plain/feat_indices.npy", "element 1 is 9223372036854775807",
                  "expected 0 to 2147483646"},
                 Status::kRange);
  put("feat_indices.npy", npy_of<int64_t>({0, 1, 2147483647, 1}, "(4,)"));
  expect_refused({"feat_indices.npy", "element 2 is 2147483647"}, Status::kRange);
  put("feat_indices.npy", npy_of<int64_t>({0, 1, 2147483646, 1}, "(4,)"));
  EXPECT_EQ(open()->feature_dim(), 2147483647);
  put("feat_indices.npy", npy_of<int64_t>({0, INT64_MIN, 1, 1}, "(4,)"));
  expect_refused({"feat_indices.npy", "element 1 is -9223372036854775808", "expected 0 to 1"});
  put("feat_indices.npy", npy_of<float>({0, 1, 1, 1}, "(4,)"));
  expect_refused({"feat_indices.npy", "f32", "expected integers"});
  put("meta.json", R"({"feat_dim": -1})");
  put("feat_indices.npy", npy_of<int64_t>({0, INT64_MAX, 1, 1}, "(4,)"));
  expect_refused({"feat_indices.npy", "element 1"}, Status::kRange);
}

TEST_F(Plain, SparseFeaturesInAnArchive) {
  const auto write = [&](const std::string& data) {
    write_npz(path() + "/feat.npz", {{"indices", npy_of<int32_t>({1, 1, 0}, "(3,)")},
                                     {"indptr", npy_of<int32_t>({0, 2, 2, 3, 3}, "(5,)")},
                                     {"format", npy_string("csr")},
                                     {"shape", npy_of<int64_t>({4, 2}, "(2,)")},
                                     {"data", data}});
  };
  write(npy_of<double>({1, 2, 0.5}, "(3,)"));
  EXPECT_EQ(sparse(*open(), "x").nnz(), 3) << "duplicates are kept";
  OpenOptions options;
  options.sum_duplicates = true;
  EXPECT_EQ(values<float>(sparse(*open(options), "x").values), (std::vector<float>{3, 0.5f}));
  write(npy_of<double>({1, 2, 0.1}, "(3,)"));
  EXPECT_EQ(values<float>(sparse(*open(), "x").values), (std::vector<float>{1, 2, 0.1f}));
  write(npy_of<double>({1, 2, 1e39}, "(3,)"));
  expect_refused({"feat.npz", "\"data\"", "element 2", "32-bit floats"}, Status::kRange);
  write(npy_of<int64_t>({1, 2, 16777217}, "(3,)"));
  expect_refused({"feat.npz", "\"data\"", "element 2", "round_values"}, Status::kRange);
  write(npy_of<float>({1, 2, INFINITY}, "(3,)"));
  expect_refused({"feat.npz, row 2, column 0"}, Status::kNan);
  put("feat.npy", npy_of<float>({1, 2, 3, 4}, "(4, 1)"));
  expect_refused({"tiny/plain", "holds features twice"});
}

TEST_F(Plain, SplitsByNameAndIndex) {
  put("split_b.npy", npy_of<uint8_t>({1, 2, 3, 0, 3, 2, 1, 0}, "(2, 4)"));
  put("split_a.npy", npy_of<uint8_t>({1, 1, 2, 3}, "(4,)"));
  write_npz(path() + "/split_c.npz", {{"train", npy_of<int64_t>({3, 0}, "(2,)")},
                                      {"valid", npy_of<int64_t>({1}, "(1,)")},
                                      {"test", npy_of<int64_t>({2}, "(1,)")}});
  const DatasetRef dataset = open();
  ASSERT_EQ(dataset->splits.size(), 4u);
  EXPECT_EQ(ids(dataset->split("a", 0), SplitPart::kTrain), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(ids(dataset->split("b", 1), SplitPart::kTest), (std::vector<int64_t>{0}));
  EXPECT_EQ(ids(dataset->split("c", 0), SplitPart::kTrain), (std::vector<int64_t>{0, 3}));
  EXPECT_EQ(dataset->split("", 0).name, "a");
  // A column a split, and wider integers.
  put("split_b.npy", npy_of<int64_t>({1, 3, 2, 2, 3, 1}, "(2, 3)"));
  expect_refused({"split_b.npy", "shape [2, 3]", "expected [S, 4], [4, S] or [4]"});
  put("split_b.npy", npy_of<int64_t>({1, 3, 2, 2, 3, 1, 0, 0}, "(4, 2)"));
  const DatasetRef columns = open();
  ASSERT_EQ(columns->splits.size(), 4u);
  EXPECT_EQ(ids(columns->split("b", 0), SplitPart::kTrain), (std::vector<int64_t>{0}));
  EXPECT_EQ(ids(columns->split("b", 0), SplitPart::kTest), (std::vector<int64_t>{2}));
  EXPECT_EQ(ids(columns->split("b", 1), SplitPart::kTrain), (std::vector<int64_t>{2}));
}

// Names that scripts give to lists of ids, and an empty part, which NumPy makes of floats.
TEST_F(Plain, SplitsOfIdsByOtherNames) {
  for (const char* before : {"", "idx_"})
    for (const char* after : {"", "_index", "_ids", "_indices"}) {
      const auto key = [&](const char* part) {
        return base::text(before, part, *before ? "" : after);
      };
      write_npz(path() + "/split_c.npz", {{key("train"), npy_of<int64_t>({3, 0}, "(2,)")},
                                          {key("val"), npy_of<double>({}, "(0,)")},
                                          {key("test"), npy_of<int64_t>({2}, "(1,)")}});
      const DatasetRef dataset = open();
      EXPECT_EQ(ids(dataset->split("c", 0), SplitPart::kTrain), (std::vector<int64_t>{0, 3}));
      EXPECT_TRUE(ids(dataset->split("c", 0), SplitPart::kValidation).empty());
    }
  write_npz(path() + "/split_c.npz", {{"train", npy_of<double>({3, 0}, "(2,)")},
                                      {"val", npy_of<double>({}, "(0,)")},
                                      {"test", npy_of<int64_t>({2}, "(1,)")}});
  expect_refused({"split_c.npz", "\"train\"", "expected integers"});
}

TEST_F(Plain, BadSplits) {
  put("split_a.npy", npy_of<uint8_t>({1, 1, 7, 3}, "(1, 4)"));
  expect_refused({"split_a.npy, row 0, node 2", "found 7"});
  put("split_a.npy", npy_of<uint8_t>({1, 1, 3}, "(1, 3)"));
  expect_refused({"split_a.npy", "shape [1, 3]", "expected [S, 4], [4, S] or [4]"});
  put("split_a.npy", npy_of<float>({1, 1, 3, 2}, "(1, 4)"));
  expect_refused({"split_a.npy", "f32"});
  put("split_a.npy", npy_of<int32_t>({1, 1, -1, 2}, "(1, 4)"));
  expect_refused({"split_a.npy", "element 2 is -1", "expected 0 (unused), 1 (train)"});
  put("split_a.npy", npy_of<uint8_t>({1, 2, 3, 0}, "(1, 4)"));
  write_npz(path() + "/split_c.npz", {{"train", npy_of<int64_t>({3, 0}, "(2,)")},
                                      {"valid", npy_of<int64_t>({3}, "(1,)")},
                                      {"test", npy_of<int64_t>({2}, "(1,)")}});
  expect_refused({"split_c.npz, validation, position 0", "node 3 is already in train"});
  write_npz(path() + "/split_c.npz", {{"train", npy_of<int64_t>({3, 0}, "(2,)")}});
  expect_refused({"split_c.npz: holds train, expected train, val", "and test"});
  write_npz(path() + "/split_c.npz",
            {{"a", npy_of<int64_t>({3}, "(1,)")}, {"training", npy_of<int64_t>({0}, "(1,)")}});
  expect_refused({"split_c.npz: holds a, training, expected train, val"});
  write_npz(path() + "/split_c.npz", {});
  expect_refused({"split_c.npz: holds no arrays, expected train"});
  put("split_c.npy", npy_of<uint8_t>({1, 2, 3, 0}, "(1, 4)"));
  expect_refused({"split_c.npz", "\"c\" are in split_c.npy too"});
}

// Rows without columns take no bytes, so a file of a few can claim any number of them.
class Triples : public Plain {
 protected:
  void SetUp() override {
    Plain::SetUp();
    std::filesystem::remove(path() + "/edges.npy");
    put("triples.npy", npy_of<int32_t>({0, 0, 1, 1, 2, 1, 2, 0, 3}, "(3, 3)"));
  }
  static std::vector<int64_t> types(const data::Dataset& dataset) {
    const auto found = std::get<base::Tensor>(*dataset.graph->edge_column("edge_type"));
    const auto values = found.as<const int64_t>();
    return {values.begin(), values.end()};
  }
};

// Edge ids count the triples, then each of them reversed as a relation of its own.
TEST_F(Triples, HaveTheirReverseAsRelationsOfTheirOwn) {
  const DatasetRef dataset = opener_.open(dir_.file("tiny"));
  EXPECT_EQ(dataset->name, "tiny");
  EXPECT_EQ(dataset->feature, "");
  EXPECT_EQ(dataset->graph->num_edges(), 6);
  EXPECT_EQ(types(*dataset), (std::vector<int64_t>{0, 2, 0, 3, 5, 3}));
  auto found = edges(*dataset->graph);
  std::ranges::sort(found);
  EXPECT_EQ(found, (Edges{{0, 1}, {1, 0}, {1, 1}, {1, 1}, {2, 3}, {3, 2}}));
  OpenOptions options;
  options.undirected = 0;
  const DatasetRef listed = open(options);
  EXPECT_EQ(listed->graph->num_edges(), 3);
  EXPECT_EQ(types(*listed), (std::vector<int64_t>{0, 2, 0}));
  put("meta.json", R"({"entities": 4, "triples": 3, "relations": 7, "classes": 3})");
  EXPECT_EQ(types(*open()), (std::vector<int64_t>{0, 2, 0, 7, 9, 7}));
  put("triples.npy", npy_of<int64_t>({3, 1, 0}, "(1, 3)"));
  put("meta.json", "{}");
  EXPECT_EQ(types(*open()), (std::vector<int64_t>{1, 3}));
  put("triples.npy", npy_of<int32_t>({}, "(0, 3)"));
  EXPECT_EQ(open()->graph->num_edges(), 0);
}

TEST_F(Triples, BadOnesAreNamed) {
  put("edges.npy", npy_of<int32_t>({0, 1}, "(1, 2)"));
  expect_refused({"tiny/plain: holds edges.npy and triples.npy"});
  std::filesystem::remove(path() + "/edges.npy");
  put("meta.json", R"({"relations": 2})");
  expect_refused({"triples.npy, row 1", "relation 2", "expected 0 to 1"}, Status::kRange);
  put("meta.json", R"({"triples": 4})");
  expect_refused({"triples.npy", "holds 3, expected 4"});
  put("meta.json", R"({"entities": 5})");
  expect_refused({"labels.npy", "holds 4, expected 5"});
  put("meta.json", R"({"relations": 2000000000})");
  expect_refused({"2000000000 relations"}, Status::kRange);
  put("meta.json", "{}");
  put("triples.npy", npy_of<int32_t>({0, 0, 1, 1, 2, 4}, "(2, 3)"));
  expect_refused({"triples.npy, row 1", "node 4", "expected 0 to 3"}, Status::kRange);
  put("triples.npy", npy_of<int32_t>({0, -1, 1}, "(1, 3)"));
  expect_refused({"triples.npy, row 0", "relation -1"}, Status::kRange);
  put("triples.npy", npy_of<int32_t>({0, 0, 1, 1}, "(2, 2)"));
  expect_refused({"triples.npy", "[2, 2]", "expected [E, 3]"});
  put("triples.npy", npy_of<float>({0, 0, 1}, "(1, 3)"));
  expect_refused({"triples.npy", "f32", "expected integers"});
}

TEST_F(Plain, SplitsOverNoNodes) {
  put("edges.npy", npy_of<int32_t>({}, "(0, 2)"));
  put("labels.npy", npy_of<int32_t>({}, "(0,)"));
  put("split_a.npy", npy_of<uint8_t>({}, "(6000, 0)"));
  EXPECT_EQ(open()->splits.size(), 6000u);
  put("split_b.npy", npy_of<uint8_t>({}, "(4001, 0)"));
  expect_refused({"split_b.npy", "4001 splits after 6000 of other files", "at most 10000 in all"});
  put("split_a.npy", npy_of<uint8_t>({}, "(576460752303423488, 0)"));
  expect_refused({"split_a.npy", "at most 10000"});
}

TEST_F(Plain, FeaturesThatAreNotWholeAreNamed) {
  const std::pair<std::string, std::string> files[] = {
      {"feat_indptr.npy", npy_of<int64_t>({0, 1, 1, 2, 2}, "(5,)")},
      {"feat_indices.npy", npy_of<int32_t>({1, 0}, "(2,)")},
      {"feat_data.npy", npy_of<float>({1, 2}, "(2,)")}};
  for (const auto& [missing, bytes] : files) {
    for (const auto& [name, all] : files) put(name, all);
    EXPECT_EQ(open()->feature_dim(), 2);
    std::filesystem::remove(path() + "/" + missing);
    expect_refused({"tiny/plain/" + missing, "open"}, Status::kNotFound);
  }
  for (const auto& [name, bytes] : files) std::filesystem::remove(path() + "/" + name);
  put("meta.json", R"({"feat_dim": 2})");
  expect_refused({"tiny/plain: holds no feat.npy", "2 features by \"feat_dim\" in meta.json"},
                 Status::kNotFound);
  put("meta.json", R"({"feat_dim": 0})");
  EXPECT_EQ(open()->feature_dim(), 0);
}

TEST_F(Plain, SizeOfMetaJson) {
  const std::string blanks(std::size_t{2} << 20, ' ');
  put("meta.json", blanks + R"({"nodes": 4})");
  EXPECT_EQ(open()->graph->num_nodes(), 4);
  put("meta.json", std::string(std::size_t{16} << 20, ' ') + "{}");
  expect_refused({"meta.json", "has 16777218 bytes, at most 16777216"});
}

TEST_F(Plain, TablesWithoutColumns) {
  put("labels.npy", npy_of<uint8_t>({}, "(576460752303423488, 0)"));
  expect_refused({"labels.npy", "[576460752303423488, 0]"});
  put("labels.npy", npy_of<float>({}, "(576460752303423488, 0)"));
  expect_refused({"labels.npy", "at least one column"});
  put("labels.npy", npy_of<int32_t>({0, 1, 2, -1}, "(4,)"));
  put("feat.npy", npy_of<float>({}, "(4, 0)"));
  EXPECT_EQ(open()->feature_dim(), 0);
  put("feat.npy", npy_text("<f4", "(4, 0)", "", true));
  EXPECT_EQ(open()->feature_dim(), 0);
  put("feat.npy", npy_text("<f4", "(288230376151711744, 0)", "", true));
  expect_refused({"feat.npy", "288230376151711744 rows, expected 4"});
}

TEST_F(Plain, FoldersInPlaceOfFiles) {
  for (const char* name : {"feat.npy", "split_a.npy", "meta.json"}) {
    std::filesystem::create_directory(path() + "/" + name);
    expect_refused({"tiny/plain/" + std::string(name), "regular file"}, Status::kIo);
    std::filesystem::remove(path() + "/" + name);
  }
  std::filesystem::create_symlink("nowhere", path() + "/feat.npy");
  expect_refused({"tiny/plain/feat.npy", "open"}, Status::kNotFound);
}

TEST_F(Plain, LabelsAndCountsAreChecked) {
  put("labels.npy", npy_of<int32_t>({0, 1, -2, 1}, "(4,)"));
  expect_refused({"labels.npy, row 2", "label -2"}, Status::kRange);
  put("labels.npy", npy_of<int32_t>({0, 1, 2, 1}, "(4,)"));
  put("meta.json", R"({"classes": 2})");
  expect_refused({"labels.npy, row 2", "label 2", "to 1"}, Status::kRange);
  put("meta.json", R"({"classes": 3, "class_counts": [1, 1, 1]})");
  expect_refused({"meta.json", "class_counts"});
  put("meta.json", R"({"classes": 3, "class_counts": [1, 2, 1]})");
  EXPECT_EQ(open()->num_classes, 3);
  put("meta.json", R"({"nodes": 5})");
  expect_refused({"labels.npy", "holds 4, expected 5", "\"nodes\""});
  put("meta.json", R"({"edges_stored": 2})");
  expect_refused({"edges.npy", "holds 3, expected 2"});
  put("meta.json", R"({"nodes": "4"})");
  expect_refused({"meta.json", "nodes", "expected an integer"});
  put("meta.json", R"({"name": "a\u0000b"})");
  expect_refused({"meta.json: name", "\"a\\x00b\" holds a NUL byte"});
  put("meta.json", "[1]");
  expect_refused({"meta.json", "expected an object"});
  put("meta.json", "{");
  expect_refused({"meta.json", "not valid JSON"});
}

// Labels and codes that say something else than they mean elsewhere.
TEST_F(Plain, DoubtsAreLogged) {
  const auto log_of = [&](const std::string& labels) {
    put("labels.npy", labels);
    opener_.log();
    open();
    return opener_.log();
  };
  const auto says = [](const std::string& log, const std::string& part) {
    EXPECT_NE(log.find(part), log.npos) << "\"" << part << "\" is not in: " << log;
  };
  says(
      log_of(npy_of<uint8_t>({0, 1, 255, 1}, "(4,)")),
      "253 of 256 classes have no node, the first of them 2; if 255 stands for no label, write -1");
  says(log_of(npy_of<int32_t>({1, 2, 2, 1}, "(4,)")), "1 of 3 classes have no node");
  for (const char* shape : {"(4,)", "(4, 1)"})
    says(log_of(npy_of<double>({0, 1, NAN, 1}, shape)),
         "labels of type f64 are taken for numbers, and all are whole; task=multiclass");
  OpenOptions classes;
  classes.task = Task::kMulticlass;
  const DatasetRef dataset = open(classes);
  EXPECT_EQ(values<int64_t>(*dataset->labels()), (std::vector<int64_t>{0, 1, -1, 1}));
  says(log_of(npy_of<float>({1, 0, 0, 1, 1, 0, 0, 1}, "(4, 2)")), "numpy.argmax(labels, 1)");
  for (const std::string& labels :
       {npy_of<float>({0, 0.5F, 2, 1}, "(4,)"), npy_of<float>({1, 1, 0, 1, 1, 0, 0, 1}, "(4, 2)"),
        npy_of<int32_t>({0, 1, 2, -1}, "(4,)")})
    EXPECT_EQ(log_of(labels).find("abels"), std::string::npos) << opener_.log();
  put("split_mine.npy", npy_of<uint8_t>({0, 1, 2, 0}, "(4,)"));
  says(log_of(npy_of<int32_t>({0, 1, 2, -1}, "(4,)")), "the split mine 0 has no test part, and 2");
  put("split_mine.npy", npy_of<uint8_t>({0, 0, 0, 0}, "(4,)"));
  says(log_of(npy_of<int32_t>({0, 1, 2, -1}, "(4,)")), "the split mine 0 has no id in any part");
  put("split_mine.npy", npy_of<uint8_t>({1, 1, 2, 1}, "(4,)"));
  EXPECT_EQ(log_of(npy_of<int32_t>({0, 1, 2, -1}, "(4,)")).find("no test"), std::string::npos);
  put("labels.npy", npy_text("|S1", "(4,)", "abab"));
  expect_refused({"labels.npy: holds strings", "numpy.unique(array, return_inverse=True)[1]"});
}

TEST_F(Plain, ByteLimit) {
  OpenOptions options;
  options.max_bytes = 200;
  expect_refused({"max_file_bytes leaves"}, Status::kInvalidArgument, options);
}

}  // namespace
}  // namespace gnnmg::data
