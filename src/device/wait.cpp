#include "device/wait.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "base/background.h"
#include "base/error.h"
#include "base/never_destroyed.h"
#include "device/exit.h"
#include "device/launch_order.h"

namespace gnnmg::device {
namespace {

thread_local const TimeoutScope* patience = nullptr;
thread_local std::chrono::milliseconds time_before_free{10'000};
std::atomic<bool> program_ends{false};

struct Quarantine {
  std::mutex mutex;
  std::map<std::pair<const Table*, int>, std::string> reasons;
};
// Never destroyed, because detached threads outlive main().
Quarantine& the_quarantine() noexcept {
  static base::NeverDestroyed<Quarantine> instance;
  return *instance;
}

// Sleeps longer after each poll, so that short waits end soon after the work does.
class Pace {
 public:
  void wait() {
    if (turn_ < 200)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(turn_ < 1000 ? 20 : 500));
    ++turn_;
  }

 private:
  int turn_ = 0;
};

}  // namespace

TimeoutScope::TimeoutScope(int64_t limit_ms, base::CancelToken cancel)
    : limit_ms_(limit_ms), cancel_(std::move(cancel)), outer_(std::exchange(patience, this)) {}

TimeoutScope::~TimeoutScope() { patience = outer_; }

const TimeoutScope* TimeoutScope::current() noexcept { return patience; }

void wait_for(const Table& table, int device, Queue* queue) {
  if (patience == nullptr) return table.synchronize(queue);
  patience->cancel().check("waiting for a GPU");
  check_not_quarantined(table, device);
  const base::Deadline deadline = base::Deadline::after_ms(patience->limit_ms());
  for (Pace pace; !table.finished(queue); pace.wait()) {
    patience->cancel().check("waiting for a GPU");
    // Query once more: the process may have been stopped between the query and the deadline's
    // check.
    if (deadline.passed() && !table.finished(queue))
      base::fail(base::Status::kTimeout, "GPU ", device,
                 " has not come to the end of its work within ",
                 static_cast<double>(patience->limit_ms()) / 1000, " s");
  }
}

std::chrono::milliseconds drain_limit(int64_t limit_ms) noexcept {
  return std::chrono::milliseconds(std::clamp<int64_t>(limit_ms, 1000, 10'000));
}

bool drain(const Table& table, Queue* queue, std::chrono::milliseconds limit) {
  const auto until = base::SteadyClock::now() + limit;
  try {
    for (Pace pace; !table.finished(queue); pace.wait())
      if (base::SteadyClock::now() > until) return table.finished(queue);
  } catch (const base::Error&) {  // a lost device does no work
  } catch (const std::bad_alloc&) {
    // No memory for the error text: the state of the device is unknown.
    return false;
  }
  return true;
}

void wait_to_free(const Table& table, int device, Queue* queue) noexcept {
  try {
    if (drain(table, queue, time_before_free)) return;
    quarantine(
        table, device,
        base::text("has not come to its end within ",
                   static_cast<double>(time_before_free.count()) / 1000, " s of what used it"));
    while (program_ends || !table.finished(queue))
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
  } catch (const std::exception&) {  // the device is lost, or there is no memory for the error text
  }
}

void set_drain_limit(std::chrono::milliseconds limit) noexcept { time_before_free = limit; }

void block_frees() noexcept { program_ends = true; }

void quarantine(const Table& table, int device, const std::string& why) {
  {
    Quarantine& all = the_quarantine();
    const std::lock_guard lock(all.mutex);
    all.reasons.emplace(std::pair(&table, device), why);
  }
  LaunchOrder::ignore_failed();
}

bool quarantined(const Table& table, int device) noexcept {
  Quarantine& all = the_quarantine();
  const std::lock_guard lock(all.mutex);
  return all.reasons.contains({&table, device});
}

bool any_quarantined(const Table& table) noexcept {
  Quarantine& all = the_quarantine();
  const std::lock_guard lock(all.mutex);
  return std::ranges::any_of(all.reasons,
                             [&](const auto& each) { return each.first.first == &table; });
}

void check_not_quarantined(const Table& table, int device) {
  Quarantine& all = the_quarantine();
  const std::lock_guard lock(all.mutex);
  const auto found = all.reasons.find({&table, device});
  if (found == all.reasons.end()) return;
  base::fail(base::Status::kDeviceLost, "GPU ", device, " is used no more in this process: it ",
             found->second, "; end the process, and go on in another one");
}

void free_in_background(std::function<void()> end) {
  // Shared, so that it can run here if there is no thread for it.
  const auto work = std::make_shared<std::function<void()>>(std::move(end));
  const auto run = [work] { free_unless_exit(std::move(*work)); };
  try {
    base::leave_in_background(run);
  } catch (const base::Error&) {
    run();
  }
}

}  // namespace gnnmg::device
