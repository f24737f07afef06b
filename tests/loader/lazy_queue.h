// A queue of a GPU that defers work; see lazy_gpu.h.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

#include "cuda/host_queue.h"

namespace gnnmg::lazy_gpu {

class LazyQueue {
 public:
  template <int N>
  using Tile = cuda::HostTile<N>;

  explicit LazyQueue(int device);
  ~LazyQueue();

  template <typename F>
  void each(int64_t count, const F& f) {
    add([this, count, f] { twin_.each(count, f); });
  }
  template <int N, typename F>
  void tiles(int64_t count, const F& f) {
    add([this, count, f] { twin_.tiles<N>(count, f); });
  }
  void scan(const int32_t* counts, int32_t* sums, int64_t count) {
    add([=, this] { twin_.scan(counts, sums, count); });
  }
  void sort(const uint32_t* keys, uint32_t* sorted_keys, const int32_t* values,
            int32_t* sorted_values, int64_t count, int bits) {
    add([=, this] { twin_.sort(keys, sorted_keys, values, sorted_values, count, bits); });
  }
  void fill(void* to, int byte, int64_t bytes) {
    add([=, this] { twin_.fill(to, byte, bytes); });
  }
  // Copies like CUDA: pageable sources are read at once, and copies to pageable memory are awaited.
  void copy(void* to, const void* from, int64_t bytes);
  void synchronize();
  bool finished();
  void wait(LazyQueue& other);
  struct Mark {
    const int device;
    std::shared_ptr<LazyQueue*> queue;  // null: never recorded; its queue is null once it is closed
    uint64_t until = 0;                 // amount of work done there
  };
  void put(Mark& mark);
  void wait(const Mark& mark);
  static bool reached(const Mark& mark);

  cuda::Memory& device_memory() { return *memory_; }
  std::unique_ptr<cuda::Memory> lasting_memory();
  cuda::PinnedMemory& pinned_memory();

 private:
  friend class Scheduler;
  class OwnMemory;
  struct Work {
    std::function<void()> run;
    std::shared_ptr<LazyQueue*> other;  // queue to wait for; its queue is null once it is closed
    uint64_t until = 0;                 // amount of work done there
  };
  void add(std::function<void()> run);

  const int device_;
  cuda::HostQueue twin_{12345};
  std::unique_ptr<cuda::Memory> memory_;
  // The members below belong to the scheduler.
  std::deque<Work> work_;
  uint64_t added_ = 0, done_ = 0;
  std::shared_ptr<LazyQueue*> self_;
};

}  // namespace gnnmg::lazy_gpu
