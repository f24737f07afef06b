// What the environment tells NCCL behind our back, and what is said of it.
#pragma once

#include <span>
#include <string>

#include "base/device.h"
#include "base/error.h"
#include "comm/nccl/handle.h"

namespace gnnmg::comm::nccl {

// Error(kInvalidArgument) when NCCL_COMM_BLOCKING makes communicators blocking whatever they are
// asked to be: their calls would wait where no deadline, cancel or lost rank ends them. So would
// NCCL's own threads, and abort() for these, with NCCL_LAUNCH_MODE=GROUP and several ranks here.
void check_environment(int num_local);

// Whether NCCL_SOCKET_IFNAME=`wanted` leaves an interface of these names: a list of prefixes,
// of whole names behind '=', or of what not to take behind '^'.
bool fits_interface(const std::string& wanted, std::span<const std::string> names);

// The error that NCCL's failure to start is: what it says, and where it is likely to come from.
base::Error start_error(int rank, const Failure& failure, const base::DeviceTable& table,
                        int device);

}  // namespace gnnmg::comm::nccl
