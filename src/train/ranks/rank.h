// One rank of a training: its life, the commands of the host, and the loop of steps.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "train/checkpoint/rank_checkpoints.h"
#include "train/eval/rank_evaluation.h"
#include "train/ranks/loaders.h"
#include "train/ranks/progress.h"
#include "train/ranks/replica.h"
#include "train/step/step.h"

namespace gnnmg::train {

// Runs on a thread of its own, which calls all functions except cancel(). All of them are
// collective, except call_off(), hand_to_host() and cancel().
class Rank {
 public:
  // Meets the other ranks and takes over model, optimizer and position of the first. `rank`: number
  // in the world. `device`: null for the CPU. The arguments must outlive the object.
  Rank(const Job& job, Training& training, GroupShared& group, int rank, RankDevice* device);

  // Before a command, which the host knows by this name. Processes whose hosts made different calls
  // learn it in their next collective.
  void begin_call(const std::string& name) { comm_.get().set_caller(name); }
  // Before a command: if the host has changed the weights since the last one, all ranks take over
  // those of the first process.
  void follow_host();
  // After a command that failed: ends the work on the device that waits for other ranks. Not for a
  // lost device. False if the device is still busy after `limit`.
  bool call_off(std::chrono::milliseconds limit) noexcept;
  // After a command, also a failed one: the host gets the last commit. Of a lost device it gets
  // nothing.
  void hand_to_host();

  // Trains until all epochs or `max_steps` steps are done, or all ranks agree to stop.
  void train(int64_t max_steps);
  RankEvaluation& evaluation() { return *evaluation_; }

  // Any thread: ends waits for loaders.
  void cancel() noexcept;

 private:
  void begin(GroupShared& group, RankDevice* device, std::unique_ptr<PinnedCopies> copies);
  // Collective: takes over the rate that the host has set since the last call.
  void agree_on_rate();
  double learning_rate(int64_t step) const;
  // Nothing if the epoch has no more steps to start, or the command has none left.
  std::optional<StepPlan> next_step(int64_t& steps_left);
  void commit(StepResult& result);
  // In the commit of a step: takes its weights into the average, where they are due. `updated`: the
  // step has changed the weights.
  void average(bool updated);
  void after_step(const StepResult& result);
  void end_epoch();
  void commit_epoch(EpochReport& report);
  void tell_host(const EpochReport& report);
  void end_training();
  void save(CheckpointWriter::Why why);
  // Changes model, optimizer and position together: completely, or after a cancel not at all.
  void change(const std::function<void()>& body);
  [[noreturn]] void diverge();

  const Job& job_;
  Training& training_;
  Position position_;
  RankComm comm_;
  RankCheckpoints checkpoints_;
  std::unique_ptr<Replica> replica_;
  std::unique_ptr<RankLoaders> loaders_;
  std::unique_ptr<RankProgress> progress_;
  std::unique_ptr<RankEvaluation> evaluation_;
  std::unique_ptr<BatchFeed> feed_;
  std::unique_ptr<Step> step_;  // the kind of this rank's steps
  int64_t num_steps_ = 0;       // steps of the position's epoch
  bool stop_agreed_ = false;
};

}  // namespace gnnmg::train
