// State that the ranks of one communicator share: the progress of each rank, and the cause of the
// end. It names late ranks and wakes waiting ranks for every engine, and tests run it without a
// network.
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

// The reason why a communicator ended, during `operation`.
struct Cause {
  base::Status status = base::Status::kAborted;
  std::string text;
  int rank = -1;
  uint64_t operation = 0;
  std::vector<int> missing;  // ranks that had not reached the operation
};

// Makes a cause without throwing, for callers that must end waits of other ranks. Without memory
// for the text, or without a text, the cause says "short of memory".
Cause make_cause(base::Status status, std::string_view why, int rank, uint64_t operation) noexcept;
inline Cause abort_cause(std::string_view why, int rank, uint64_t operation) noexcept {
  return make_cause(base::Status::kAborted, why, rank, operation);
}

// Rounds to hundredths, for error texts.
double rounded(double seconds);

// Operation of a cause that applies to all ranks, whatever operation they are in.
constexpr uint64_t kEveryOperation = ~uint64_t{0};

// An operation as a rank calls it. `what` and `detail` must be the same on all ranks; where sizes
// differ by pair, the size that rank a sends to b must be the size that b expects from a.
struct Call {
  std::string what;    // "all_reduce"
  std::string detail;  // "f32 [8], sum"; where sizes differ by pair, the type alone
  std::vector<int64_t> sent = {}, received = {};  // elements by rank, or empty
  // Name of the host's call that the operation belongs to, such as "evaluate"; the same on all
  // ranks. Empty: the host called the operation itself.
  std::string caller = {};
};

// "all_to_all: rank 1 sends 16 elements of f32 to rank 0, which expects 12"
std::string size_difference(const std::string& what, int from, int64_t sent, int to,
                            int64_t expected, const std::string& type);

// The connection of a communicator to ranks in other processes, and its knowledge of them. All
// functions but settle() are called with the state's lock held, so they must not call the state.
class Link {
 public:
  virtual ~Link() = default;
  // A rank of this process waits in an operation, has left after one, or has ended the
  // communicator.
  virtual void came(int rank, uint64_t operation, const Call& call) noexcept = 0;
  virtual void left(int rank, uint64_t operation) noexcept = 0;
  virtual void ended(const Cause& cause) noexcept = 0;
  // Returns when everything that the other processes have sent by now has been read, or after a
  // moment.
  virtual void settle() noexcept = 0;
  // "on host b, last heard of 3.1 s ago"
  virtual std::string where(int rank) const = 0;
  virtual bool silent(int rank) const noexcept = 0;   // nothing heard for several heartbeats
  virtual bool excused(int rank) const noexcept = 0;  // the process of the rank waits for its host
};

// State of a rank as one process reports it to another.
struct RankReport {
  int64_t operation = -1;  // the last one that the rank has reached
  Position position;
  int64_t age_ms = 0;  // time since the position was set
};

// Operation 0 is the rendezvous; collectives count from 1. All functions on any thread.
class GroupState {
 public:
  explicit GroupState(int world_size, std::shared_ptr<Link> link = nullptr)
      : link_(std::move(link)), ranks_(world_size) {}
  int world_size() const { return static_cast<int>(ranks_.size()); }
  bool spread() const { return link_ != nullptr; }  // ranks in several processes
  bool all_gone() const;                            // every rank has left

