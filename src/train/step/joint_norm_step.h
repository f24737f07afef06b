// Steps with synchronized batch norms, which take their statistics from the whole step: the passes
// of all mini-batches run together, and the ranks meet at each batch norm.
#pragma once

#include <vector>

#include "device/table.h"
#include "train/step/eager_step.h"
#include "train/step/relay.h"

namespace gnnmg::train {

class JointNormStep final : public EagerStep {
 public:
  using EagerStep::EagerStep;
  static bool wanted(const Job& job) {
    return job.config.sync_batch_norm && job.model->batch_statistics_width() > 0;
  }

 private:
  void pass(const loader::BatchRef& batch, int64_t place, StepSeconds& times) override;
  void finish_passes(StepSeconds& times) override;
  void take_rank_mean() override {}  // run() takes it before the backward pass
  void fold_statistics() override;
  // Collective: forward and backward pass. Returns the seconds of the exchanges within.
  double run_together();
  void backward(at::Tensor total, const nn::SumOverRanks& sum, Relay& relay);

  std::vector<loader::BatchRef> batches_;
  at::Tensor statistics_;  // the same on all ranks
};

// The turn of a training with synchronized batch norms on its GPUs, while it lives. Backward passes
// wait for other ranks in the middle, on LibTorch's threads, of which each GPU has one per process.
// Two such trainings on the same GPUs could hold one thread each and wait for each other until
// their deadlines.
class JointNormsTurn {
 public:
  // Any thread. Error(kBusy) while another training has the turn on one of the devices.
  JointNormsTurn(const device::Table& table, const std::vector<int>& devices);
  ~JointNormsTurn();
  JointNormsTurn(const JointNormsTurn&) = delete;
  JointNormsTurn& operator=(const JointNormsTurn&) = delete;

 private:
  const device::Table& table_;
  const std::vector<int> devices_;
};

}  // namespace gnnmg::train
