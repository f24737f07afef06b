// The table of fake devices.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "cuda/feature/entries.h"
#include "cuda/grid/entries.h"
#include "cuda/sample/entries.h"
#include "device/plugin.h"
#include "fake_gpu.h"
#include "fake_queue.h"

namespace gnnmg::fake_gpu {
namespace {

using base::fail;
using base::Status;
using cuda::handle_of;
using cuda::queue_of;

// Any thread.
class Pinned final : public cuda::PinnedMemory {
 public:
  void* allocate(int64_t bytes, std::string_view what) override {
    check_not_over("memory of the host's is taken, pinned");
    tell_memory("memory of the host's is taken, pinned");
    refuse(bytes, what);
    const auto length = static_cast<size_t>(std::max<int64_t>(bytes, 1) + 255) / 256 * 256;
    void* memory = std::aligned_alloc(256, length);
    const std::lock_guard lock(mutex_);
    pinned_[static_cast<uint8_t*>(memory)] = {bytes, 1};
    ++num_allocated_;
    return memory;
  }
  void release(void* memory) noexcept override {
    check_not_over("pinned memory is given back");
    tell_memory("pinned memory is given back");
    forget(memory);
    {
      const std::lock_guard lock(mutex_);
      --num_allocated_;
    }
    std::free(memory);
  }
  void* adopt(void* memory, int64_t bytes, std::string_view what) override {
    check_not_over("memory of the host's is pinned");
    tell_memory("memory of the host's is pinned");
    refuse(bytes, what);
    const std::lock_guard lock(mutex_);
    Range& range =
        pinned_.try_emplace(static_cast<uint8_t*>(memory), Range{bytes, 0}).first->second;
    if (range.bytes < bytes) fail(Status::kInvalidArgument, "part of ", what, " is pinned already");
    ++range.uses;
    return memory;
  }
  void give_back(void* memory) noexcept override {
    check_not_over("memory of the host's is pinned no more");
    tell_memory("memory of the host's is pinned no more");
    forget(memory);
  }
  bool holds(const void* address) {
    const auto* byte = static_cast<const uint8_t*>(address);
    const std::lock_guard lock(mutex_);
    const auto next = pinned_.upper_bound(const_cast<uint8_t*>(byte));
    if (next == pinned_.begin()) return false;
    const auto& [begin, range] = *std::prev(next);
    return byte < begin + range.bytes;
  }
  int64_t num_allocated() {
    const std::lock_guard lock(mutex_);
    return num_allocated_;
  }
  void set_refusing(bool refusing) {
    const std::lock_guard lock(mutex_);
    refusing_ = refusing;
  }

