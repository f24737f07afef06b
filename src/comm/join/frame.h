// Messages between processes: frames of length, kind and fields. Reading accepts any bytes; a
// malformed frame is Error(kProtocol), and a length alone allocates nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "comm/join/seal.h"

namespace gnnmg::comm {

constexpr size_t kFrameLimit = size_t{64}
                               << 20;  // bytes of a frame, after the sender has proven itself
constexpr size_t kStrangerLimit = size_t{16} << 10;

constexpr size_t kTextLimit = size_t{4} << 10;  // bytes of an error text

enum class FrameKind : uint8_t {
  kIdentity = 1,     // identity of a candidate
  kRoster = 2,       // processes that have come so far
  kWelcome = 3,      // all processes have come
  kRefused = 4,      // the end of joining
  kBeat = 5,         // heartbeat, with the positions of ranks
  kCame = 6,         // a rank waits in an operation
  kLeft = 7,         // a rank takes part in no later operation
  kEnded = 8,        // a communicator ended
  kPut = 9,          // a key and its value
  kGather = 10,      // bytes of a process
  kGatherCame = 11,  // a process has sent its bytes
  kGathered = 12,    // bytes of all processes
  kLost = 13,        // a process is gone
  kJobEnded = 14,    // a process ended the job
  kGivenUp = 15,     // a process gives up an exchange
  kCalledOff = 16,   // process 0 has called an exchange off
  kEndKnown = 17,    // a process knows that all have agreed to end the job
  kLast = kEndKnown,
};

// Largest frame of each kind: only exchanges carry data of callers.
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
  // Error(kInvalidArgument) if the frame is longer than `limit`.
  std::string finish(size_t limit = kFrameLimit);
  // The fields alone, as part of another frame.
  std::string fields() const { return bytes_.substr(5); }

 private:
  void number(uint64_t value, int bytes);
  std::string bytes_;
};

// Reads the fields of a frame's body in the order of writing. The body must outlive the reader.
class FrameReader {
 public:
  explicit FrameReader(std::string_view body) : body_(body) {}
  uint8_t u8() { return static_cast<uint8_t>(number(1)); }
  uint32_t u32() { return static_cast<uint32_t>(number(4)); }
  uint64_t u64() { return number(8); }
  int64_t i64() { return static_cast<int64_t>(number(8)); }
  std::string text();
  // Cuts a text after `most` bytes.
  std::string text(size_t most);
  // Error(kProtocol) for a text of more than `most` bytes.
  std::string word(size_t most);
  std::vector<int64_t> list();
  // Reads the number of elements of at least `least` bytes each; it never exceeds the rest of the
  // body.
  uint32_t count(size_t least);
  void finish() const;  // Error(kProtocol) if bytes are left

 private:
  uint64_t number(int bytes);
  std::string_view take(size_t bytes);
  std::string_view body_;
};

struct Frame {
  FrameKind kind;
  std::string body;
};

// Collects received bytes into frames.
class FrameBuffer {
 public:
  explicit FrameBuffer(size_t limit) : limit_(limit) {}
  void set_limit(size_t limit) { limit_ = limit; }
  // Makes a seal of this key mandatory for all later frames.
  void expect_seal(const Proof& key) { seal_.emplace(key); }
  void append(std::string_view bytes) { bytes_.append(bytes); }
  // Returns the next complete frame. Error(kProtocol) for an unknown kind or a length above its
  // limit, Error(kAuth) without the expected seal; after an error the buffer is useless.
  std::optional<Frame> next();
  // True if the next frame, whose header has arrived, has a seal at all.
  bool next_has_seal() const;
  // Returns the first `size` bytes once they have arrived.
  std::optional<std::string> take(size_t size);

 private:
  std::string_view peek(size_t offset, size_t size) const;
  void check_header() const;
  std::string bytes_;
  size_t read_ = 0;  // bytes of bytes_ that are read
  size_t limit_;
  std::optional<Seal> seal_;
};

}  // namespace gnnmg::comm
