#include "data/weights.h"

#include <cmath>
#include <vector>

#include "base/error.h"

namespace gnnmg::data {
namespace {

using base::DType;
using base::fail;
using base::Status;
using base::Tensor;

// Products of two stay in reach of f32, and so do the sums over a step.
constexpr double kLeast = 1e-12, kMost = 1e12;

void check(std::span<const double> weights, const char* name) {
  bool counts = weights.empty();
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] != 0 && !(weights[i] >= kLeast && weights[i] <= kMost))
      fail(Status::kInvalidArgument, name, "[", i, "] is ", weights[i], ", expected 0, or ", kLeast,
           " to ", kMost);
    counts = counts || weights[i] > 0;
  }
  if (!counts) fail(Status::kInvalidArgument, name, " are all 0, expected one above 0");
}

Tensor copy_of(std::span<const double> weights) {
  const Tensor tensor = Tensor::empty(DType::kF64, {static_cast<int64_t>(weights.size())});
  std::copy(weights.begin(), weights.end(), tensor.as<double>().begin());
  return tensor;
}

void need_labels(const Dataset& dataset, const char* name) {
  if (dataset.task == Task::kNone)
    fail(Status::kInvalidArgument, name, ": ", dataset.title(),
         " has no labels that they could weigh");
}

}  // namespace

Tensor make_class_weights(const Dataset& dataset, std::span<const double> weights) {
  need_labels(dataset, "class weights");
  if (dataset.task == Task::kRegression)
    fail(Status::kInvalidArgument, "class weights: regression has no classes");
  if (static_cast<int64_t>(weights.size()) != dataset.num_classes)
    fail(Status::kInvalidArgument, "class weights: found ", weights.size(), ", expected ",
         dataset.num_classes, dataset.task == Task::kBinary ? ", one a target" : ", one a class");
  check(weights, "class weights");
  return copy_of(weights);
}

Tensor make_sample_weights(const Dataset& dataset, const base::TensorView& weights) {
  need_labels(dataset, "sample weights");
  const int64_t rows = dataset.num_samples();
  const base::Shape& shape = weights.shape;
  const bool fits = shape.num_dims >= 1 && shape[0] == rows && shape.num_elements() == rows;
  if ((weights.dtype != DType::kF32 && weights.dtype != DType::kF64) || !fits)
    fail(Status::kInvalidArgument, "sample weights are ", base::dtype_name(weights.dtype), " ",
         shape.to_string(), ", expected f32 or f64 [", rows, "], one a ", dataset.sample_name());
  std::vector<double> values(rows);
  if (weights.dtype == DType::kF64) {
    const auto from = weights.as<const double>();
    values.assign(from.begin(), from.end());
  } else {
    const auto from = weights.as<const float>();
    values.assign(from.begin(), from.end());
  }
  check(values, "sample weights");
  return copy_of(values);
}

Tensor balanced_class_weights(const Dataset& dataset, std::span<const int64_t> ids) {
  if (dataset.task != Task::kMulticlass)
    fail(Status::kInvalidArgument, "balanced class weights: ", dataset.title(),
         " has no labels that are classes");
  const Tensor& labels = *dataset.labels();
  const auto label = labels.as<const int64_t>();
  std::vector<int64_t> counts(dataset.num_classes, 0);
  int64_t labeled = 0;
  for (const int64_t id : ids) {
    if (label[id] < 0) continue;
    ++counts[label[id]];
    ++labeled;
  }
  std::vector<double> weights(counts.size());
  for (size_t c = 0; c < counts.size(); ++c) {
    if (counts[c] == 0)
      fail(Status::kInvalidArgument, "balanced class weights: no training ", dataset.sample_name(),
           " is of class ", c);
    weights[c] = static_cast<double>(labeled) /
                 (static_cast<double>(counts.size()) * static_cast<double>(counts[c]));
  }
  return copy_of(weights);
}

int64_t count_labeled(const Dataset& dataset, std::span<const int64_t> ids) {
  const Tensor& labels = *dataset.labels();
  const auto weight = [](const Tensor& weights, int64_t i) {
    return weights.defined() ? weights.as<const double>()[i] : 1;
  };
  int64_t count = 0;
  if (dataset.task == Task::kMulticlass) {
    const auto label = labels.as<const int64_t>();
    for (const int64_t id : ids)
      count += label[id] >= 0 && weight(dataset.class_weights, label[id]) > 0 &&
               weight(dataset.sample_weights, id) > 0;
    return count;
  }
  const auto values = labels.as<const float>();
  const int64_t width = labels.shape().row_elements();
  for (const int64_t id : ids) {
    bool any = false;
    for (int64_t t = 0; t < width; ++t)
      any = any || (!std::isnan(values[id * width + t]) && weight(dataset.class_weights, t) > 0);
    count += any && weight(dataset.sample_weights, id) > 0;
  }
  return count;
}

}  // namespace gnnmg::data
