// What the ranks of one communicator share, whatever the engine: who has come how far, and why the
// communicator ended. Apart from the engines, because it is all that naming late ranks, abort and
// the reaction of waiting ranks need, and it is testable without a network.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "comm/collectives.h"

namespace gnnmg::comm {

// Why a communicator ended. `operation` is the one in which it did.
struct Cause {
  base::Status status = base::Status::kAborted;
  std::string text;
  int rank = -1;
  uint64_t operation = 0;
  std::vector<int> missing;  // ranks that had not come to the operation
};

// What a rank calls. `what` and `detail` must be the same on all ranks; where sizes differ by pair,
// what rank a sends to b must be what b expects from a.
struct Call {
  std::string what;                               // "all_reduce"
  std::string detail;                             // "f32 [8], sum"
  std::vector<int64_t> sent = {}, received = {};  // bytes by rank, or empty
};

// Operation 0 is the meeting of the ranks; collectives count from 1. All functions from any thread.
class GroupState {
 public:
  explicit GroupState(int world_size)
      : progress_(world_size, -1), calls_(world_size), gone_(world_size, false) {}
  int world_size() const { return static_cast<int>(progress_.size()); }

  // `rank` takes part in `operation` from now on. False when it already does. Ends the communicator
  // with kMismatch when another rank has come to the same operation with another call.
  bool enter(int rank, uint64_t operation, Call call = {});
  // `rank` will take part in nothing any more.
  void leave(int rank);
  // Ends the communicator; only the first cause counts. True for that one.
  bool end(Cause cause);
  std::optional<Cause> cause() const;
  bool ended() const;
  // The cause as the error that `rank`, which is at `operation`, shall see.
  [[noreturn]] void throw_cause(int rank, uint64_t operation) const;

  // Waits until done() is true; done() is called with the group's lock held. Throws when the
  // communicator ends, on cancel, when the deadline passes, or when a rank that has not come to
  // `operation` has left for good; the last three end the communicator. `what` names the operation
  // in texts.
  void wait(int rank, uint64_t operation, const std::string& what, const Wait& wait,
            const std::function<bool()>& done);
  // Enters `operation` and waits until all ranks have.
  void meet(int rank, uint64_t operation, const std::string& what, const Wait& wait);
  // Wakes all who wait, so that they look at done() again. `change` runs with the lock held.
  void notify(const std::function<void()>& change);

 private:
  std::vector<int> missing(uint64_t operation) const;  // lock held
  bool end_locked(Cause cause);
  [[noreturn]] void throw_locked(int rank, uint64_t operation) const;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<int64_t> progress_;  // the operation that each rank has come to; -1: none
  std::vector<Call> calls_;        // the call of each rank there
  std::vector<bool> gone_;
  std::optional<Cause> cause_;
};

}  // namespace gnnmg::comm
