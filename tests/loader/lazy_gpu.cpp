#include "lazy_gpu.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/philox.h"
#include "cuda/feature/entries.h"
#include "cuda/sample/entries.h"
#include "device/plugin.h"
#include "lazy_queue.h"

namespace gnnmg::lazy_gpu {

using base::fail;
using base::Status;

namespace {

std::atomic<bool> lost{false}, peers_refused{false};
std::atomic<int64_t> live_marks{0};

void check_lost() {
  if (lost) fail(Status::kDeviceLost, "the GPU is lost");
}

// All allocated memory. Any thread.
class Pieces {
 public:
  // `device` -1: host memory.
  void* allocate(int device, int64_t bytes, std::string_view what) {
    check_lost();
    const size_t rounded = (static_cast<size_t>(std::max<int64_t>(bytes, 1)) + 255) / 256 * 256;
    {
      const std::lock_guard lock(mutex_);
      count(bytes, what);
      if (device >= 0 && live_[device] + bytes > size_[device])
        fail(Status::kNoMemory, "GPU ", device, " has no ", bytes, " bytes for ", what, ": ",
             size_[device] - live_[device], " are free");
    }
    void* memory = std::aligned_alloc(256, rounded);
    std::memset(memory, 0xA5, rounded);
    const std::lock_guard lock(mutex_);
    pieces_[static_cast<uint8_t*>(memory)] = {device, bytes, false};
    if (device >= 0) live_[device] += bytes;
    return memory;
  }
  void release(void* memory) noexcept {
    if (memory == nullptr) return;
    {
      const std::lock_guard lock(mutex_);
      const auto found = pieces_.find(static_cast<uint8_t*>(memory));
      if (found == pieces_.end() || found->second.pinned) std::abort();
      if (found->second.device >= 0) live_[found->second.device] -= found->second.bytes;
      std::memset(memory, 0xDD, static_cast<size_t>(found->second.bytes));
      pieces_.erase(found);
    }
    std::free(memory);
  }
  void* pin(void* memory, int64_t bytes, std::string_view what) {
    check_lost();
    const std::lock_guard lock(mutex_);
    count(bytes, what);
    if (refusing_) fail(Status::kUnsupported, what, " of ", bytes, " bytes cannot be pinned");
    if (!pieces_.try_emplace(static_cast<uint8_t*>(memory), Piece{-1, bytes, true}).second)
      fail(Status::kInvalidArgument, what, " is pinned already");
    return memory;
  }
  void unpin(void* memory) noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = pieces_.find(static_cast<uint8_t*>(memory));
    if (found == pieces_.end() || !found->second.pinned) std::abort();
    pieces_.erase(found);
  }
  // True for device memory and pinned memory.
  bool holds(const void* address) {
    const auto* byte = static_cast<const uint8_t*>(address);
    const std::lock_guard lock(mutex_);
    const auto next = pieces_.upper_bound(const_cast<uint8_t*>(byte));
    if (next == pieces_.begin()) return false;
    const auto& [begin, piece] = *std::prev(next);
    return byte < begin + piece.bytes;
  }
  template <typename F>
  auto with(const F& f) {
    const std::lock_guard lock(mutex_);
    return f(*this);
  }
  void count(int64_t bytes, std::string_view what) {  // the caller holds the lock
    ++num_allocations_;
    if (fail_after_ < 0) return;
    if (fail_after_ > 0) {
      --fail_after_;
      return;
    }
    if (!fail_for_ever_) fail_after_ = -1;
    fail(Status::kNoMemory, "no memory for ", what, " of ", bytes, " bytes");
  }

  struct Piece {
    int device = -1;
    int64_t bytes = 0;
    bool pinned = false;
  };
  std::mutex mutex_;
  std::map<uint8_t*, Piece> pieces_;
  int64_t live_[kNumDevices]{}, size_[kNumDevices]{int64_t{1} << 30, int64_t{1} << 30};
  int64_t num_allocations_ = 0, fail_after_ = -1;
  bool fail_for_ever_ = false, refusing_ = false;
};

Pieces& pieces() {
  static auto& all = *new Pieces;
  return all;
}

class LastingMemory final : public cuda::Memory {
 public:
  explicit LastingMemory(int device) : device_(device) {}
  void* allocate(int64_t bytes, std::string_view what) override {
    return pieces().allocate(device_, bytes, what);
  }
  void release(void* memory) noexcept override { pieces().release(memory); }

