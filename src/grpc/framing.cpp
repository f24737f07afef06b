#include "grpc/framing.h"

#include <grpcpp/support/slice.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace gnnmg::grpc_engine {
namespace {

constexpr uint8_t kFieldOne = 0x0A;  // number 1, with a length

grpc::Slice head_of(size_t size) {
  uint8_t head[1 + 10];
  size_t used = 0;
  head[used++] = kFieldOne;
  for (; size >= 0x80; size >>= 7) head[used++] = static_cast<uint8_t>(size | 0x80);
  head[used++] = static_cast<uint8_t>(size);
  return grpc::Slice(head, used);
}

// The pieces of a gRPC message, one after the other.
class Reader {
 public:
  explicit Reader(std::vector<grpc::Slice> pieces) : pieces_(std::move(pieces)) {}
  bool byte(uint8_t* out) { return copy(out, 1); }
  bool copy(uint8_t* out, size_t size) {
    while (size > 0) {
      if (piece_ == pieces_.size()) return false;
      const grpc::Slice& piece = pieces_[piece_];
      const size_t now = std::min(size, piece.size() - at_);
      std::memcpy(out, piece.begin() + at_, now);
      out += now;
      size -= now;
      at_ += now;
      if (at_ == piece.size()) ++piece_, at_ = 0;
    }
    return true;
  }

 private:
  std::vector<grpc::Slice> pieces_;
  size_t piece_ = 0, at_ = 0;
};

}  // namespace

grpc::ByteBuffer framed(std::string_view bytes) {
  const grpc::Slice slices[] = {head_of(bytes.size()), grpc::Slice(bytes.data(), bytes.size())};
  return grpc::ByteBuffer(slices, 2);
}

grpc::ByteBuffer OutgoingMessage::framed(std::unique_ptr<OutgoingMessage> message) {
  dist::Message& bytes = **message;
  const auto size = static_cast<size_t>(bytes.size());
  const auto give_back = [](void* sent) { delete static_cast<OutgoingMessage*>(sent); };
  const grpc::Slice slices[] = {head_of(size),
                                grpc::Slice(bytes.data(), size, give_back, message.get())};
  static_cast<void>(message.release());
  return grpc::ByteBuffer(slices, 2);
}

bool unframe(const grpc::ByteBuffer& buffer, dist::Message& out) {
  std::vector<grpc::Slice> pieces;
  if (!buffer.Valid() || !buffer.Dump(&pieces).ok()) return false;
  Reader reader(std::move(pieces));
  uint8_t byte = 0;
  if (!reader.byte(&byte) || byte != kFieldOne) return false;
  size_t size = 0, head = 1;
  for (int shift = 0;; shift += 7) {
    if (shift > 28 || !reader.byte(&byte)) return false;
    ++head;
    size |= static_cast<size_t>(byte & 0x7F) << shift;
    if (!(byte & 0x80)) break;
  }
  if (head + size != buffer.Length()) return false;
  out.resize_discard(static_cast<int64_t>(size));
  return reader.copy(out.data(), size);
}

}  // namespace gnnmg::grpc_engine
