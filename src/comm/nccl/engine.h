// One rank's end of an NCCL communicator.
//
// Tensors lie wherever the rank's queue can copy from and to: in memory of its own device, or in
// the host's. The work that writes a tensor must be over when an operation is called on it, and it
// holds the result when the operation returns. Besides the errors that collectives.h names:
// Error(kNoMemory) when there is no staging memory, before anything is started, so the end stays as
// it was; kDeviceLost on the rank whose device failed, now and in every later call, while the
// others are told by kAborted; kInternal when NCCL fails otherwise. What NCCL itself refuses as an
// argument is kInvalidArgument and leaves the communicator usable where NCCL says that it is.
//
// In a queue of the caller's (queued()) an operation is nothing but events and NCCL's calls on the
// communicator's stream, behind which the host does not wait; it begins when all ranks of this
// process have come to it, and returns when NCCL has started it on all of them.
#pragma once

#include <memory>
#include <utility>

#include "base/kernel_gate.h"
#include "comm/group_state.h"
#include "comm/nccl/comm_stream.h"
#include "comm/nccl/handle.h"

namespace gnnmg::comm::nccl {

// The ranks of a communicator in one process, and what keeps their threads' calls for memory out of
// the way of their operations.
struct Locals {
  int first = 0, count = 1;
  std::shared_ptr<base::KernelGate> gate = std::make_shared<base::KernelGate>(1);
};

// How long a rank that ends its part of a communicator waits for launches of other communicators:
// NCCL frees memory, of all ranks of this process with the last of them.
inline constexpr std::chrono::milliseconds kGateTimeout(50);

// A rank's share in a communicator while it is made: the parts of an end. Used by the thread of
// the rank alone, which is the one that aborts or destroys what is in it; where that thread is held
// up, an abort is another's (in_flight.h), which has a share in it meanwhile.
struct Parts {
  Parts(const Table& nccl, const base::DeviceTable& devices, int device, Locals ranks)
      : comm_stream(nccl, devices, device), handle(nccl), locals(std::move(ranks)) {}
  ~Parts() {
    if (!handle.get()) return;
    const base::MemoryCall call(*locals.gate, kGateTimeout);
    handle.abort();
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
  CommStream comm_stream;  // goes last: what NCCL has queued ends with the communicator
  Handle handle;
  const Locals locals;
};

// Stands for a call among ranks: differs where they do, unless by chance.
uint64_t digest_of(const Call& call, uint64_t operation);

// The status that a failed call of NCCL's is reported as.
base::Status status_of(Result result) noexcept;

// `parts` holds the connected communicator of `rank`, and `state` has all ranks at operation 0.
std::unique_ptr<Collectives> make_engine(std::shared_ptr<GroupState> state, int rank,
                                         std::shared_ptr<Parts> parts);

}  // namespace gnnmg::comm::nccl
