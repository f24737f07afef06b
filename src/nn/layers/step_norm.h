// Batch norm over the rows of a whole step: of several mini-batches on all ranks.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace gnnmg::nn {

// Collective: sums a flat f64 tensor over all ranks, in place, on the model's device. For a model
// on a device the tensor is made in its queue, and later work in that queue finds the sum. In
// backward passes it is called on LibTorch's thread.
using SumOverRanks = std::function<void(at::Tensor&)>;

struct StepNormParameters {
  at::Tensor weight, bias;  // [width]
  at::Tensor shift;         // [width], the same on all ranks: sums are of distances from it
  double epsilon = 1e-5;
};

struct StepNorm {
  double count = 0;              // rows of all ranks; below 2 the other members are undefined
  std::vector<at::Tensor> rows;  // the given rows, normalized
  at::Tensor mean, variance;     // mean and sample variance of all ranks' rows
};

// Collective, as is the backward pass through the result, if any. Some or all ranks may have no
// rows.
StepNorm step_norm(const std::vector<at::Tensor>& rows, const StepNormParameters& parameters,
                   const SumOverRanks& sum);

// Collective: takes part in the backward pass of one step_norm() without rows of its own, on
// `device`.
void absent_step_norm(int64_t width, at::Device device, const SumOverRanks& sum);

}  // namespace gnnmg::nn
