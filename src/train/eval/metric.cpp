#include "train/eval/metric.h"

#include <cmath>

#include "base/error.h"
#include "data/weights.h"

namespace gnnmg::train {
namespace {

// The lower, the better.
bool is_error(Metric metric) noexcept {
  return metric == Metric::kLoss || metric == Metric::kRmse || metric == Metric::kMae;
}

// Compares the scores of one class with those of the other.
bool ranks_scores(Metric metric) noexcept {
  return metric == Metric::kRocAuc || metric == Metric::kAveragePrecision;
}

// True if a target has labels of both of its classes. Missing labels do not count.
bool has_both_classes(const data::Dataset& dataset, std::span<const int64_t> ids) {
  const base::Tensor& labels = *dataset.labels();
  const bool classes = dataset.task == data::Task::kMulticlass;
  const int64_t width = classes ? 1 : labels.shape().row_elements();
  const auto label = [&](int64_t at) -> double {
    if (!classes) return labels.as<const float>()[at];
    const int64_t value = labels.as<const int64_t>()[at];
    return value < 0 ? std::nan("") : static_cast<double>(value);
  };
  for (int64_t t = 0; t < width; ++t) {
    bool low = false, high = false;
    for (const int64_t id : ids) {
      const double value = label(id * width + t);
      low |= value <= 0.5;
      high |= value > 0.5;
    }
    if (low && high) return true;
  }
  return false;
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

std::string metric_undefined(Metric metric, const data::Dataset& dataset,
                             std::span<const int64_t> ids) {
  if (data::count_labeled(dataset, ids) == 0) return "have no label that counts";
  if (!ranks_scores(metric) || has_both_classes(dataset, ids)) return {};
  return base::text(dataset.task == data::Task::kBinary && dataset.num_classes > 1
                        ? "have no target with both classes"
                        : "have labels of one class alone",
                    ", which leaves best_by ", metric_name(metric),
                    " undefined; choose another best_by, such as loss, or another split");
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
