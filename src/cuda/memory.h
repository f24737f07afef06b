// Memory of a device, from LibTorch's cache for it, so that tensors and the library's buffers share
// free memory; and host memory that kernels can read.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "cuda/grid/buffer.h"

namespace gnnmg::cuda {

// Memory for use by one stream; null: by any stream, and idle when it is released.
std::unique_ptr<Memory> make_device_memory(int device, cudaStream_t stream);

// Memory pinned in the context of a device, readable by all. Lives as long as the process.
PinnedMemory& pinned_memory(int device);

}  // namespace gnnmg::cuda
