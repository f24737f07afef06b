// Frames: reading returns the written fields, and any other bytes are refused without harm.
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

// A count never exceeds the remaining bytes, so it allocates no more than was sent.
TEST(Frame, CountsAreBounded) {
  FrameWriter writer;
  writer.u32(1'000'000'000);
  writer.u64(0);
  const std::string body = writer.fields();
  EXPECT_THROW(FrameReader(body).list(), Error);
  EXPECT_THROW(FrameReader(body).count(1), Error);
  EXPECT_THROW(FrameReader(body).text(), Error);
}

Proof key_of(uint8_t byte) {
  Proof key;
  key.fill(byte);
  return key;
}

std::string sealed(int frames, uint8_t key = 1) {
  Seal seal(key_of(key));
  std::string out;
  for (int i = 0; i < frames; ++i) seal.append(sample(), out);
  return out;
}

int read_sealed(const std::string& bytes, size_t piece) {
  FrameBuffer buffer(1 << 10);
  buffer.expect_seal(key_of(1));
  int frames = 0;
  for (size_t i = 0; i < bytes.size(); i += piece) {
    buffer.append(bytes.substr(i, piece));
    while (const auto frame = buffer.next()) {
      EXPECT_EQ(static_cast<int>(frame->kind), static_cast<int>(FrameKind::kPut));
      EXPECT_EQ(frame->body, sample().substr(5));
      ++frames;
    }
  }
  return frames;
}

TEST(Frame, SealedRoundTripInPieces) {
  for (const size_t piece : {1, 7, 1000}) EXPECT_EQ(read_sealed(sealed(3), piece), 3);
  std::string none;
  Seal(key_of(1)).append(FrameWriter(FrameKind::kEndKnown).finish(), none);
  EXPECT_EQ(none.size(), kFrameHeader + 2 * Seal::kTag);
}

// The header alone reveals a change in it: nothing waits for a body that never comes.
TEST(Frame, EveryBitOfASealedFrameCounts) {
  const std::string good = sealed(1);
  for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string bad = good;
    bad[bit / 8] ^= static_cast<char>(1 << (bit % 8));
    if (bit / 8 < kFrameHeader + Seal::kTag) bad.resize(kFrameHeader + Seal::kTag);
    try {
      read_sealed(bad, bad.size());
      ADD_FAILURE() << "bit " << bit;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kAuth) << "bit " << bit;
    }
  }
}

TEST(Frame, SealedFramesHaveOneOrderAndOneKey) {
  const std::string two = sealed(2), first = two.substr(0, two.size() / 2);
  const std::string second = two.substr(first.size());
  for (const std::string& bytes : {second, first + first, second + first, sealed(1, 2), sample()}) {
    EXPECT_THROW(read_sealed(bytes, bytes.size()), Error);
  }
  EXPECT_EQ(read_sealed(first + second, 10), 2);
}

TEST(Frame, AnyBytes) {
  std::mt19937 random(1);
  int refused = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string bytes(random() % 64, '\0');
    for (char& c : bytes) c = static_cast<char>(random() % (round % 2 ? 256 : 16));
    FrameBuffer buffer(1 << 10);
    if (round % 3 == 0) buffer.expect_seal(key_of(1));
    buffer.append(bytes);
    try {
      while (const auto frame = buffer.next()) {
        FrameReader reader(frame->body);
        reader.text();
        reader.list();
        reader.finish();
      }
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), round % 3 == 0 ? Status::kAuth : Status::kProtocol);
      ++refused;
    }
  }
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace gnnmg::comm
