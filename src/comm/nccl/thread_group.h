// Communicators over NCCL among rank threads, of one process or of a job's, each with a device of
// its own.
#pragma once

#include <memory>
#include <vector>

#include "base/device.h"
#include "comm/collectives.h"
#include "comm/nccl/table.h"
#include "comm/processes.h"

namespace gnnmg::comm::nccl {

// Rank r is on devices[r], a number of the device table's; the tables outlive the group and all its
// ends. Error(kInvalidArgument) when the environment undoes deadlines (NCCL_COMM_BLOCKING, and
// NCCL_LAUNCH_MODE=GROUP). connect() makes the rank's device that of its thread, and has calls for
// memory (base/kernel_gate.h) of this thread, and of the workers of loaders that it makes, wait
// while ranks of the process are in an operation; what LibTorch takes waits on all threads of the
// process for launches of all communicators. It is, besides what ThreadGroup says:
// Error(kInvalidArgument) on every rank when two ranks are on one GPU, kMismatch when they have
// loaded different versions of NCCL, kDependency when it is older than the one that the library was
// built with, kUnavailable when NCCL_SOCKET_IFNAME fits no interface.
std::shared_ptr<ThreadGroup> make_thread_group(const Table& nccl, const base::DeviceTable& table,
                                               std::vector<int> devices);

// The same among all processes of a job, as make_group() of comm/processes.h: collective, one
// exchange. This process's ranks are on `devices`, which give their number, whatever
// share.num_ranks says. What does not fit is told here, on every process.
std::shared_ptr<ThreadGroup> make_group(std::shared_ptr<Processes> processes, const Share& share,
                                        const Table& nccl, const base::DeviceTable& table,
                                        std::vector<int> devices, const Wait& wait);

}  // namespace gnnmg::comm::nccl
