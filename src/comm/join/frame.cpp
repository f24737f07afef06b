#include "comm/join/frame.h"

#include <algorithm>

namespace gnnmg::comm {

using base::Status;

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
  const size_t size = bytes_.size() - kFrameHeader;
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

std::string FrameReader::text(size_t most) { return std::string(take(u32()).substr(0, most)); }

std::string FrameReader::word(size_t most) {
  const uint32_t size = u32();
  if (size > most)
    base::fail(Status::kProtocol, "a text of ", size, " bytes, expected at most ", most);
  return std::string(take(size));
}

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

std::string_view FrameBuffer::peek(size_t offset, size_t size) const {
  return std::string_view(bytes_).substr(read_ + offset, size);
}

bool FrameBuffer::next_has_seal() const {
  return (static_cast<uint8_t>(peek(0, kFrameHeader).back()) & Seal::kSealed) != 0;
}

void FrameBuffer::check_header() const {
  const std::string_view header = peek(0, kFrameHeader);
  if (!next_has_seal())
    base::fail(Status::kAuth, "a message without a seal: it was changed on its way");
  if (!seal_->fits(header, peek(kFrameHeader, Seal::kTag)))
    base::fail(Status::kAuth, "a message with a wrong seal: it was changed on its way");
}

std::optional<Frame> FrameBuffer::next() {
  const size_t tag = seal_ ? Seal::kTag : 0;
  if (bytes_.size() - read_ < kFrameHeader + tag) return std::nullopt;
  if (seal_) check_header();
  uint32_t size = 0;
  for (int i = 0; i < 4; ++i)
    size |= static_cast<uint32_t>(static_cast<uint8_t>(bytes_[read_ + i])) << (8 * i);
  auto kind = static_cast<uint8_t>(bytes_[read_ + 4]);
  if (seal_) kind &= static_cast<uint8_t>(~Seal::kSealed);
  if (kind < static_cast<uint8_t>(FrameKind::kIdentity) ||
      kind > static_cast<uint8_t>(FrameKind::kLast))
    base::fail(Status::kProtocol, "a frame of kind ", static_cast<int>(kind),
               ", which this version does not know");
  const size_t limit = std::min(limit_, frame_limit(static_cast<FrameKind>(kind)));
  if (size > limit)
    base::fail(Status::kProtocol, "a frame of ", size, " bytes, expected at most ", limit);
  const size_t begin = kFrameHeader + tag;
  if (bytes_.size() - read_ < begin + size + tag) return std::nullopt;
  if (seal_ && !seal_->accept(peek(0, kFrameHeader), peek(begin, size), peek(begin + size, tag)))
    base::fail(Status::kAuth, "a message with a wrong seal: it was changed on its way");
  auto body = take(begin + size + tag);
  body->resize(begin + size);
  body->erase(0, begin);
  return Frame{static_cast<FrameKind>(kind), std::move(*body)};
}

std::optional<std::string> FrameBuffer::take(size_t size) {
  if (bytes_.size() - read_ < size) return std::nullopt;
  std::string taken = bytes_.substr(read_, size);
  read_ += size;
  // Drops the read part when it is the larger one, so that appending stays linear.
  if (read_ * 2 >= bytes_.size()) {
    bytes_.erase(0, read_);
    read_ = 0;
  }
  return taken;
}

}  // namespace gnnmg::comm
