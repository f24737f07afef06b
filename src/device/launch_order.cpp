#include "device/launch_order.h"

#include <condition_variable>
#include <mutex>
#include <utility>

namespace gnnmg::device {
using Clock = std::chrono::steady_clock;

struct KernelWorld {
  std::mutex mutex;  // guards all members below and the state of all gates
  std::condition_variable changed;
  LaunchOrder* gates = nullptr;  // linked list of all gates
  int calls = 0;                 // memory calls in progress; they always end
  int growths = 0;               // memory calls of libraries in progress; a failed one has no end
  int waiting = 0;               // memory calls that wait for launches
  int64_t age = 0;               // growths of an earlier age are ignored
  const LaunchOrder* exclusive = nullptr;  // the gate whose launch excludes all others

  template <typename F>
  void for_gates(const F& body) {
    for (LaunchOrder* gate = gates; gate; gate = gate->next_) body(*gate);
  }
  // True if a gate other than `own` has a launch that some of its ranks have not made.
  bool any_open(const LaunchOrder* own) {
    bool any = false;
    for_gates([&](const LaunchOrder& gate) { any = any || (gate.open_ && &gate != own); });
    return any;
  }
  // Ignores launches that have been open since `since` or longer.
  void ignore_open(Clock::time_point since, const LaunchOrder* own) {
    for_gates([&](LaunchOrder& gate) {
      if (gate.open_ && &gate != own && gate.opened_ <= since) gate.close();
    });
  }
  // Waits until this call for memory may begin.
  void wait_for_launches(std::unique_lock<std::mutex>& lock, const LaunchOrder* own,
                         std::chrono::milliseconds patience) {
    const auto begun = Clock::now();
    ++waiting;
    const bool none = changed.wait_for(lock, patience, [&] { return !any_open(own); });
    --waiting;
    if (!none && patience >= LaunchOrder::kPatience) ignore_open(begun, own);
  }
};

namespace {

KernelWorld& world() {
  static KernelWorld& world = *new KernelWorld;  // never destroyed: threads may outlive main()
  return world;
}

// Threads without a gate do not touch this variable: the first use allocates memory for its
// destructor.
thread_local std::shared_ptr<LaunchOrder> current_gate;
thread_local bool has_gate = false, calling = false, growing = false;
thread_local int operations = 0;  // operations that this thread is in
thread_local int64_t growth_age = 0;

}  // namespace

LaunchOrder::LaunchOrder(int num_ranks) : num_ranks_(num_ranks), launched_(num_ranks) {
  const std::lock_guard lock(world().mutex);
  next_ = std::exchange(world().gates, this);
}

LaunchOrder::~LaunchOrder() {
  const std::lock_guard lock(world().mutex);
  close();
  LaunchOrder** at = &world().gates;
  while (*at != this) at = &(*at)->next_;
  *at = next_;
}

bool LaunchOrder::try_enter() noexcept {
  end_growth();
  const std::lock_guard lock(world().mutex);
  // A rank that follows another one must not wait for a memory call that waits for the other's
  // operation.
  if (entered_ == 0 && callers_ > 0) return false;
  ++entered_;
  ++operations;
  return true;
}

void LaunchOrder::leave() noexcept {
  const std::lock_guard lock(world().mutex);
  --operations;
  if (--entered_ > 0) return;
  refused_ = {};
  if (launched_ < num_ranks_) {  // the launch has failed
    --number_;
    launched_ = num_ranks_;
    close();
  }
  if (world().exclusive == this) world().exclusive = nullptr;
  world().changed.notify_all();
}

void LaunchOrder::open() noexcept {
  open_ = !ignored_;
  opened_ = Clock::now();
}

void LaunchOrder::close() noexcept {
  open_ = false;
  if (world().exclusive == this) world().exclusive = nullptr;
  world().changed.notify_all();
}

bool LaunchOrder::out_of_patience(std::chrono::milliseconds patience) noexcept {
  const auto now = Clock::now();
  if (refused_ == Clock::time_point()) refused_ = now;
  return now - refused_ >= patience;
}

void LaunchOrder::note_failure() noexcept {
  const std::lock_guard lock(world().mutex);
  if (failed_ == Clock::time_point()) failed_ = Clock::now();
  world().changed.notify_all();
}

void LaunchOrder::ignore_failed() noexcept {
  const std::lock_guard lock(world().mutex);
  world().for_gates([](LaunchOrder& gate) {
    if (gate.failed_ == Clock::time_point()) return;
    gate.ignored_ = true;
    gate.close();
  });
  world().changed.notify_all();
}

// True if the operation may never end because the driver hangs.
bool LaunchOrder::ignored() const noexcept {
  if (ignored_) return true;
  return failed_ != Clock::time_point() && Clock::now() - failed_ >= kPatience;
}

bool LaunchOrder::try_launch(int64_t number, bool exclusive) noexcept {
  KernelWorld& all = world();
  const std::lock_guard lock(all.mutex);
  if (number <= number_) return true;
  if (launched_ < num_ranks_) return false;
  const bool called = all.calls > 0 || all.growths > 0 || all.waiting > 0;
  const bool others =
      (all.exclusive != nullptr && all.exclusive != this) || (exclusive && all.any_open(this));
  if (exclusive && all.exclusive == nullptr)
    all.exclusive = this;  // no other launch begins before this one
  if (called || others) {
    if (!out_of_patience(all.calls > 0 ? kPatienceWithCalls : kPatience)) return false;
    all.ignore_open(refused_, this);
    if (all.growths > 0) {  // a failed growth is never ended
      all.growths = 0;
      ++all.age;
    }
  }
  refused_ = {};
  number_ = number;
  launched_ = 0;
  open();
  return true;
}

void LaunchOrder::note_launch(int64_t number) noexcept {
  const std::lock_guard lock(world().mutex);
  if (number != number_ || launched_ >= num_ranks_) return;
  ++launched_;
  if (launched_ == num_ranks_) close();
}

bool LaunchOrder::all_launched(int64_t number) const noexcept {
  const std::lock_guard lock(world().mutex);
  return number < number_ || (number == number_ && launched_ == num_ranks_);
}

void LaunchOrder::set_current(std::shared_ptr<LaunchOrder> gate) noexcept {
  if (!gate && !has_gate) return;
  has_gate = gate != nullptr;
  current_gate = std::move(gate);
}

std::shared_ptr<LaunchOrder> LaunchOrder::current() noexcept {
  return has_gate ? current_gate : nullptr;
}

MemoryCall::MemoryCall() noexcept {
  if (calling || operations > 0) return;
  end_growth();
  KernelWorld& all = world();
  std::unique_lock lock(all.mutex);
  if (has_gate) {
    gate_ = current_gate.get();
    ++gate_->callers_;
    const auto may = [this] { return gate_->entered_ == 0 || gate_->ignored(); };
    while (!all.changed.wait_for(lock, LaunchOrder::kPatience, may)) continue;
  }
  all.wait_for_launches(lock, nullptr, LaunchOrder::kPatience);
  ++all.calls;
  outermost_ = calling = true;
}

MemoryCall::MemoryCall(const LaunchOrder& own, std::chrono::milliseconds patience) noexcept {
  if (calling) return;
  end_growth();
  KernelWorld& all = world();
  std::unique_lock lock(all.mutex);
  all.wait_for_launches(lock, &own, patience);
  ++all.calls;
  outermost_ = calling = true;
}

MemoryCall::~MemoryCall() {
  if (!outermost_) return;
  calling = false;
  const std::lock_guard lock(world().mutex);
  if (gate_) --gate_->callers_;
  --world().calls;
}

void begin_growth() noexcept {
  if (calling || operations > 0) return;
  KernelWorld& all = world();
  std::unique_lock lock(all.mutex);
  if (growing && growth_age == all.age) return;  // otherwise the growth was given up
  all.wait_for_launches(lock, nullptr, LaunchOrder::kPatience);
  ++all.growths;
  growth_age = all.age;
  growing = true;
}

void end_growth() noexcept {
  if (!std::exchange(growing, false)) return;
  const std::lock_guard lock(world().mutex);
  if (growth_age == world().age) --world().growths;
}

}  // namespace gnnmg::device
