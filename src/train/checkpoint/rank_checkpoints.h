// Checkpoints in a training of many ranks: one rank has the writer, and the others wait with it for
// the disk.
#pragma once

#include "train/ranks/rank_comm.h"

namespace gnnmg::train {

// Use it on the rank's thread only.
class RankCheckpoints {
 public:
  using Why = CheckpointWriter::Why;

  RankCheckpoints(Training& training, RankComm& comm) : training_(training), comm_(comm) {}

  // True on the rank with the writer, which alone may call due(), due_after_epoch() and take().
  bool writes() const { return comm_.rank() == 0 && training_.checkpoints; }
  bool due(int64_t total_steps) const { return training_.checkpoints->due(total_steps); }
  bool due_after_epoch() const { return training_.checkpoints->due_after_epoch(); }
  void take(const Position& position, Why why) {
    training_.checkpoints->take(position, training_, why);
  }
  // True on the rank with the writer if a checkpoint could not be written.
  bool failed() const { return writes() && training_.checkpoints->failed(); }

  // Collective: waits until the best checkpoint is being written. Call it before taking the last
  // checkpoint of a training.
  void make_room();
  // Collective: waits until everything taken is on disk; fails on all ranks if it could not be
  // written.
  void flush();
  // Collective: throws the writer's failure. Training may continue afterwards.
  void throw_failure();

 private:
  void wait_while(const std::function<bool()>& busy);

  Training& training_;
  RankComm& comm_;
};

}  // namespace gnnmg::train
