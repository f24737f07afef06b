#include "late.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "fake_queue.h"

namespace gnnmg::fake_gpu {
namespace {

// The unfinished work of a queue, in order.
struct Line {
  std::deque<std::function<bool()>> work;
  uint64_t done = 0;  // number of finished pieces
  int device = 0, number = 0;
};

// The position of an event: reached when that many pieces are finished.
struct Place {
  std::shared_ptr<Line> line;
  uint64_t until = 0;
  bool reached() const { return line->done >= until; }
};

// Device and its first hanging queue.
struct Hang {
  int first = 0;
  bool silent = false;
};

bool is_pageable(const void* address) {
  return device_of(address) < 0 && !FakeQueue::is_pinned(address);
}

constexpr std::chrono::microseconds kTurn(50), kExchange(300);

std::atomic<BeforeLaunch> the_before_launch{nullptr};
thread_local bool inside = false;  // true while the world works with its lock held

// Runs a piece of work whose kernels are started by the device.
template <typename F>
auto as_device(const F& f) {
  struct Inside {
    const bool before = std::exchange(inside, true);
    ~Inside() { inside = before; }
  } const scope;
  return f();
}

}  // namespace

void set_before_launch(BeforeLaunch before) noexcept { the_before_launch = before; }
void before_launch(int device, FakeQueue* queue) {
  if (const BeforeLaunch before = the_before_launch) before(device, queue);
}

// Work runs with its lock held, on any thread.
class Late::World {
 public:
  World(const device::Table& inner, Launches launches);
  ~World();

  void open(device::Queue* queue, int device, void* stream) {
    const std::lock_guard lock(mutex_);
    const auto line = std::make_shared<Line>();
    line->device = device;
    line->number = num_opened_[device]++;
    lines_[queue] = line;
    hold(*line);
    if (stream != nullptr) streams_[stream] = queue;
  }
  void close(device::Queue* queue) {
    drain(queue);
    const std::lock_guard lock(mutex_);
    lines_.erase(queue);
    std::erase_if(streams_, [&](const auto& each) { return each.second == queue; });
  }
  // Runs the work at once if the queue is empty; otherwise returns false.
  bool add(device::Queue* queue, std::function<void()> work) {
    wait_for_room(queue, kMostPutOff);
    const std::lock_guard lock(mutex_);
    Line& line = *lines_.at(queue);
    if (line.work.empty()) {
      as_device(work);
      return true;
    }
    push(line, [work = std::move(work)] {
      work();
      return true;
    });
    return false;
  }
  // Takes a while, even if nothing blocks it: later work queues after it.
  void add_to(void* stream, std::function<bool()> work) {
    const auto from = std::chrono::steady_clock::now() + kExchange;
    const std::lock_guard lock(mutex_);
    push(*lines_.at(streams_.at(stream)), [from, work = std::move(work)] {
      return std::chrono::steady_clock::now() >= from && work();
    });
  }
  void copy(device::Queue* queue, void* to, const void* from, int64_t bytes) {
    if (is_pageable(to)) drain(queue);  // the host waits for copies to it
    if (is_pageable(from) && !empty(queue)) {
      const auto* begin = static_cast<const uint8_t*>(from);
      add(queue, [this, queue, to, held = std::vector<uint8_t>(begin, begin + bytes)] {
        inner_.copy(queue, to, held.data(), static_cast<int64_t>(held.size()));
      });
      return;
    }
    add(queue, [=, this] { inner_.copy(queue, to, from, bytes); });
  }
  void wait(device::Queue* queue, device::Queue* other) {
    inner_.wait(queue, other);
    const std::lock_guard lock(mutex_);
    const std::shared_ptr<Line> before = lines_.at(other);
    if (before->work.empty() || other == queue) return;
    push(*lines_.at(queue),
         [before, until = before->done + before->work.size()] { return before->done >= until; });
  }
  void replay(device::Queue* queue, const device::Graph* kept) {
    if (!add(queue, [=, this] { inner_.replay(queue, kept); })) ++put_off_;
  }
  void record(device::Queue* queue, device::Event* event) {
    const std::lock_guard lock(mutex_);
    const auto place = std::make_shared<Place>();
    place->line = lines_.at(queue);
    places_[event] = place;
    if (place->line->work.empty()) return inner_.record(queue, event);
    push(*place->line, [=, this, place = std::weak_ptr(place)] {
      if (!place.expired())
        inner_.record(queue, event);  // otherwise it was recorded again or freed
      return true;
    });
    place->until = place->line->done + place->line->work.size();
  }
  bool reached(const device::Event* event) {
    while (silent(event)) std::this_thread::sleep_for(kTurn);
    const std::lock_guard lock(mutex_);
    const auto found = places_.find(event);
    return (found == places_.end() || found->second->reached()) && inner_.reached(event);
  }
  void wait_event(device::Queue* queue, const device::Event* event) {
    inner_.wait_event(queue, event);
    const std::lock_guard lock(mutex_);
    const auto found = places_.find(event);
    if (found == places_.end() || found->second->reached()) return;
    push(*lines_.at(queue), [before = *found->second] { return before.reached(); });
  }
  void free_event(device::Event* event) {
    const std::lock_guard lock(mutex_);
    places_.erase(event);
    inner_.free_event(event);
  }
  bool finished(device::Queue* queue) {
    while (silent(queue)) std::this_thread::sleep_for(kTurn);
    return inner_.finished(queue) && empty(queue);  // a lost device says so at any time
  }
  void hang(int device, const Hang& hang) {
    const std::lock_guard lock(mutex_);
    hangs_[device] = hang;
    for (const auto& [queue, line] : lines_)
      if (line->device == device) hold(*line);
  }
  void go_on(int device) {
    const std::lock_guard lock(mutex_);
    hangs_.erase(device);
    more_.notify_one();
  }
  void drain(device::Queue* queue) {
    while (!empty(queue)) std::this_thread::sleep_for(kTurn);
  }
  void use(device::Queue* queue) {
    inner_.use(queue);
    const std::lock_guard lock(mutex_);
    used_[lines_.at(queue)->device] = queue;
  }
  // Work that the host's threads start kernel by kernel.
  void launch(int device, device::Queue* queue) {
    if (inside) return;
    if (queue == nullptr) {
      const std::lock_guard lock(mutex_);
      const auto found = used_.find(device);
      if (found == used_.end()) return;
      queue = found->second;
    }
    wait_for_room(queue, 1);
  }
  bool busy(int device) {
    const std::lock_guard lock(mutex_);
    return !arena(device).lost() && std::ranges::any_of(lines_, [&](const auto& each) {
      return each.second->device == device && !each.second->work.empty();
    });
  }
  int64_t num_held_up() const { return held_up_; }
  const device::Table& inner() const { return inner_; }
  const device::Table& table() const { return table_; }
  int64_t num_put_off() const { return put_off_; }

