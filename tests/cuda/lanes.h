// Blocks of a GPU on the host: every lane runs a kernel's code separately, on its own stack, and
// meets the others at synchronization points. Defines the CUDA functions that DeviceTile and
// DeviceTeam use, so that cuda/grid/tile.cuh and launch.cuh run unchanged.
//
// For ThreadSanitizer a lane is a thread, ordered with others only by __syncwarp() and
// __syncthreads(), as on a GPU: a write of one lane and an access of another one without these in
// between is reported as a race, in one warp or in two blocks, unless one host thread runs both
// blocks, which is the case for every second block. Votes and shuffles order nothing.
//
// An impossible meeting ends the program with the positions of the lanes: lanes that diverged, have
// ended, or are not in the mask.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace gnnmg::cuda::lanes {

struct Index {
  unsigned x;
};
// Indices of the running lane.
Index thread_index();
Index block_index();
Index grid_size();

uint32_t ballot(uint32_t mask, bool value);
uint64_t shuffle(uint32_t mask, uint64_t value, int from);  // value of a lane of the warp
void sync_warp(uint32_t mask);
bool sync_block(bool value);  // returns true if any lane's value is true
// Lets other lanes run.
void step();

// Calls body(work) on every lane of every block, some of the blocks concurrently; `seed` determines
// the order of lanes. At most kMostThreads lanes per block.
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