 private:
  const int device_;
};

class Pinned final : public cuda::PinnedMemory {
 public:
  void* allocate(int64_t bytes, std::string_view what) override {
    return pieces().allocate(-1, bytes, what);
  }
  void release(void* memory) noexcept override { pieces().release(memory); }
  int64_t least_to_adopt() const override { return 0; }  // small arrays are pinned here too
  void* adopt(void* memory, int64_t bytes, std::string_view what) override {
    return pieces().pin(memory, bytes, what);
  }
  void give_back(void* memory) noexcept override { pieces().unpin(memory); }
};

}  // namespace

// Decides the time of all work. Any thread; work runs under its lock.
class Scheduler {
 public:
  static Scheduler& instance() {
    static auto& scheduler = *new Scheduler;
    return scheduler;
  }
  void open(LazyQueue* queue) {
    const std::lock_guard lock(mutex_);
    queues_.push_back(queue);
  }
  void close(LazyQueue* queue) {
    const std::lock_guard lock(mutex_);
    drain(*queue);
    *queue->self_ = nullptr;
    std::erase(queues_, queue);
  }
  void add(LazyQueue& queue, LazyQueue::Work work) {
    const std::lock_guard lock(mutex_);
    queue.work_.push_back(std::move(work));
    ++queue.added_;
    if (order_ == 0) drain(queue);
    if (order_ > 1) do_some();
  }
  void wait(LazyQueue& queue, LazyQueue& other) {
    uint64_t until = 0;
    {
      const std::lock_guard lock(mutex_);
      until = other.added_;
    }
    add(queue, {{}, other.self_, until});
  }
  void put(LazyQueue& queue, LazyQueue::Mark& mark) {
    const std::lock_guard lock(mutex_);
    mark.queue = queue.self_;
    mark.until = queue.added_;
  }
  void wait(LazyQueue& queue, const LazyQueue::Mark& mark) {
    LazyQueue::Work work;
    {
      const std::lock_guard lock(mutex_);
      work.other = mark.queue;
      work.until = mark.until;
    }
    if (work.other) add(queue, std::move(work));
  }
  bool reached(const LazyQueue::Mark& mark) {
    const std::lock_guard lock(mutex_);
    LazyQueue* const queue = mark.queue ? *mark.queue : nullptr;
    if (queue == nullptr || queue->done_ >= mark.until) return true;
    step(*queue);
    return queue->done_ >= mark.until;
  }
  void synchronize(LazyQueue& queue) {
    const std::lock_guard lock(mutex_);
    drain(queue);
  }
  bool finished(LazyQueue& queue) {
    const std::lock_guard lock(mutex_);
    step(queue);
    return queue.work_.empty();
  }
  void set_order(uint64_t order) {
    const std::lock_guard lock(mutex_);
    for (LazyQueue* queue : queues_) drain(*queue);
    order_ = order;
    draws_ = base::Stream({static_cast<uint32_t>(order), 7}, 0);
  }
  int64_t num_queues() {
    const std::lock_guard lock(mutex_);
    return static_cast<int64_t>(queues_.size());
  }

 private:
  void drain(LazyQueue& queue) {
    while (!queue.work_.empty()) step(queue);
  }
  // Runs the first work of the queue, after the work that it waits for.
  void step(LazyQueue& queue) {
    if (queue.work_.empty()) return;
    if (const auto& other = queue.work_.front().other; other && *other) {
      const uint64_t until = queue.work_.front().until;
      while (*other && (*other)->done_ < until) step(**other);
    }
    const LazyQueue::Work work = std::move(queue.work_.front());
    queue.work_.pop_front();
    if (work.run) work.run();
    ++queue.done_;
  }
  void do_some() {
    while (draws_.below(3) != 0)
      step(*queues_[draws_.below(static_cast<uint32_t>(queues_.size()))]);
  }

