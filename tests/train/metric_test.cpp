// Which validation is better, and which figure a task has.
#include "train/metric.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"

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
                      .mae = 9};
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

}  // namespace
}  // namespace gnnmg::train
