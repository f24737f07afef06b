#include "train/log/event_file.h"

#include <unistd.h>

#include <atomic>
#include <bit>
#include <chrono>
#include <utility>

#include "base/file.h"
#include "io/crc32c.h"

namespace gnnmg::train {
namespace {

uint32_t masked(std::span<const uint8_t> bytes) {
  return std::rotr(io::crc32c(bytes), 15) + 0xA282EAD8u;
}

// A protocol-buffer message under construction.
class Message {
 public:
  void varint(int field, uint64_t value) {
    tag(field, 0);
    raw_varint(value);
  }
  void float64(int field, double value) {
    tag(field, 1);
    little_endian(std::bit_cast<uint64_t>(value), 8);
  }
  void float32(int field, float value) {
    tag(field, 5);
    little_endian(std::bit_cast<uint32_t>(value), 4);
  }
  void bytes(int field, std::span<const uint8_t> value) {
    tag(field, 2);
    raw_varint(value.size());
    bytes_.insert(bytes_.end(), value.begin(), value.end());
  }
  void text(int field, std::string_view value) {
    bytes(field, {reinterpret_cast<const uint8_t*>(value.data()), value.size()});
  }
  void message(int field, const Message& value) { bytes(field, value.bytes_); }
  void little_endian(uint64_t value, int size) {
    for (int i = 0; i < size; ++i) bytes_.push_back(static_cast<uint8_t>(value >> 8 * i));
  }
  const std::vector<uint8_t>& data() const { return bytes_; }

 private:
  void tag(int field, int wire_type) { raw_varint(static_cast<uint64_t>(field) << 3 | wire_type); }
  void raw_varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<uint8_t>(value | 0x80));
    bytes_.push_back(static_cast<uint8_t>(value));
  }
  std::vector<uint8_t> bytes_;
};

// Fields of TensorFlow's event.proto and summary.proto.
constexpr int kEventWallTime = 1, kEventStep = 2, kEventFileVersion = 3, kEventSummary = 5;
constexpr int kEventSession = 7, kSessionStatus = 1, kSessionStart = 1;
constexpr int kSummaryValue = 1, kValueTag = 1, kValueSimple = 2;

double unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

std::vector<uint8_t> frame_record(std::span<const uint8_t> data) {
  Message frame;
  frame.little_endian(data.size(), 8);
  frame.little_endian(masked(frame.data()), 4);
  std::vector<uint8_t> out = frame.data();
  out.insert(out.end(), data.begin(), data.end());
  const uint32_t sum = masked(data);
  for (int i = 0; i < 4; ++i) out.push_back(static_cast<uint8_t>(sum >> 8 * i));
  return out;
}

EventFile::EventFile(const std::string& folder) {
  static std::atomic<int> counter{0};
  base::make_directory(folder);
  const double now = unix_seconds();
  // Readers sort files by the time in the name; process and counter keep two runs of one second
  // apart.
  file_ = std::make_unique<AppendFile>(
      base::join_path(folder,
                      base::text("events.out.tfevents.", static_cast<int64_t>(now), ".gnnmg.",
                                 static_cast<int64_t>(getpid()), ".", counter++)),
      true);
  Message event;
  event.float64(kEventWallTime, now);
  event.text(kEventFileVersion, "brain.Event:2");
  file_->append(frame_record(event.data()));
}

// Readers then drop earlier files' events of this step and later ones.
void EventFile::begin(int64_t step) {
  Message session;
  session.varint(kSessionStatus, kSessionStart);
  Message event;
  event.float64(kEventWallTime, unix_seconds());
  event.varint(kEventStep, static_cast<uint64_t>(step));
  event.message(kEventSession, session);
  file_->append(frame_record(event.data()));
}

void EventFile::add(int64_t step, std::span<const Scalar> scalars) {
  if (!std::exchange(begun_, true) && step > 0) begin(step);
  Message summary;
  for (const Scalar& scalar : scalars) {
    Message value;
    value.text(kValueTag, scalar.tag);
    value.float32(kValueSimple, static_cast<float>(scalar.value));
    summary.message(kSummaryValue, value);
  }
  Message event;
  event.float64(kEventWallTime, unix_seconds());
  event.varint(kEventStep, static_cast<uint64_t>(step));
  event.message(kEventSummary, summary);
  file_->append(frame_record(event.data()));
}

}  // namespace gnnmg::train
