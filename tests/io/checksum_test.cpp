// Sums that other tools agree with.
#include "io/checksum.h"

#include <gtest/gtest.h>

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
  const int64_t faults = test::fail_each_file_call(
      {.error = EIO}, [&] { sum_of_file(path); },
      [&](int64_t, const base::Error* error) {
        if (error) {
          EXPECT_EQ(error->status(), base::Status::kIo);
        }
      });
  EXPECT_GE(faults, 6);  // open, stat and each read
  EXPECT_THROW(sum_of_file(folder.file("absent")), base::Error);
}

}  // namespace
}  // namespace gnnmg::io