  std::mutex mutex_;
  std::vector<LazyQueue*> queues_;
  uint64_t order_ = 0;
  base::Stream draws_{{0, 7}, 0};
};

// Memory that one queue uses: it is freed after the present work in the queue.
class LazyQueue::OwnMemory final : public cuda::Memory {
 public:
  explicit OwnMemory(LazyQueue& queue) : queue_(queue) {}
  void* allocate(int64_t bytes, std::string_view what) override {
    return pieces().allocate(queue_.device_, bytes, what);
  }
  void release(void* memory) noexcept override {
    Scheduler::instance().add(queue_, {[memory] { pieces().release(memory); }, nullptr, 0});
  }

 private:
  LazyQueue& queue_;
};

LazyQueue::LazyQueue(int device)
    : device_(device),
      memory_(std::make_unique<OwnMemory>(*this)),
      self_(std::make_shared<LazyQueue*>(this)) {
  check_lost();
  Scheduler::instance().open(this);
}

LazyQueue::~LazyQueue() { Scheduler::instance().close(this); }

void LazyQueue::add(std::function<void()> run) {
  check_lost();
  Scheduler::instance().add(*this, {std::move(run), nullptr, 0});
}

void LazyQueue::copy(void* to, const void* from, int64_t bytes) {
  if (bytes == 0) return check_lost();
  if (!pieces().holds(from)) {
    const auto* bytes_of = static_cast<const uint8_t*>(from);
    add([this, to, held = std::vector<uint8_t>(bytes_of, bytes_of + bytes)] {
      twin_.copy(to, held.data(), static_cast<int64_t>(held.size()));
    });
  } else {
    add([=, this] { twin_.copy(to, from, bytes); });
  }
  if (!pieces().holds(to)) synchronize();
}

void LazyQueue::synchronize() {
  check_lost();
  Scheduler::instance().synchronize(*this);
}
bool LazyQueue::finished() {
  check_lost();
  return Scheduler::instance().finished(*this);
}
void LazyQueue::wait(LazyQueue& other) {
  check_lost();
  Scheduler::instance().wait(*this, other);
}
void LazyQueue::put(Mark& mark) {
  check_lost();
  if (mark.device != device_)
    fail(Status::kInternal, "a mark of GPU ", mark.device, " in a queue of GPU ", device_);
  Scheduler::instance().put(*this, mark);
}
void LazyQueue::wait(const Mark& mark) {
  check_lost();
  Scheduler::instance().wait(*this, mark);
}
bool LazyQueue::reached(const Mark& mark) {
  check_lost();
  return Scheduler::instance().reached(mark);
}
std::unique_ptr<cuda::Memory> LazyQueue::lasting_memory() {
  return std::make_unique<LastingMemory>(device_);
}
cuda::PinnedMemory& LazyQueue::pinned_memory() {
  static auto& pinned = *new Pinned;
  return pinned;
}

