// Collectives: what ranks do together. One object is one rank's end of a communicator; engines
// stand behind it (Gloo in comm/gloo, NCCL in comm/nccl).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/device.h"
#include "base/host_queue.h"
#include "base/tensor.h"

namespace gnnmg::comm {

enum class ReduceOp : int32_t { kSum = 0, kMean = 1, kMin = 2, kMax = 3 };

// How long a collective may take and who may call it off.
struct Wait {
  base::Deadline deadline;
  base::CancelToken cancel;
  // True while ranks may be late for a good reason (one waits for a callback of the host). The
  // deadline does not run meanwhile, until `stall` has passed. Empty: nothing excuses. Called on
  // the waiting thread without a lock held.
  std::function<bool()> excused;
  base::Deadline stall;
};

enum class Phase : uint8_t {
  kUnknown,
  kStarting,
  kSampling,
  kGathering,
  kComputing,
  kExchanging,
  kUpdating,
  kEvaluating,
  kSaving,
  kIdle,
  kCallback,
};
const char* phase_name(Phase phase) noexcept;

// Where a rank is in its work, for the texts of those who wait for it. -1: not said.
struct Position {
  int64_t epoch = -1, step = -1;
  Phase phase = Phase::kUnknown;
  // Calls of the host that this phase waits for: while there are any, the rank is in a callback.
  base::HostQueue::Count host_calls = nullptr;
};

// Collectives in a queue of the caller's, on memory of the rank's device, without staging memory
// and without the host's waiting for the device: for the exchange of a training step. They count
// among the operations of the Collectives that they belong to, in the same order on all ranks.
// After an error it is not known what the tensors hold.
class QueuedCollectives {
 public:
  virtual ~QueuedCollectives() = default;
  // In place: reads what the work that is in `queue` by now writes, and what is put there later
  // finds the sum. The tensor stays where it is until finish(). Ranks that call something else are
  // found here or in finish().
  virtual void all_reduce(const base::TensorView& tensor, ReduceOp op, base::DeviceQueue* queue,
                          const Wait& wait) = 0;
  // Returns when all that is in `queue` is over; errors of what was put there, of a rank that is
  // lost or late among them, are told here. Once a step.
  virtual void finish(base::DeviceQueue* queue, const Wait& wait) = 0;
  // Returns when `over` says so, which is asked on this thread and tells that the device has come
  // past something that stands behind all operations but the newest. Errors as in finish(), of
  // those and of the newest; the device is at work meanwhile. In place of finish(), where results
  // are looked at one step late.
  virtual void await(const std::function<bool()>& over, const Wait& wait) = 0;
};

// All ranks call the same operations in the same order. Buffers are read at the call and written on
// success only: the engine works on staging memory of its own, so that a call given up early never
// writes into the caller's memory later. Arguments that do not fit are Error(kInvalidArgument) and
// leave the communicator as it was. After kTimeout, kCancelled, kPeerLost or kAborted it is spent:
// every later call is Error(kAborted) with the first cause. A rank that gives up ends the operation
// on all: those that wait for the same missing rank say kTimeout too, the others kAborted. When a
// process is lost or no longer heard of, all ranks of the others say so, wherever they are. One
// thread a rank; abort() and set_position() from any thread.
class Collectives {
 public:
  virtual ~Collectives() = default;
  virtual int rank() const = 0;
  virtual int world_size() const = 0;
  // In place. f32, f64, f16, bf16, i64, i32, u8; integers have no mean. Every rank gets the same
  // bits.
  virtual void all_reduce(const base::TensorView& tensor, ReduceOp op, const Wait& wait) = 0;
  virtual void broadcast(const base::TensorView& tensor, int root, const Wait& wait) = 0;
  // Gathers rank r's `input` into outputs[r]; sizes may differ but must be known: outputs[r] has
  // the shape of rank r's input. Any element type, here and below.
  virtual void all_gather(const base::TensorView& input, std::span<const base::TensorView> outputs,
                          const Wait& wait) = 0;
  // Sends inputs[r] to rank r; outputs[r] receives rank r's, shapes known on both sides.
  virtual void all_to_all(std::span<const base::TensorView> inputs,
                          std::span<const base::TensorView> outputs, const Wait& wait) = 0;
  virtual void barrier(const Wait& wait) = 0;
  // A barrier that pairs with no other operation: the last one.
  virtual void shutdown(const Wait& wait) = 0;
  // Ends all present and later operations on every rank with Error(kAborted) and this text. Any
  // thread, idempotent.
  virtual void abort(const std::string& why) noexcept = 0;
  virtual bool spent() const noexcept = 0;
  // Notes where this rank is; others read it when they wait too long. Costs a write to memory.
  virtual void set_position(const Position&) noexcept {}
  // What the host calls that the following operations are a part of. Ranks that disagree about it
  // find that in their next operation, which is Error(kMismatch) with both names.
  virtual void set_caller(const std::string&) {}
  // Null where ranks have no devices of their own.
  virtual QueuedCollectives* queued() noexcept { return nullptr; }
};

// The ends of a communicator that the threads of this process hold: all of its ranks, or, in a job
// of many processes (comm/processes.h), ranks first_rank() to first_rank() + num_local() - 1. Each
// is to be used by one thread. The ends must be connected by their threads: connect() of all ends
// runs at the same time. An end may outlive the group.
class ThreadGroup {
 public:
  // Of this process alone, over Gloo on the loopback interface.
  static std::shared_ptr<ThreadGroup> create(int world_size);
  virtual ~ThreadGroup() = default;
  virtual int world_size() const = 0;
  virtual int first_rank() const { return 0; }
  virtual int num_local() const { return world_size(); }
  // What is no error and yet worth a line in the log: that the ranks' GPUs differ. Of ranks of this
  // process alone it is known when they are connected.
  virtual std::vector<std::string> remarks() const { return {}; }
  // Called once by each of this process's ranks on its own thread; returns when all have come, or
  // Error(kTimeout) naming the missing ranks.
  virtual std::unique_ptr<Collectives> connect(int rank, const Wait& wait) = 0;
  virtual void abort(const std::string& why) noexcept = 0;
  // Why it has ended, as its ranks are told; nothing where it has not, or only they know. For who
  // waits for ranks that a driver's call holds up.
  virtual std::optional<base::Error> cause() const { return {}; }
};

// Threads of the library that still wait for operations which were given up. They end by
// themselves, at the latest when Gloo's own time-out (deadline and stall limit of the operation)
// has passed; nothing ever waits for them.
int pending_reapers() noexcept;

}  // namespace gnnmg::comm
