#include "comm/nccl/runner.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>

namespace gnnmg::comm::nccl {
namespace {

using base::Status;
using base::SteadyClock;
using std::chrono::milliseconds;

// Time for draining the queue of a rank that has given up: by then the caller's input has been
// read, and a cancelled call returns within a tenth of a second.
constexpr milliseconds kDrain(50);
// A copy within a device that takes longer never ends.
constexpr milliseconds kCopy(10'000);
// Time that a closing rank waits for the other ranks to close too.
constexpr milliseconds kCloseTimeout(100);
// Time for the real cause to arrive after NCCL has lost a peer: from the failed rank, or from a
// process that misses the peer.
constexpr milliseconds kExplained(100), kExplainedElsewhere(1500);

// Keeps the gate for one operation: memory calls wait until it is destroyed.
class GateEntry {
 public:
  explicit GateEntry(device::LaunchOrder& gate) : gate_(gate) {}
  ~GateEntry() {
    if (entered_) gate_.leave();
  }
  GateEntry(const GateEntry&) = delete;
  GateEntry& operator=(const GateEntry&) = delete;
  bool try_enter() { return entered_ = gate_.try_enter(); }

 private:
  device::LaunchOrder& gate_;
  bool entered_ = false;
};

}  // namespace

Runner::Runner(std::shared_ptr<GroupState> state, int rank, std::shared_ptr<Parts> parts)
    : state_(std::move(state)), rank_(rank), parts_(std::move(parts)) {
  if (world_size() > 1) in_flight_.emplace(state_, rank_, parts_);
}

Runner::~Runner() {
  in_flight_.reset();
  // After a failure the rank leaves without waiting: the other ranks are about to get the cause.
  if (std::uncaught_exceptions() == 0) {
    const device::MemoryCall call(gate(), kGateTimeout);
    close();
  }
  state_->leave(rank_);
  parts_.reset();
}

// NCCL's orderly end, which flushes, if all ranks leave at about the same time. Otherwise, or after
// a failure, the handle aborts.
void Runner::close() noexcept {
  if (lost_ || state_->ended() || !handle().usable()) return;
  try {
    handle().finalize();
    const auto end = SteadyClock::now() + kCloseTimeout;
    while (!handle().ready()) {
      if (state_->ended() || SteadyClock::now() >= end) return;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    handle().destroy();
  } catch (const std::exception&) {  // the communicator stays as it is
  }
}

// Allocates before the operation is counted, so that a lack of memory changes nothing. Returns
// false if the communicator has ended: the operation then throws the cause.
bool Runner::reserve(const std::function<void()>& allocate) {
  refuse();
  if (state_->ended()) return false;
  try {
    allocate();
    return true;
  } catch (const base::Error& error) {
    if (error.status() == Status::kNoMemory)
      throw base::Error(Status::kNoMemory,
                        base::text("rank ", rank_, ": no staging memory: ", error.what()), rank_);
    if (error.status() == Status::kDeviceLost) set_device_lost(error.what());
    fail(lost_ ? *lost_ : error, operation_);
    if (lost_) throw base::Error(*lost_);
    throw;
  }
}

uint8_t* Runner::stage(int64_t bytes) {
  uint8_t* staged = nullptr;
  reserve([&] {
    staged = comm_stream().stage(bytes);
    const int64_t world = world_size();
    if (state_->spread())
      comm_stream().word_buffer(2 * world * world * static_cast<int64_t>(sizeof(int64_t)));
  });
  return staged;
}

// Throws if no operation can be called any more, except for the communicator's end.
void Runner::refuse() const {
  if (lost_) throw base::Error(*lost_);
  if (shut_down_) base::fail(Status::kAborted, "the communicator has been shut down");
}

void Runner::begin(const std::string& what, const Wait& wait, const std::function<void()>& enter) {
  if (wait.cancel.cancelled()) state_->wait(rank_, operation_, what, wait, [] { return false; });
  enter();
  if (state_->ended()) state_->throw_cause(rank_, operation_);
}

bool Runner::start_calls(const std::string& what, const std::function<void()>& start) {
  try {
    start();
  } catch (const Failure& failure) {
    // A call that the other ranks have been told of cannot be taken back.
    if (failure.result() != Result::kInvalidArgument || state_->spread() || !handle().usable())
      throw;
    comm_stream().drain(kDrain);  // finish earlier copies
    state_->withdraw(rank_, operation_--);
    --launches_;
    refused_ = base::text(what, ": NCCL refuses an argument of rank ", rank_, ": ", failure.what());
    return false;
  }
  return true;
}

void Runner::throw_refused() {
  if (!refused_.empty())
    throw base::Error(Status::kInvalidArgument, std::exchange(refused_, {}), rank_);
}

// Waits until all ranks of this process have called the operation. Otherwise a rank's thread could
// allocate memory elsewhere while the kernel of another rank waits for its kernel.
void Runner::await_local_ranks(const Call& call, const Wait& wait,
                               const std::function<bool()>& try_enter) {
  const Locals& here = parts_->locals;
  const InFlight::Awake awake(in_flight_);
  begin(call.what, wait,
        [&] { state_->meet(rank_, operation_, call.what, wait, call, here.first, here.count); });
  if (!try_enter()) state_->watch(rank_, operation_, call.what, wait, try_enter);
}

// Returns when NCCL may be called. Within one process, launches of other communicators are locked
// out: kernels then reach all GPUs in one order, even if streams share a queue of the device, and
// NCCL may allocate memory in the call, as it does at the first use of a connection. Among
// processes there is no lock: the locked-out communicator could be the one that the others wait
// for.
void Runner::await_launch(const std::string& what, const Wait& wait) {
  const int64_t number = launches_ + 1;
  const InFlight::Awake awake(in_flight_);
  const auto may = [&] { return gate().try_launch(number, !state_->spread()); };
  if (!may()) state_->watch(rank_, operation_, what, wait, may);
  launches_ = number;
}

// Waits until NCCL has started the call on all ranks of this process.
void Runner::await_launched(const std::string& what, const Wait& wait) {
  bool launched = false;
  watch(what, wait, [&] {
    if (!launched) {
      launched = handle().ready();
      if (launched) gate().note_launch(launches_);
    }
    return launched && gate().all_launched(launches_);
  });
}

void Runner::run(Call call, const Wait& wait, const std::function<void()>& start) {
  refuse();
  ++operation_;
  call.caller = caller_;
  const std::string what = call.what;
  if (in_flight_) in_flight_->follow(what, operation_, wait);
  GateEntry entry(gate());  // destroyed after guard(), which aborts a failed operation
  guard(what, wait, [&] {
    await_local_ranks(call, wait, [&] { return entry.try_enter(); });
    if (state_->spread()) compare_calls(call, wait);
    await_launch(what, wait);
    if (!start_calls(what, start)) return;
    bool launched = false;
    // A broadcast's root is done before the other ranks have begun.
    watch(what, wait, [&] { return over(launched) && gate().all_launched(launches_); });
  });
  throw_refused();
}

void Runner::put(Call call, device::Queue* queue, const Wait& wait,
                 const std::function<void()>& start) {
  refuse();
  if (puts_.size() == CommStream::kMostDigests) finish(queue, wait);
  reserve([&] {
    if (state_->spread()) comm_stream().digests(world_size());
  });
  ++operation_;
  call.caller = caller_;
  const Put put{call.what, operation_, digest_of(call, operation_), next_place_};
  if (in_flight_) in_flight_->put(put.what, operation_, wait);
  GateEntry entry(gate());
  guard(put.what, wait, [&] {
    await_local_ranks(call, wait, [&] { return entry.try_enter(); });
    comm_stream().wait_for(queue);
    if (state_->spread()) put_digest(put, wait);
    await_launch(put.what, wait);
    if (!start_calls(put.what, start)) return;
    await_launched(put.what, wait);
    comm_stream().block(queue);
    puts_.push_back(put);
    next_place_ = (next_place_ + 1) % static_cast<int64_t>(CommStream::kMostDigests);
  });
  throw_refused();
}

void Runner::finish(device::Queue* queue, const Wait& wait) {
  refuse();
  const std::string what = puts_.empty() ? "finish" : puts_.back().what;
  if (in_flight_) in_flight_->follow(what, operation_, wait);
  guard(what, wait, [&] {
    if (state_->ended()) state_->throw_cause(rank_, operation_);
    watch(what, wait, [&] {
      if (compare_puts() && comm_stream().finished(queue)) return true;
      handle().ready();
      return false;
    });
    compare_puts();
    puts_.clear();
    if (in_flight_) in_flight_->clear();
  });
}

void Runner::await(const std::function<bool()>& over, const Wait& wait) {
  refuse();
  const std::string what = puts_.empty() ? "await" : puts_.back().what;
  if (in_flight_) in_flight_->follow(what, operation_, wait);
  guard(what, wait, [&] {
    if (state_->ended()) state_->throw_cause(rank_, operation_);
    watch(what, wait, [&] {
      compare_puts();
      if (over()) return true;
      handle().ready();
      return false;
    });
    compare_puts();
    std::erase_if(puts_, [&](const Put& put) { return !state_->spread() || digests_arrived(put); });
  });
}

void Runner::shutdown(const Wait& wait) {
  guard("shutdown", wait, [&] {
    handle().finalize();
    state_->watch(rank_, operation_, "shutdown", wait, [&] { return handle().ready(); });
    const device::MemoryCall call(gate(), kGateTimeout);
    handle().destroy();
  });
  shut_down_ = true;
}

// Waits until `poll` returns true. An error of NCCL about a lost peer is held back for a moment:
// another rank has failed and is about to report the cause.
void Runner::watch(const std::string& what, const Wait& wait, const std::function<bool()>& poll) {
  std::optional<Failure> lost_peer;
  SteadyClock::time_point patience;
  state_->watch(rank_, operation_, what, wait, [&] {
    if (in_flight_) in_flight_->note_alive();
    if (lost_peer) {
      if (SteadyClock::now() >= patience) throw Failure(*lost_peer);
      return false;
    }
    try {
      return poll();
    } catch (const Failure& failure) {
      const bool connection = state_->spread() && failure.result() == Result::kSystemError;
      if (failure.result() != Result::kRemoteError && !connection) throw;
      lost_peer = failure;
      patience = SteadyClock::now() + (state_->spread() ? kExplainedElsewhere : kExplained);
      // A deadline that passes between processes says more: the late rank may be the reason why the
      // peer has given up.
      if (!state_->spread() && !wait.deadline.never())
        patience = std::min(patience, state_->limit(rank_) - milliseconds(20));
      return false;
    }
  });
}

// True when the started operation is done. Before NCCL has queued it, the stream is empty too;
// afterwards an empty stream has done all, whatever happens to the peers.
bool Runner::over(bool& launched) {
  if (!launched) {
    launched = handle().ready();
    if (!launched) return false;
    gate().note_launch(launches_);
  }
  if (comm_stream().finished()) return true;
  handle().ready();
  return false;
}

// Ends the communicator on every rank if `body` throws, and aborts this rank's part.
void Runner::guard(const std::string& what, const Wait& wait, const std::function<void()>& body) {
  const uint64_t operation = operation_;
  try {
    body();
  } catch (const Failure& failure) {
    const base::Error error(status_of(failure.result()),
                            base::text(what, ": NCCL fails on rank ", rank_, ": ", failure.what()),
                            rank_);
    check_device_lost();
    if (lost_) {
      fail(*lost_, operation);
      throw base::Error(*lost_);
    }
    // A rank ends the communicator before it aborts, so NCCL's error on this rank comes later.
    const bool called_off = state_->ended();
    fail(error, operation);
    if (called_off) wait.cancel.check(what);
    if (called_off || error.status() == Status::kPeerLost) state_->throw_cause(rank_, operation);
    throw base::Error(error);
  } catch (const base::Error& error) {
    if (error.status() == Status::kDeviceLost) set_device_lost(error.what());
    fail(lost_ ? *lost_ : error, operation);
    if (lost_) throw base::Error(*lost_);
    // The canceling thread may have ended the communicator before this rank checks its token.
    if (error.status() == Status::kAborted) wait.cancel.check(what);
    throw;
  }
}

void Runner::fail(const base::Error& error, uint64_t operation) {
  state_->end({error.status(), error.what(), error.rank(), operation, {}});
  gate().note_failure();
  if (std::exchange(aborted_, true)) return;
  if (handle().get()) {  // null if the watchdog has aborted it
    const device::MemoryCall call(gate(), kGateTimeout);
    handle().abort();
  }
  comm_stream().drain(kDrain);
}

void Runner::set_device_lost(const std::string& why) {
  lost_.emplace(Status::kDeviceLost, base::text("rank ", rank_, ": its GPU is lost: ", why), rank_);
}

// NCCL reports a lost device as an error of CUDA: the device's queue knows better.
void Runner::check_device_lost() noexcept {
  try {
    comm_stream().finished();
  } catch (const base::Error& error) {
    if (error.status() != Status::kDeviceLost) return;
    try {
      set_device_lost(error.what());
    } catch (const std::bad_alloc&) {  // out of memory for the error text
      lost_.emplace(Status::kDeviceLost, "its GPU is lost", rank_);
    }
  } catch (const std::exception&) {  // out of memory: the state of the device is unknown
  }
}

void Runner::write(const std::function<void()>& copies) {
  guard("writing a result", {}, [&] {
    copies();
    const auto start = SteadyClock::now();
    for (int polls = 0; !comm_stream().finished(); ++polls) {
      if (SteadyClock::now() - start > kCopy)
        base::fail(Status::kDeviceLost, "a copy within the device does not end");
      if (polls < 100)
        std::this_thread::yield();
      else
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  });
}

}  // namespace gnnmg::comm::nccl
