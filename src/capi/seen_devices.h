// The GPUs that the processes of a job see, and those that each takes where none are named.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "capi/devices.h"
#include "comm/processes.h"

namespace gnnmg::capi {

// Facts that a process of a job tells the others when it joins.
struct SeenDevices {
  std::string machine;               // the same in all processes of one
  std::string process;               // "process 1 on host b"
  std::vector<std::string> bus_ids;  // bus id of each GPU that it sees; empty: not known
};

// Collective: by process.
std::vector<SeenDevices> tell_devices(comm::Processes& processes, const Devices& own,
                                      const comm::Wait& wait);

// The GPUs of `process`, by number: all that it sees, or, where other processes of its machine see
// the same ones, its part of them in the order of the processes. Every GPU is somebody's.
// Error(kInvalidArgument) where two processes see some of the same GPUs and others besides.
std::vector<int> device_share(std::span<const SeenDevices> processes, int process);

}  // namespace gnnmg::capi
