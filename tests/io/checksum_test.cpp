// Checksums compared with other tools.
#include "io/checksum.h"

#include <gtest/gtest.h>

#include <vector>

#include "io/crc32c.h"
#include "support/file_faults.h"
#include "support/temp_dir.h"

namespace gnnmg::io {
namespace {

std::span<const uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// The examples of FIPS 180-2, appendix B.
TEST(Checksum, KnownSums) {
  EXPECT_EQ(Sha256().finish(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  Sha256 abc;
  abc.add(bytes_of("a"));
  abc.add({});
  abc.add(bytes_of("bc"));
  EXPECT_EQ(abc.finish(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  Sha256 million;
  const std::string thousand(1000, 'a');
  for (int i = 0; i < 1000; ++i) million.add(bytes_of(thousand));
  EXPECT_EQ(million.finish(), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// The check value of CRC-32C and two vectors of RFC 3720, B.4.
TEST(Crc32c, KnownSums) {
  for (const auto sum : {crc32c, crc32c_by_table}) {
    EXPECT_EQ(sum({}, 0), 0u);
    EXPECT_EQ(sum(bytes_of("123456789"), 0), 0xE3069283u);
    EXPECT_EQ(sum(std::vector<uint8_t>(32, 0), 0), 0x8A9136AAu);
    EXPECT_EQ(sum(std::vector<uint8_t>(32, 0xFF), 0), 0x62A8AB43u);
  }
}

TEST(Crc32c, BothWaysAndInPieces) {
  std::vector<uint8_t> bytes(100);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 37 + 11);
  const std::span<const uint8_t> all(bytes);
  for (size_t begin = 0; begin < 9; ++begin) {
    for (size_t size = 0; begin + size <= all.size(); ++size) {
      const auto part = all.subspan(begin, size);
      const uint32_t sum = crc32c(part);
      EXPECT_EQ(sum, crc32c_by_table(part));
      EXPECT_EQ(sum, crc32c(part.subspan(size / 3), crc32c(part.first(size / 3))));
    }
  }
}

// Long ones are summed up in three lanes of 1 024 bytes.
TEST(Crc32c, LongOnes) {
  std::vector<uint8_t> bytes(20'000);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * i >> 3);
  const std::span<const uint8_t> all(bytes);
  for (const size_t size : {3071, 3072, 3073, 3080, 6143, 6144, 6151, 19'990}) {
    for (const size_t begin : {0, 1, 8}) {
      const auto part = all.subspan(begin, size);
      EXPECT_EQ(crc32c(part), crc32c_by_table(part)) << size;
      EXPECT_EQ(crc32c(part), crc32c(part.subspan(4000 % size), crc32c(part.first(4000 % size))));
    }
  }
}

TEST(Checksum, OfAFileOfAnySize) {
  const test::TempDir folder;
  for (const int64_t size : {0, 1, 1 << 20, (1 << 20) + 1, 3'000'000}) {
    const std::string content(size, 'x');
    const std::string path = folder.write("file", content);
    Sha256 sum;
    sum.add(bytes_of(content));
    const FileSum found = sum_of_file(path);
    EXPECT_EQ(found.bytes, size);
    EXPECT_EQ(found.sha256, sum.finish());
  }
}

TEST(Checksum, AFaultOfTheFileIsSaid) {
  const test::TempDir folder;
  const std::string path = folder.write("file", std::string(5'000'000, 'x'));
  const std::string expected = sum_of_file(path).sha256;
  std::string found;
  const int64_t faults = test::fail_each_file_call(
      {.error = EIO}, [&] { found = sum_of_file(path).sha256; },
      [&](int64_t n, const base::Error* error) {
        if (error)
          EXPECT_EQ(error->status(), base::Status::kIo);
        else
          EXPECT_EQ(found, expected) << "call " << n;
        found.clear();
      });
  EXPECT_GE(faults, 6);  // open, stat and each read
  EXPECT_THROW(sum_of_file(folder.file("absent")), base::Error);
}

}  // namespace
}  // namespace gnnmg::io
