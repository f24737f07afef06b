#include "comm/gloo/groups.h"

#include "base/signals.h"

namespace gnnmg::comm::gloo {

// All ends are gone, so nothing is in flight unless the communicator has ended, and then the groups
// are gone too: dropping takes milliseconds.
Groups::~Groups() {
  if (state->ended()) drop();
  const base::SignalGuard guard;
  groups_.clear();
}

void Groups::set(int rank, GroupPtr group) {
  std::lock_guard lock(mutex_);
  if (state->ended())
    reap(std::move(group));
  else
    groups_[rank] = std::move(group);
}

std::vector<WorkPtr> Groups::start(int rank, uint64_t operation,
                                   const std::function<std::vector<WorkPtr>(TaggedGroup&)>& body) {
  // LibTorch notes every new operation in a table of the whole process, and adds the entry of a new
  // group without a lock (FlightRecorder, 2.11).
  static std::mutex starting;
  std::lock_guard lock(mutex_);
  if (state->ended()) state->throw_cause(rank, operation);
  std::lock_guard one_by_one(starting);
  return body(*groups_[rank]);
}

void Groups::end(Cause cause) noexcept {
  state->end(std::move(cause));
  drop();
}

void Groups::end_elsewhere(Cause cause) noexcept {
  state->end_elsewhere(std::move(cause));
  drop();
}

void Groups::drop() noexcept {
  std::lock_guard lock(mutex_);
  for (GroupPtr& group : groups_) reap(std::move(group));
}

}  // namespace gnnmg::comm::gloo
