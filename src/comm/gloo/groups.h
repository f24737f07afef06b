// The process groups of one communicator, one a rank, and their way out. They are held together
// because a group that is dropped closes its connections: after the last operation a quick rank
// must not take away what a slow one still reads.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "comm/gloo/reaper.h"
#include "comm/group_state.h"

namespace gnnmg::comm::gloo {

using WorkPtr = c10::intrusive_ptr<c10d::Work>;

class Groups {
 public:
  explicit Groups(std::shared_ptr<GroupState> shared)
      : state(std::move(shared)), groups_(state->world_size()) {}
  ~Groups();

  void set(int rank, GroupPtr group);
  // Starts operations of `rank`; the group is not held while they run. Throws the cause when the
  // communicator has ended.
  std::vector<WorkPtr> start(int rank, uint64_t operation,
                             const std::function<std::vector<WorkPtr>(TaggedGroup&)>& body);
  // Ends the communicator and gives all groups to reapers: those with nothing in flight close their
  // connections at once, which frees the peers of the others.
  void end(Cause cause) noexcept;
  // The same for a communicator that has ended in another process.
  void end_elsewhere(Cause cause) noexcept;
  // After state.wait has thrown: the same for the groups alone.
  void drop() noexcept;

  const std::shared_ptr<GroupState> state;

 private:
  std::mutex mutex_;  // guards groups_; taken before the state's
  std::vector<GroupPtr> groups_;
};

}  // namespace gnnmg::comm::gloo
