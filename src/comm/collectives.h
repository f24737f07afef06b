// Collective operations among ranks. One object is one rank's end of a communicator. The ranks of
// one process exchange through memory (comm/local.h), those of several over Gloo (comm/gloo), and
// GPUs over NCCL (comm/nccl).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/host_queue.h"
#include "base/tensor.h"
#include "device/table.h"

namespace gnnmg::comm {

enum class ReduceOp : int32_t { kSum = 0, kMean = 1, kMin = 2, kMax = 3 };

// The deadline and the cancel token of a collective call.
struct Wait {
  base::Deadline deadline;
  base::CancelToken cancel;
  // Returns true while ranks may be late for a good reason (one waits for a callback of the host).
  // The deadline does not run during that time, until `stall` has passed. Empty: no excuse. Called
  // on the waiting thread without a lock held.
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

// The work that a rank is at, for error texts of the ranks that wait for it. -1: unknown.
struct Position {
  int64_t epoch = -1, step = -1;
  Phase phase = Phase::kUnknown;
  // Pending calls of the host that this phase waits for: while there are any, the rank is in a
  // callback.
  base::HostQueue::Count host_calls = nullptr;
};

// Collectives in a queue of the caller, on memory of the rank's device: the exchange of a training
// step. They use no staging memory, and the host does not wait for the device. They count among the
// operations of their Collectives, in the same order on all ranks. After an error the contents of
// the tensors are undefined.
class QueuedCollectives {
 public:
  virtual ~QueuedCollectives() = default;
  // In place. Reads the results of earlier work in `queue`; later work in `queue` finds the sum.
  // The tensor must stay in place until finish(). Ranks that call different operations get an error
  // here or in finish().
  virtual void all_reduce(const base::TensorView& tensor, ReduceOp op, device::Queue* queue,
                          const Wait& wait) = 0;
  // Returns when all work in `queue` is done. Throws the errors of the queued operations, among
  // them lost and late ranks. Called once per step.
  virtual void finish(device::Queue* queue, const Wait& wait) = 0;
  // Waits like finish(), but only for the operations before the newest one, so that the device
  // stays busy; for callers that read results one step late. `over` runs on this thread and returns
  // true once the device has passed an event after those operations. Throws their errors and those
  // of the newest operation.
  virtual void await(const std::function<bool()>& over, const Wait& wait) = 0;
};

// All ranks call the same operations in the same order. Buffers are read at the call and written on
// success only: the engine works on its own staging memory, so a call that gives up early never
// writes to the caller's memory later. Unsuitable arguments are Error(kInvalidArgument) and leave
// the communicator as it was. After kTimeout, kCancelled, kPeerLost or kAborted the communicator is
// spent: every later call is Error(kAborted) with the first cause. A rank that gives up ends the
// operation on all ranks: ranks that wait for the same missing rank get kTimeout too, the others
// kAborted. If a process is lost or silent, all ranks of the other processes get that error in any
// operation. One thread per rank; abort() and set_position() on any thread.
class Collectives {
 public:
  virtual ~Collectives() = default;
  virtual int rank() const = 0;
  virtual int world_size() const = 0;
  // In place. f32, f64, f16, bf16, i64, i32, u8; integers have no mean. All ranks get the same
  // bits.
  virtual void all_reduce(const base::TensorView& tensor, ReduceOp op, const Wait& wait) = 0;
  virtual void broadcast(const base::TensorView& tensor, int root, const Wait& wait) = 0;
  // Gathers rank r's `input` into outputs[r], which has the same shape. Sizes may differ between
  // ranks. Any element type, here and below.
  virtual void all_gather(const base::TensorView& input, std::span<const base::TensorView> outputs,
                          const Wait& wait) = 0;
  // Sends inputs[r] to rank r and receives rank r's tensor in outputs[r]; both sides know the
  // shapes.
  virtual void all_to_all(std::span<const base::TensorView> inputs,
                          std::span<const base::TensorView> outputs, const Wait& wait) = 0;
  virtual void barrier(const Wait& wait) = 0;
  // The last operation: a barrier that matches no other operation.
  virtual void shutdown(const Wait& wait) = 0;
  // Ends all current and later operations on every rank with Error(kAborted) and this text. Any
  // thread, idempotent.
  virtual void abort(const std::string& why) noexcept = 0;
  virtual bool spent() const noexcept = 0;
  // Notes the position of this rank; other ranks read it when they have waited too long. Costs a
  // write to memory.
  virtual void set_position(const Position&) noexcept {}
  // Names the host's call that the following operations belong to. Ranks with different names get
  // Error(kMismatch) with both names in the next operation.
  virtual void set_caller(const std::string&) {}
  // Null if ranks have no devices of their own.
  virtual QueuedCollectives* queued() noexcept { return nullptr; }
};

// The ends of a communicator that this process holds: all ranks, or, in a job of many processes
// (comm/processes.h), ranks first_rank() to first_rank() + num_local() - 1. One thread uses each
// end and connects it; connect() of all ends runs at the same time. An end may outlive the group.
class ThreadGroup {
 public:
  // The ranks of this process alone, which exchange through memory.
  static std::shared_ptr<ThreadGroup> create(int world_size);
  virtual ~ThreadGroup() = default;
  virtual int world_size() const = 0;
  virtual int first_rank() const { return 0; }
  virtual int num_local() const { return world_size(); }
  // Findings for the log that are no errors, such as different GPUs. Within one process they are
  // known once the ranks are connected.
  virtual std::vector<std::string> remarks() const { return {}; }
  // Each of this process's ranks calls it once on its own thread. Returns when all ranks have come;
  // Error(kTimeout) names the missing ranks.
  virtual std::unique_ptr<Collectives> connect(int rank, const Wait& wait) = 0;
  virtual void abort(const std::string& why) noexcept = 0;
  // The reason why the group has ended, as its ranks get it; empty if it has not, or if only the
  // ranks know. For a thread that waits for ranks that a call of the driver blocks.
  virtual std::optional<base::Error> cause() const { return {}; }
};

}  // namespace gnnmg::comm
