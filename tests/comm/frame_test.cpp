// Frames: what is written is read back, and any other bytes are refused without harm.
#include <gtest/gtest.h>

#include <random>

#include "comm/join/frame.h"

namespace gnnmg::comm {
namespace {

using base::Error;
using base::Status;

std::string sample() {
  FrameWriter writer(FrameKind::kPut);
  writer.u8(200);
  writer.u32(4'000'000'000u);
  writer.u64(~uint64_t{0} - 1);
  writer.i64(-5);
  writer.text(std::string_view("a\0b", 3));
  writer.list({1, -2, 3});
  return writer.finish();
}

TEST(Frame, RoundTripInPieces) {
  const std::string bytes = sample() + sample();
  for (const size_t piece : {size_t{1}, size_t{7}, bytes.size()}) {
    FrameBuffer buffer(1 << 10);
    int frames = 0;
    for (size_t i = 0; i < bytes.size(); i += piece) {
      buffer.append(bytes.substr(i, piece));
      while (const auto frame = buffer.next()) {
        ++frames;
        EXPECT_EQ(frame->kind, FrameKind::kPut);
        FrameReader reader(frame->body);
        EXPECT_EQ(reader.u8(), 200);
        EXPECT_EQ(reader.u32(), 4'000'000'000u);
        EXPECT_EQ(reader.u64(), ~uint64_t{0} - 1);
        EXPECT_EQ(reader.i64(), -5);
        EXPECT_EQ(reader.text(), std::string("a\0b", 3));
        EXPECT_EQ(reader.list(), (std::vector<int64_t>{1, -2, 3}));
        reader.finish();
      }
    }
    EXPECT_EQ(frames, 2);
  }
}

TEST(Frame, LimitsAndKinds) {
  FrameBuffer buffer(100);
  buffer.append(std::string("\x65\0\0\0\x01", 5));
  EXPECT_THROW(buffer.next(), Error);
  for (const char kind : {'\0', '\x12', '\xff'}) {
    FrameBuffer other(100);
    other.append(std::string("\0\0\0\0", 4) + kind);
    EXPECT_THROW(other.next(), Error);
  }
  FrameWriter large;
  large.text(std::string(200, 'x'));
  EXPECT_THROW(large.finish(100), Error);
}

TEST(Frame, EveryTruncationIsRefused) {
  const std::string body = sample().substr(5);
  for (size_t size = 0; size < body.size(); ++size) {
    const std::string part = body.substr(0, size);
    FrameReader reader(part);
    try {
      reader.u8();
      reader.u32();
      reader.u64();
      reader.i64();
      reader.text();
      reader.list();
      ADD_FAILURE() << size;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kProtocol);
    }
  }
  FrameReader more(body);
  more.u8();
  EXPECT_THROW(more.finish(), Error);
}

// A count is no more than its bytes can hold, so it allocates nothing that was not sent.
TEST(Frame, CountsAreBounded) {
  FrameWriter writer;
  writer.u32(1'000'000'000);
  writer.u64(0);
  const std::string body = writer.fields();
  EXPECT_THROW(FrameReader(body).list(), Error);
  EXPECT_THROW(FrameReader(body).count(1), Error);
  EXPECT_THROW(FrameReader(body).text(), Error);
}

TEST(Frame, AnyBytes) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes(random() % 64, '\0');
    for (char& c : bytes) c = static_cast<char>(random() % (round % 2 ? 256 : 16));
    FrameBuffer buffer(1 << 10);
    buffer.append(bytes);
    try {
      while (const auto frame = buffer.next()) {
        FrameReader reader(frame->body);
        reader.text();
        reader.list();
        reader.finish();
      }
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kProtocol);
    }
  }
}

}  // namespace
}  // namespace gnnmg::comm
