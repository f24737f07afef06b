// Cancellation and deadlines. Every wait in the library checks both.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>

#include "base/error.h"

namespace gnnmg::base {

using SteadyClock = std::chrono::steady_clock;

// A point in time at which a wait gives up. A default-constructed deadline never passes.
class Deadline {
 public:
  Deadline() = default;
  // `timeout_ms` from now. A negative timeout never passes.
  static Deadline after_ms(int64_t timeout_ms);
  bool never() const { return never_; }
  bool passed() const { return !never_ && SteadyClock::now() >= at_; }
  SteadyClock::time_point at() const { return never_ ? SteadyClock::time_point::max() : at_; }
  // The time at which it was set; if it never passes, the time of the call.
  SteadyClock::time_point since() const { return never_ ? SteadyClock::now() : since_; }
  int64_t remaining_ms() const;  // 0 if passed, INT64_MAX if it never passes
  static Deadline earlier(const Deadline& a, const Deadline& b);

 private:
  bool never_ = true;
  SteadyClock::time_point since_{}, at_{};
};

// A one-way switch shared by the thread that cancels and the threads that work. Any thread.
class CancelToken {
 public:
  CancelToken() : state_(std::make_shared<State>()) {}
  void cancel() const noexcept { state_->cancelled.store(true, std::memory_order_release); }
  bool cancelled() const noexcept { return state_->cancelled.load(std::memory_order_acquire); }
  // Throws Error(kCancelled) if the token is switched.
  void check(std::string_view what) const;

 private:
  struct State {
    std::atomic<bool> cancelled{false};
  };
  std::shared_ptr<State> state_;
};

// Sets the token that reads on this thread check. Within a scope check_cancelled() throws once
// `token` is switched, with `what` in the error's text; both must outlive the scope. The innermost
// scope counts. Threads that are started within a scope have none.
class CancelScope {
 public:
  CancelScope(const CancelToken& token, std::string_view what) noexcept;
  ~CancelScope();
  CancelScope(const CancelScope&) = delete;
  CancelScope& operator=(const CancelScope&) = delete;

 private:
  friend void check_cancelled();
  friend CancelToken current_cancel();
  const CancelToken token_;
  const std::string_view what_;
  const CancelScope* const outer_;
};

// Throws Error(kCancelled) if the token of the thread's scope is switched. Does nothing without a
// scope.
void check_cancelled();

// Returns the token of the thread's scope; without a scope, a new one.
CancelToken current_cancel();

// Calls check_cancelled() once per million units of work, for loops with short steps.
class CancelPoll {
 public:
  void add(int64_t units) {
    left_ -= units;
    if (left_ > 0) return;
    left_ = kUnits;
    check_cancelled();
  }

 private:
  static constexpr int64_t kUnits = int64_t{1} << 20;
  int64_t left_ = kUnits;
};

}  // namespace gnnmg::base
