// What the ranks of a trainer compute on: its settings, held against the GPUs that there are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capi/devices.h"
#include "gnnmg.h"
#include "loader/device_source.h"

namespace gnnmg::capi {

struct DeviceChoice {
  int32_t num_ranks = 1;     // of this process
  std::vector<int> devices;  // GPU of each rank; empty: the ranks compute on the CPU
  std::string note;          // what was chosen and why, for the log
};
// `several`: a communicator among processes is there, which train on the CPU. Errors name the
// field.
DeviceChoice choose_devices(const gnnmg_trainer_config& config, const Devices& devices,
                            bool several);
// Where graph and features lie for these GPUs, as the config has it.
loader::DeviceSourceConfig device_placement(const gnnmg_trainer_config& config);

}  // namespace gnnmg::capi
