// Blocks of a GPU on the host: every lane runs a kernel's code by itself, on a stack of its own,
// and meets the others where the code has it. What DeviceTile and DeviceTeam are made of is here
// under the names that it has on a GPU, so that cuda/grid/tile.cuh and launch.cuh run as they
// stand.
//
// Under ThreadSanitizer a lane is a thread to it, ordered with others by __syncwarp() and
// __syncthreads() alone, as on a GPU: what one lane writes and another one touches with nothing of
// these in between is reported as a race, whether they are of one warp or of two blocks, unless one
// thread of the host runs both blocks, as it does with each second one. Votes and shuffles order
// nothing.
//
// A meeting that cannot come about ends the program, and says where the lanes are: lanes that went
// different ways, have left, or are not of the mask.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace gnnmg::cuda::lanes {

struct Index {
  unsigned x;
};
// Of the lane that runs.
Index thread_index();
Index block_index();
Index grid_size();

uint32_t ballot(uint32_t mask, bool value);
uint64_t shuffle(uint32_t mask, uint64_t value, int from);  // from a lane of the warp
void sync_warp(uint32_t mask);
bool sync_block(bool value);  // whether any lane's is true
// Others may run in between.
void step();

// Calls body(work) on every lane of every block, some of the blocks at the same time; `seed`
// decides in which order lanes go. At most kMostThreads lanes a block.
inline constexpr int kMostThreads = 256;
void run(int blocks, int threads, uint32_t seed, void (*body)(const void*), const void* work);

template <typename T>
T shuffled(uint32_t mask, T value, int from) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(uint64_t));
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  bits = shuffle(mask, bits, from);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace gnnmg::cuda::lanes

#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static thread_local  // a thread runs one block at a time
#define threadIdx (gnnmg::cuda::lanes::thread_index())
#define blockIdx (gnnmg::cuda::lanes::block_index())
#define gridDim (gnnmg::cuda::lanes::grid_size())
#define GNNMG_BEFORE_ATOMIC() gnnmg::cuda::lanes::step()

inline uint32_t __ballot_sync(uint32_t mask, bool value) {
  return gnnmg::cuda::lanes::ballot(mask, value);
}
template <typename T>
T __shfl_sync(uint32_t mask, T value, int from, int width = 32) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  return gnnmg::cuda::lanes::shuffled(mask, value, lane / width * width + from % width);
}
template <typename T>
T __shfl_xor_sync(uint32_t mask, T value, int with, int) {
  return gnnmg::cuda::lanes::shuffled(mask, value, static_cast<int>(threadIdx.x % 32) ^ with);
}
inline void __syncwarp(uint32_t mask) { gnnmg::cuda::lanes::sync_warp(mask); }
inline void __syncthreads() { gnnmg::cuda::lanes::sync_block(false); }
inline int __syncthreads_or(int value) { return gnnmg::cuda::lanes::sync_block(value != 0); }
