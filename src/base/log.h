// The log queue of a context. The library never prints; messages stay here until the host pulls
// them.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

namespace gnnmg::base {

enum class LogLevel : int32_t { kDebug = 0, kInfo = 1, kWarning = 2, kError = 3 };

struct LogRecord {
  LogLevel level = LogLevel::kInfo;
  int64_t unix_time_ns = 0;
  int64_t dropped_before =
      0;  // number of records that were lost before this one because the queue was full
  std::string text;
};

// Any thread. Holds at most `capacity` records, at least 1; a full queue drops the oldest one.
class Log {
 public:
  explicit Log(size_t capacity = 1024) : capacity_(capacity ? capacity : 1) {}
  void add(LogLevel level, std::string text) noexcept;
  std::optional<LogRecord> next();

 private:
  std::mutex mutex_;
  std::deque<LogRecord> records_;
  size_t capacity_;
  int64_t dropped_ = 0;
};

}  // namespace gnnmg::base
