// The loss of a mini-batch from the host's function, on a thread of the host's.
#pragma once

#include <cstdint>
#include <span>

#include "nn/loss.h"
#include "train/ranks/rank_comm.h"

namespace gnnmg::train {

// Waits until a host thread has called job.loss_function. The sum has the function's value and its
// gradient; Error(kCallback) for an answer that is not 0, or a weight that is no weight.
nn::LossSum loss_of_host(const Job& job, RankComm& comm, std::span<const int64_t> seeds,
                         const at::Tensor& logits, const nn::Targets& targets);

}  // namespace gnnmg::train
