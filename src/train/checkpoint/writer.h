// Checkpoints while training goes on: the first rank copies what one consists of at the end of a
// step, which is all that training waits for, and a thread of the writer puts it on disk.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "data/fingerprint.h"
#include "train/checkpoint/folder.h"

namespace gnnmg::train {

struct CheckpointConfig {
  std::string folder;        // where the series lies
  int64_t every_steps = 0;   // 0: not by steps
  double every_seconds = 0;  // 0: not by time
  int32_t keep = 3;          // how many of the last, beside the best
  void check() const;        // Error(kInvalidArgument) naming the field
};

struct Job;
struct Position;
struct Training;

class CheckpointWriter {
 public:
  // `data`: the fingerprint of the job's data. `training`: what draw_training_id() has given it.
  // `ended` is called on the writer's thread each time it comes to rest. The job outlives it.
  CheckpointWriter(const Job& job, data::Fingerprint data, std::string training,
                   const CheckpointConfig& config, std::function<void()> ended);
  ~CheckpointWriter();  // writes what was taken first
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  const std::string& folder() const;
  // Never removed to make room for others.
  void protect(std::string name);
  // Error(kMismatch) when the folder has checkpoints of another training; any thread.
  void check_folder();

  enum class Why { kDue, kBest, kEnd };  // kBest: the weights are those of the best validation

  // On the first rank's thread. Whether one is due after so many steps; at an epoch's end, where
  // nothing else was asked for.
  bool due(int64_t total_steps) const;
  bool due_after_epoch() const;
  // Copies position, model, optimiser and best weights of `training`. One that waits to be written
  // gives way to it, unless that is the best: then one that is due comes later, and the last of a
  // training waits. That may take as long as the disk does: ask best_waits() first.
  void take(const Position& position, const Training& training, Why why);

  bool best_waits() const;  // for its turn to be written; any thread
  bool idle() const;        // nothing is left to write; any thread
  bool failed() const;      // any thread
  // Throws the first failure since it was last thrown or forgotten; any thread.
  void throw_failure();
  void forget_failure() noexcept;  // any thread

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// What a checkpoint of `training` consists of, but for the best weights. `files` is empty or of the
// call before, whose memory is then used again.
void copy_files(const Job& job, const data::Fingerprint& data, const Position& position,
                const Training& training, CheckpointFiles& files);
// The best weights; empty while there are none.
io::StateFile best_weights(const Job& job, const Training& training);

}  // namespace gnnmg::train
