// Comparing two validations, and the metric of each task.
#include "train/eval/metric.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "graph/graph.h"

namespace gnnmg::train {
namespace {

TEST(Metric, BetterIsStrict) {
  const double nan = std::nan("");
  EXPECT_TRUE(metric_better(Metric::kAccuracy, 0.8, 0.7));
  EXPECT_FALSE(metric_better(Metric::kAccuracy, 0.7, 0.7));
  EXPECT_FALSE(metric_better(Metric::kAccuracy, 0.6, 0.7));
  for (Metric metric : {Metric::kLoss, Metric::kRmse, Metric::kMae}) {
    EXPECT_TRUE(metric_better(metric, 0.6, 0.7));
    EXPECT_FALSE(metric_better(metric, 0.7, 0.7));
    EXPECT_FALSE(metric_better(metric, 0.8, 0.7));
  }
  EXPECT_TRUE(metric_better(Metric::kRocAuc, 0.1, nan));
  EXPECT_FALSE(metric_better(Metric::kRocAuc, nan, 0.1));
  EXPECT_FALSE(metric_better(Metric::kRocAuc, nan, nan));
}

TEST(Metric, Value) {
  const nn::Metrics m{.count = 1,
                      .correct = 1,
                      .loss = 2,
                      .accuracy = 3,
                      .f1_micro = 4,
                      .f1_macro = 5,
                      .roc_auc = 6,
                      .average_precision = 7,
                      .rmse = 8,
                      .mae = 9,
                      .top_k_accuracy = 10,
                      .confusion = {}};
  EXPECT_EQ(metric_value(Metric::kLoss, m), 2);
  EXPECT_EQ(metric_value(Metric::kAccuracy, m), 3);
  EXPECT_EQ(metric_value(Metric::kF1Micro, m), 4);
  EXPECT_EQ(metric_value(Metric::kF1Macro, m), 5);
  EXPECT_EQ(metric_value(Metric::kRocAuc, m), 6);
  EXPECT_EQ(metric_value(Metric::kAveragePrecision, m), 7);
  EXPECT_EQ(metric_value(Metric::kRmse, m), 8);
  EXPECT_EQ(metric_value(Metric::kMae, m), 9);
}

TEST(Metric, FitsTheTask) {
  using data::Task;
  const auto refusal = [](Metric metric, Task task, int64_t classes) -> std::string {
    try {
      metric_for(metric, task, classes);
    } catch (const base::Error& error) {
      EXPECT_EQ(error.status(), base::Status::kInvalidArgument);
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(metric_for(Metric::kAccuracy, Task::kRegression, 1), Metric::kLoss);
  EXPECT_EQ(metric_for(Metric::kAccuracy, Task::kMulticlass, 7), Metric::kAccuracy);
  EXPECT_EQ(refusal(Metric::kRocAuc, Task::kMulticlass, 2), "accepted");
  EXPECT_EQ(refusal(Metric::kRocAuc, Task::kBinary, 5), "accepted");
  EXPECT_EQ(refusal(Metric::kRocAuc, Task::kMulticlass, 7),
            "best_by roc_auc: needs a task of two classes");
  EXPECT_EQ(refusal(Metric::kF1Macro, Task::kRegression, 1),
            "best_by f1_macro: needs classes, but the task is a regression");
  EXPECT_EQ(refusal(Metric::kMae, Task::kMulticlass, 7), "best_by mae: needs a regression");
}

// One column of labels a target; classes where there is one of integers.
data::DatasetRef labeled(std::vector<float> values, int64_t width) {
  const auto rows = static_cast<int64_t>(values.size()) / width;
  base::Tensor labels = base::Tensor::empty(base::DType::kF32, {rows, width});
  std::ranges::copy(values, labels.as<float>().begin());
  graph::GraphParts parts;
  parts.num_nodes = {rows};
  parts.topology.resize(1);
  parts.topology[0].num_sources = parts.topology[0].num_targets = rows;
  parts.topology[0].indptr = base::Tensor::zeros(base::DType::kI64, {rows + 1});
  parts.topology[0].indices = base::Tensor::empty(base::DType::kI32, {0});
  parts.node_columns = {{{"y", labels}}};
  parts.edge_columns.resize(1);
  return data::make_dataset(graph::Graph::create(std::move(parts)), "", "y", true, {}, width);
}

TEST(Metric, IsUndefinedByLabels) {
  const float none = std::nanf("");
  const auto why = [](const data::DatasetRef& data, Metric metric, std::vector<int64_t> ids) {
    return metric_undefined(metric, *data, ids);
  };
  const data::DatasetRef one = labeled({1, 1, 0, none}, 1),
                         two = labeled({1, 0, 1, none, 1, 1, none, 0}, 2);
  for (const Metric metric : {Metric::kRocAuc, Metric::kAveragePrecision}) {
    EXPECT_EQ(why(one, metric, {0, 2}), "");
    EXPECT_EQ(why(one, metric, {0, 1, 3}).find("have labels of one class alone"), 0u);
    EXPECT_EQ(why(one, metric, {2}).find("have labels of one class alone"), 0u);
    EXPECT_EQ(why(one, metric, {3}), "have no label that counts");
    EXPECT_EQ(why(one, metric, {}), "have no label that counts");
    EXPECT_EQ(why(two, metric, {0, 1, 2}), "") << "the second target has both";
    EXPECT_EQ(why(two, metric, {0, 1}).find("have no target with both classes"), 0u);
    EXPECT_EQ(why(two, metric, {1, 3}).find("have no target with both classes"), 0u)
        << "classes of two targets are not those of one";
  }
  for (const Metric metric :
       {Metric::kAccuracy, Metric::kF1Macro, Metric::kF1Micro, Metric::kLoss}) {
    EXPECT_EQ(why(one, metric, {0, 1}), "") << metric_name(metric);
    EXPECT_EQ(why(one, metric, {3}), "have no label that counts") << metric_name(metric);
  }
}

}  // namespace
}  // namespace gnnmg::train
