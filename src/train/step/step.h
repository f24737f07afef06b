// A training step of one rank: the interface of all kinds of step, and the choice of the kind.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "train/checkpoint/rank_checkpoints.h"
#include "train/ranks/loaders.h"
#include "train/ranks/progress.h"
#include "train/ranks/replica.h"
#include "train/step/batch_feed.h"
#include "train/step/exchange.h"

namespace gnnmg::train {

// The parts of a rank that its steps use. They outlive the steps.
struct StepContext {
  const Job& job;
  Training& training;
  RankComm& comm;
  Replica& replica;
  RankLoaders& loaders;
  BatchFeed& feed;
  RankCheckpoints& checkpoints;
  RankProgress& progress;
  const Position& position;  // the rank's
};

// The next step to start.
struct StepPlan {
  int64_t epoch = 0, step = 0;
  int64_t num_batches = 0;  // mini-batches of the epoch on all ranks
  double learning_rate = 0;
};

// A step that all ranks have made together.
struct StepResult {
  StepSums sums;  // sums of all ranks; `bad`: the loss or its gradient was not finite
  StepSeconds times;
  int64_t bus_bytes = 0;  // copied to the device for mini-batches
  double learning_rate = 0;
};

// One kind of step. A step is run(), then apply() in the commit. If a kind has several steps in
// flight, run() returns the result of an earlier one. All functions are called on the rank's
// thread; those marked as collective, by all ranks.
class Step {
 public:
  virtual ~Step() = default;

  // Collective, before the first step of a command: takes the memory of the steps. Returns the kind
  // of step to use in place of this one, or null.
  virtual std::unique_ptr<Step> prepare() { return nullptr; }
  // Makes the step after those in flight the next one, where it is not yet. Returns the size of its
  // epoch.
  virtual EpochSize seek(const Position& position) = 0;

  // Collective: starts the step. Returns the result of the oldest in flight, if it is due.
  virtual std::optional<StepResult> run(const StepPlan& plan) = 0;
  // Collective: the result of the oldest step in flight; nothing if there is none.
  virtual std::optional<StepResult> finish() { return std::nullopt; }
  virtual int64_t in_flight() const { return 0; }
  // In the commit of the step: changes model and optimizer, and completes the seconds.
  virtual void apply(StepResult& result) = 0;

  // In a commit: the weights of the last good step come back. Steps in flight are dropped.
  virtual void restore_good() = 0;
  // Runs `look` while model and optimizer hold the last commit.
  virtual void look_back(const std::function<void()>& look) { look(); }
  // Drops the steps in flight: model and optimizer hold the last commit.
  virtual void roll_back() {}
  // After a failure of any rank: ends the exchanges in flight, which wait for other ranks.
  virtual void call_off() {}
  // The host has changed the weights.
  virtual void follow_weights() {}
  // Training is over: logs figures of its steps.
  virtual void log_summary() const {}

 protected:
  explicit Step(const StepContext& context) : c_(context) {}
  bool by_rank() const { return c_.job.config.loss_average == LossAverage::kRanks; }
  bool stop_requested() const { return c_.training.stop.load(); }

  const StepContext c_;
};

class EagerStep;
// The kind of steps that mini-batches of a loader are trained with one after another. Takes its
// memory at once.
std::unique_ptr<EagerStep> make_eager_step(const StepContext& context);
// Collective: the kind of steps of this rank, captured if the job and the device allow it, else
// `eager`. Error(kUnsupported) if steps have to be captured and cannot be.
std::unique_ptr<Step> choose_step(const StepContext& context, std::unique_ptr<EagerStep> eager);

}  // namespace gnnmg::train
