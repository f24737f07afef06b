// The figure by which validations are compared.
#pragma once

#include <span>
#include <string>

#include "data/dataset.h"
#include "nn/metrics.h"
#include "train/config.h"

namespace gnnmg::train {

const char* metric_name(Metric metric) noexcept;
double metric_value(Metric metric, const nn::Metrics& metrics) noexcept;
// Reason why the labels of these ids define no such metric for any model, such as "have no label
// that counts"; empty if they do. ROC-AUC and average precision need a target with both classes. If
// this is empty, a NaN metric is the fault of the model's results.
std::string metric_undefined(Metric metric, const data::Dataset& dataset,
                             std::span<const int64_t> ids);
// Strictly better; NaN is never better, and anything is better than NaN.
bool metric_better(Metric metric, double value, double than) noexcept;
// The meaning of `metric` for a task: a regression has no accuracy, and its loss decides instead.
// Error(kInvalidArgument) when the task has no such figure.
Metric metric_for(Metric metric, data::Task task, int64_t num_classes);

}  // namespace gnnmg::train
