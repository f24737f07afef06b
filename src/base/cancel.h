// Cancellation and deadlines. Nothing in the library waits without looking at both.
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

// A point in time after which a wait gives up; default-constructed: never.
class Deadline {
 public:
  Deadline() = default;
  // `timeout_ms` from now; negative: never.
  static Deadline after_ms(int64_t timeout_ms);
  bool never() const { return never_; }
  bool passed() const { return !never_ && SteadyClock::now() >= at_; }
  SteadyClock::time_point at() const { return never_ ? SteadyClock::time_point::max() : at_; }
  // When it was set; the time of the call when never.
  SteadyClock::time_point since() const { return never_ ? SteadyClock::now() : since_; }
  int64_t remaining_ms() const;  // 0 when passed; INT64_MAX when never
  static Deadline earlier(const Deadline& a, const Deadline& b);

 private:
  bool never_ = true;
  SteadyClock::time_point since_{}, at_{};
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

// Tells the reads of a thread which token to look at. Within a scope check_cancelled() throws once
// `token` is switched, with `what` in the error's text, which must outlive the scope. The innermost
// scope counts; threads that a scope's thread starts have none.
class CancelScope {
 public:
  CancelScope(const CancelToken& token, std::string_view what) noexcept;
  ~CancelScope();
  CancelScope(const CancelScope&) = delete;
  CancelScope& operator=(const CancelScope&) = delete;

 private:
  friend void check_cancelled();
  const CancelToken token_;
  const std::string_view what_;
  const CancelScope* const outer_;
};

// Error(kCancelled) when the thread's scope was cancelled; nothing without a scope.
void check_cancelled();

// check_cancelled() for loops with short steps: looks after each million units of work.
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
