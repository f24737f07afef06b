// The one exchange of a step: gradients, batch statistics and a few numbers in a single flat
// all-reduce.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "comm/collectives.h"
#include "nn/model.h"

namespace gnnmg::train {

// What a rank adds to a step, and after the exchange what all ranks have added.
struct StepSums {
  double loss = 0, weight = 0;  // sums over the seeds; their quotient is the step's loss
  int64_t correct = 0, labelled = 0, seeds = 0;
  bool stop = false;          // a rank was asked to stop
  bool bad = false;           // a rank's loss was not finite
  bool write_failed = false;  // a checkpoint could not be written
};

// One rank's. Buffers are kept from step to step.
class StepExchange {
 public:
  StepExchange(nn::Model& model, comm::Collectives& comm, int64_t batches_per_step);

  // Notes the statistics of the mini-batch that stands at `place` of the step.
  void set_statistics(int64_t place, const at::Tensor& row);
  // Sums the flat gradients, `sums` and the statistics over all ranks. Clears the statistics noted.
  void reduce(StepSums& sums, const comm::Wait& wait);
  int64_t batches_per_step() const { return batches_per_step_; }
  // After reduce: the statistics of the step's mini-batches in plan order.
  const std::vector<at::Tensor>& statistics() const { return rows_; }

 private:
  nn::Model& model_;
  comm::Collectives& comm_;
  int64_t batches_per_step_, gradients_, width_, places_;
  at::Tensor buffer_;  // gradients | places x (present, statistics) | numbers
  at::Tensor table_;   // [places, 1 + width], a view of buffer_
  at::Tensor numbers_;
  std::vector<at::Tensor> rows_;
};

}  // namespace gnnmg::train
