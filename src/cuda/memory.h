// Memory of a device, out of LibTorch's cache of it, so that tensors and our buffers share what is
// free; and memory of the host's that kernels can read.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "cuda/grid/buffer.h"

namespace gnnmg::cuda {

// For what is used by one stream; null: by any, with nothing under way when it is released.
std::unique_ptr<Memory> make_device_memory(int device, cudaStream_t stream);

// Pinned in the context of a device, read by all. Lives as long as the process.
PinnedMemory& pinned_memory(int device);

}  // namespace gnnmg::cuda
