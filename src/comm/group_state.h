// What the ranks of one communicator share, whatever the engine: who has come how far, and why the
// communicator ended. Apart from the engines, because it is all that naming late ranks, abort and
// the reaction of waiting ranks need, and it is testable without a network.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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

// A cause for those who may not throw, and must end what others wait in: where there is no memory
// for the words, or there are none, it says that.
Cause make_cause(base::Status status, std::string_view why, int rank, uint64_t operation) noexcept;
inline Cause abort_cause(std::string_view why, int rank, uint64_t operation) noexcept {
  return make_cause(base::Status::kAborted, why, rank, operation);
}

// Seconds as texts say them: to hundredths.
double rounded(double seconds);

// The operation of a cause that all ranks suffer alike, whatever they are at.
constexpr uint64_t kEveryOperation = ~uint64_t{0};

// What a rank calls. `what` and `detail` must be the same on all ranks; where sizes differ by pair,
// what rank a sends to b must be what b expects from a.
struct Call {
  std::string what;    // "all_reduce"
  std::string detail;  // "f32 [8], sum"; where sizes differ by pair, the type alone
  std::vector<int64_t> sent = {}, received = {};  // elements by rank, or empty
  // What of the host's the operation is a part of: "evaluate", the same on all ranks. Empty: it is
  // what the host calls.
  std::string caller = {};
};

// "all_to_all: rank 1 sends 16 elements of f32 to rank 0, which expects 12"
std::string size_difference(const std::string& what, int from, int64_t sent, int to,
                            int64_t expected, const std::string& type);

// What a communicator has beyond this process when its ranks live in several: the way to the others
// and what is known of them. Called with the state's lock held, settle() aside, so it must call
// nothing of the state.
class Link {
 public:
  virtual ~Link() = default;
  // A rank of this process waits in an operation, has left after one, or has ended the whole.
  virtual void came(int rank, uint64_t operation, const Call& call) noexcept = 0;
  virtual void left(int rank, uint64_t operation) noexcept = 0;
  virtual void ended(const Cause& cause) noexcept = 0;
  // Returns when what the others have sent by now is known here, or after a moment.
  virtual void settle() noexcept = 0;
  // "on host b, last heard of 3.1 s ago"
  virtual std::string where(int rank) const = 0;
  virtual bool silent(int rank) const noexcept = 0;   // nothing heard for several heartbeats
  virtual bool excused(int rank) const noexcept = 0;  // its process waits for its host
};

// What is known of a rank, as one process tells another.
struct RankNews {
  int64_t operation = -1;  // that it has come to
  Position position;
  int64_t age_ms = 0;  // of the position
};

// Operation 0 is the meeting of the ranks; collectives count from 1. All functions from any thread.
class GroupState {
 public:
  explicit GroupState(int world_size, std::shared_ptr<Link> link = nullptr)
      : link_(std::move(link)), ranks_(world_size) {}
  int world_size() const { return static_cast<int>(ranks_.size()); }
  bool spread() const { return link_ != nullptr; }  // over several processes
  bool all_gone() const;                            // no rank takes part any more

  // `rank` takes part in `operation` from now on, unless the communicator has ended. False when it
  // already does. Ends the communicator with kMismatch when another rank has come to the same
  // operation with another call.
  bool enter(int rank, uint64_t operation, Call call = {});
  // `rank` has not come to `operation`, its last one, after all: it may enter it again.
  void withdraw(int rank, uint64_t operation);
  // `rank` will take part in nothing any more.
  void leave(int rank);
  // Ends the communicator; only the first cause counts. True for that one.
  bool end(Cause cause);
  // Of ranks of other processes: the same, but nothing of it is told to other processes.
  void came_elsewhere(int rank, uint64_t operation, Call call);
  void left_elsewhere(int rank, uint64_t operation);
  bool end_elsewhere(Cause cause);
  void hear(int rank, const RankNews& news);
  // An engine's operation has failed, which says little: waits a moment for a better cause, then
  // ends the communicator with `cause`.
  void end_unless_explained(int rank, uint64_t operation, Cause cause);

  void set_position(int rank, const Position& position);
  RankNews news(int rank) const;
  // " (epoch 4 step 118, sampling for 3.1 s)", or empty when the rank has said nothing.
  std::string position_text(int rank) const;
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
  // The same for what nobody announces: `poll` is called on this thread without the lock, very
  // often at first, then every millisecond. What it throws ends the wait, and not the communicator.
  void watch(int rank, uint64_t operation, const std::string& what, const Wait& wait,
             const std::function<bool()>& poll);
  // Enters `operation` and waits until all ranks have.
  void meet(int rank, uint64_t operation, const std::string& what, const Wait& wait,
            Call call = {}) {
    meet(rank, operation, what, wait, std::move(call), 0, world_size());
  }
  // The same until those of `count` ranks from `first` on have.
  void meet(int rank, uint64_t operation, const std::string& what, const Wait& wait, Call call,
            int first, int count);
  // For who looks at a rank that cannot look itself, since its thread is held up: whether other
  // processes may be late with the operation, and its end as of a rank that has waited for so long,
  // which all suffer whatever they are at by then. settle() of the link before it.
  bool excused(uint64_t operation) const;
  // When the current wait of `rank` times out: its deadline, moved by excused time.
  base::SteadyClock::time_point limit(int rank) const;
  void end_late(const std::string& what, uint64_t operation, double seconds);
  void settle() const noexcept;
  // Wakes all who wait, so that they look at done() again. `change` runs with the lock held.
  void notify(const std::function<void()>& change);

 private:
  struct Rank {
    int64_t progress = -1;  // the operation that it has come to; -1: none
    int64_t called = -1;    // the one that `call` is of
    Call call;
    Position position;
    base::SteadyClock::time_point since;  // of the position
    bool gone = false;
    // Deadline of the call that the rank waits in, and the time to which excuses have moved it. All
    // waits of one call share the deadline, so the next one begins with the moved time.
    base::SteadyClock::time_point deadline, limit;
    mutable std::optional<uint64_t> told;  // the operation in which it has seen the cause
  };
  // One of `done` and `poll` is empty.
  void wait_for(int rank, uint64_t operation, const std::string& what, const Wait& wait,
                const std::function<bool()>& done, const std::function<bool()>& poll);
  // With the lock held:
  std::vector<int> missing(uint64_t operation) const;
  bool end_locked(Cause cause, bool elsewhere = false);
  void compare_calls(int rank, uint64_t operation);
  bool excuses(const std::vector<int>& absent) const;
  std::string describe(int rank) const;
  Cause time_out(uint64_t operation, const std::string& what, double seconds) const;
  [[noreturn]] void throw_locked(int rank, uint64_t operation) const;

  const std::shared_ptr<Link> link_;  // null when all ranks are of this process
  mutable std::mutex mutex_;          // guards all below
  std::condition_variable changed_;
  std::vector<Rank> ranks_;
  std::optional<Cause> cause_;
};

}  // namespace gnnmg::comm
