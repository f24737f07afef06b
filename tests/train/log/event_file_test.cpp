// Event files, read back by a reader written from the formats' descriptions: TFRecord framing and
// protocol-buffer wire types.
#include "train/log/event_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <map>

#include "base/error.h"
#include "base/file.h"
#include "io/crc32c.h"
#include "support/file_faults.h"
#include "support/temp_dir.h"

namespace gnnmg::train {
namespace {

std::span<const uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

uint64_t little_endian(std::span<const uint8_t> bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | bytes[i];
  return value;
}

// Fields of a message: number to raw value (varints and fixed widths) or bytes.
struct Field {
  uint64_t number = 0;
  std::vector<uint8_t> bytes;
};
std::multimap<int, Field> parse_message(std::span<const uint8_t> in) {
  std::multimap<int, Field> fields;
  size_t at = 0;
  const auto varint = [&] {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const uint8_t byte = in[at++];
      value |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (!(byte & 0x80)) return value;
    }
  };
  while (at < in.size()) {
    const uint64_t tag = varint();
    Field field;
    switch (tag & 7) {
      case 0:
        field.number = varint();
        break;
      case 1:
        field.number = little_endian(in.subspan(at, 8));
        at += 8;
        break;
      case 2: {
        const uint64_t size = varint();
        field.bytes.assign(in.begin() + at, in.begin() + at + size);
        at += size;
        break;
      }
      case 5:
        field.number = little_endian(in.subspan(at, 4));
        at += 4;
        break;
      default:
        ADD_FAILURE() << "wire type " << (tag & 7);
        return fields;
    }
    fields.emplace(static_cast<int>(tag >> 3), field);
  }
  return fields;
}

uint32_t unmask(uint32_t masked) { return std::rotl(masked - 0xA282EAD8u, 15); }

std::vector<std::vector<uint8_t>> parse_records(const std::string& file) {
  std::vector<std::vector<uint8_t>> records;
  std::span<const uint8_t> rest = bytes_of(file);
  while (!rest.empty()) {
    const uint64_t size = little_endian(rest.first(8));
    EXPECT_EQ(unmask(little_endian(rest.subspan(8, 4))), io::crc32c(rest.first(8)));
    const auto data = rest.subspan(12, size);
    EXPECT_EQ(unmask(little_endian(rest.subspan(12 + size, 4))), io::crc32c(data));
    records.emplace_back(data.begin(), data.end());
    rest = rest.subspan(16 + size);
  }
  return records;
}

TEST(EventFile, FramesAsTensorFlowDoes) {
  // The first record of every file that TensorFlow 2 writes is 24 bytes long and begins so.
  const std::vector<uint8_t> frame = frame_record(std::vector<uint8_t>(24, 0));
  EXPECT_EQ(std::vector<uint8_t>(frame.begin(), frame.begin() + 12),
            (std::vector<uint8_t>{0x18, 0, 0, 0, 0, 0, 0, 0, 0xA3, 0x7F, 0x4B, 0x22}));
}

TEST(EventFile, ReadsBack) {
  const test::TempDir folder;
  std::string path;
  {
    EventFile events(folder.file("runs"));
    path = events.path();
    events.add(0, std::vector<Scalar>{{"train/loss", 1.5}, {"validation/accuracy", 0.25}});
    events.add(300, std::vector<Scalar>{{"train/loss", -2}});
  }
  EXPECT_THAT(path, testing::HasSubstr("/runs/events.out.tfevents."));
  const auto records = parse_records(test::slurp(path));
  ASSERT_EQ(records.size(), 3u);

  const auto first = parse_message(records[0]);
  const auto version = first.find(3)->second.bytes;
  EXPECT_EQ(std::string(version.begin(), version.end()), "brain.Event:2");
  EXPECT_GT(std::bit_cast<double>(first.find(1)->second.number), 1.7e9);

  const auto scalars = [](std::span<const uint8_t> record) {
    std::map<std::string, float> out;
    const auto event = parse_message(record);
    const auto summary = parse_message(event.find(5)->second.bytes);
    for (auto [it, end] = summary.equal_range(1); it != end; ++it) {
      const auto value = parse_message(it->second.bytes);
      const auto tag = value.find(1)->second.bytes;
      out[{tag.begin(), tag.end()}] =
          std::bit_cast<float>(static_cast<uint32_t>(value.find(2)->second.number));
    }
    return out;
  };
  EXPECT_EQ(parse_message(records[1]).find(2)->second.number, 0u);
  EXPECT_THAT(scalars(records[1]),
              testing::UnorderedElementsAre(testing::Pair("train/loss", 1.5f),
                                            testing::Pair("validation/accuracy", 0.25f)));
  EXPECT_EQ(parse_message(records[2]).find(2)->second.number, 300u);
  EXPECT_THAT(scalars(records[2]), testing::ElementsAre(testing::Pair("train/loss", -2.0f)));
}

// SessionLog's START makes TensorBoard discard all it has from that step on.
TEST(EventFile, OneThatGoesOnSaysFromWhere) {
  const test::TempDir folder;
  EventFile events(folder.file("runs"));
  events.add(7, std::vector<Scalar>{{"train/loss", 1}});
  events.add(8, std::vector<Scalar>{{"train/loss", 2}});
  const auto records = parse_records(test::slurp(events.path()));
  ASSERT_EQ(records.size(), 4u);
  const auto start = parse_message(records[1]);
  EXPECT_EQ(start.find(2)->second.number, 7u);
  EXPECT_EQ(start.count(5), 0u);
  EXPECT_EQ(parse_message(start.find(7)->second.bytes).find(1)->second.number, 1u);
  EXPECT_EQ(parse_message(records[2]).find(2)->second.number, 7u);
  EXPECT_EQ(parse_message(records[3]).find(2)->second.number, 8u);
}

TEST(EventFile, TwoInOneSecondAreTwoFiles) {
  const test::TempDir folder;
  const EventFile a(folder.file("runs")), b(folder.file("runs"));
  EXPECT_NE(a.path(), b.path());
}

TEST(EventFile, FailuresNameThePath) {
  const test::TempDir folder;
  folder.write("file", "x");
  try {
    EventFile events(folder.file("file/runs"));
    ADD_FAILURE() << "made a folder below a file";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.status(), base::Status::kIo);
    EXPECT_THAT(error.what(), testing::HasSubstr("file/runs"));
    EXPECT_NE(error.system_error(), 0);
  }
  EventFile events(folder.file("runs"));
  const test::FileFaults faults({.call = test::FileCall::kWrite, .fail_at = 1, .error = ENOSPC});
  try {
    events.add(1, std::vector<Scalar>{{"a", 1}});
    ADD_FAILURE() << "wrote to a full disk";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.status(), base::Status::kIo);
    EXPECT_EQ(error.system_error(), ENOSPC);
    EXPECT_THAT(error.what(), testing::HasSubstr(events.path()));
  }
}

TEST(EventFile, ShortAndInterruptedWritesAreResumed) {
  const test::TempDir folder;
  std::string path;
  {
    const test::FileFaults faults({.chunk = 3, .interrupts = true});
    EventFile events(folder.file("runs"));
    path = events.path();
    events.add(7, std::vector<Scalar>{{"a", 1}});
  }
  EXPECT_EQ(parse_records(test::slurp(path)).size(), 3u);  // version, start, the scalars
}

}  // namespace
}  // namespace gnnmg::train
