// Reports when LibTorch's allocator allocates device memory, or when the library pins host memory.
#pragma once

namespace gnnmg::cuda {

// The meaning is that of comm::nccl::Table. Does nothing if LibTorch uses an allocator without
// callbacks (PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync, whose calls wait for no kernels).
void watch_growth(void (*before)() noexcept, void (*after)() noexcept);

// Reports the library's own calls while it lives.
class Growing {
 public:
  Growing() noexcept;
  ~Growing();
  Growing(const Growing&) = delete;
  Growing& operator=(const Growing&) = delete;
};

}  // namespace gnnmg::cuda
