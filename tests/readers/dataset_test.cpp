// Data sets around a graph made in memory: facts that follow from the labels, and refusals.
#include <cmath>

#include "data/fingerprint.h"
#include "data/weights.h"
#include "readers/support.h"

namespace gnnmg::data {
namespace {

using base::Status;

// The small graph with another label tensor.
graph::GraphRef with_labels(base::ThreadPool& pool, graph::Column labels) {
  graph::GraphParts parts = small_graph(pool)->parts();
  parts.node_columns[0].insert_or_assign("y", std::move(labels));
  return graph::Graph::create(std::move(parts));
}

class MakeDataset : public testing::Test {
 protected:
  DatasetRef make(graph::Column labels, bool binary = false, int64_t num_classes = 0) {
    return make_dataset(with_labels(pool_, std::move(labels)), "x", "y", binary, {}, num_classes);
  }
  base::ThreadPool pool_{1};
};

TEST_F(MakeDataset, ClassesFollowFromIntegers) {
  const graph::GraphRef graph = small_graph(pool_);
  const DatasetRef dataset = make_dataset(graph, "x", "y", false, {});
  EXPECT_EQ(dataset->task, Task::kMulticlass);
  EXPECT_EQ(dataset->num_classes, 2);
  EXPECT_EQ(dataset->feature_dim(), 2);
  EXPECT_EQ(dataset->graph, graph) << "nothing to convert, so the graph is shared";
  EXPECT_TRUE(dataset->splits.empty());

  const DatasetRef narrow = make(tensor<int32_t>({4, -1, 0, 2}, {4, 1}));
  EXPECT_EQ(narrow->num_classes, 5);
  EXPECT_EQ(values<int64_t>(dense(*narrow, "y")), (std::vector<int64_t>{4, -1, 0, 2}));
  EXPECT_EQ(dense(*narrow, "y").shape(), base::Shape({4}));
  EXPECT_EQ(make(tensor<uint8_t>({4, 1, 0, 2}, {4}))->num_classes, 5);
  EXPECT_EQ(make(tensor<int64_t>({0, 0, 0, 0}, {4}), false, 7)->num_classes, 7);
}

TEST_F(MakeDataset, FloatsAreRegressionAndBinaryIsAsked) {
  const DatasetRef numbers = make(tensor<float>({0.5f, 1, NAN, -3}, {4}));
  EXPECT_EQ(numbers->task, Task::kRegression);
  EXPECT_EQ(numbers->num_classes, 1);
  EXPECT_EQ(dense(*numbers, "y").shape(), base::Shape({4, 1}));

  const DatasetRef binary = make(tensor<double>({0, 1, NAN, 0, 1, 1, 0, 0}, {4, 2}), true);
  EXPECT_EQ(binary->task, Task::kBinary);
  EXPECT_EQ(binary->num_classes, 2);
  EXPECT_EQ(dense(*binary, "y").as<const float>()[1], 1.0f);
  EXPECT_TRUE(std::isnan(dense(*binary, "y").as<const float>()[2]));

  const DatasetRef integers = make(tensor<int64_t>({0, 1, -1, 0}, {4}), true);
  EXPECT_TRUE(std::isnan(dense(*integers, "y").as<const float>()[2])) << "-1 is none";
}

TEST_F(MakeDataset, TargetsOfDoublePrecisionAreRounded) {
  const DatasetRef dataset = make(tensor<double>({0.1, 1e-60, NAN, -16777217}, {4}));
  const std::vector<float> found = values<float>(dense(*dataset, "y"));
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0], 0.1f);
  EXPECT_EQ(found[1], 0.0f);
  EXPECT_TRUE(std::isnan(found[2]));
  EXPECT_EQ(found[3], -16777216.0f);
}