 private:
  void forget(void* memory) {
    const std::lock_guard lock(mutex_);
    const auto found = pinned_.find(static_cast<uint8_t*>(memory));
    if (found != pinned_.end() && --found->second.uses == 0) pinned_.erase(found);
  }
  void refuse(int64_t bytes, std::string_view what) {
    const std::lock_guard lock(mutex_);
    if (refusing_) fail(Status::kNoMemory, "the system pins no ", bytes, " bytes for ", what);
  }
  struct Range {
    int64_t bytes = 0;
    int uses = 0;  // number of give_back() calls until it is unpinned
  };
  std::mutex mutex_;
  std::map<uint8_t*, Range> pinned_;  // keyed by first byte
  int64_t num_allocated_ = 0;         // blocks of allocate() that are not released
  bool refusing_ = false;
};

Pinned& the_pinned() {
  static auto& pinned = *new Pinned;
  return pinned;
}

// Pairs of devices, device * kMostDevices + peer, without access.
std::atomic<uint64_t> apart{0};

template <int N>
void check_device(int device) {
  if (device < 0 || device >= N)
    fail(Status::kNotFound, "there is no GPU ", device, ", expected 0 to ", N - 1);
}

std::atomic<int> first_on_bus{0};
std::string bus_ids[kMostDevices];  // empty: by the position on the bus
constinit TorchHalf torch_half{nullptr, nullptr};

template <int N>
device::Info info(int device) {
  check_device<N>(device);
  const Arena& own = arena(device);
  own.check();
  device::Info info{};
  std::snprintf(info.name, sizeof info.name, "fake GPU");
  const std::string& id = bus_ids[device];
  if (id.empty())
    std::snprintf(info.bus_id, sizeof info.bus_id, "0000:%02x:00.0",
                  first_on_bus.load() + device + 1);
  else
    std::snprintf(info.bus_id, sizeof info.bus_id, "%s", id.c_str());
  info.total_memory = own.size();
  info.free_memory = own.size() - own.live_bytes();
  info.major = 9;
  info.multiprocessors = 1;
  info.driver_version = info.runtime_version = 13000;
  return info;
}

// The device reaches it at once.
struct Mark {
  int device;
  bool timed;
  std::chrono::steady_clock::time_point at;
};

void put_mark(device::Queue* queue, device::Event* mark) {
  Mark& put = *reinterpret_cast<Mark*>(mark);
  const int device = queue_of<FakeQueue>(queue).device();
  if (device != put.device)
    fail(Status::kInternal, "a mark of fake GPU ", put.device, " in a queue of fake GPU ", device);
  arena(device).check_waits("a mark");
  put.at = std::chrono::steady_clock::now();
}

bool is_reached(const device::Event* mark) {
  arena(reinterpret_cast<const Mark*>(mark)->device).check_waits("the host");
  return true;
}

void wait_for_mark(device::Queue* queue, const device::Event*) {
  arena(queue_of<FakeQueue>(queue).device()).check_waits("a mark of another queue");
}

bool time_between(const device::Event* from, const device::Event* to, double* seconds) {
  const Mark &begin = *reinterpret_cast<const Mark*>(from),
             &end = *reinterpret_cast<const Mark*>(to);
  if (begin.device != end.device)
    fail(Status::kInternal, "marks of fake GPUs ", begin.device, " and ", end.device);
  if (!begin.timed || !end.timed) fail(Status::kInternal, "marks without a time");
  arena(begin.device).check();
  *seconds = std::chrono::duration<double>(end.at - begin.at).count();
  const std::chrono::steady_clock::time_point nowhere;
  return begin.at != nowhere && end.at != nowhere;
}

template <int N>
device::Table table() {
  static_assert(N <= kMostDevices);
  device::Table table{};
  table.size = sizeof(device::Table);
  table.version = device::build_version();
  table.torch_device_type = 20;  // PrivateUse1
  table.num_devices = [] { return N; };
  table.info = info<N>;
  table.allocate = [](int device, device::Placement placement, int64_t bytes) -> void* {
    check_device<N>(device);
    if (placement == device::Placement::kPinned)
      return the_pinned().allocate(bytes, "a pinned buffer");
    return arena(device).allocate(bytes, "a buffer");
  };
  table.release = [](int device, device::Placement placement, void* memory) noexcept {
    if (memory == nullptr) return;
    if (placement == device::Placement::kPinned) return the_pinned().release(memory);
    arena(device).release(memory);
  };
  table.pin = [](void* memory, int64_t bytes) {
    return the_pinned().adopt(memory, bytes, "an array of the host's");
  };
  table.unpin = [](void* memory) noexcept { the_pinned().give_back(memory); };
  table.enable_peer = [](int device, int peer) {
    check_device<N>(device);
    check_device<N>(peer);
    arena(device).check();
    arena(peer).check();
    if (device == peer || (apart >> (device * kMostDevices + peer) & 1) != 0) return false;
    arena(device).let_read(peer);
    return true;
  };
  table.open_queue = [](int device, int, void*) {
    check_device<N>(device);
    return handle_of(*new FakeQueue(device));
  };
  table.open_urgent_queue = [](int device) {
    check_device<N>(device);
    return handle_of(*new FakeQueue(device));
  };
  table.close_queue = [](device::Queue* queue) noexcept {
    check_not_over("a queue is closed");
    delete &queue_of<FakeQueue>(queue);
  };
  table.copy = [](device::Queue* queue, void* to, const void* from, int64_t bytes) {
    queue_of<FakeQueue>(queue).copy(to, from, bytes);
  };
  table.synchronize = [](device::Queue* queue) { queue_of<FakeQueue>(queue).synchronize(); };
  table.finished = [](device::Queue* queue) { return queue_of<FakeQueue>(queue).finished(); };
  table.wait = [](device::Queue* queue, device::Queue* other) {
    queue_of<FakeQueue>(queue).wait_for(queue_of<FakeQueue>(other));
  };
  table.use = [](device::Queue* queue) {
    queue_of<FakeQueue>(queue).wait_for(queue_of<FakeQueue>(queue));
    if (torch_half.use) torch_half.use(queue_of<FakeQueue>(queue).device());
  };
  table.capture = [](device::Queue* queue, void (*work)(void*), void* context) {
    std::unique_ptr<Recording> kept = queue_of<FakeQueue>(queue).capture([&] { work(context); });
    return reinterpret_cast<device::Graph*>(kept.release());
  };
  table.replay = [](device::Queue* queue, const device::Graph* kept) {
    arena(queue_of<FakeQueue>(queue).device()).check();
    reinterpret_cast<const Recording*>(kept)->replay();
  };
  table.free_graph = [](device::Graph* kept) noexcept {
    check_not_over("kept work is freed");
    delete reinterpret_cast<Recording*>(kept);
  };
  table.make_event = [](int device, bool timed) {
    check_device<N>(device);
    arena(device).check();
    return reinterpret_cast<device::Event*>(new Mark{device, timed, {}});
  };
  table.record = put_mark;
  table.reached = is_reached;
  table.wait_event = wait_for_mark;
  table.elapsed = time_between;
  table.free_event = [](device::Event* mark) noexcept {
    check_not_over("a mark is freed");
    delete reinterpret_cast<Mark*>(mark);
  };
  table.set<sample::DeviceSampling>(&cuda::sampling_table<FakeQueue>());
  table.set<feature::DeviceFeatures>(&cuda::features_table<FakeQueue>());
  if (torch_half.add_tables) torch_half.add_tables(table);
  return table;
}

}  // namespace

cuda::PinnedMemory& FakeQueue::pinned() { return the_pinned(); }
bool FakeQueue::is_pinned(const void* address) { return the_pinned().holds(address); }

device::Table make_table(int num_devices) {
  switch (num_devices) {
    case 1:
      return table<1>();
    case 2:
      return table<2>();
    case 3:
      return table<3>();
    case 4:
      return table<4>();
    case 8:
      return table<8>();
    default:
      fail(Status::kInvalidArgument, num_devices, " fake GPUs, expected 1, 2, 3, 4 or 8");
  }
}

namespace {
device::Table the_devices;
}
void set_devices(int num_devices, int first) {
  set_first_on_bus(first);
  for (int device = 0; device < num_devices; ++device) {
    find_again(device);
    set_memory(device, int64_t{1} << 34);
    set_bus_id(device, "");
  }
  the_devices = make_table(num_devices);
}
const device::Table& devices() { return the_devices; }
int64_t num_held() {
  int64_t held = FakeQueue::num_open() + the_pinned().num_allocated();
  for (int device = 0; device < kMostDevices; ++device) held += num_live(device);
  return held;
}

bool set_torch_half(const TorchHalf& half) noexcept {
  torch_half = half;
  return true;
}
void set_bus_id(int device, const std::string& id) { bus_ids[device] = id; }

void set_first_on_bus(int first) { first_on_bus = first; }
void set_memory(int device, int64_t bytes) { arena(device).set_size(bytes); }
int64_t live_bytes(int device) { return arena(device).live_bytes(); }
int64_t peak_bytes(int device) { return arena(device).peak_bytes(); }
void reset_peak(int device) { arena(device).reset_peak(); }
int64_t num_live(int device) { return arena(device).num_live(); }
int64_t num_allocations(int device) { return arena(device).num_allocations(); }
int64_t num_without_kept(int device) { return arena(device).num_without_kept(); }
void forget_kept(int device) { arena(device).forget_kept(); }
Copies copies(int device) {
  const Arena& own = arena(device);
  const Arena::Copied &to = own.copied_to(), &from = own.copied_from();
  return {to.count, from.count, to.bytes, from.bytes};
}
void fail_allocation(int device, int64_t after, bool for_ever) {
  arena(device).fail_allocation(after, for_ever);
}
void lose(int device) { arena(device).lose(); }
void lose_at(int device, int64_t use) { arena(device).lose_at(use); }
int64_t num_uses(int device) { return arena(device).uses(); }
bool holds(int device, const void* memory) { return arena(device).holds(memory); }
void find_again(int device) { arena(device).find_again(); }
void refuse_peer(int device, int peer, bool refuse) {
  const uint64_t pair = uint64_t{1} << (device * kMostDevices + peer);
  if (refuse)
    apart |= pair;
  else
    apart &= ~pair;
}
void refuse_pinning(bool refuse) { the_pinned().set_refusing(refuse); }

}  // namespace gnnmg::fake_gpu
