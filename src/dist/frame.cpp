#include "dist/frame.h"

#include <algorithm>

#include "io/crc32c.h"

namespace gnnmg::dist {
namespace {

using base::fail;
using base::Status;

constexpr size_t kMaxRefusalText = 1000;
// The same places in every version.
constexpr size_t kSizeAt = 0, kMagicAt = 4, kVersionAt = 8, kVersionEnd = 10;

uint32_t checksum_of(std::span<const uint8_t> message) {
  constexpr size_t kAt = offsetof(Head, checksum);
  return io::crc32c(message.subspan(kAt + 4), io::crc32c(message.first(kAt)));
}

[[noreturn]] void throw_refusal(std::span<const uint8_t> message) {
  Body body(message);
  const auto status = body.number<int32_t>();
  if (status > static_cast<int32_t>(Status::kInvalidArgument) ||
      status < static_cast<int32_t>(Status::kInternal))
    fail(Status::kProtocol, "a refusal with status ", status);
  const auto text = body.rest();
  const auto shown = io::as_text(text.first(std::min(text.size(), kMaxRefusalText)));
  throw base::Error(static_cast<Status>(status), io::one_line(shown));
}

}  // namespace

Head read_head(std::span<const uint8_t> message) {
  if (message.size() < kVersionEnd || io::load_little<uint32_t>(message, kMagicAt) != Head().magic)
    fail(Status::kProtocol, message.size(), " bytes that are no message of this library");
  const auto version = io::load_little<uint16_t>(message, kVersionAt);
  const auto size = io::load_little<uint16_t>(message, kSizeAt);
  if (version != kWireVersion || size != kHeadBytes)
    fail(Status::kUnsupported, "a message of version ", version, " with a head of ", size,
         " bytes; this library has version ", kWireVersion, " with ", kHeadBytes,
         "; use the same version of the library on both sides");
  if (message.size() < sizeof(Head) || message.size() > static_cast<size_t>(kMaxMessageBytes))
    fail(Status::kProtocol, "a message of ", message.size(), " bytes, expected ", kHeadBytes,
         " to ", kMaxMessageBytes);
  Head head;
  std::memcpy(&head, message.data(), sizeof head);
  if (head.checksum != checksum_of(message))
    fail(Status::kProtocol, "a message was damaged on its way: its checksum differs");
  return head;
}

Head read_answer_head(const Head& asked, std::span<const uint8_t> message) {
  const Head head = read_head(message);
  if (!(head.flags & kAnswer) || head.op != asked.op)
    fail(Status::kProtocol, "a message of kind ", int{head.op}, " with flags ", int{head.flags},
         ", expected an answer of kind ", int{asked.op});
  if (head.request != asked.request)
    fail(Status::kProtocol, "an answer to request ", head.request, ", expected ", asked.request);
  if (head.flags & kRefused) throw_refusal(message);
  if (head.stamp != asked.stamp)
    fail(Status::kMismatch, "an answer from other data: their fingerprint does not begin as ours");
  if (head.count != asked.count)
    fail(Status::kProtocol, "an answer about ", head.count, " rows, expected ", asked.count);
  if ((head.flags & kQuestionFlags) != asked.flags)
    fail(Status::kProtocol, "an answer with flags ", int{head.flags}, " to a question with ",
         int{asked.flags});
  return head;
}

uint8_t* begin_message(const Head& head, int64_t body, Message& out) {
  if (body > kMaxMessageBytes - kHeadBytes)
    fail(Status::kRange, "a message about ", head.count, " rows would have ", body,
         " bytes, expected at most ", kMaxMessageBytes - kHeadBytes,
         "; take smaller mini-batches or fan-outs");
  out.resize_discard(kHeadBytes + body);
  std::memcpy(out.data(), &head, sizeof head);
  return out.data() + kHeadBytes;
}

void seal(Message& out) {
  const uint32_t sum = checksum_of(out.span());
  std::memcpy(out.data() + offsetof(Head, checksum), &sum, sizeof sum);
}

void write_refusal(const Head& asked, Status status, std::string_view text, Message& out) {
  Head head = asked;
  head.flags |= kAnswer | kRefused;
  head.count = 0;
  const auto shown = io::as_bytes(base::beginning(text, kMaxRefusalText));
  uint8_t* at = begin_message(head, 4 + static_cast<int64_t>(shown.size()), out);
  const auto number = static_cast<int32_t>(status);
  std::memcpy(at, &number, sizeof number);
  put_array(shown, at + sizeof number);
  seal(out);
}

}  // namespace gnnmg::dist
