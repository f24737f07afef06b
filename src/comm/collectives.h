// Collectives: what ranks do together. One object is one rank's end of a communicator; engines
// stand behind it (Gloo in comm/gloo, NCCL in the CUDA plug-in, fakes in tests).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/cancel.h"
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

// All ranks call the same operations in the same order. Buffers are read at the call and written on
// success only: the engine works on staging memory of its own, so that a call given up early never
// writes into the caller's memory later. Arguments that do not fit are Error(kInvalidArgument) and
// leave the communicator as it was. After kTimeout, kCancelled, kPeerLost or kAborted it is spent:
// every later call is Error(kAborted) with the first cause. A rank that gives up ends the operation
// on all: those that wait for the same missing rank say kTimeout too, the others kAborted. One
// thread a rank; abort() from any thread.
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
  // Ends all present and later operations on every rank with Error(kAborted) and this text. Any
  // thread, idempotent.
  virtual void abort(const std::string& why) noexcept = 0;
  virtual bool spent() const noexcept = 0;
};

// The ends of a communicator among `world_size` threads of this process over Gloo on the loopback
// interface; each is to be used by one thread. The ends must be connected by their threads:
// connect() of all ends runs at the same time. An end may outlive the group.
class ThreadGroup {
 public:
  static std::shared_ptr<ThreadGroup> create(int world_size);
  virtual ~ThreadGroup() = default;
  virtual int world_size() const = 0;
  // Called once by each rank's own thread; returns when all have come, or Error(kTimeout) naming
  // the missing ranks.
  virtual std::unique_ptr<Collectives> connect(int rank, const Wait& wait) = 0;
  virtual void abort(const std::string& why) noexcept = 0;
};

// Threads of the library that still wait for operations which were given up. They end by
// themselves, at the latest when Gloo's own time-out (deadline and stall limit of the operation)
// has passed; nothing ever waits for them.
int pending_reapers() noexcept;

}  // namespace gnnmg::comm
