// The loss of a pass and its right answers, for eager and captured passes, on the host or a device.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

#include "train/step/exchange.h"

namespace gnnmg::train {

class RankDevice;

// The sums of mini-batches, in host memory and in a device's.
struct PassSums {
  StepSums host;
  DeviceCounts device;
  void add(const PassSums& other);
};

// The loss of the logits of a mini-batch, from the config's loss or the host's function, added to
// `total` (undefined: zero). `device`: null for the CPU, where a loss that is not finite is left
// out and marks the sums as bad. On a device it is read with the counts, at the end of the step.
PassSums add_loss(const Job& job, RankComm& comm, const RankDevice* device,
                  std::span<const int64_t> seeds, const at::Tensor& logits, at::Tensor& total);

struct PassLoss {
  at::Tensor sum;       // 0-d, differentiable, on the logits' device
  DeviceCounts counts;  // the same and the right answers, without a gradient
};
// The loss for labels in the device's memory; waits for nothing. `labels` as for
// nn::element_losses(). `known`: true where targets are given; undefined for classes. `weights`:
// f64, the shape of the labels, 0 where none is given.
PassLoss loss_on_device(const Job& job, const at::Tensor& logits, const at::Tensor& labels,
                        const at::Tensor& known, const at::Tensor& weights);

}  // namespace gnnmg::train
