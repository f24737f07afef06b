#include "comm/nccl/watchdog.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/background.h"
#include "base/error.h"
#include "comm/nccl/in_flight.h"

namespace gnnmg::comm::nccl {

namespace {
constexpr std::chrono::milliseconds kAgain(5);
}

Watchdog& Watchdog::instance() {
  static Watchdog& instance = *new Watchdog;  // never destroyed: ranks may outlive main
  return instance;
}

void Watchdog::add(InFlight* one) {
  const std::lock_guard life(life_);
  {
    const std::lock_guard lock(mutex_);
    all_.push_back(one);
    if (all_.size() > 1) return;
  }
  try {
    thread_ = base::start_thread([this] { run(); });
  } catch (const std::system_error& e) {
    const std::lock_guard lock(mutex_);
    all_.clear();
    base::fail(base::Status::kNoMemory, "cannot start a thread for exchanges: ", e.what());
  }
}

void Watchdog::remove(InFlight* one) {
  const std::lock_guard life(life_);
  {
    const std::lock_guard lock(mutex_);
    std::erase(all_, one);
    if (!all_.empty()) return;
    leaving_ = true;
  }
  changed_.notify_one();
  thread_.join();
  leaving_ = false;
}

void Watchdog::wake() {
  {
    const std::lock_guard lock(mutex_);
    woken_ = true;
  }
  changed_.notify_one();
}

void Watchdog::run() {
  std::unique_lock lock(mutex_);
  while (!leaving_) {
    woken_ = false;
    const auto now = InFlight::Clock::now();
    auto next = InFlight::Clock::time_point::max();
    for (InFlight* one : all_) try {
        next = std::min(next, one->look(now));
      } catch (const std::exception&) {  // out of memory: looks again soon
        next = std::min(next, now + kAgain);
      }
    const auto called = [this] { return woken_ || leaving_; };
    if (next == InFlight::Clock::time_point::max())
      changed_.wait(lock, called);
    else
      changed_.wait_until(lock, next, called);
  }
}

}  // namespace gnnmg::comm::nccl
