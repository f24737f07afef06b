// What processes write to each other: frames of a length, a kind and fields. Reading takes any
// bytes; what is no frame is Error(kProtocol), and nothing is allocated by a length alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "comm/join/seal.h"

namespace gnnmg::comm {

constexpr size_t kFrameLimit = size_t{64} << 20;  // bytes of a frame, once its sender is known
constexpr size_t kStrangerLimit = size_t{16} << 10;

constexpr size_t kTextLimit = size_t{4} << 10;  // of what an error says

enum class FrameKind : uint8_t {
  kIdentity = 1,     // a member says who it is
  kRoster = 2,       // who has come, so far
  kWelcome = 3,      // all have come
  kRefused = 4,      // the end of joining
  kBeat = 5,         // a sign of life, with the positions of ranks
  kCame = 6,         // a rank waits in an operation
  kLeft = 7,         // a rank takes part in nothing more
  kEnded = 8,        // a communicator ended
  kPut = 9,          // a key and its value
  kGather = 10,      // a process's bytes
  kGatherCame = 11,  // that a process has sent its bytes
  kGathered = 12,    // everyone's bytes
  kLost = 13,        // a process is gone
  kJobEnded = 14,    // a process ended the job
  kGivenUp = 15,     // a process waits for everyone's bytes no longer
  kCalledOff = 16,   // so nobody who had sent his does
  kEndKnown = 17,    // a process knows that all have agreed to end the job
  kLast = kEndKnown,
};

// The most bytes that a frame of a kind may have: only exchanges carry what callers bring.
constexpr size_t frame_limit(FrameKind kind) {
  const bool exchange = kind == FrameKind::kGather || kind == FrameKind::kGathered;
  return exchange ? kFrameLimit : kFrameLimit / 16;
}

// Little-endian; texts and lists carry their length.
class FrameWriter {
 public:
  explicit FrameWriter(FrameKind kind = FrameKind::kGather);
  void u8(uint8_t value) { bytes_.push_back(static_cast<char>(value)); }
  void u32(uint32_t value) { number(value, 4); }
  void u64(uint64_t value) { number(value, 8); }
  void i64(int64_t value) { number(static_cast<uint64_t>(value), 8); }
  void text(std::string_view value);
  void list(const std::vector<int64_t>& values);
  // Error(kInvalidArgument) when it is longer than `limit`.
  std::string finish(size_t limit = kFrameLimit);
  // The fields alone, to be carried within another frame.
  std::string fields() const { return bytes_.substr(5); }

 private:
  void number(uint64_t value, int bytes);
  std::string bytes_;
};

// Reads the fields of one frame's body in the order in which they were written. The body must
// outlive it.
class FrameReader {
 public:
  explicit FrameReader(std::string_view body) : body_(body) {}
  uint8_t u8() { return static_cast<uint8_t>(number(1)); }
  uint32_t u32() { return static_cast<uint32_t>(number(4)); }
  uint64_t u64() { return number(8); }
  int64_t i64() { return static_cast<int64_t>(number(8)); }
  std::string text();
  // What is longer than `most` is cut there.
  std::string text(size_t most);
  // What is longer than `most` is Error(kProtocol).
  std::string word(size_t most);
  std::vector<int64_t> list();
  // A number of things of at least `least` bytes each: no more than the body can hold.
  uint32_t count(size_t least);
  void finish() const;  // Error(kProtocol) when something is left

 private:
  uint64_t number(int bytes);
  std::string_view take(size_t bytes);
  std::string_view body_;
};

struct Frame {
  FrameKind kind;
  std::string body;
};

// Bytes as they come in.
class FrameBuffer {
 public:
  explicit FrameBuffer(size_t limit) : limit_(limit) {}
  void set_limit(size_t limit) { limit_ = limit; }
  // From now on frames must carry the seal of this key.
  void expect_seal(const Proof& key) { seal_.emplace(key); }
  void append(std::string_view bytes) { bytes_.append(bytes); }
  // The next whole frame; Error(kProtocol) on an unknown kind or a length above its limit,
  // Error(kAuth) when it does not carry the seal that is expected: nothing after it is of use.
  std::optional<Frame> next();
  // Whether what comes next, the header of which is there, has a seal at all.
  bool next_has_seal() const;
  // The first `size` bytes, once they are there.
  std::optional<std::string> take(size_t size);

 private:
  std::string_view peek(size_t offset, size_t size) const;
  void check_header() const;
  std::string bytes_;
  size_t read_ = 0;  // of bytes_
  size_t limit_;
  std::optional<Seal> seal_;
};

}  // namespace gnnmg::comm
