// The figure by which validations are compared.
#pragma once

#include "data/dataset.h"
#include "nn/metrics.h"
#include "train/config.h"

namespace gnnmg::train {

const char* metric_name(Metric metric) noexcept;
double metric_value(Metric metric, const nn::Metrics& metrics) noexcept;
// Whether a value counts when epochs are compared. A loss or an error that is NaN counts, as a bad
// one; an accuracy of no labels or an area without one of the classes is undefined and does not.
bool metric_tells(Metric metric, double value) noexcept;
// Strictly better; NaN is never better, and anything is better than NaN.
bool metric_better(Metric metric, double value, double than) noexcept;
// What `best_by` means for a task: a regression has no accuracy and is judged by its loss instead.
// Error(kInvalidArgument) when the task has no such figure.
Metric metric_for(Metric best_by, data::Task task, int64_t num_classes);

}  // namespace gnnmg::train
