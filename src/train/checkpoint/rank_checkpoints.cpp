#include "train/checkpoint/rank_checkpoints.h"

#include "train/meet_while.h"

namespace gnnmg::train {

void RankCheckpoints::wait_while(const std::function<bool()>& busy) {
  comm_.note(comm::Phase::kSaving);
  meet_while(comm_.get(), comm_.waits(), comm_.cancel(), comm_.slice(),
             writes() ? busy : std::function<bool()>());
}

void RankCheckpoints::make_room() {
  wait_while([this] { return training_.checkpoints->best_waits(); });
}

void RankCheckpoints::flush() {
  wait_while([this] { return !training_.checkpoints->idle(); });
  if (comm_.agree(failed())) throw_failure();
}

void RankCheckpoints::throw_failure() {
  // Rank 0 speaks for all: its failure ends the barrier.
  if (comm_.rank() != 0) comm_.get().barrier(comm_.wait());
  training_.checkpoints->throw_failure();
}

}  // namespace gnnmg::train
