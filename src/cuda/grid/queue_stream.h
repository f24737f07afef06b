// Returns the stream of a queue, for files that nvcc does not compile.
#pragma once

#include <cuda_runtime_api.h>

#include "base/device.h"

namespace gnnmg::cuda {

cudaStream_t stream_of(base::DeviceQueue* queue);
int device_of(base::DeviceQueue* queue);

}  // namespace gnnmg::cuda