TEST_F(MakeDataset, ClassWeightsFitTheClasses) {
  const DatasetRef dataset = make(tensor<int64_t>({2, 0, -1, 0}, {4}));
  const auto of = [](const DatasetRef& set, std::vector<double> weights) {
    return values<double>(make_class_weights(*set, weights));
  };
  EXPECT_EQ(of(dataset, {0.5, 0, 2}), (std::vector<double>{0.5, 0, 2}));
  const auto refused = [&](const std::vector<std::string>& parts, const DatasetRef& set,
                           const std::vector<double>& weights) {
    expect_error(Status::kInvalidArgument, parts, [&] { of(set, weights); });
  };
  refused({"class weights: found 2, expected 3, one a class"}, dataset, {1, 1});
  refused({"class weights[1] is -1, expected 0, or 1e-12 to 1e+12"}, dataset, {1, -1, 1});
  refused({"class weights[2] is inf"}, dataset, {1, 1, INFINITY});
  refused({"class weights[0] is nan"}, dataset, {NAN, 1, 1});
  refused({"class weights[1] is 1e-13"}, dataset, {1, 1e-13, 1});
  refused({"class weights[1] is 2e+12"}, dataset, {1, 2e12, 1});
  refused({"class weights are all 0"}, dataset, {0, 0, 0});
  refused({"regression has no classes"}, make(tensor<float>({1, 2, 3, 4}, {4})), {1});
  refused({"no labels"}, make_dataset(small_graph(pool_), "x", "", false, {}), {1});
  const DatasetRef binary = make(tensor<double>({0, 1, NAN, 0, 1, 1, 0, 0}, {4, 2}), true);
  EXPECT_EQ(of(binary, {3, 1}), (std::vector<double>{3, 1}));
  refused({"found 3, expected 2, one a target"}, binary, {1, 1, 1});
}

TEST_F(MakeDataset, BalancedWeightsCountEveryClassTheSame) {
  const DatasetRef dataset = make(tensor<int64_t>({1, 0, -1, 0}, {4}));
  const std::vector<int64_t> all{0, 1, 2, 3}, zeros{1, 3};
  EXPECT_EQ(values<double>(balanced_class_weights(*dataset, all)),
            (std::vector<double>{3 / 4.0, 3 / 2.0}));
  expect_error(Status::kInvalidArgument, {"no training node is of class 1"},
               [&] { balanced_class_weights(*dataset, zeros); });
  const DatasetRef numbers = make(tensor<float>({1, 2, 3, 4}, {4}));
  expect_error(Status::kInvalidArgument, {"no labels that are classes"},
               [&] { balanced_class_weights(*numbers, all); });
}

TEST_F(MakeDataset, LabelsCountByTheirWeights) {
  Dataset classes = *make(tensor<int64_t>({1, 0, -1, 0}, {4}));
  const std::vector<int64_t> all{0, 1, 2, 3};
  const auto count = [&](const Dataset& dataset) { return count_labeled(dataset, all); };
  EXPECT_EQ(count(classes), 3);
  classes.class_weights = tensor<double>({1, 0}, {2});
  EXPECT_EQ(count(classes), 2);
  classes.sample_weights = tensor<double>({1, 0, 1, 2}, {4});
  EXPECT_EQ(count(classes), 1);
  classes.class_weights = {};
  EXPECT_EQ(count(classes), 2);
  EXPECT_EQ(count_labeled(classes, std::vector<int64_t>{2}), 0);

  Dataset binary = *make(tensor<double>({0, NAN, NAN, 1, NAN, NAN, 1, 1}, {4, 2}), true);
  EXPECT_EQ(count(binary), 3);
  binary.class_weights = tensor<double>({1, 0}, {2});
  EXPECT_EQ(count(binary), 2);
  binary.sample_weights = tensor<double>({0, 1, 1, 1}, {4});
  EXPECT_EQ(count(binary), 1);
}

