// Returns the stream of a queue, for files that nvcc does not compile.
#pragma once

#include <cuda_runtime_api.h>

#include "device/table.h"

namespace gnnmg::cuda {

cudaStream_t stream_of(device::Queue* queue);
int device_of(device::Queue* queue);

}  // namespace gnnmg::cuda