  // Enters `rank` into `operation`, unless the communicator has ended. Returns false if the rank is
  // already there. Ends the communicator with kMismatch if another rank has entered the same
  // operation with a different call. `wake`: waiting ranks of this process wake up once all have
  // come; otherwise they wait for a later notify().
  bool enter(int rank, uint64_t operation, Call call = {}, bool wake = true);
  // True if all ranks have entered `operation`. Call it with the lock held, as in done() below.
  bool all_came(uint64_t operation) const;
  // Takes back the last enter() of `rank`, which was for `operation`: the rank may enter it again.
  void withdraw(int rank, uint64_t operation);
  // `rank` takes part in no later operation.
  void leave(int rank);
  // Ends the communicator; only the first cause counts. Returns true for the first one.
  bool end(Cause cause);
  // The same for ranks of other processes; the link does not forward these.
  void came_elsewhere(int rank, uint64_t operation, Call call);
  void left_elsewhere(int rank, uint64_t operation);
  bool end_elsewhere(Cause cause);
  void set_report(int rank, const RankReport& report);
  // For a failed operation of an engine, whose own error says little: waits a moment for a better
  // cause, then ends the communicator with `cause`.
  void end_unless_explained(int rank, uint64_t operation, Cause cause);

  void set_position(int rank, const Position& position);
  RankReport report(int rank) const;
  // " (epoch 4 step 118, sampling for 3.1 s)", or empty if the position is unknown.
  std::string position_text(int rank) const;
  std::optional<Cause> cause() const;
  bool ended() const;
  // Throws the cause as the error that `rank`, in `operation`, gets.
  [[noreturn]] void throw_cause(int rank, uint64_t operation) const;

  // Waits until done() is true; done() is called with the group's lock held. Throws when the
  // communicator ends (not if it ends in a later operation and done() is true), on cancel, when the
  // deadline passes, or when a rank has left before it reached `operation`; the last three end the
  // communicator. `what` names the operation in error
  // texts.
  void wait(int rank, uint64_t operation, const std::string& what, const Wait& wait,
            const std::function<bool()>& done);
  // The same for a condition without notification: calls `poll` on this thread without the lock,
  // very often at first, then every millisecond. An exception of `poll` ends the wait but not the
  // communicator.
  void watch(int rank, uint64_t operation, const std::string& what, const Wait& wait,
             const std::function<bool()>& poll);
  // Enters `operation` and waits until all ranks have entered it.
  void meet(int rank, uint64_t operation, const std::string& what, const Wait& wait,
            Call call = {}) {
    meet(rank, operation, what, wait, std::move(call), 0, world_size());
  }
  // The same, but waits only for the `count` ranks from `first` on.
  void meet(int rank, uint64_t operation, const std::string& what, const Wait& wait, Call call,
            int first, int count);
  // For the watchdog of a rank whose thread is blocked. excused(): ranks of other processes may be
  // late with `operation`. end_late(): ends the communicator for all ranks, as a rank that has
  // waited for `seconds`. The caller calls settle() first.
  bool excused(uint64_t operation) const;
  void end_late(const std::string& what, uint64_t operation, double seconds);
  void settle() const noexcept;
  // Time at which the current wait of `rank` times out: its deadline, moved by excused time.
  base::SteadyClock::time_point limit(int rank) const;
  // Wakes all waiting ranks to check done() again. `change` runs with the lock held.
  void notify(const std::function<void()>& change);

 private:
  struct Rank {
    int64_t progress = -1;  // last operation that the rank has entered; -1: none
    int64_t called = -1;    // operation of `call`
    Call call;
    Position position;
    base::SteadyClock::time_point since;  // time at which `position` was set
    bool gone = false;
    // Deadline of the call that the rank waits in, and the time to which excuses have moved it. All
    // waits of one call share the deadline, so the next one begins with the moved time.
    base::SteadyClock::time_point deadline, limit;
    mutable std::optional<uint64_t> told;  // operation in which the rank has got the cause
  };
  // Either `done` or `poll` is empty.
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
  // Ends the communicator if one of the absent ranks has left it. A rank that is only late gets the
  // same error.
  void fail_if_left(int rank, uint64_t operation, const std::string& what,
                    const std::vector<int>& absent);

  const std::shared_ptr<Link> link_;  // null if all ranks are in this process
  mutable std::mutex mutex_;          // guards all below
  std::condition_variable changed_;
  std::vector<Rank> ranks_;
  std::optional<Cause> cause_;
};

}  // namespace gnnmg::comm
