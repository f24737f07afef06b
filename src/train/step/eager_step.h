// Eager steps: forward and backward pass of one mini-batch of the loader after another, the
// exchange with the other ranks, the update.
#pragma once

#include "train/step/loss.h"
#include "train/step/step.h"

namespace gnnmg::train {

class EagerStep : public Step {
 public:
  // Takes the memory of the exchange.
  explicit EagerStep(const StepContext& context);

  // On a device whose steps cannot be captured: logs why, and measures the waits of its queue. Call
  // it before the first step. `why`: empty if it is another rank's reason. Error(kUnsupported), or
  // kAborted for another rank's, if steps have to be captured.
  void replace_captured(std::string why);

  EpochSize seek(const Position& position) override { return c_.feed.seek(position); }
  std::optional<StepResult> run(const StepPlan& plan) override;
  void apply(StepResult& result) override;
  void restore_good() override { c_.replica.restore_good(); }

 protected:
  // Trains on a mini-batch, number `place` of the step.
  virtual void pass(const loader::BatchRef& batch, int64_t place, StepSeconds& times);
  // After the step's last mini-batch.
  virtual void finish_passes(StepSeconds&) {}
  // Before the exchange: gradients of the loss's sum become those of the rank's mean, if the loss
  // is the mean of the ranks' means.
  virtual void take_rank_mean();
  // After the exchange: updates the running statistics of batch norms.
  virtual void fold_statistics();

  PassSums sums_;  // sums of the step so far
  const std::unique_ptr<StepExchange> exchange_;

 private:
  void warn_of_lone_row(const StepPlan& plan);
  void exchange(StepResult& result);
  void scale_and_clip(StepResult& result);

  bool has_run_ = false;  // one pass
  Clock::time_point began_, reduced_;
};

}  // namespace gnnmg::train
