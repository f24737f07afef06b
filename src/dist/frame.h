// The head that every message begins with, and the body after it: shared by wire.cpp, hello.cpp and
// files.cpp. wire.h has the layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "dist/wire.h"
#include "io/bytes.h"

namespace gnnmg::dist {

inline constexpr uint8_t kAnswer = 1, kRefused = 2, kWide = 4, kEdgeIds = 8, kWideEdgeIds = 16,
                         kEdgeRows = 32;
inline constexpr uint8_t kQuestionFlags = kWide | kEdgeIds | kEdgeRows;

// The first bytes of a message, as they lie there.
struct Head {
  uint16_t size = kHeadBytes;
  uint8_t draw = 0;
  uint8_t count_bytes = 0;
  uint32_t magic = 0x474D4E47;  // "GNMG"
  uint16_t version = kWireVersion;
  uint8_t op = 0;
  uint8_t flags = 0;
  uint32_t checksum = 0;
  uint64_t request = 0;
  uint64_t stamp = 0;
  uint32_t key[2] = {};
  int32_t fanout = 0;
  int32_t subject = 0;  // edge type or column
  uint32_t count = 0;
  int32_t part = 0;
};
static_assert(sizeof(Head) == kHeadBytes && offsetof(Head, checksum) == 12 &&
              offsetof(Head, request) == 16 && offsetof(Head, part) == 52);

// The head of a question that is about no ids.
inline Head plain_head(Op op, uint64_t request, uint64_t stamp) {
  Head head;
  head.op = static_cast<uint8_t>(op);
  head.request = request;
  head.stamp = stamp;
  return head;
}

// Error(kProtocol) for bytes that are no message or are damaged; kUnsupported for other versions.
Head read_head(std::span<const uint8_t> message);
// The head of the answer to the question that `asked` is of. Errors as of read_picks().
Head read_answer_head(const Head& asked, std::span<const uint8_t> message);
// Makes room for a head and `body` bytes, writes the head, and returns where the body begins.
uint8_t* begin_message(const Head& head, int64_t body, Message& out);
void write_refusal(const Head& asked, base::Status status, std::string_view text, Message& out);

// Reads the lists of a body, one after the other. Error(kProtocol) where it ends too early or too
// late.
class Body {
 public:
  explicit Body(std::span<const uint8_t> message) : rest_(message.subspan(kHeadBytes)) {}
  std::span<const uint8_t> bytes(int64_t count) {
    if (count > static_cast<int64_t>(rest_.size()))
      base::fail(base::Status::kProtocol, "a message ends after ", rest_.size(),
                 " bytes of a list of ", count);
    const auto taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }
  Numbers numbers(int64_t count, int width) {
    return {bytes(base::checked_mul(count, width, "a list of a message")).data(), count, width};
  }
  template <typename T>
  T number() {
    return io::load_little<T>(bytes(sizeof(T)), 0);
  }
  // Four bytes of length, at most `limit`, and the text.
  std::string text(uint32_t limit) {
    const auto size = number<uint32_t>();
    if (size > limit)
      base::fail(base::Status::kProtocol, "a text of ", size, " bytes in a message, expected ",
                 limit, " at most");
    return std::string(io::as_text(bytes(size)));
  }
  std::span<const uint8_t> rest() { return bytes(static_cast<int64_t>(rest_.size())); }
  void end() const {
    if (!rest_.empty())
      base::fail(base::Status::kProtocol, "a message has ", rest_.size(), " bytes too many");
  }

 private:
  std::span<const uint8_t> rest_;
};

template <typename T>
uint8_t* put_array(std::span<const T> values, uint8_t* out) {
  if (!values.empty()) std::memcpy(out, values.data(), values.size_bytes());
  return out + values.size_bytes();
}

}  // namespace gnnmg::dist
