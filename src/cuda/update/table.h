// The table of train/device_updates.h for a queue; update.h has the kernels.
#pragma once

#include "train/device_updates.h"

namespace gnnmg::cuda {

template <typename Queue, typename T>
const train::DeviceUpdates<T>& updates_table();

}  // namespace gnnmg::cuda