TEST_F(MakeDataset, SampleWeightsAreOneANode) {
  const DatasetRef dataset = make(tensor<float>({1, 2, 3, 4}, {4}));
  const auto of = [&](const base::Tensor& weights) {
    return values<double>(make_sample_weights(*dataset, weights.view()));
  };
  const std::vector<double> expected{0.5, 0, 2, 1};
  EXPECT_EQ(of(tensor<float>({0.5f, 0, 2, 1}, {4})), expected);
  EXPECT_EQ(of(tensor<double>({0.5, 0, 2, 1}, {4, 1})), expected);
  const auto refused = [&](const std::vector<std::string>& parts, const base::Tensor& weights) {
    expect_error(Status::kInvalidArgument, parts, [&] { of(weights); });
  };
  refused({"sample weights are f32 [3], expected f32 or f64 [4]"}, tensor<float>({1, 1, 1}, {3}));
  refused({"sample weights are f32 [4, 2]"}, tensor<float>({1, 1, 1, 1, 1, 1, 1, 1}, {4, 2}));
  refused({"sample weights are f32 [1, 4]"}, tensor<float>({1, 1, 1, 1}, {1, 4}));
  refused({"sample weights are i64 [4]"}, tensor<int64_t>({1, 1, 1, 1}, {4}));
  refused({"sample weights[3] is nan"}, tensor<float>({1, 1, 1, NAN}, {4}));
  refused({"sample weights are all 0"}, tensor<float>({0, 0, 0, 0}, {4}));
  const DatasetRef bare = make_dataset(small_graph(pool_), "x", "", false, {});
  expect_error(Status::kInvalidArgument, {"no labels"},
               [&] { make_sample_weights(*bare, tensor<float>({1, 1, 1, 1}, {4}).view()); });
}

TEST_F(MakeDataset, LabelsOutsideTheirRangeAreRefused) {
  expect_error(Status::kRange, {"\"y\", row 1", "label -2", "-1 (none)"},
               [&] { make(tensor<int64_t>({0, -2, 0, 1}, {4})); });
  expect_error(Status::kRange, {"\"y\", row 3", "label 3", "to 2"},
               [&] { make(tensor<int32_t>({0, 1, 2, 3}, {4}), false, 3); });
  expect_error(Status::kRange, {"row 2", "label 1099511627776"},
               [&] { make(tensor<int64_t>({0, 1, int64_t{1} << 40, 3}, {4})); });
  expect_error(Status::kRange, {"1099511627776 classes for 4 nodes"},
               [&] { make(tensor<int64_t>({0, 1, 2, 3}, {4}), false, int64_t{1} << 40); });
  expect_error(Status::kRange, {"row 3", "label 0.5", "0, 1 or none"},
               [&] { make(tensor<float>({0, 1, 1, 0.5f}, {4}), true); });
  expect_error(Status::kRange, {"row 0", "label 2"},
               [&] { make(tensor<int64_t>({2, 1, 1, 0}, {4}), true); });
  expect_error(Status::kNan, {"row 1", "found inf"},
               [&] { make(tensor<float>({0, INFINITY, 1, 0}, {4})); });
  expect_error(Status::kRange, {"row 1", "1e+39 is beyond the numbers of f32"},
               [&] { make(tensor<double>({0, 1e39, 1, 0}, {4})); });
  expect_error(Status::kRange, {"row 2", "expected 0, 1 or none"},
               [&] { make(tensor<double>({0, 1, 1 - 1e-12, 0}, {4}), true); });
  expect_error(Status::kInvalidArgument, {"-1 classes"},
               [&] { make(tensor<int64_t>({0, 1, 1, 0}, {4}), false, -1); });
}

