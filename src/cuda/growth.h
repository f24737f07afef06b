// When LibTorch's allocator takes memory of a device's, or we pin the host's.
#pragma once

namespace gnnmg::cuda {

// As comm::nccl::Table says. Nothing where LibTorch was told to use an allocator that does not tell
// (PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync, whose calls wait for no kernels).
void watch_growth(void (*before)() noexcept, void (*after)() noexcept);

// The same of calls of ours, as long as it lives.
class Growing {
 public:
  Growing() noexcept;
  ~Growing();
  Growing(const Growing&) = delete;
  Growing& operator=(const Growing&) = delete;
};

}  // namespace gnnmg::cuda
