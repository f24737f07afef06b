// The kernels of a queue's launches: every block processes items in steps of the grid. Does not use
// CUDA's runtime, so that tests/cuda/lane_queue.h runs this code too.
#pragma once

#include <cstdint>

#include "cuda/grid/tile.cuh"

namespace gnnmg::cuda {

inline constexpr int kBlockThreads = 256;
inline constexpr int kWideThreads = 1024;

// True for kernels that read host memory. Few multiprocessors should have as many requests in
// flight as possible, so a queue with a limit runs these kernels in wide blocks.
template <typename F>
constexpr bool is_wide() {
  if constexpr (requires { F::kWide; })
    return F::kWide;
  else
    return false;
}

// The number of blocks of F for which a multiprocessor's registers must suffice: F::kLeastBlocks if
// defined; 0: the compiler's choice, which may make a kernel with many values spill.
template <typename F>
constexpr int least_blocks() {
  if constexpr (requires { F::kLeastBlocks; })
    return F::kLeastBlocks;
  else
    return 0;
}

template <int kThreads, typename F>
__global__ void __launch_bounds__(kThreads, kThreads == kBlockThreads ? least_blocks<F>() : 0)
    run_each(int64_t count, const F f) {
  const int64_t step = int64_t{gridDim.x} * kThreads;
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += step) f(i);
}

template <int kThreads, int N, typename F>
__global__ void __launch_bounds__(kThreads, kThreads == kBlockThreads ? least_blocks<F>() : 0)
    run_tiles(int64_t count, const F f) {
  const DeviceTile<N> tile;
  constexpr int kTiles = kThreads / N;
  const int64_t step = int64_t{gridDim.x} * kTiles;
  for (int64_t i = int64_t{blockIdx.x} * kTiles + threadIdx.x / N; i < count; i += step) f(tile, i);
}

// Items for single tiles come first; one barrier tells whether the block has others.
template <int N, typename F>
__global__ void __launch_bounds__(kBlockThreads, least_blocks<F>())
    run_teams(int64_t count, const F f) {
  constexpr int kTiles = kBlockThreads / N;
  const int64_t step = int64_t{gridDim.x} * kTiles;
  bool others = false;
  {
    const DeviceTile<N> tile;
    for (int64_t i = int64_t{blockIdx.x} * kTiles + threadIdx.x / N; i < count; i += step) {
      if (!f.alone(tile, i)) others = true;
    }
  }
  if (!__syncthreads_or(others)) return;
  const DeviceTeam<N, kBlockThreads> team;
  for (int64_t first = int64_t{blockIdx.x} * kTiles; first < count; first += step)
    for (int64_t i = first; i < first + kTiles && i < count; ++i)
      if (f.is_long(i)) f.together(team, i);
}

}  // namespace gnnmg::cuda
