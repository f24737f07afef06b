// The host's implementation of a GPU's queue: runs the same kernels one item after another,
// immediately, so that tests and sanitizers check their logic without a GPU. The seed determines
// the order of items, and of lanes within a tile, so that results that depend on timing differ.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string_view>
#include <vector>

#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#else
#define VALGRIND_MAKE_MEM_UNDEFINED(at, bytes) 0
#endif

#include "base/error.h"
#include "cuda/grid/buffer.h"
#include "cuda/grid/pinned_ranges.h"

namespace gnnmg::cuda {

template <int N>
class HostTile {
 public:
  static constexpr int kLanes = N;
  template <typename T>
  struct Lanes {
    T values[N]{};
    T& operator[](int lane) { return values[lane]; }
    const T& operator[](int lane) const { return values[lane]; }
  };
  explicit HostTile(uint32_t turn) : turn_(turn) {}

  template <typename F>
  void each(const F& f) const {
    for (int l = 0; l < N; ++l) f(lane(l));
  }
  template <typename F>
  void each_of(int64_t begin, int64_t end, const F& f) const {
    for (int l = 0; l < N; ++l)
      for (int64_t i = begin + lane(l); i < end; i += N) f(i);
  }
  template <typename T, typename F>
  Lanes<T> make(const F& f) const {
    Lanes<T> result;
    for (int l = 0; l < N; ++l) result.values[lane(l)] = static_cast<T>(f(lane(l)));
    return result;
  }
  template <typename F>
  uint32_t vote(const F& f) const {
    uint32_t bits = 0;
    for (int l = 0; l < N; ++l) bits |= uint32_t{f(lane(l)) ? 1u : 0u} << lane(l);
    return bits;
  }
  template <typename T>
  T broadcast(const Lanes<T>& x, int from) const {
    return x.values[from % N];
  }
  template <typename T>
  T sum(Lanes<T> x) const {
    for (int step = N / 2; step > 0; step /= 2)
      for (int l = 0; l < step; ++l) x.values[l] += x.values[l + step];
    return x.values[0];
  }
  template <typename T>
  T maximum(const Lanes<T>& x) const {
    T most = x.values[0];
    for (int l = 1; l < N; ++l)
      most = most < x.values[l] || x.values[l] != x.values[l] ? x.values[l] : most;
    return most;
  }
  void sync() const {}

 private:
  int lane(int i) const { return static_cast<int>((i * (2 * turn_ + 1) + turn_) % N); }
  uint32_t turn_;
};

// Has as many tiles as a block of the GPU.
template <int N>
class HostTeam {
 public:
  static constexpr int kTiles = 256 / N;
  using Tile = HostTile<N>;
  template <typename T>
  using Lanes = typename Tile::template Lanes<T>;
  explicit HostTeam(uint32_t turn) : turn_(turn) {}

  template <typename F>
  void each(const F& f) const {
    for (int i = 0; i < kTiles; ++i) {
      const int t = static_cast<int>((i * (2 * turn_ + 1) + turn_) % kTiles);
      f(Tile(turn_ + static_cast<uint32_t>(t)), t);
    }
  }
  template <typename T, typename F, typename Add>
  Lanes<T> combine(int count, const F& f, const Add& add) const {
    std::vector<Lanes<T>> parts(kTiles);
    each([&](const Tile& tile, int t) {
      if (t < count) parts[t] = f(tile, t);
    });
    for (int t = 1; t < count; ++t)
      for (int lane = 0; lane < N; ++lane) add(parts[0][lane], parts[t][lane]);
    return parts[0];
  }

 private:
  uint32_t turn_;
};

// Counts allocations, and makes the n-th allocation fail on request.
class HostMemory : public PinnedMemory, public PinningSystem {
 public:
  void* allocate(int64_t bytes, std::string_view what) override {
    if (fail_after >= 0 && fail_after-- == 0)
      base::fail(base::Status::kNoMemory, "no memory for ", what, " of ", bytes, " bytes");
    ++num_allocations;
    ++num_live;
    const size_t rounded = (static_cast<size_t>(bytes) + 255) / 256 * 256;
    void* memory = std::aligned_alloc(256, rounded);
    // Exposes code that assumes zeros or reads unwritten memory.
    std::memset(memory, 0xA5, rounded);
    static_cast<void>(VALGRIND_MAKE_MEM_UNDEFINED(memory, rounded));
    return memory;
  }
  void release(void* memory) noexcept override {
    --num_live;
    std::free(memory);
  }
  void* adopt(void* memory, int64_t bytes, std::string_view what) override {
    ranges.take(*this, memory, bytes, what);
    return memory;
  }
  void give_back(void* memory) noexcept override { ranges.give_back(memory); }
  int64_t least_to_adopt() const override { return adopts_from; }
  // The system's view: adopted memory, and memory that tests have pinned themselves.
  bool pin(void* memory, int64_t bytes, std::string_view what) override {
    if (fail_after >= 0 && fail_after-- == 0)
      base::fail(base::Status::kNoMemory, "no memory to pin ", what, " of ", bytes, " bytes");
    const uintptr_t begin = reinterpret_cast<uintptr_t>(memory);
    for (const auto& [at, length] : foreign)
      if (at < begin + bytes && begin < at + length) return false;
    adopted.insert(memory);
    return true;
  }
  void unpin(void* memory) noexcept override { adopted.erase(memory); }
  bool all_pinned(void* memory, int64_t bytes) override {
    const uintptr_t begin = reinterpret_cast<uintptr_t>(memory);
    for (const auto& [at, length] : foreign)
      if (at <= begin && begin + bytes <= at + length) return true;
    return false;
  }
  void pin_by_owner(const void* memory, int64_t bytes) {
    foreign.emplace(reinterpret_cast<uintptr_t>(memory), static_cast<uintptr_t>(bytes));
  }
  PinnedRanges ranges;
  std::set<void*> adopted;
  std::map<uintptr_t, uintptr_t> foreign;
  int64_t adopts_from = 0;  // tests have small arrays
  int64_t fail_after = -1;
  int64_t num_allocations = 0, num_live = 0;
};

// Memory with a separate owner that comes from another Memory.
class PassedOnMemory : public Memory {
 public:
  explicit PassedOnMemory(Memory& from) : from_(&from) {}
  void* allocate(int64_t bytes, std::string_view what) override {
    return from_->allocate(bytes, what);
  }
  void release(void* memory) noexcept override { from_->release(memory); }

