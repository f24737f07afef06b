// A queue of a fake GPU: runs kernels at once, like the host's implementation, on memory of its
// device.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "arena.h"
#include "device/table.h"
#include "host_queue.h"
#include "recording.h"

namespace gnnmg::fake_gpu {

class FakeQueue;
// Called before the host starts a kernel in the queue, or, with a null queue, an operator of
// LibTorch on the device. Null: no callback.
using BeforeLaunch = void (*)(int device, FakeQueue* queue);
void set_before_launch(BeforeLaunch before) noexcept;
void before_launch(int device, FakeQueue* queue);

class FakeQueue {
 public:
  template <int N>
  using Tile = cuda::HostTile<N>;

  explicit FakeQueue(int device) : arena_(arena(device)), device_(device) {
    arena_.check();
    ++num_open_;
  }
  ~FakeQueue() { --num_open_; }
  FakeQueue(const FakeQueue&) = delete;
  FakeQueue& operator=(const FakeQueue&) = delete;
  static int64_t num_open() { return num_open_; }

  template <typename F>
  void each(int64_t count, const F& f) {
    work([this, count, f] {
      const Peers peers(*this, reads_peers(f));
      queue_.each(count, f);
    });
  }
  template <int N, typename F>
  void tiles(int64_t count, const F& f) {
    work([this, count, f] {
      const Peers peers(*this, reads_peers(f));
      queue_.tiles<N>(count, f);
    });
  }
  template <int N, typename F>
  void teams(int64_t count, const F& f) {
    work([this, count, f] { queue_.teams<N>(count, f); });
  }
  void scan(const int32_t* counts, int32_t* sums, int64_t count) {
    work([=, this] { queue_.scan(counts, sums, count); });
  }
  void sort(const uint32_t* keys, uint32_t* sorted_keys, const int32_t* values,
            int32_t* sorted_values, int64_t count, int bits) {
    work([=, this] { queue_.sort(keys, sorted_keys, values, sorted_values, count, bits); });
  }
  void fill(void* to, int byte, int64_t bytes) {
    work([=, this] { queue_.fill(to, byte, bytes); });
  }
  // Either side may be another device's memory.
  void copy(void* to, const void* from, int64_t bytes) {
    for (const void* side : {static_cast<const void*>(to), from})
      if (device_of(side) < 0 && !is_pinned(side)) arena_.check_waits("a copy of pageable memory");
    const int other = device_of(device_of(to) == device_ ? from : to);
    if (device_of(from) < 0 && device_of(to) >= 0) arena(device_of(to)).copied_to().add(bytes);
    if (device_of(to) < 0 && device_of(from) >= 0) arena(device_of(from)).copied_from().add(bytes);
    work([=, this] {
      const Working there(other >= 0 ? arena(other) : arena_);
      queue_.copy(to, from, bytes);
    });
  }
  void synchronize() { arena_.check_waits("the host"); }
  bool finished() {
    arena_.check_waits("the host");
    return true;
  }
  void wait_for(const FakeQueue&) { arena_.check(); }
  // Records the device work of `work`; see recording.h.
  std::unique_ptr<Recording> capture(const std::function<void()>& work) {
    arena_.check();
    auto recording = std::make_unique<Recording>(arena_);
    recording->capture(work);
    return recording;
  }
  cuda::Memory& device_memory() { return arena_; }
  std::unique_ptr<cuda::Memory> lasting_memory() {
    return std::make_unique<cuda::PassedOnMemory>(arena_);
  }
  cuda::PinnedMemory& pinned_memory() { return pinned(); }
  int device() const { return device_; }

  // One for all devices.
  static cuda::PinnedMemory& pinned();
  static bool is_pinned(const void* address);

 private:
  // True for a gather from a split cache.
  template <typename F>
  static bool reads_peers(const F& f) {
    if constexpr (requires { f.rows.parts; })
      return f.rows.parts != nullptr;
    else
      return false;
  }
  // Opens the memory of the devices that this one may read, while kernels run.
  class Peers {
   public:
    Peers(const FakeQueue& queue, bool read) {
      for (int peer = 0; read && peer < kMostDevices; ++peer) {
        if ((queue.arena_.peers() >> peer & 1) == 0) continue;
        if (arena(peer).lost())
          base::fail(base::Status::kDeviceLost, "fake GPU ", queue.device_,
                     " read memory of fake GPU ", peer, ", which is lost");
        open_.push_back(std::make_unique<Working>(arena(peer)));
      }
    }

   private:
    std::vector<std::unique_ptr<Working>> open_;
  };

  template <typename F>
  void work(const F& f) {
    before_launch(device_, this);
    arena_.check();
    const Working working(arena_);
    f();
    if (Recording* recording = arena_.recording())
      recording->add([this, f] {
        arena_.check();
        const Working working(arena_);
        f();
      });
  }
  static inline std::atomic<int64_t> num_open_{0};
  Arena& arena_;
  const int device_;
  cuda::HostQueue queue_{12345};
};

// The parts of the fake that programs with LibTorch link.
struct TorchHalf {
  void (*use)(int device) noexcept;          // sets LibTorch's current device of the calling thread
  void (*add_tables)(device::Table& table);  // adds the functions of layers and optimizers
};
// Called before main().
bool set_torch_half(const TorchHalf& half) noexcept;
void set_torch_device(int device) noexcept;  // torch_device.cpp

}  // namespace gnnmg::fake_gpu
