#include "base/cancel.h"

#include <algorithm>
#include <limits>

namespace gnnmg::base {

Deadline Deadline::after_ms(int64_t timeout_ms) {
  Deadline deadline;
  if (timeout_ms < 0) return deadline;
  constexpr int64_t kTenYears =
      int64_t{10} * 365 * 24 * 3600 * 1000;  // keeps now + timeout from overflowing
  deadline.never_ = false;
  deadline.since_ = SteadyClock::now();
  deadline.at_ = deadline.since_ + std::chrono::milliseconds(std::min(timeout_ms, kTenYears));
  return deadline;
}

int64_t Deadline::remaining_ms() const {
  if (never_) return std::numeric_limits<int64_t>::max();
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(at_ - SteadyClock::now());
  return std::max<int64_t>(0, left.count());
}

Deadline Deadline::earlier(const Deadline& a, const Deadline& b) {
  return a.at() <= b.at() ? a : b;
}

void CancelToken::check(std::string_view what) const {
  if (cancelled()) fail(Status::kCancelled, what, " was canceled");
}

namespace {
thread_local const CancelScope* innermost_scope = nullptr;
}

CancelScope::CancelScope(const CancelToken& token, std::string_view what) noexcept
    : token_(token), what_(what), outer_(innermost_scope) {
  innermost_scope = this;
}

CancelScope::~CancelScope() { innermost_scope = outer_; }

void check_cancelled() {
  if (innermost_scope) innermost_scope->token_.check(innermost_scope->what_);
}

CancelToken current_cancel() { return innermost_scope ? innermost_scope->token_ : CancelToken(); }

}  // namespace gnnmg::base
