// A CUDA stream as kernels' queue: what is given to it runs in order, without waiting for it. One
// thread at a time. Errors of CUDA become base::Error where they are noticed.
//
// Everything that is written for a queue is a template over it, so that HostQueue of
// tests/cuda/host_queue.h can stand in for it:
//   each(count, f)               f(i) for i in [0, count), in any order, at the same time
//   tiles<N>(count, f)           f(tile, i) with a tile of N lanes for each i
//   teams<N>(count, f)           f.alone(tile, i) with a tile for each i; where that does nothing
//                                and returns false, f.together(team, i) with all tiles of a block;
//                                f.is_long(i) tells which it is
//   scan(counts, sums, count)    sums[i] = counts[0] + ... + counts[i - 1], i in [0, count]; two
//                                arrays, the sum of all below 2^31
//   sort(keys, ..., count, bits) by the lowest `bits` bits of the keys; equal keys keep their
//   order;
//                                four arrays
//   fill, copy, synchronize      memset; any direction; waits for all of it
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

  // `max_multiprocessors`: how many of the device's a launch may take; 0: all. A launch has so many
  // blocks at most, and a block runs on one multiprocessor: that bounds it wherever they are put.
  // `stream`: null for one of its own.
  CudaQueue(int device, int max_multiprocessors, cudaStream_t stream);
  CudaQueue(int device, int max_multiprocessors, Urgency urgency);
  // Waits for what is in it.
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
  // What comes in from here on waits for what is in `other` now.
  void wait(CudaQueue& other);

  // Memory of the device for what is used in this queue alone.
  Memory& device_memory() { return *memory_; }
  // Memory of the device for what several queues use and what outlives this one.
  std::unique_ptr<Memory> lasting_memory() const { return make_device_memory(device_, nullptr); }
  PinnedMemory& pinned_memory() { return cuda::pinned_memory(device_); }
  int device() const { return device_; }
  cudaStream_t stream() const { return stream_.get(); }

 private:
  // `lanes` of the threads an item. Answers for this launch alone, whatever error others have left
  // in the thread.
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
  Event reached_;  // by this queue, for others to wait for
  std::unique_ptr<Memory> memory_;
  // Room of scans and sorts. What has become too small stays: captured work names it.
  uint8_t* scratch(size_t bytes, const char* what);
  std::vector<Buffer<uint8_t>> scratch_;
};

}  // namespace gnnmg::cuda
