#include "base/log.h"

#include <chrono>

#include "base/error.h"

namespace gnnmg::base {

void Log::add(LogLevel level, std::string text) noexcept {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  std::lock_guard lock(mutex_);
  try {
    if (records_.size() >= capacity_) {
      records_.pop_front();
      ++dropped_;
    }
    records_.push_back({level, std::chrono::duration_cast<std::chrono::nanoseconds>(now).count(), 0,
                        bounded_text(std::move(text))});
  } catch (...) {  // a lost message must not fail the work
    ++dropped_;
  }
}

std::optional<LogRecord> Log::next() {
  std::lock_guard lock(mutex_);
  if (records_.empty()) return std::nullopt;
  LogRecord record = std::move(records_.front());
  records_.pop_front();
  record.dropped_before = dropped_;
  dropped_ = 0;
  return record;
}

}  // namespace gnnmg::base
