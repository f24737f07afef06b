// Cancellation and deadlines. Nothing in the library waits without looking at both.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

#include "base/error.h"

namespace gnnmg::base {

using SteadyClock = std::chrono::steady_clock;

// A point in time after which a wait gives up; default-constructed: never.
class Deadline {
 public:
  Deadline() = default;
  // `timeout_ms` from now; negative: never.
  static Deadline after_ms(int64_t timeout_ms);
  bool never() const { return never_; }
  bool passed() const { return !never_ && SteadyClock::now() >= at_; }
  SteadyClock::time_point at() const { return never_ ? SteadyClock::time_point::max() : at_; }
  int64_t remaining_ms() const;  // 0 when passed; INT64_MAX when never
  static Deadline earlier(const Deadline& a, const Deadline& b);

 private:
  bool never_ = true;
  SteadyClock::time_point at_{};
};

// A one-way switch shared by the one who cancels and those who work. Any thread.
class CancelToken {
 public:
  CancelToken() : state_(std::make_shared<State>()) {}
  void cancel() const noexcept { state_->cancelled.store(true, std::memory_order_release); }
  bool cancelled() const noexcept { return state_->cancelled.load(std::memory_order_acquire); }
  // Error(kCancelled) when switched.
  void check(std::string_view what) const;

 private:
  struct State {
    std::atomic<bool> cancelled{false};
  };
  std::shared_ptr<State> state_;
};

}  // namespace gnnmg::base
