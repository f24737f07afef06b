// The host's implementation of a GPU's queue with separate lanes: the blocks, tiles and teams of a
// GPU, run by lanes.h. Other operations are those of HostQueue.
#pragma once

#include "lanes.h"
//
#include "cuda/grid/launch.cuh"
#include "host_queue.h"

namespace gnnmg::cuda {

class LaneQueue : public HostQueue {
 public:
  template <int N>
  using Tile = DeviceTile<N>;
  static constexpr int kThreads = 32;  // threads of a block, unless all of its tiles work together
  static constexpr int kBlocks = 4, kTeams = 2;

  using HostQueue::HostQueue;

  template <typename F>
  void each(int64_t count, const F& f) {
    launch<1>(count, kThreads, kBlocks, [=] { run_each<kThreads>(count, f); });
  }
  template <int N, typename F>
  void tiles(int64_t count, const F& f) {
    launch<N>(count, kThreads, kBlocks, [=] { run_tiles<kThreads, N>(count, f); });
  }
  template <int N, typename F>
  void teams(int64_t count, const F& f) {
    launch<N>(count, kBlockThreads, kTeams, [=] { run_teams<N>(count, f); });
  }

 private:
  // `N` lanes per item.
  template <int N, typename Kernel>
  void launch(int64_t count, int threads, int most_blocks, const Kernel& kernel) {
    if (count <= 0) return;
    const int64_t wanted = (count * N + threads - 1) / threads;
    const int blocks = static_cast<int>(least<int64_t>(wanted, most_blocks));
    // Lanes without an item do nothing, except in a block with a barrier.
    if (blocks == 1 && threads == kThreads) threads = static_cast<int>(count) * N;
    work([=, this] {
      lanes::run(
          blocks, threads, seed_ + launches_++,
          [](const void* work) { (*static_cast<const Kernel*>(work))(); }, &kernel);
    });
  }
  uint32_t launches_ = 0;
};

}  // namespace gnnmg::cuda