 private:
  void hold(Line& line) {  // blocks while its device hangs; the caller holds the lock
    const auto found = hangs_.find(line.device);
    if (found != hangs_.end() && line.number >= found->second.first)
      push(line, [this, device = line.device] { return !hangs_.contains(device); });
  }
  // Waits until fewer than `most` pieces are in the queue, if threads are held up.
  void wait_for_room(device::Queue* queue, size_t most) {
    if (launches_ == Launches::kAtOnce || inside) return;
    const auto room = [&] {
      const std::lock_guard lock(mutex_);
      const auto found = lines_.find(queue);
      return found == lines_.end() || found->second->work.size() < most;
    };
    if (room()) return;
    ++held_up_;
    while (!room()) std::this_thread::sleep_for(kTurn);
  }
  bool silent(device::Queue* queue) {
    const std::lock_guard lock(mutex_);
    return silent(*lines_.at(queue));
  }
  bool silent(const device::Event* event) {
    const std::lock_guard lock(mutex_);
    const auto found = places_.find(event);
    return found != places_.end() && silent(*found->second->line);
  }
  bool silent(const Line& line) {  // the caller holds the lock
    const auto found = hangs_.find(line.device);
    return found != hangs_.end() && found->second.silent;
  }
  bool empty(device::Queue* queue) {
    const std::lock_guard lock(mutex_);
    return lines_.at(queue)->work.empty();
  }
  void push(Line& line, std::function<bool()> work) {  // the caller holds the lock
    line.work.push_back(std::move(work));
    more_.notify_one();
  }
  // A lost device has finished all its work.
  static bool over(const std::function<bool()>& work) {
    try {
      return as_device(work);
    } catch (const std::exception&) {
      return true;
    }
  }
  void run() {
    std::unique_lock lock(mutex_);
    while (!leaving_) {
      bool more = false;
      for (const auto& [queue, line] : lines_) {
        while (!line->work.empty() && (arena(line->device).lost() || over(line->work.front()))) {
          line->work.pop_front();
          ++line->done;
        }
        more = more || !line->work.empty();
      }
      if (more)
        more_.wait_for(lock, kTurn);
      else
        more_.wait(lock);
    }
  }