namespace {

using cuda::handle_of;
using cuda::queue_of;

void check_device(int device) {
  if (device < 0 || device >= kNumDevices)
    fail(Status::kNotFound, "there is no GPU ", device, ", expected 0 to ", kNumDevices - 1);
}

device::Info info(int device) {
  check_device(device);
  check_lost();
  device::Info info{};
  std::snprintf(info.name, sizeof info.name, "lazy GPU");
  info.total_memory = pieces().with([&](Pieces& all) { return all.size_[device]; });
  info.free_memory =
      info.total_memory - pieces().with([&](Pieces& all) { return all.live_[device]; });
  info.major = 9;
  info.multiprocessors = 100;
  return info;
}

LazyQueue::Mark& of(device::Event* mark) { return *reinterpret_cast<LazyQueue::Mark*>(mark); }
const LazyQueue::Mark& of(const device::Event* mark) {
  return *reinterpret_cast<const LazyQueue::Mark*>(mark);
}

void fill_marks(device::Table& table) {
  table.make_event = [](int device, bool timed) {
    check_device(device);
    check_lost();
    if (timed) fail(Status::kUnsupported, "a lazy GPU tells no times");
    ++live_marks;
    return reinterpret_cast<device::Event*>(new LazyQueue::Mark{device, nullptr});
  };
  table.record = [](device::Queue* queue, device::Event* mark) {
    queue_of<LazyQueue>(queue).put(of(mark));
  };
  table.reached = [](const device::Event* mark) { return LazyQueue::reached(of(mark)); };
  table.wait_event = [](device::Queue* queue, const device::Event* mark) {
    queue_of<LazyQueue>(queue).wait(of(mark));
  };
  table.free_event = [](device::Event* mark) noexcept {
    --live_marks;
    delete &of(mark);
  };
}

device::Table make() {
  device::Table table{};
  table.size = sizeof(device::Table);
  table.version = device::build_version();
  table.num_devices = [] { return kNumDevices; };
  table.info = info;
  table.allocate = [](int device, device::Placement placement, int64_t bytes) {
    check_device(device);
    return pieces().allocate(placement == device::Placement::kPinned ? -1 : device, bytes,
                             "a buffer");
  };
  table.release = [](int, device::Placement, void* memory) noexcept { pieces().release(memory); };
  table.pin = [](void* memory, int64_t bytes) {
    return pieces().pin(memory, bytes, "an array of the host's");
  };
  table.unpin = [](void* memory) noexcept { pieces().unpin(memory); };
  table.enable_peer = [](int device, int peer) {
    check_device(device);
    check_device(peer);
    return !peers_refused;
  };
  table.open_queue = [](int device, int, void*) {
    check_device(device);
    return handle_of(*new LazyQueue(device));
  };
  table.open_urgent_queue = [](int device) {
    check_device(device);
    return handle_of(*new LazyQueue(device));
  };
  table.close_queue = [](device::Queue* queue) noexcept { delete &queue_of<LazyQueue>(queue); };
  table.copy = [](device::Queue* queue, void* to, const void* from, int64_t bytes) {
    queue_of<LazyQueue>(queue).copy(to, from, bytes);
  };
  table.synchronize = [](device::Queue* queue) { queue_of<LazyQueue>(queue).synchronize(); };
  table.finished = [](device::Queue* queue) { return queue_of<LazyQueue>(queue).finished(); };
  table.wait = [](device::Queue* queue, device::Queue* other) {
    queue_of<LazyQueue>(queue).wait(queue_of<LazyQueue>(other));
  };
  table.use = [](device::Queue*) {};
  fill_marks(table);
  table.set<sample::DeviceSampling>(&cuda::sampling_table<LazyQueue>());
  table.set<feature::DeviceFeatures>(&cuda::features_table<LazyQueue>());
  return table;
}

}  // namespace

const device::Table& table() {
  static const device::Table table = make();
  return table;
}

void set_order(uint64_t seed) { Scheduler::instance().set_order(seed); }
void set_memory(int device, int64_t bytes) {
  pieces().with([&](Pieces& all) { all.size_[device] = bytes; });
}
int64_t num_live() {
  return pieces().with([](Pieces& all) { return static_cast<int64_t>(all.pieces_.size()); });
}
int64_t num_pinned() {
  return pieces().with([](Pieces& all) {
    return std::count_if(all.pieces_.begin(), all.pieces_.end(),
                         [](const auto& piece) { return piece.second.pinned; });
  });
}
int64_t num_queues() { return Scheduler::instance().num_queues(); }
int64_t num_marks() { return live_marks; }
int64_t num_allocations() {
  return pieces().with([](Pieces& all) { return all.num_allocations_; });
}
void fail_allocation(int64_t after, bool for_ever) {
  pieces().with([&](Pieces& all) {
    all.fail_after_ = after;
    all.fail_for_ever_ = for_ever;
  });
}
void refuse_peers(bool refuse) { peers_refused = refuse; }
void refuse_pinning(bool refuse) {
  pieces().with([&](Pieces& all) { all.refusing_ = refuse; });
}
void lose(bool is_lost) { lost = is_lost; }

}  // namespace gnnmg::lazy_gpu
