#include "base/kernel_gate.h"

#include <condition_variable>
#include <mutex>
#include <utility>

namespace gnnmg::base {
using Clock = std::chrono::steady_clock;

struct KernelWorld {
  std::mutex mutex;  // guards all members below and the state of all gates
  std::condition_variable changed;
  KernelGate* gates = nullptr;  // linked list of all gates
  int calls = 0;                // memory calls in progress; they always end
  int growths = 0;              // memory calls of libraries in progress; a failed one has no end
  int waiting = 0;              // memory calls that wait for launches
  int64_t age = 0;              // growths of an earlier age are ignored
  const KernelGate* alone = nullptr;  // the gate whose launch excludes all others

  template <typename F>
  void for_gates(const F& body) {
    for (KernelGate* gate = gates; gate; gate = gate->next_) body(*gate);
  }
  // True if a gate other than `own` has a launch that some of its ranks have not made.
  bool any_open(const KernelGate* own) {
    bool any = false;
    for_gates([&](const KernelGate& gate) { any = any || (gate.open_ && &gate != own); });
    return any;
  }
  // Ignores launches that have been open since `since` or longer.
  void leave_open(Clock::time_point since, const KernelGate* own) {
    for_gates([&](KernelGate& gate) {
      if (gate.open_ && &gate != own && gate.opened_ <= since) gate.close();
    });
  }
  // Waits until this call for memory may begin.
  void wait_for_launches(std::unique_lock<std::mutex>& lock, const KernelGate* own,
                         std::chrono::milliseconds patience) {
    const auto begun = Clock::now();
    ++waiting;
    const bool none = changed.wait_for(lock, patience, [&] { return !any_open(own); });
    --waiting;
    if (!none && patience >= KernelGate::kPatience) leave_open(begun, own);
  }
};

namespace {

KernelWorld& world() {
  static KernelWorld& world = *new KernelWorld;  // never destroyed: threads may outlive main()
  return world;
}

// Threads without a gate do not touch this variable: the first use allocates memory for its
// destructor.
thread_local std::shared_ptr<KernelGate> current_gate;
thread_local bool has_gate = false, calling = false, growing = false;
thread_local int operations = 0;  // operations that this thread is in
thread_local int64_t growth_age = 0;

}  // namespace

KernelGate::KernelGate(int num_ranks) : num_ranks_(num_ranks), launched_(num_ranks) {
  const std::lock_guard lock(world().mutex);
  next_ = std::exchange(world().gates, this);
}

KernelGate::~KernelGate() {
  const std::lock_guard lock(world().mutex);
  close();
  KernelGate** at = &world().gates;
  while (*at != this) at = &(*at)->next_;
  *at = next_;
}

bool KernelGate::try_enter() noexcept {
  end_growth();
  const std::lock_guard lock(world().mutex);
  // A rank that follows another one must not wait for a memory call that waits for the other's
  // operation.
  if (kernels_ == 0 && callers_ > 0) return false;
  ++kernels_;
  ++operations;
  return true;
}

void KernelGate::leave() noexcept {
  const std::lock_guard lock(world().mutex);
  --operations;
  if (--kernels_ > 0) return;
  refused_ = {};
  if (launched_ < num_ranks_) {  // the launch has failed
    --number_;
    launched_ = num_ranks_;
    close();
  }
  if (world().alone == this) world().alone = nullptr;
  world().changed.notify_all();
}

void KernelGate::open() noexcept {
  open_ = !alone_;
  opened_ = Clock::now();
}

void KernelGate::close() noexcept {
  open_ = false;
  if (world().alone == this) world().alone = nullptr;
  world().changed.notify_all();
}

bool KernelGate::tired(std::chrono::milliseconds patience) noexcept {
  const auto now = Clock::now();
  if (refused_ == Clock::time_point()) refused_ = now;
  return now - refused_ >= patience;
}

void KernelGate::note_failure() noexcept {
  const std::lock_guard lock(world().mutex);
  if (failed_ == Clock::time_point()) failed_ = Clock::now();
  world().changed.notify_all();
}

void KernelGate::leave_failed_alone() noexcept {
  const std::lock_guard lock(world().mutex);
  world().for_gates([](KernelGate& gate) {
    if (gate.failed_ == Clock::time_point()) return;
    gate.alone_ = true;
    gate.close();
  });
  world().changed.notify_all();
}

// True if the operation may never end because the driver hangs.
bool KernelGate::left_alone() const noexcept {
  if (alone_) return true;
  return failed_ != Clock::time_point() && Clock::now() - failed_ >= kPatience;
}

bool KernelGate::try_launch(int64_t number, bool alone) noexcept {
  KernelWorld& all = world();
  const std::lock_guard lock(all.mutex);
  if (number <= number_) return true;
  if (launched_ < num_ranks_) return false;
  const bool called = all.calls > 0 || all.growths > 0 || all.waiting > 0;
  const bool others = (all.alone != nullptr && all.alone != this) || (alone && all.any_open(this));
  if (alone && all.alone == nullptr) all.alone = this;  // no other launch begins before this one
  if (called || others) {
    if (!tired(all.calls > 0 ? kPatienceWithCalls : kPatience)) return false;
    all.leave_open(refused_, this);
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

void KernelGate::note_launch(int64_t number) noexcept {
  const std::lock_guard lock(world().mutex);
  if (number == number_ && launched_ < num_ranks_ && ++launched_ == num_ranks_) close();
}

bool KernelGate::all_launched(int64_t number) const noexcept {
  const std::lock_guard lock(world().mutex);
  return number < number_ || (number == number_ && launched_ == num_ranks_);
}

void KernelGate::set_current(std::shared_ptr<KernelGate> gate) noexcept {
  if (!gate && !has_gate) return;
  has_gate = gate != nullptr;
  current_gate = std::move(gate);
}

std::shared_ptr<KernelGate> KernelGate::current() noexcept {
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
    const auto may = [this] { return gate_->kernels_ == 0 || gate_->left_alone(); };
    while (!all.changed.wait_for(lock, KernelGate::kPatience, may)) continue;
  }
  all.wait_for_launches(lock, nullptr, KernelGate::kPatience);
  ++all.calls;
  outermost_ = calling = true;
}

MemoryCall::MemoryCall(const KernelGate& own, std::chrono::milliseconds patience) noexcept {
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
  all.wait_for_launches(lock, nullptr, KernelGate::kPatience);
  ++all.growths;
  growth_age = all.age;
  growing = true;
}

void end_growth() noexcept {
  if (!std::exchange(growing, false)) return;
  const std::lock_guard lock(world().mutex);
  if (growth_age == world().age) --world().growths;
}

}  // namespace gnnmg::base
