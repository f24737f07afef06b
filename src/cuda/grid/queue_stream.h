// The stream behind a queue, for files that no nvcc compiles.
#pragma once

#include <cuda_runtime_api.h>

#include "base/device.h"

namespace gnnmg::cuda {

cudaStream_t stream_of(base::DeviceQueue* queue);
int device_of(base::DeviceQueue* queue);

}  // namespace gnnmg::cuda
