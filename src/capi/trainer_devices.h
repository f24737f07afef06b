// Chooses the device of each rank of a trainer from its settings and the GPUs of the machine.
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
  int32_t num_ranks = 1;     // ranks of this process
  std::vector<int> devices;  // GPU of each rank; empty: the ranks compute on the CPU
  std::string note;          // text for the log: the choice and its reason
};
// `job`: the GPUs that each process of the job sees; this is process `process`. Empty: it trains
// alone. Without a setting, all processes of a job take GPUs or none does, if their settings are
// the same. Errors name the field.
DeviceChoice choose_devices(const TrainerSettings& asked, const Devices& devices,
                            std::span<const SeenDevices> job, int process);

}  // namespace gnnmg::capi
