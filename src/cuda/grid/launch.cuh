// The kernels of a queue's launches: every block goes through the items in steps of the grid. Names
// nothing of CUDA's runtime, so that tests/cuda/lane_queue.h runs this code too.
#pragma once

#include <cstdint>

#include "cuda/grid/tile.cuh"

namespace gnnmg::cuda {

inline constexpr int kBlockThreads = 256;
inline constexpr int kWideThreads = 1024;

// Kernels that read the host's memory, of which few multiprocessors should keep as much under way
// as they can: in a queue that may take some only they run in wide blocks.
template <typename F>
constexpr bool is_wide() {
  if constexpr (requires { F::kWide; })
    return F::kWide;
  else
    return false;
}

// Blocks of F that registers have to suffice for on a multiprocessor: F::kLeastBlocks where there
// is one; 0: as the compiler thinks best, which may cost a kernel that holds many numbers some
// spills.
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

// What is for tiles alone comes first; one barrier tells whether the block has anything else.
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
