// NCCL communicators among rank threads of one process or of a job, each rank with its own device.
#pragma once

#include <memory>
#include <vector>

#include "comm/collectives.h"
#include "comm/nccl/table.h"
#include "comm/processes.h"
#include "device/table.h"

namespace gnnmg::comm::nccl {

// Rank r uses devices[r], an index of the device table; the tables outlive the group and all its
// ends. Error(kInvalidArgument) if the environment disables deadlines (NCCL_COMM_BLOCKING,
// NCCL_LAUNCH_MODE=GROUP).
//
// connect() makes the rank's device the current one of its thread. From then on memory calls
// (device/launch_order.h) of this thread, and of loader workers that it starts, wait while ranks of
// the process are in an operation; allocations of LibTorch on any thread of the process wait for
// launches of all communicators. Errors of connect() besides those of ThreadGroup: kInvalidArgument
// on every rank if two ranks use one GPU, kMismatch for different loaded versions of NCCL,
// kDependency for a version older than the one at build time, kUnavailable if NCCL_SOCKET_IFNAME
// matches no interface.
std::shared_ptr<ThreadGroup> make_thread_group(const Table& nccl, const device::Table& table,
                                               const std::vector<int>& devices);

// The same among all processes of a job, like make_group() of comm/processes.h: collective, one
// exchange. `devices` also sets the number of this process's ranks, in place of share.num_ranks.
// Every process gets the errors of unsuitable ranks here.
std::shared_ptr<ThreadGroup> make_group(std::shared_ptr<Processes> processes, const Share& share,
                                        const Table& nccl, const device::Table& table,
                                        std::vector<int> devices, const Wait& wait);

}  // namespace gnnmg::comm::nccl