TEST_F(MakeDataset, TensorsAreLookedUpAndShapesChecked) {
  const graph::GraphRef graph = small_graph(pool_);
  expect_error(Status::kNotFound, {"feature tensor \"z\"", "\"node\""},
               [&] { make_dataset(graph, "z", "", false, {}); });
  expect_error(Status::kNotFound, {"label tensor \"z\""},
               [&] { make_dataset(graph, "", "z", false, {}); });
  expect_error(Status::kInvalidArgument, {"graph", "found none"},
               [&] { make_dataset(nullptr, "", "", false, {}); });
  expect_error(Status::kInvalidArgument, {"node_type 1", "0 to 0"},
               [&] { make_dataset(graph, "", "", false, {}, 0, 1); });
  expect_error(Status::kInvalidArgument, {"[4, 2]", "expected [4]"},
               [&] { make(tensor<int64_t>({0, 0, 0, 0, 0, 0, 0, 0}, {4, 2})); });
  expect_error(Status::kInvalidArgument, {"\"y\" is sparse"}, [&] {
    make(base::CsrMatrix{4, 1, tensor<int64_t>({0, 0, 0, 0, 0}, {5}), tensor<int32_t>({}, {0}),
                         tensor<float>({}, {0})});
  });
  expect_error(Status::kInvalidArgument, {"feature tensor \"y\"", "[4, 1, 2]"}, [&] {
    make_dataset(with_labels(pool_, tensor<float>({0, 0, 0, 0, 0, 0, 0, 0}, {4, 1, 2})), "y", "",
                 false, {});
  });
  const DatasetRef bare = make_dataset(graph, "", "", false, {});
  EXPECT_EQ(bare->task, Task::kNone);
  EXPECT_EQ(bare->feature_dim(), 0);
}

TEST_F(MakeDataset, SplitsAreSortedCheckedAndFound) {
  Split first{.name = "a", .index = 0, .ids = {}};
  first.ids = {tensor<int64_t>({2, 0}, {2}), tensor<int64_t>({1}, {1}), {}};
  Split second{.name = "a", .index = 1, .ids = {}};
  Split third{.name = "b", .index = 0, .ids = {}};
  const graph::GraphRef graph = small_graph(pool_);
  const DatasetRef dataset = make_dataset(graph, "x", "y", false, {first, second, third});
  EXPECT_EQ(ids(dataset->split("", 0), SplitPart::kTrain), (std::vector<int64_t>{0, 2}));
  EXPECT_TRUE(dataset->split("a", 1).part(SplitPart::kTrain).empty()) << "legal until training";
  EXPECT_EQ(dataset->split("b", 0).name, "b");
  expect_error(Status::kNotFound, {"no split \"a\" 2", "a 0 to 1, b 0"},
               [&] { dataset->split("a", 2); });
  expect_error(Status::kNotFound, {"no split \"c\" 0"}, [&] { dataset->split("c", 0); });
  expect_error(Status::kNotFound, {"no splits"},
               [&] { make_dataset(graph, "x", "y", false, {})->split("", 0); });

  first.ids[0] = tensor<int64_t>({4}, {1});
  expect_error(Status::kRange, {"split \"a\" 0, train, position 0", "node 4", "0 to 3"},
               [&] { make_dataset(graph, "x", "y", false, {first}); });
  expect_error(Status::kInvalidArgument, {"split \"b\" 0 is given twice"},
               [&] { make_dataset(graph, "x", "y", false, {third, third}); });
}

// Sets of two edge types that differ in the second alone: in its edges, their columns, or its name.
TEST_F(MakeDataset, FingerprintsLookAtEveryEdgeType) {
  const auto print_of = [&](int64_t last_target, float weight, const std::string& name) {
    graph::GraphParts parts = small_graph(pool_)->parts();
    parts.schema.edge_types.push_back({0, 0, name});
    const base::Tensor sources = tensor<int64_t>({0, 1}, {2});
    const base::Tensor targets = tensor<int64_t>({1, last_target}, {2});
    parts.topology.push_back(graph::csc_from_coo(sources.view(), targets.view(), 4, 4, pool_));
    parts.edge_columns.resize(2);
    parts.edge_columns[1].emplace("weight", tensor<float>({1, weight}, {2}));
    const DatasetRef dataset =
        make_dataset(graph::Graph::create(std::move(parts)), "x", "y", false, {});
    Split split;
    for (base::Tensor& ids : split.ids) ids = tensor<int64_t>({0}, {1});
    return fingerprint(*dataset, split);
  };
  const Fingerprint print = print_of(2, 1, "b");
  EXPECT_EQ(print_of(2, 1, "b"), print);
  EXPECT_NE(print_of(3, 1, "b"), print);
  EXPECT_NE(print_of(2, 5, "b"), print);
  EXPECT_NE(print_of(2, 1, "c"), print);
}

}  // namespace
}  // namespace gnnmg::data
