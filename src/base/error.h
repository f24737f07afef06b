// Status codes and the only exception type of the library. Each code stands for one reaction of the
// caller. The C API returns the same numbers (capi checks that they agree with gnnmg.h).
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <type_traits>

namespace gnnmg::base {

enum class Status : int32_t {
  kOk = 0,
  kEnd = 1,
  kPending = 2,
  kInvalidArgument = -1,
  kHandle = -2,
  kBusy = -3,
  kVersion = -4,
  kNotFound = -5,
  kIo = -6,
  kFormat = -7,
  kChecksum = -8,
  kRange = -9,
  kNan = -10,
  kDiverged = -11,
  kNoMemory = -12,
  kDependency = -13,
  kUnsupported = -14,
  kDeviceLost = -15,
  kTimeout = -16,
  kPeerLost = -17,
  kAborted = -18,
  kMismatch = -19,
  kUnavailable = -20,
  kAuth = -21,
  kProtocol = -22,
  kCancelled = -23,
  kCallback = -24,
  kForked = -25,
  kInternal = -26,
};

// Returns "ERR_FORMAT" and the like; never null.
const char* status_name(Status status) noexcept;

namespace detail {
inline void append(std::string& out, std::string_view text) { out += text; }
void append_number(std::string& out, double value);
template <typename T>
  requires std::is_arithmetic_v<T>
void append(std::string& out, T value) {
  if constexpr (std::is_same_v<T, char>)
    out += value;
  else if constexpr (std::is_same_v<T, bool>)
    out += value ? "true" : "false";
  else if constexpr (std::is_floating_point_v<T>)
    append_number(out, static_cast<double>(value));
  else
    out += std::to_string(value);
}
}  // namespace detail

// Joins texts and numbers, independent of the locale: text("row ", i, ": expected ", n).
template <typename... Args>
std::string text(const Args&... args) {
  std::string out;
  (detail::append(out, args), ...);
  return out;
}

// Returns the beginning of `text`, at most `bytes` bytes. Never splits a UTF-8 character.
std::string_view beginning(std::string_view text, size_t bytes) noexcept;
// Upper bound for the size of error and log texts, whatever names a file contains.
inline constexpr size_t kMostTextBytes = 16 << 10;
// Returns `text`, or its beginning and its end around "..." if it is too long. Never splits a UTF-8
// character.
std::string bounded_text(std::string text);

// Every failure in the library is thrown as this type. `what()` is one line that names the
// argument, file, array or position, the expected value and the value found.
class Error : public std::exception {
 public:
  Error(Status status, std::string text, int rank = -1, int system_error = 0)
      : status_(status),
        rank_(rank),
        system_error_(system_error),
        text_(bounded_text(std::move(text))) {}
  const char* what() const noexcept override { return text_.c_str(); }
  Status status() const noexcept { return status_; }
  int rank() const noexcept { return rank_; }                  // the rank that failed, or -1
  int system_error() const noexcept { return system_error_; }  // errno, or 0

 private:
  Status status_;
  int rank_;
  int system_error_;
  std::string text_;
};

template <typename... Args>
[[noreturn]] void fail(Status status, const Args&... args) {
  throw Error(status, text(args...));
}

// Products and sums of sizes with an overflow check. Error(kFormat) names `what` if the result does
// not fit int64.
int64_t checked_mul(int64_t a, int64_t b, std::string_view what);
int64_t checked_add(int64_t a, int64_t b, std::string_view what);

}  // namespace gnnmg::base
