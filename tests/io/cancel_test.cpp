// A cancel takes effect in the middle of every read: of one array, JSON, a pickle, an archive, and
// zeros after gzip data.
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/cancel.h"
#include "io/bytes.h"
#include "io/files.h"
#include "io/json.h"
#include "io/npy.h"
#include "io/pickle.h"
#include "io/text.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

using base::Status;

// Counts the library's reads, and cancels a token at the second one.
class CancelAtRead {
 public:
  CancelAtRead() : table_(base::system_files()) {
    token() = {};
    reads() = 0;
    table_.pread = [](int fd, void* buffer, size_t size, off_t offset) {
      if (++reads() == 2) token().cancel();
      return ::pread(fd, buffer, size, offset);
    };
    before_ = base::set_file_table(&table_);
  }
  ~CancelAtRead() { base::set_file_table(before_); }
  static base::CancelToken& token() {
    static base::CancelToken shared;
    return shared;
  }
  static int64_t& reads() {
    static int64_t count = 0;
    return count;
  }

 private:
  base::FileTable table_;
  const base::FileTable* before_ = nullptr;
};

template <typename F>
void expect_cancelled(const base::CancelToken& token, F&& body) {
  const base::CancelScope scope(token, "reading");
  try {
    body();
    ADD_FAILURE() << "read to its end";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.status(), Status::kCancelled) << error.what();
    EXPECT_STREQ(error.what(), "reading was canceled");
  }
}

// The header declares more data than the file has; the rest is a hole.
std::string with_hole(const TempDir& folder, const std::string& start, int64_t size) {
  std::string path = folder.write("hole", start);
  EXPECT_EQ(::truncate(path.c_str(), size), 0);
  return path;
}

TEST(Cancel, OneArray) {
  const TempDir folder;
  constexpr int64_t kBytes = int64_t{200} << 20;
  for (const char* type : {"|u1", "|b1", ">f4", "<u4"}) {
    const int64_t count = kBytes / (type[2] - '0');
    const std::string header = npy(type, base::text("(", count, ",)"), "");
    const std::string path =
        with_hole(folder, header, static_cast<int64_t>(header.size()) + kBytes);
    const CancelAtRead faults;
    expect_cancelled(faults.token(), [&] { io::read_npy(path); });
    EXPECT_LE(faults.reads(), 3) << type;
  }
}

TEST(Cancel, ZerosAfterGzip) {
  const TempDir folder;
  const std::string start = gzipped("0 1\n");
  const std::string path = with_hole(folder, start, int64_t{1} << 40);
  const CancelAtRead faults;
  expect_cancelled(faults.token(), [&] {
    io::LineReader lines(io::ByteSource::open(path));
    for (std::string_view line; lines.next(line);) {
    }
  });
  EXPECT_LE(faults.reads(), 3);
}

TEST(Cancel, TreesInMemory) {
  base::CancelToken token;
  token.cancel();
  std::string json = "[", pickle = "\x80\x02](";
  for (int i = 0; i < 100'000; ++i) json += i ? ",1" : "1", pickle += "K\1";
  json += "]", pickle += "e.";
  expect_cancelled(token, [&] { io::parse_json(io::as_bytes(json), "input"); });
  expect_cancelled(token, [&] { io::parse_pickle(io::as_bytes(pickle), {}, "input"); });
}

TEST(Cancel, ScopesNestAndEnd) {
  base::CancelToken token, other;
  token.cancel();
  base::check_cancelled();
  {
    const base::CancelScope outer(token, "the outer");
    {
      const base::CancelScope inner(other, "the inner");
      base::check_cancelled();
    }
    EXPECT_THROW(base::check_cancelled(), base::Error);
  }
  base::check_cancelled();
}

}  // namespace
}  // namespace gnnmg::test
