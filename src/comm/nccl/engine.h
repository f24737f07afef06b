// One rank's end of an NCCL communicator.
//
// Tensors are in any memory that the rank's queue can copy: its own device's or the host's. Work
// that writes a tensor must be done before an operation is called on it; when the operation
// returns, the tensor holds the result. Errors besides those of collectives.h: kNoMemory without
// staging memory, thrown before anything starts, so the end stays as it was; kDeviceLost on the
// rank whose device failed, now and in every later call (the others get kAborted); kInternal for
// other failures of NCCL. An argument that NCCL refuses is kInvalidArgument; the communicator stays
// usable if NCCL says so.
//
// A queued operation (queued()) consists only of events and of NCCL's calls on the communicator's
// stream; the host does not wait for it. It begins when all ranks of this process have called it,
// and returns when NCCL has started it on all of them.
#pragma once

#include <memory>
#include <utility>

#include "comm/group_state.h"
#include "comm/nccl/comm_stream.h"
#include "comm/nccl/handle.h"
#include "device/launch_order.h"

namespace gnnmg::comm::nccl {

// The ranks of a communicator in one process, and the gate that keeps memory calls of their threads
// apart from their operations.
struct Locals {
  int first = 0, count = 1;
  std::shared_ptr<device::LaunchOrder> gate = std::make_shared<device::LaunchOrder>(1);
};

// Time that a closing rank waits for launches of other communicators: NCCL frees memory then, with
// the last rank for all ranks of this process.
inline constexpr std::chrono::milliseconds kGateTimeout(50);

// The parts of a rank's end while it connects. Only the rank's thread uses it, and aborts or
// destroys its communicator. If that thread is blocked, the watchdog aborts in its place
// (in_flight.h) and shares ownership for that time.
struct Parts {
  Parts(const Table& nccl, const device::Table& devices, int device, Locals ranks)
      : comm_stream(nccl, devices, device), handle(nccl), locals(std::move(ranks)) {}
  ~Parts() {
    if (!handle.get()) return;
    const device::MemoryCall call(*locals.gate, kGateTimeout);
    handle.abort();
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
  CommStream comm_stream;  // destroyed last: the communicator's end stops NCCL's queued work
  Handle handle;
  const Locals locals;
};

// A hash of a call: ranks compare it to find different calls.
uint64_t digest_of(const Call& call, uint64_t operation);

// The status that reports a failed call of NCCL.
base::Status status_of(Result result) noexcept;

// `parts` holds the connected communicator of `rank`; all ranks have entered operation 0 of
// `state`.
std::unique_ptr<Collectives> make_engine(std::shared_ptr<GroupState> state, int rank,
                                         std::shared_ptr<Parts> parts);

}  // namespace gnnmg::comm::nccl
