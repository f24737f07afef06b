#include "base/device_wait.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/exit.h"
#include "base/kernel_gate.h"
#include "base/memory.h"
#include "base/signals.h"

namespace gnnmg::base {
namespace {

thread_local const DevicePatience* patience = nullptr;
thread_local std::chrono::milliseconds time_before_free{10'000};
std::atomic<bool> program_ends{false};
std::atomic<int> num_pending_ends{0};

struct GivenUp {
  std::mutex mutex;
  std::map<std::pair<const DeviceTable*, int>, std::string> all;
};
// Never destroyed, because detached threads outlive main().
GivenUp& the_given_up() noexcept {
  static GivenUp& instance = *new GivenUp;
  return instance;
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

DevicePatience::DevicePatience(int64_t limit_ms, CancelToken cancel)
    : limit_ms_(limit_ms), cancel_(std::move(cancel)), outer_(std::exchange(patience, this)) {}

DevicePatience::~DevicePatience() { patience = outer_; }

const DevicePatience* DevicePatience::current() noexcept { return patience; }

void wait_for(const DeviceTable& table, int device, DeviceQueue* queue) {
  if (patience == nullptr) return table.synchronize(queue);
  patience->cancel().check("waiting for a GPU");
  check_not_given_up(table, device);
  const Deadline deadline = Deadline::after_ms(patience->limit_ms());
  for (Pace pace; !table.finished(queue); pace.wait()) {
    patience->cancel().check("waiting for a GPU");
    // Query once more: the process may have been stopped between the query and the deadline's
    // check.
    if (deadline.passed() && !table.finished(queue))
      fail(Status::kTimeout, "GPU ", device, " has not come to the end of its work within ",
           static_cast<double>(patience->limit_ms()) / 1000, " s");
  }
}

std::chrono::milliseconds time_to_rest(int64_t limit_ms) noexcept {
  return std::chrono::milliseconds(std::clamp<int64_t>(limit_ms, 1000, 10'000));
}

bool comes_to_rest(const DeviceTable& table, DeviceQueue* queue, std::chrono::milliseconds limit) {
  const auto until = SteadyClock::now() + limit;
  try {
    for (Pace pace; !table.finished(queue); pace.wait())
      if (SteadyClock::now() > until) return table.finished(queue);
  } catch (const Error&) {  // a lost device does no work
  } catch (const std::bad_alloc&) {
    // No memory for the error text: the state of the device is unknown.
    return false;
  }
  return true;
}

void wait_to_free(const DeviceTable& table, int device, DeviceQueue* queue) noexcept {
  try {
    if (comes_to_rest(table, queue, time_before_free)) return;
    give_up(table, device,
            text("has not come to its end within ",
                 static_cast<double>(time_before_free.count()) / 1000, " s of what used it"));
    while (program_ends || !table.finished(queue))
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
  } catch (const std::exception&) {  // the device is lost, or there is no memory for the error text
  }
}

void set_time_to_rest(std::chrono::milliseconds time) noexcept { time_before_free = time; }

void wait_for_ever() noexcept { program_ends = true; }

void give_up(const DeviceTable& table, int device, const std::string& why) {
  {
    GivenUp& given = the_given_up();
    const std::lock_guard lock(given.mutex);
    given.all.emplace(std::pair(&table, device), why);
  }
  KernelGate::leave_failed_alone();
}

bool given_up(const DeviceTable& table, int device) noexcept {
  GivenUp& given = the_given_up();
  const std::lock_guard lock(given.mutex);
  return given.all.contains({&table, device});
}

bool any_given_up(const DeviceTable& table) noexcept {
  GivenUp& given = the_given_up();
  const std::lock_guard lock(given.mutex);
  return std::ranges::any_of(given.all,
                             [&](const auto& each) { return each.first.first == &table; });
}

void check_not_given_up(const DeviceTable& table, int device) {
  GivenUp& given = the_given_up();
  const std::lock_guard lock(given.mutex);
  const auto found = given.all.find({&table, device});
  if (found == given.all.end()) return;
  fail(Status::kDeviceLost, "GPU ", device, " is used no more in this process: it ", found->second,
       "; end the process, and go on in another one");
}

int pending_ends() noexcept { return num_pending_ends; }

std::shared_future<void> end_in_background(std::function<void()> end) {
  auto task = std::make_shared<std::packaged_task<void()>>(
      [end = std::move(end), budget = current_budget()]() mutable {
        const BudgetScope charged(budget);
        const DeviceUse use;
        if (use) end();
        // The program exits: leak the work.
        if (!use) (void)new std::function<void()>(std::move(end));
        end = nullptr;  // destroy the captured objects before the future is ready
        --num_pending_ends;
      });
  std::shared_future<void> over = task->get_future().share();
  ++num_pending_ends;
  try {
    start_thread([task] { (*task)(); }).detach();
  } catch (const std::system_error&) {  // no thread available: run it on the caller's
    (*task)();
  }
  return over;
}

}  // namespace gnnmg::base
