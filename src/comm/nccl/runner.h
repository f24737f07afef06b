// Runs any operation of a rank: counts it, compares it with the calls of the other ranks, starts
// it, waits for it within the deadline, and ends it on every rank when one fails. The engine knows
// the contents of the operations.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/group_state.h"
#include "comm/nccl/engine.h"
#include "comm/nccl/in_flight.h"

namespace gnnmg::comm::nccl {

// The rank's thread uses it; abort, spent and positions on any thread. An operation begins when all
// ranks of this process have called it, and returns when all of their kernels have started, or, if
// the host waits for it, when it is done. So the calls can be compared, and no rank's thread
// allocates or frees memory while the kernel of another rank waits for a kernel that is still to
// start. Calls of other processes are not known in advance, so each operation among several
// processes first compares digests over NCCL itself.
class Runner {
 public:
  Runner(std::shared_ptr<GroupState> state, int rank, std::shared_ptr<Parts> parts);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  int rank() const { return rank_; }
  int world_size() const { return state_->world_size(); }
  GroupState& state() { return *state_; }
  CommStream& comm_stream() { return parts_->comm_stream; }
  Handle& handle() { return parts_->handle; }
  const Table& nccl() { return parts_->handle.nccl(); }
  bool spent() const noexcept { return lost_.has_value() || state_->ended(); }
  void set_caller(const std::string& name) { caller_ = name; }

  // Returns staging memory for the next operation. Null if the communicator has ended: the
  // operation then throws the cause.
  uint8_t* stage(int64_t bytes);
  // `start` queues copies to staging memory and then calls NCCL. Returns when all of it is done.
  void run(Call call, const Wait& wait, const std::function<void()>& start);
  // Copies results from staging memory to the caller's, after an operation has succeeded on all
  // ranks.
  void write(const std::function<void()>& copies);
  // `start` calls NCCL. The operation runs after the current work in `queue`, and later work in
  // `queue` runs after the operation. Returns when it is queued.
  void put(Call call, device::Queue* queue, const Wait& wait, const std::function<void()>& start);
  // Returns when all work in `queue` is done, including the operations of put().
  void finish(device::Queue* queue, const Wait& wait);
  // Returns when over() is true. Compares the digests that have arrived by then and forgets their
  // operations.
  void await(const std::function<bool()>& over, const Wait& wait);
  void shutdown(const Wait& wait);

 private:
  // A queued operation, until the digests of all ranks have been compared.
  struct Put {
    std::string what;
    uint64_t operation, digest;
    int64_t place;  // place of the digests, below kMostDigests
  };
  void refuse() const;
  bool reserve(const std::function<void()>& allocate);
  void close() noexcept;
  void begin(const std::string& what, const Wait& wait, const std::function<void()>& enter);
  // Returns false, and keeps NCCL's message, if NCCL refuses an argument and the communicator stays
  // usable.
  bool start_calls(const std::string& what, const std::function<void()>& start);
  void throw_refused();
  device::LaunchOrder& gate() { return *parts_->locals.gate; }
  void await_local_ranks(const Call& call, const Wait& wait,
                         const std::function<bool()>& try_enter);
  void await_launch(const std::string& what, const Wait& wait);
  void await_launched(const std::string& what, const Wait& wait);
  void compare_calls(const Call& call, const Wait& wait);
  void compare_sizes(const Call& call, const Wait& wait);
  void gather_numbers(const std::string& what, const std::vector<int64_t>& own, const Wait& wait);
  [[noreturn]] void fail_mismatch(const std::string& what, uint64_t operation);
  bool compare_puts();
  bool digests_arrived(const Put& put);
  void put_digest(const Put& put, const Wait& wait);
  void watch(const std::string& what, const Wait& wait, const std::function<bool()>& poll);
  bool over(bool& launched);
  void guard(const std::string& what, const Wait& wait, const std::function<void()>& body);
  void fail(const base::Error& error, uint64_t operation);
  void set_device_lost(const std::string& why);
  void check_device_lost() noexcept;

  const std::shared_ptr<GroupState> state_;
  const int rank_;
  std::shared_ptr<Parts> parts_;
  std::optional<InFlight> in_flight_;  // empty for a single rank
  uint64_t operation_ = 0;
  int64_t launches_ = 0;  // calls of NCCL; a group counts as one
  std::string caller_;
  std::string refused_;              // NCCL's refusal in the current operation
  std::optional<base::Error> lost_;  // set once the device is lost
  bool aborted_ = false;             // this rank has aborted
  std::vector<Put> puts_;            // queued and not yet compared, or since the last finish
  int64_t next_place_ = 0;
  bool shut_down_ = false;
};

}  // namespace gnnmg::comm::nccl
