// The process groups of one communicator, one per rank, and their end. They are kept together
// because a dropped group closes its connections: after the last operation a fast rank must not
// close connections that a slow one still reads.
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
  // Starts operations of `rank`; no lock is held while they run. Throws the cause if the
  // communicator has ended.
  std::vector<WorkPtr> start(int rank, uint64_t operation,
                             const std::function<std::vector<WorkPtr>(TaggedGroup&)>& body);
  // Ends the communicator and gives all groups to reapers: groups without operations in flight
  // close their connections at once, which frees the peers of the other groups.
  void end(Cause cause) noexcept;
  // The same for a communicator that has ended in another process.
  void end_elsewhere(Cause cause) noexcept;
  // Drops the groups alone, after state.wait() has thrown.
  void drop() noexcept;

  const std::shared_ptr<GroupState> state;

 private:
  std::mutex mutex_;  // guards groups_; taken before the state's mutex
  std::vector<GroupPtr> groups_;
};

}  // namespace gnnmg::comm::gloo
