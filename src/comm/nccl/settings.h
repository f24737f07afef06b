// Settings of NCCL that come from the environment, and errors that explain them.
#pragma once

#include <span>
#include <string>

#include "base/error.h"
#include "comm/nccl/handle.h"
#include "device/table.h"

namespace gnnmg::comm::nccl {

// Error(kInvalidArgument) if NCCL_COMM_BLOCKING makes communicators blocking: their calls would
// wait without regard to deadline, cancel or lost ranks. NCCL_LAUNCH_MODE=GROUP with several ranks
// here is refused too: NCCL's own threads would wait like that, and abort() for them.
void check_environment(int num_local);

// True if NCCL_SOCKET_IFNAME=`wanted` matches one of the interfaces `names`: a list of prefixes, of
// whole names after '=', or of names to exclude after '^'.
bool fits_interface(const std::string& wanted, std::span<const std::string> names);

// The error for NCCL's failure to start: its message and the likely reason.
base::Error start_error(int rank, const Failure& failure, const device::Table& table, int device);

}  // namespace gnnmg::comm::nccl
