// Checkpoints during training: the first rank copies all parts of one at the end of a step, which
// is all that training waits for, and a thread of the writer puts them on disk.
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
  std::string folder;        // folder of the series
  int64_t every_steps = 0;   // 0: not by steps
  double every_seconds = 0;  // 0: not by time
  int32_t keep = 3;          // newest checkpoints to keep, besides the best
  void check() const;        // Error(kInvalidArgument) naming the field
};

struct Job;
struct Position;
struct Training;

class CheckpointWriter {
 public:
  // `data`: the fingerprint of the job's data. `training`: its id, of draw_training_id(). `ended`
  // is called on the writer's thread each time nothing is left to write. The job must outlive it.
  CheckpointWriter(const Job& job, data::Fingerprint data, std::string training,
                   const CheckpointConfig& config, std::function<void()> ended);
  ~CheckpointWriter();  // first writes all checkpoints that were taken
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  const std::string& folder() const;
  // Never removed to make room for others.
  void protect(std::string name);
  // Error(kMismatch) when the folder has checkpoints of another training; any thread.
  void check_folder();

  enum class Why { kDue, kBest, kEnd };  // kBest: the weights are those of the best validation

  // True if a checkpoint is due after so many steps; due_after_epoch(): at the end of each epoch,
  // if the config has no interval. On the first rank's thread.
  bool due(int64_t total_steps) const;
  bool due_after_epoch() const;
  // Copies position, model, optimizer and best weights of `training`. The copy replaces a
  // checkpoint that waits to be written, unless that is the best one: then a due checkpoint is
  // taken later, and the last one of a training waits for the disk, which best_waits() tells in
  // advance.
  void take(const Position& position, const Training& training, Why why);

  bool best_waits() const;  // the best one is not being written yet; any thread
  bool idle() const;        // nothing is left to write; any thread
  bool failed() const;      // any thread
  // Throws the first failure since it was last thrown or forgotten; any thread.
  void throw_failure();
  void forget_failure() noexcept;  // any thread

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Copies all parts of a checkpoint of `training` except the best weights. `files` is empty, or the
// result of an earlier call, whose memory is reused.
void copy_files(const Job& job, const data::Fingerprint& data, const Position& position,
                const Training& training, CheckpointFiles& files);
// The best weights; empty while there are none.
io::StateFile best_weights(const Job& job, const Training& training);

}  // namespace gnnmg::train