  const device::Table& inner_;
  device::Table table_;
  const Launches launches_;
  std::mutex mutex_;
  std::condition_variable more_;
  std::map<device::Queue*, std::shared_ptr<Line>> lines_;
  std::map<const device::Event*, std::shared_ptr<Place>> places_;  // recorded events
  std::map<void*, device::Queue*> streams_;
  std::map<int, int> num_opened_;  // number of opened queues by device
  std::map<int, Hang> hangs_;
  std::map<int, device::Queue*> used_;  // LibTorch's queue by device
  bool leaving_ = false;
  std::atomic<int64_t> put_off_{0}, held_up_{0};
  std::thread thread_;
};

namespace {
Late::World* the_world = nullptr;  // state for the table's functions
}

Late::World::World(const device::Table& inner, Launches launches)
    : inner_(inner), table_(inner), launches_(launches) {
  if (launches == Launches::kHoldUp)
    set_before_launch([](int device, FakeQueue* queue) {
      the_world->launch(device, reinterpret_cast<device::Queue*>(queue));
    });
  table_.use = [](device::Queue* queue) { the_world->use(queue); };
  table_.open_queue = [](int device, int most, void* stream) {
    device::Queue* const queue = the_world->inner().open_queue(device, most, stream);
    the_world->open(queue, device, stream);
    return queue;
  };
  table_.open_urgent_queue = [](int device) {
    device::Queue* const queue = the_world->inner().open_urgent_queue(device);
    the_world->open(queue, device, nullptr);
    return queue;
  };
  table_.close_queue = [](device::Queue* queue) noexcept {
    the_world->close(queue);
    the_world->inner().close_queue(queue);
  };
  table_.copy = [](device::Queue* queue, void* to, const void* from, int64_t bytes) {
    the_world->copy(queue, to, from, bytes);
  };
  table_.synchronize = [](device::Queue* queue) {
    the_world->drain(queue);
    the_world->inner().synchronize(queue);
  };
  table_.finished = [](device::Queue* queue) { return the_world->finished(queue); };
  table_.wait = [](device::Queue* queue, device::Queue* other) { the_world->wait(queue, other); };
  table_.capture = [](device::Queue* queue, void (*work)(void*), void* context) {
    the_world->drain(queue);
    return the_world->inner().capture(queue, work, context);
  };
  table_.replay = [](device::Queue* queue, const device::Graph* kept) {
    the_world->replay(queue, kept);
  };
  // A caller that asks for the time between events knows that the queues have reached them.
  table_.record = [](device::Queue* queue, device::Event* event) {
    the_world->record(queue, event);
  };
  table_.reached = [](const device::Event* event) { return the_world->reached(event); };
  table_.wait_event = [](device::Queue* queue, const device::Event* event) {
    the_world->wait_event(queue, event);
  };
  table_.free_event = [](device::Event* event) noexcept { the_world->free_event(event); };
  thread_ = std::thread([this] { run(); });
}

Late::World::~World() {
  if (launches_ == Launches::kHoldUp) set_before_launch(nullptr);
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  more_.notify_one();
  thread_.join();
}

Late::Late(const device::Table& table, Launches launches)
    : world_(std::make_unique<World>(table, launches)) {
  the_world = world_.get();
}
Late::~Late() = default;

const device::Table& Late::table() const { return world_->table(); }
void Late::put(void* stream, std::function<bool()> work) {
  the_world->add_to(stream, std::move(work));
}
void Late::hang(int device, int first, bool silent) {
  world_->hang(device, {.first = first, .silent = silent});
}
void Late::go_on(int device) { world_->go_on(device); }
bool Late::busy(int device) const { return world_->busy(device); }
int64_t Late::num_held_up() const { return world_->num_held_up(); }
int64_t Late::num_put_off() const { return world_->num_put_off(); }

}  // namespace gnnmg::fake_gpu
