#include "comm/join/frame.h"

namespace gnnmg::comm {

using base::Status;

namespace {
constexpr size_t kHeader = 5;  // length of the body, kind
}

FrameWriter::FrameWriter(FrameKind kind) : bytes_(4, '\0') { u8(static_cast<uint8_t>(kind)); }

void FrameWriter::number(uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) bytes_.push_back(static_cast<char>(value >> (8 * i)));
}

void FrameWriter::text(std::string_view value) {
  u32(static_cast<uint32_t>(value.size()));
  bytes_ += value;
}

void FrameWriter::list(const std::vector<int64_t>& values) {
  u32(static_cast<uint32_t>(values.size()));
  for (const int64_t value : values) i64(value);
}

std::string FrameWriter::finish(size_t limit) {
  const size_t size = bytes_.size() - kHeader;
  if (size > limit)
    base::fail(Status::kInvalidArgument, "a message of ", size,
               " bytes between processes: at most ", limit);
  for (int i = 0; i < 4; ++i) bytes_[i] = static_cast<char>(size >> (8 * i));
  return std::move(bytes_);
}

std::string_view FrameReader::take(size_t bytes) {
  if (bytes > body_.size())
    base::fail(Status::kProtocol, "a frame ends where ", bytes, " more bytes were expected, found ",
               body_.size());
  const std::string_view taken = body_.substr(0, bytes);
  body_.remove_prefix(bytes);
  return taken;
}

uint64_t FrameReader::number(int bytes) {
  const std::string_view taken = take(bytes);
  uint64_t value = 0;
  for (int i = 0; i < bytes; ++i)
    value |= static_cast<uint64_t>(static_cast<uint8_t>(taken[i])) << (8 * i);
  return value;
}

std::string FrameReader::text() { return std::string(take(u32())); }

uint32_t FrameReader::count(size_t least) {
  const uint32_t n = u32();
  if (n > body_.size() / least)
    base::fail(Status::kProtocol, "a frame announces ", n, " parts, but has ", body_.size(),
               " bytes left");
  return n;
}

std::vector<int64_t> FrameReader::list() {
  std::vector<int64_t> values(count(8));
  for (int64_t& value : values) value = i64();
  return values;
}

void FrameReader::finish() const {
  if (!body_.empty())
    base::fail(Status::kProtocol, "a frame has ", body_.size(), " bytes too many");
}

std::optional<Frame> FrameBuffer::next() {
  if (bytes_.size() - read_ < kHeader) return std::nullopt;
  uint32_t size = 0;
  for (int i = 0; i < 4; ++i)
    size |= static_cast<uint32_t>(static_cast<uint8_t>(bytes_[read_ + i])) << (8 * i);
  const auto kind = static_cast<uint8_t>(bytes_[read_ + 4]);
  if (kind < static_cast<uint8_t>(FrameKind::kWho) || kind > static_cast<uint8_t>(FrameKind::kLast))
    base::fail(Status::kProtocol, "a frame of kind ", static_cast<int>(kind),
               ", which this version does not know");
  if (size > limit_)
    base::fail(Status::kProtocol, "a frame of ", size, " bytes, expected at most ", limit_);
  auto body = take(kHeader + size);
  if (!body) return std::nullopt;
  body->erase(0, kHeader);
  return Frame{static_cast<FrameKind>(kind), std::move(*body)};
}

std::optional<std::string> FrameBuffer::take(size_t size) {
  if (bytes_.size() - read_ < size) return std::nullopt;
  std::string taken = bytes_.substr(read_, size);
  read_ += size;
  // What was read is dropped when it is the larger part, so that appending stays linear.
  if (read_ * 2 >= bytes_.size()) {
    bytes_.erase(0, read_);
    read_ = 0;
  }
  return taken;
}

}  // namespace gnnmg::comm
