// A CUDA stream as a queue for kernels: work runs in order, and callers do not wait for it. One
// thread at a time. Errors of CUDA become base::Error when they are detected.
//
// All code for a queue is a template over it, so that HostQueue of tests/cuda/host_queue.h can
// replace it:
//   each(count, f)               f(i) for i in [0, count), in any order, concurrently
//   tiles<N>(count, f)           f(tile, i) with a tile of N lanes for each i
//   teams<N>(count, f)           f.alone(tile, i) with a tile for each i; if that does nothing
//                                and returns false, f.together(team, i) with all tiles of a block;
//                                f.is_long(i) tells which one applies
//   scan(counts, sums, count)    sums[i] = counts[0] + ... + counts[i - 1], i in [0, count]; two
//                                arrays, the total below 2^31
//   sort(keys, ..., count, bits) by the lowest `bits` bits of the keys; stable; four arrays
//   fill, copy, synchronize      memset; any direction; waits for all work
// f is a struct whose operator() is GNNMG_BOTH and const.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include <memory>
#include <vector>

#include "cuda/grid/buffer.h"
#include "cuda/grid/launch.cuh"
#include "cuda/grid/runtime.h"
#include "cuda/memory.h"

namespace gnnmg::cuda {

class CudaQueue {
 public:
  template <int N>
  using Tile = DeviceTile<N>;

  // `max_multiprocessors`: limit for a launch; 0: no limit. A launch has at most that many blocks,
  // and a block runs on one multiprocessor, which bounds the number wherever blocks are placed.
  // `stream`: null to make one.
  CudaQueue(int device, int max_multiprocessors, cudaStream_t stream);
  CudaQueue(int device, int max_multiprocessors, Urgency urgency);
  // Waits for its work.
  ~CudaQueue();
  CudaQueue(const CudaQueue&) = delete;
  CudaQueue& operator=(const CudaQueue&) = delete;

  template <typename F>
  void each(int64_t count, const F& f) {
    if (count <= 0) return;
    if constexpr (is_wide<F>())
      if (bounded_) return launch(run_each<kWideThreads, F>, kWideThreads, 1, count, f);
    launch(run_each<kBlockThreads, F>, kBlockThreads, 1, count, f);
  }
  template <int N, typename F>
  void tiles(int64_t count, const F& f) {
    if (count <= 0) return;
    if constexpr (is_wide<F>())
      if (bounded_) return launch(run_tiles<kWideThreads, N, F>, kWideThreads, N, count, f);
    launch(run_tiles<kBlockThreads, N, F>, kBlockThreads, N, count, f);
  }
  template <int N, typename F>
  void teams(int64_t count, const F& f) {
    if (count <= 0) return;
    launch(run_teams<N, F>, kBlockThreads, N, count, f);
  }
  void scan(const int32_t* counts, int32_t* sums, int64_t count);
  void sort(const uint32_t* keys, uint32_t* sorted_keys, const int32_t* values,
            int32_t* sorted_values, int64_t count, int bits);
  void fill(void* to, int byte, int64_t bytes);
  void copy(void* to, const void* from, int64_t bytes);
  void synchronize();
  bool finished();
  // Later work in this queue waits for the present work in `other`.
  void wait(CudaQueue& other);

  // Device memory for use in this queue only.
  Memory& device_memory() { return *memory_; }
  // Device memory for use by several queues and beyond the lifetime of this one.
  std::unique_ptr<Memory> lasting_memory() const { return make_device_memory(device_, nullptr); }
  PinnedMemory& pinned_memory() { return cuda::pinned_memory(device_); }
  int device() const { return device_; }
  cudaStream_t stream() const { return stream_.get(); }

 private:
  // `lanes` threads per item. Reports errors of this launch only, ignoring older errors in the
  // thread.
  template <typename F>
  void launch(void (*kernel)(int64_t, F), int threads, int lanes, int64_t count, const F& f) {
    const OnDevice on(device_);
    const int64_t a_block = threads / lanes, wanted = (count + a_block - 1) / a_block;
    cudaLaunchConfig_t config{};
    config.gridDim = static_cast<unsigned>(wanted < max_blocks_ ? wanted : max_blocks_);
    config.blockDim = static_cast<unsigned>(threads);
    config.stream = stream();
    check_work(cudaLaunchKernelEx(&config, kernel, count, f), "starting a kernel");
  }
  int device_;
  bool bounded_;
  int64_t max_blocks_;
  Stream stream_;
  Event reached_;  // recorded by this queue for others
  std::unique_ptr<Memory> memory_;
  // Scratch for scans and sorts. Outgrown scratch is kept, because captured work refers to it.
  uint8_t* scratch(size_t bytes, const char* what);
  std::vector<Buffer<uint8_t>> scratch_;
};

}  // namespace gnnmg::cuda
