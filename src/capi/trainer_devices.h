// What the ranks of a trainer compute on: its settings, held against the GPUs that there are.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "capi/devices.h"
#include "capi/seen_devices.h"
#include "capi/train_settings.h"

namespace gnnmg::capi {

struct DeviceChoice {
  int32_t num_ranks = 1;     // of this process
  std::vector<int> devices;  // GPU of each rank; empty: the ranks compute on the CPU
  std::string note;          // what was chosen and why, for the log
};
// `job`: what the processes of the job see, of which this is `process`; empty: it trains alone.
// Where nothing is asked for, all processes of a job take GPUs or none does, if their settings are
// the same. Errors name the field.
DeviceChoice choose_devices(const TrainerSettings& asked, const Devices& devices,
                            std::span<const SeenDevices> job, int process);

}  // namespace gnnmg::capi
