#include "train/metric.h"

#include <cmath>

#include "base/error.h"

namespace gnnmg::train {
namespace {

// The lower, the better.
bool is_error(Metric metric) noexcept {
  return metric == Metric::kLoss || metric == Metric::kRmse || metric == Metric::kMae;
}

}  // namespace

const char* metric_name(Metric metric) noexcept {
  switch (metric) {
    case Metric::kAccuracy:
      return "accuracy";
    case Metric::kLoss:
      return "loss";
    case Metric::kRocAuc:
      return "roc_auc";
    case Metric::kF1Macro:
      return "f1_macro";
    case Metric::kF1Micro:
      return "f1_micro";
    case Metric::kAveragePrecision:
      return "average_precision";
    case Metric::kRmse:
      return "rmse";
    case Metric::kMae:
      return "mae";
  }
  return "?";
}

double metric_value(Metric metric, const nn::Metrics& metrics) noexcept {
  switch (metric) {
    case Metric::kAccuracy:
      return metrics.accuracy;
    case Metric::kLoss:
      return metrics.loss;
    case Metric::kRocAuc:
      return metrics.roc_auc;
    case Metric::kF1Macro:
      return metrics.f1_macro;
    case Metric::kF1Micro:
      return metrics.f1_micro;
    case Metric::kAveragePrecision:
      return metrics.average_precision;
    case Metric::kRmse:
      return metrics.rmse;
    case Metric::kMae:
      return metrics.mae;
  }
  return std::nan("");
}

bool metric_tells(Metric metric, double value) noexcept {
  return !std::isnan(value) || is_error(metric);
}

bool metric_better(Metric metric, double value, double than) noexcept {
  if (std::isnan(value)) return false;
  if (std::isnan(than)) return true;
  const bool lower = is_error(metric);
  return lower ? value < than : value > than;
}

Metric metric_for(Metric metric, data::Task task, int64_t num_classes) {
  const bool regression = task == data::Task::kRegression;
  if (regression && metric == Metric::kAccuracy) return Metric::kLoss;
  const bool two_classes =
      task == data::Task::kBinary || (task == data::Task::kMulticlass && num_classes == 2);
  const char* needs = nullptr;
  switch (metric) {
    case Metric::kLoss:
      break;
    case Metric::kAccuracy:
    case Metric::kF1Macro:
    case Metric::kF1Micro:
      if (regression) needs = "classes, but the task is a regression";
      break;
    case Metric::kRocAuc:
    case Metric::kAveragePrecision:
      if (!two_classes) needs = "a task of two classes";
      break;
    case Metric::kRmse:
    case Metric::kMae:
      if (!regression) needs = "a regression";
      break;
  }
  if (needs)
    base::fail(base::Status::kInvalidArgument, "best_by ", metric_name(metric), ": needs ", needs);
  return metric;
}

}  // namespace gnnmg::train
