// What the ranks of a trainer compute on: its settings, held against the GPUs that there are.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "capi/devices.h"
#include "gnnmg.h"
#include "loader/device_source.h"

namespace gnnmg::capi {

// What a process of a job told the others when it joined.
struct SeenDevices {
  std::string host;                  // as the machine calls itself
  std::vector<std::string> bus_ids;  // of the GPUs that it sees, by number; empty: not known
};
// The GPUs that `process` takes where none are named: all that it sees, or, where other processes
// of its machine see the same ones, its part of them in the order of the processes.
// Error(kInvalidArgument) where two processes see some of the same GPUs and others besides.
std::vector<int> device_share(std::span<const SeenDevices> processes, int process);

struct DeviceChoice {
  int32_t num_ranks = 1;     // of this process
  std::vector<int> devices;  // GPU of each rank; empty: the ranks compute on the CPU
  std::string note;          // what was chosen and why, for the log
};
// `job`: what its processes told each other, of which this is `process`; empty: it trains alone.
// Errors name the field.
DeviceChoice choose_devices(const gnnmg_trainer_config& config, const Devices& devices,
                            std::span<const SeenDevices> job, int process);
// Where graph and features lie for these GPUs, as the config has it.
loader::DeviceSourceConfig device_placement(const gnnmg_trainer_config& config);

}  // namespace gnnmg::capi
