// A tile on the GPU: N neighboring lanes of a warp that work on one item. This class defines the
// operations of a tile; HostTile of tests/cuda/host_queue.h implements them one lane after another.
//
// The code of a tile is written for the tile as a whole: all its lanes must branch alike, and work
// of single lanes is in the functions passed to each(), make() and vote(). A value per lane is a
// Lanes<T>.
#pragma once

#include <cstdint>

#include "cuda/grid/portable.h"

namespace gnnmg::cuda {

template <int N>
class DeviceTile {
  static_assert(N == 1 || N == 8 || N == 16 || N == 32);

 public:
  static constexpr int kLanes = N;
  template <typename T>
  struct Lanes {
    T value;
    // Returns the value of the running lane; `lane` is its number.
    __device__ T& operator[](int) { return value; }
    __device__ const T& operator[](int) const { return value; }
  };

  __device__ DeviceTile()
      : lane_(static_cast<int>(threadIdx.x % N)),
        mask_((N == 32 ? 0xFFFFFFFFu : (1u << N % 32) - 1u) << (threadIdx.x % 32 / N * N)) {}

  // Calls f(lane) on every lane.
  template <typename F>
  __device__ __forceinline__ void each(const F& f) const {
    f(lane_);
  }
  // Calls f(i) for i in [begin, end), on lane l if (i - begin) % N = l.
  template <typename F>
  __device__ __forceinline__ void each_of(int64_t begin, int64_t end, const F& f) const {
    for (int64_t i = begin + lane_; i < end; i += N) f(i);
  }
  // Returns f(lane) of every lane.
  template <typename T, typename F>
  __device__ __forceinline__ Lanes<T> make(const F& f) const {
    return {static_cast<T>(f(lane_))};
  }
  // Bit l is f(l).
  template <typename F>
  __device__ __forceinline__ uint32_t vote(const F& f) const {
    const uint32_t all = __ballot_sync(mask_, f(lane_));
    return N == 32 ? all : (all & mask_) >> (threadIdx.x % 32 / N * N);
  }
  // Returns the value of lane `from`, on all lanes.
  template <typename T>
  __device__ __forceinline__ T broadcast(const Lanes<T>& x, int from) const {
    return __shfl_sync(mask_, x.value, from, N);
  }
  // Returns the sum of all lanes by halves, lane l with l ^ N/2 first: the same bits on all lanes.
  template <typename T>
  __device__ __forceinline__ T sum(const Lanes<T>& x) const {
    T total = x.value;
    for (int step = N / 2; step > 0; step /= 2) total += __shfl_xor_sync(mask_, total, step, N);
    return total;
  }
  template <typename T>
  __device__ __forceinline__ T maximum(const Lanes<T>& x) const {
    T most = x.value;
    for (int step = N / 2; step > 0; step /= 2) {
      const T other = __shfl_xor_sync(mask_, most, step, N);
      most = most < other || other != other ? other : most;  // NaNs propagate
    }
    return most;
  }
  // Makes writes to memory before it visible to the other lanes after it.
  __device__ __forceinline__ void sync() const { __syncwarp(mask_); }

 private:
  int lane_;
  uint32_t mask_;
};

// All tiles of a block, which work on one item together, item by item. As with a tile, work of
// single tiles is in the functions that are passed, and all tiles must branch alike.
template <int N, int kThreads>
class DeviceTeam {
 public:
  static constexpr int kTiles = kThreads / N;
  using Tile = DeviceTile<N>;
  template <typename T>
  using Lanes = typename Tile::template Lanes<T>;

  // Calls f(tile, t) for every tile, t its number; afterwards all tiles see their writes to memory.
  template <typename F>
  __device__ __forceinline__ void each(const F& f) const {
    f(tile_, static_cast<int>(threadIdx.x / N));
    __syncthreads();
  }
  // Combines the parts f(tile, t), each a Lanes<T>, of the first `count` tiles lane by lane, in
  // order, by add(total, part); returns the result on all tiles.
  template <typename T, typename F, typename Add>
  __device__ __forceinline__ Lanes<T> combine(int count, const F& f, const Add& add) const {
    __shared__ T parts[kThreads];
    const int t = static_cast<int>(threadIdx.x / N), lane = static_cast<int>(threadIdx.x % N);
    if (t < count) parts[threadIdx.x] = f(tile_, t).value;
    __syncthreads();
    T total = parts[lane];
    for (int k = 1; k < count; ++k) add(total, parts[k * N + lane]);
    __syncthreads();
    return {total};
  }

 private:
  Tile tile_;
};

}  // namespace gnnmg::cuda
