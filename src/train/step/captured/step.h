// Captured steps as a kind of step: the decision of all ranks to use them, and the results, which
// are read while the next step runs.
#pragma once

#include "train/step/captured/pipeline.h"
#include "train/step/eager_step.h"

namespace gnnmg::train {

class CapturedStep final : public Step {
 public:
  // `eager`: replaces the captured steps if memory does not suffice for them.
  CapturedStep(const StepContext& context, std::unique_ptr<EagerStep> eager);

  std::unique_ptr<Step> prepare() override;
  EpochSize seek(const Position& position) override;
  // Starts the step, then returns the result of the one before, if there is one in flight.
  std::optional<StepResult> run(const StepPlan& plan) override;
  std::optional<StepResult> finish() override;
  int64_t in_flight() const override { return pipeline_ ? pipeline_->in_flight() : 0; }
  void apply(StepResult& result) override;

  void restore_good() override { pipeline_->restore_good(c_.comm.wait()); }
  void look_back(const std::function<void()>& look) override {
    pipeline_->look_back(look, c_.comm.wait());
  }
  void roll_back() override {
    if (in_flight() > 0) pipeline_->roll_back(c_.comm.wait());
  }
  void call_off() override {
    if (in_flight() > 0) pipeline_->call_off(c_.comm.wait());
  }
  void follow_weights() override { pipeline_->follow_weights(); }
  void log_summary() const override;

 private:
  StepResult read();
  std::unique_ptr<Step> give_up(const std::string& why);
  void empty_caches();
  void log_kind(const std::string& refused) const;
  const RankDevice& device() const { return *c_.replica.device(); }

  std::unique_ptr<EagerStep> eager_;
  std::unique_ptr<CapturedPipeline> pipeline_;  // null once it was given up
  Clock::time_point read_at_;                   // time of the last result
};

}  // namespace gnnmg::train
