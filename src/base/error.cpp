#include "base/error.h"

#include <charconv>

namespace gnnmg::base {

const char* status_name(Status status) noexcept {
  switch (status) {
    case Status::kOk:
      return "OK";
    case Status::kEnd:
      return "END";
    case Status::kPending:
      return "PENDING";
    case Status::kInvalidArgument:
      return "ERR_INVALID_ARGUMENT";
    case Status::kHandle:
      return "ERR_HANDLE";
    case Status::kBusy:
      return "ERR_BUSY";
    case Status::kVersion:
      return "ERR_VERSION";
    case Status::kNotFound:
      return "ERR_NOT_FOUND";
    case Status::kIo:
      return "ERR_IO";
    case Status::kFormat:
      return "ERR_FORMAT";
    case Status::kChecksum:
      return "ERR_CHECKSUM";
    case Status::kRange:
      return "ERR_RANGE";
    case Status::kNan:
      return "ERR_NAN";
    case Status::kDiverged:
      return "ERR_DIVERGED";
    case Status::kNoMemory:
      return "ERR_NO_MEMORY";
    case Status::kDependency:
      return "ERR_DEPENDENCY";
    case Status::kUnsupported:
      return "ERR_UNSUPPORTED";
    case Status::kDeviceLost:
      return "ERR_DEVICE_LOST";
    case Status::kTimeout:
      return "ERR_TIMEOUT";
    case Status::kPeerLost:
      return "ERR_PEER_LOST";
    case Status::kAborted:
      return "ERR_ABORTED";
    case Status::kMismatch:
      return "ERR_MISMATCH";
    case Status::kUnavailable:
      return "ERR_UNAVAILABLE";
    case Status::kAuth:
      return "ERR_AUTH";
    case Status::kProtocol:
      return "ERR_PROTOCOL";
    case Status::kCancelled:
      return "ERR_CANCELLED";
    case Status::kCallback:
      return "ERR_CALLBACK";
    case Status::kForked:
      return "ERR_FORKED";
    case Status::kInternal:
      return "ERR_INTERNAL";
  }
  return "unknown status";
}

void detail::append_number(std::string& out, double value) {
  char buffer[32];
  auto [end, code] = std::to_chars(buffer, buffer + sizeof buffer, value);
  out.append(buffer, code == std::errc() ? end : buffer);
}

int64_t checked_mul(int64_t a, int64_t b, std::string_view what) {
  int64_t result;
  if (__builtin_mul_overflow(a, b, &result))
    fail(Status::kFormat, what, ": ", a, " x ", b, " does not fit 64 bits");
  return result;
}

int64_t checked_add(int64_t a, int64_t b, std::string_view what) {
  int64_t result;
  if (__builtin_add_overflow(a, b, &result))
    fail(Status::kFormat, what, ": ", a, " + ", b, " does not fit 64 bits");
  return result;
}

namespace {
// True at the second and later bytes of a UTF-8 character.
bool is_inside(std::string_view text, size_t at) noexcept {
  return (static_cast<uint8_t>(text[at]) & 0xc0) == 0x80;
}
}  // namespace

std::string_view beginning(std::string_view text, size_t bytes) noexcept {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && is_inside(text, bytes)) --bytes;
  return text.substr(0, bytes);
}

std::string bounded_text(std::string text) {
  constexpr size_t kEnd = 2 << 10;
  constexpr std::string_view kGap = " ... ";
  if (text.size() <= kMostTextBytes) return text;
  size_t end = text.size() - kEnd;
  while (end < text.size() && is_inside(text, end)) ++end;
  return base::text(beginning(text, kMostTextBytes - kEnd - kGap.size()), kGap,
                    std::string_view(text).substr(end));
}

}  // namespace gnnmg::base