 private:
  Memory* from_;
};

class HostQueue {
 public:
  template <int N>
  using Tile = HostTile<N>;

  explicit HostQueue(uint32_t seed = 0) : seed_(seed) {}

  template <typename F>
  void each(int64_t count, const F& f) {
    work([=, this] { in_turn(count, [&](int64_t i, uint32_t) { f(i); }); });
  }
  template <int N, typename F>
  void tiles(int64_t count, const F& f) {
    work([=, this] { in_turn(count, [&](int64_t i, uint32_t turn) { f(HostTile<N>(turn), i); }); });
  }
  template <int N, typename F>
  void teams(int64_t count, const F& f) {
    work([=, this] {
      in_turn(count, [&](int64_t i, uint32_t turn) {
        if (f.alone(HostTile<N>(turn), i) == f.is_long(i)) std::abort();
      });
      in_turn(count, [&](int64_t i, uint32_t turn) {
        if (f.is_long(i)) f.together(HostTeam<N>(turn), i);
      });
    });
  }
  void scan(const int32_t* counts, int32_t* sums, int64_t count) {
    work([=] {
      int64_t sum = 0;
      for (int64_t i = 0; i < count; ++i) {
        sums[i] = static_cast<int32_t>(sum);
        sum += counts[i];
      }
      if (sum > INT32_MAX) std::abort();
      sums[count] = static_cast<int32_t>(sum);
    });
  }
  void sort(const uint32_t* keys, uint32_t* sorted_keys, const int32_t* values,
            int32_t* sorted_values, int64_t count, int bits) {
    work([=] {
      const auto key = [&](int64_t i) {
        return bits < 32 ? keys[i] & ((uint32_t{1} << bits) - 1) : keys[i];
      };
      std::vector<int64_t> order(count);
      std::iota(order.begin(), order.end(), int64_t{0});
      std::stable_sort(order.begin(), order.end(),
                       [&](int64_t a, int64_t b) { return key(a) < key(b); });
      for (int64_t i = 0; i < count; ++i) {
        sorted_keys[i] = keys[order[i]];
        sorted_values[i] = values[order[i]];
      }
    });
  }
  void fill(void* to, int byte, int64_t bytes) {
    work([=] { std::memset(to, byte, bytes); });
  }
  void copy(void* to, const void* from, int64_t bytes) {
    work([=] {
      if (bytes) std::memcpy(to, from, bytes);
    });
  }
  void synchronize() {
    if (recording_ != nullptr)
      base::fail(base::Status::kInternal, "the queue is captured and cannot be waited for");
    ++num_synchronizations;
  }
  // Records the work that f() puts into the queue, for replays; nothing runs yet.
  using Steps = std::vector<std::function<void()>>;
  template <typename F>
  Steps capture(const F& f) {
    Steps steps;
    recording_ = &steps;
    try {
      f();
    } catch (...) {
      recording_ = nullptr;
      throw;
    }
    recording_ = nullptr;
    return steps;
  }
  Memory& device_memory() { return device; }
  // Here it comes from the queue's own memory, and is counted there.
  std::unique_ptr<Memory> lasting_memory() { return std::make_unique<PassedOnMemory>(device); }
  PinnedMemory& pinned_memory() { return pinned; }

  HostMemory device, pinned;
  int64_t num_synchronizations = 0;

 protected:
  template <typename F>
  void work(const F& f) {
    if (recording_ != nullptr)
      recording_->push_back(f);
    else
      f();
  }
  const uint32_t seed_;

 private:
  // 0: in order; odd seeds: reversed; others: a permutation in strides.
  template <typename F>
  void in_turn(int64_t count, const F& f) {
    if (count <= 0) return;
    int64_t stride = 1;
    if (seed_ > 1) {
      stride = (int64_t{seed_} * 2654435761u) % count | 1;
      while (std::gcd(stride, count) != 1) stride += 2;
    }
    for (int64_t n = 0, i = seed_ % 2 ? count - 1 : 0; n < count; ++n) {
      f(i, seed_ + static_cast<uint32_t>(i));
      i = seed_ == 1 ? i - 1 : (i + stride) % count;
    }
  }
  Steps* recording_ = nullptr;
};

}  // namespace gnnmg::cuda
