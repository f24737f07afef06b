// Data sets in one .npz: adjacency as published, weights, masks, and refusals.
#include <cmath>

#include "readers/support.h"

namespace gnnmg::data {
namespace {

using base::Status;
using Edges = std::vector<std::pair<int64_t, int64_t>>;
using Arrays = std::vector<std::pair<std::string, std::string>>;

class NpzSets : public testing::Test {
 protected:
  DatasetRef open(const Arrays& arrays, const OpenOptions& options = {}) {
    const std::string path = dir_.file("tiny.npz");
    write_npz(path, arrays);
    return opener_.open(path, options);
  }
  void expect_refused(const Arrays& arrays, const std::vector<std::string>& parts,
                      Status status = Status::kFormat) {
    expect_error(status, parts, [&] { open(arrays); });
  }
  test::TempDir dir_;
  Opener opener_;
};

// 0 -> 1, 0 -> 2, 2 -> 2
Arrays shchur() {
  return {{"adj_data", npy_of<float>({1, 1, 1}, "(3,)")},
          {"adj_indices", npy_of<int32_t>({1, 2, 2}, "(3,)")},
          {"adj_indptr", npy_of<int32_t>({0, 2, 2, 3}, "(4,)")},
          {"adj_shape", npy_of<int64_t>({3, 3}, "(2,)")},
          {"attr_data", npy_of<float>({2, 3}, "(2,)")},
          {"attr_indices", npy_of<int32_t>({0, 4}, "(2,)")},
          {"attr_indptr", npy_of<int32_t>({0, 1, 1, 2}, "(4,)")},
          {"attr_shape", npy_of<int64_t>({3, 5}, "(2,)")},
          {"labels", npy_of<int64_t>({1, 0, 1}, "(3,)")}};
}

Arrays with(Arrays arrays, const std::string& name, const std::string& bytes) {
  for (auto& [key, value] : arrays)
    if (key == name) {
      value = bytes;
      return arrays;
    }
  arrays.emplace_back(name, bytes);
  return arrays;
}

Arrays without(Arrays arrays, const std::string& start) {
  std::erase_if(arrays, [&](const auto& entry) { return entry.first.starts_with(start); });
  return arrays;
}

TEST_F(NpzSets, Shchur) {
  const DatasetRef dataset = open(shchur());
  EXPECT_EQ(dataset->name, "tiny");
  EXPECT_EQ(edges(*dataset->graph), (Edges{{0, 1}, {0, 2}, {1, 0}, {2, 0}})) << "without the loop";
  EXPECT_NE(opener_.log().find("3 edges listed (1 self-loops dropped), 4 with"), std::string::npos);
  EXPECT_EQ(dataset->feature_dim(), 5);
  EXPECT_EQ(dataset->num_classes, 2);
  EXPECT_EQ(dataset->graph->edge_column("weight"), nullptr);
  OpenOptions options;
  options.undirected = 0;
  EXPECT_EQ(edges(*open(shchur(), options)->graph), (Edges{{0, 1}, {0, 2}, {2, 2}}));
  EXPECT_EQ(opener_.log().find("dropped"), std::string::npos);
}

TEST_F(NpzSets, ShchurWeightsAndMissingParts) {
  OpenOptions options;
  options.undirected = 0;
  const DatasetRef weighted =
      open(with(shchur(), "adj_data", npy_of<float>({1, 2, 1}, "(3,)")), options);
  EXPECT_EQ(values<float>(std::get<base::Tensor>(*weighted->graph->edge_column("weight"))),
            (std::vector<float>{1, 2, 1}));
  const DatasetRef bare = open(without(without(shchur(), "attr_"), "labels"));
  EXPECT_EQ(bare->feature_dim(), 0);
  EXPECT_EQ(bare->task, Task::kNone);
  const DatasetRef table = open(
      with(without(shchur(), "attr_"), "attr_matrix", npy_of<float>({1, 2, 3, 4, 5, 6}, "(3, 2)")));
  EXPECT_EQ(table->feature_dim(), 2);
}

TEST_F(NpzSets, ShchurWeightsAreRounded) {
  const auto weights = [&](const std::string& data) {
    const DatasetRef dataset = open(with(shchur(), "adj_data", data));
    return values<float>(std::get<base::Tensor>(*dataset->graph->edge_column("weight")));
  };
  // 0 -> 1 and its reverse, 0 -> 2 and its reverse; the loop's weight goes with it.
  EXPECT_EQ(weights(npy_of<double>({0.1, 3, 7}, "(3,)")), (std::vector<float>{0.1f, 3, 0.1f, 3}));
  EXPECT_EQ(weights(npy_of<int64_t>({16777217, 0, 1}, "(3,)")),
            (std::vector<float>{16777216, 0, 16777216, 0}));
  EXPECT_NE(opener_.log().find("\"adj_data\": integers such as 16777217 are rounded"),
            std::string::npos);
  EXPECT_EQ(open(with(shchur(), "adj_data", npy_of<double>({1, 1, 1}, "(3,)")))
                ->graph->edge_column("weight"),
            nullptr);
  expect_refused(with(shchur(), "adj_data", npy_of<double>({1, 1e300, 1}, "(3,)")),
                 {"adj_data", "element 1", "1e+300"}, Status::kRange);
  expect_refused(with(shchur(), "adj_data", npy_of<float>({1, 1, NAN}, "(3,)")),
                 {"tiny.npz, array \"adj_data\"", "element 2 is nan", "finite"}, Status::kNan);
  expect_refused(with(shchur(), "adj_data", npy_of<double>({INFINITY, 1, 1}, "(3,)")),
                 {"tiny.npz, array \"adj_data\"", "element 0 is inf"}, Status::kNan);
}

TEST_F(NpzSets, FractionsAreRoundedAndIntegersOnlyOnRequest) {
  const auto x = [&](const std::string& data, const OpenOptions& options = {}) {
    return values<float>(sparse(*open(with(shchur(), "attr_data", data), options), "x").values);
  };
  EXPECT_EQ(x(npy_of<double>({2, 0.1}, "(2,)")), (std::vector<float>{2, 0.1f}));
  EXPECT_EQ(x(npy_of<double>({1e-300, 1 / 3.}, "(2,)")), (std::vector<float>{0, 1 / 3.f}));
  expect_refused(with(shchur(), "attr_data", npy_of<double>({2, -1e39}, "(2,)")),
                 {"attr_data", "element 1 is -1e+39", "32-bit floats"}, Status::kRange);
  const std::string large = npy_of<int64_t>({2, 16777217}, "(2,)");
  expect_refused(with(shchur(), "attr_data", large),
                 {"attr_data", "element 1 is 16777217", "round_values"}, Status::kRange);
  OpenOptions options;
  options.round_values = true;
  EXPECT_EQ(x(large, options), (std::vector<float>{2, 16777216}));
}

TEST_F(NpzSets, BadShchur) {
  expect_refused(with(shchur(), "adj_shape", npy_of<int64_t>({3, 4}, "(2,)")),
                 {"adj_shape", "3 x 4", "square"});
  expect_refused(with(shchur(), "adj_shape", npy_of<int64_t>({9, 9}, "(2,)")), {"adj_indptr"});
  expect_refused(with(shchur(), "adj_indices", npy_of<int32_t>({1, 3, 2}, "(3,)")),
                 {"adj_indices", "element 1 is 3", "0 to 2"});
  expect_refused(with(shchur(), "attr_shape", npy_of<int64_t>({3, 4}, "(2,)")),
                 {"attr_indices", "element 1 is 4"});
  expect_refused(with(shchur(), "labels", npy_of<int64_t>({1, 0}, "(2,)")),
                 {"tiny.npz, array \"labels\"", "[2]", "3 nodes"});
  expect_refused(with(shchur(), "labels", npy_of<int64_t>({1, 0, 1, 0, 1, 0}, "(3, 2)")),
                 {"tiny.npz, array \"labels\"", "[3, 2]"});
  expect_refused(with(shchur(), "attr_data", npy_of<float>({1, NAN}, "(2,)")),
                 {"tiny.npz, array \"attr_data\", row", "NaN"}, Status::kNan);
  expect_refused(without(shchur(), "adj_data"), {"no array \"adj_data\""}, Status::kNotFound);
  expect_refused(with(without(shchur(), "attr_"), "attr_matrix", npy_of<float>({1, 2, 3}, "(3,)")),
                 {"attr_matrix", "expected [N, F]"});
}

Arrays heterophilous() {
  return {{"node_features", npy_of<float>({1, 2, 3, 4, 5, 6}, "(3, 2)")},
          {"node_labels", npy_of<int64_t>({1, 0, 1}, "(3,)")},
          {"edges", npy_of<int64_t>({0, 1, 1, 2}, "(2, 2)")},
          {"train_masks", npy_text("|b1", "(2, 3)", std::string("\1\0\0\0\0\1", 6))},
          {"val_masks", npy_text("|b1", "(2, 3)", std::string("\0\1\0\0\1\0", 6))},
          {"test_masks", npy_text("|b1", "(2, 3)", std::string("\0\0\1\1\0\0", 6))}};
}

TEST_F(NpzSets, Heterophilous) {
  const DatasetRef dataset = open(heterophilous());
  EXPECT_EQ(edges(*dataset->graph), (Edges{{0, 1}, {1, 0}, {1, 2}, {2, 1}}));
  EXPECT_EQ(dataset->feature_dim(), 2);
  ASSERT_EQ(dataset->splits.size(), 2u);
  EXPECT_EQ(ids(dataset->split("published", 1), SplitPart::kTrain), (std::vector<int64_t>{2}));
  EXPECT_EQ(ids(dataset->split("published", 1), SplitPart::kTest), (std::vector<int64_t>{0}));
  EXPECT_TRUE(open(without(without(heterophilous(), "t"), "val"))->splits.empty());
  for (const char* part : {"train", "val", "test"})
    expect_refused(without(heterophilous(), part),
                   {"tiny.npz: holds node_features", "expected train, val (valid, validation)"});
}

// Two arrays of one part may differ, and a mask is no list.
TEST_F(NpzSets, SplitsTwiceOrOfTwoKinds) {
  const std::string mask = npy_text("|b1", "(3,)", std::string("\1\0\0", 3)),
                    list = npy_of<int64_t>({0}, "(1,)");
  expect_refused(with(heterophilous(), "train", list),
                 {"the arrays \"train\" and \"train_masks\" are names of one part of a split"});
  expect_refused(with(heterophilous(), "valid_mask", mask), {"\"val_masks\" and \"valid_mask\""});
  const Arrays none = without(without(heterophilous(), "t"), "val");
  expect_refused(with(with(with(none, "train_idx", list), "val_mask", mask), "test_idx", list),
                 {"array \"val_mask\": a mask beside lists of ids"});
}

// Several splits in PyG's form: a column for each, of bools or of 0 and 1.
TEST_F(NpzSets, MasksWithAColumnASplit) {
  const auto expect_splits = [&](const Arrays& arrays) {
    const DatasetRef dataset = open(arrays);
    ASSERT_EQ(dataset->splits.size(), 2u);
    EXPECT_EQ(ids(dataset->split("published", 0), SplitPart::kTrain), (std::vector<int64_t>{0}));
    EXPECT_EQ(ids(dataset->split("published", 0), SplitPart::kTest), (std::vector<int64_t>{2}));
    EXPECT_EQ(ids(dataset->split("published", 1), SplitPart::kTrain), (std::vector<int64_t>{2}));
    EXPECT_EQ(ids(dataset->split("published", 1), SplitPart::kTest), (std::vector<int64_t>{0}));
  };
  Arrays bools = heterophilous(), numbers = heterophilous();
  const std::pair<const char*, std::string> columns[] = {{"train", std::string("\1\0\0\0\0\1", 6)},
                                                         {"val", std::string("\0\0\1\1\0\0", 6)},
                                                         {"test", std::string("\0\1\0\0\1\0", 6)}};
  for (const auto& [part, bytes] : columns) {
    const std::string key = base::text(part, "_masks");
    bools = with(bools, key, npy_text("|b1", "(3, 2)", bytes));
    numbers =
        with(numbers, key, npy_of<float>(std::vector<float>(bytes.begin(), bytes.end()), "(3, 2)"));
  }
  expect_splits(bools);
  expect_splits(numbers);
  expect_refused(with(bools, "val_masks", npy_text("|b1", "(2, 2)", std::string(4, '\0'))),
                 {"val_masks", "bool [2, 2]", "expected bool masks [S, 3], [3, S] or [3]"});
}

// Rows without columns take no bytes, so a file of a few can claim any number of them.
TEST_F(NpzSets, SplitsOverNoNodes) {
  const auto masks = [](const std::string& shape) {
    const std::string none = npy_text("|b1", shape, "");
    return Arrays{{"node_features", npy_text("<f4", "(0, 2)", "")},
                  {"node_labels", npy_text("<i8", "(0,)", "")},
                  {"edges", npy_text("<i8", "(0, 2)", "")},
                  {"train_masks", none},
                  {"val_masks", none},
                  {"test_masks", none}};
  };
  EXPECT_EQ(open(masks("(10000, 0)"))->splits.size(), 10000u);
  expect_refused(masks("(10001, 0)"),
                 {"train_masks", "10001 splits, expected at most 10000 in all"});
  expect_refused(masks("(576460752303423488, 0)"), {"train_masks", "at most 10000"});
}

TEST_F(NpzSets, BadHeterophilous) {
  expect_refused(with(heterophilous(), "node_labels", npy_of<int64_t>({1, 0}, "(2,)")),
                 {"tiny.npz, array \"node_labels\"", "[2]", "3 nodes"});
  expect_refused(with(heterophilous(), "test_masks",
                      npy_text("|b1", "(2, 3)", std::string("\0\0\1\1\1\0", 6))),
                 {"masks 1, node 1", "in validation and in test"});
  expect_refused(with(heterophilous(), "test_masks", npy_text("|b1", "(1, 3)", std::string(3, 0))),
                 {"test_masks", "bool [1, 3]", "of one shape"});
  expect_refused(with(heterophilous(), "train_masks", npy_of<int64_t>({0, 3}, "(2,)")),
                 {"val_masks", "expected a list of node ids"});
  expect_refused(with(heterophilous(), "edges", npy_of<int64_t>({0, 1, 1, 3}, "(2, 2)")),
                 {"array \"edges\", row 1", "node 3"}, Status::kRange);
  expect_refused(with(heterophilous(), "node_features", npy_of<float>({1, 2, 3}, "(3,)")),
                 {"node_features", "[3]"});
  expect_refused(without(heterophilous(), "node_labels"), {"no array \"node_labels\""},
                 Status::kNotFound);
}

TEST_F(NpzSets, OtherArchivesAreUnknown) {
  expect_refused({{"a", npy_of<float>({1}, "(1,)")}}, {"tiny.npz", "expected a data set", "a"});
}

}  // namespace
}  // namespace gnnmg::data
