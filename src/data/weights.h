// Weights of classes and of nodes or graphs in a loss: checked, so that the weights of a data set
// fit its labels, and class weights from the frequency of each class.
#pragma once

#include <cstdint>
#include <span>

#include "base/tensor.h"
#include "data/dataset.h"

namespace gnnmg::data {

// f64 copies for Dataset's members. Error(kInvalidArgument) where the task takes no such weights,
// the number is another, one is neither 0 nor in [1e-12, 1e12], or all are zero.
base::Tensor make_class_weights(const Dataset& dataset, std::span<const double> weights);
// f32 or f64, [N] or [N, 1] for N nodes or, in a data set of many, graphs.
base::Tensor make_sample_weights(const Dataset& dataset, const base::TensorView& weights);

// Weights of classes: labeled ids / (classes x ids of the class), so that every class counts the
// same over `ids`. Error(kInvalidArgument) naming a class that none of them has.
base::Tensor balanced_class_weights(const Dataset& dataset, std::span<const int64_t> ids);

// The number of ids whose label counts in a loss: by its weight, where there are weights.
int64_t count_labeled(const Dataset& dataset, std::span<const int64_t> ids);

}  // namespace gnnmg::data
