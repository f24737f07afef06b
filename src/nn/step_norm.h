// Batch norm over the rows of a whole step: of several mini-batches, and of those of other ranks.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "nn/model.h"

namespace gnnmg::nn {

struct StepNormParameters {
  at::Tensor weight, bias;  // [width]
  at::Tensor shift;  // [width], the same on all ranks: rows are summed up as distances from it
  double epsilon = 1e-5;
};

struct StepNorm {
  double count = 0;              // rows of all ranks; below 2 that is all there is
  std::vector<at::Tensor> rows;  // as given, normalized
  at::Tensor mean, variance;     // of all ranks' rows; the variance is that of a sample
};

// Collective, and so is the backward pass through the result, where there is one. Rows may be
// missing on some ranks, also all of them.
StepNorm step_norm(const std::vector<at::Tensor>& rows, const StepNormParameters& parameters,
                   const SumOverRanks& sum);

// Collective: takes part in the backward pass of one step_norm() without having one, whose rows
// would lie on `device`.
void absent_step_norm(int64_t width, at::Device device, const SumOverRanks& sum);

}  // namespace gnnmg::nn
