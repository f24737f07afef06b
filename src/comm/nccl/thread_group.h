// Communicators over NCCL among rank threads of one process, each with a device of its own.
#pragma once

#include <memory>
#include <vector>

#include "base/device.h"
#include "comm/collectives.h"
#include "comm/nccl/table.h"

namespace gnnmg::comm::nccl {

// Rank r is on devices[r], a number of the device table's; the tables outlive the group and all its
// ends. connect() is, besides what ThreadGroup says: Error(kInvalidArgument) on every rank when two
// ranks are on one GPU, kMismatch when they have loaded different versions of NCCL, kDependency
// when it is older than the one that the library was built with.
std::shared_ptr<ThreadGroup> make_thread_group(const Table& nccl, const base::DeviceTable& table,
                                               std::vector<int> devices);

}  // namespace gnnmg::comm::nccl
