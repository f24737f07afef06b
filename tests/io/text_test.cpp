#include "io/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/damage.h"
#include "io/files.h"
#include "support/data.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

using base::Status;
using io::as_bytes;
using io::ByteSource;
using io::LineReader;
using testing::ElementsAre;
using Lines = std::vector<std::string>;

Lines lines_of(std::string_view bytes, int64_t max_line = 1000) {
  LineReader reader(ByteSource::memory(as_bytes(bytes), "a.txt"), max_line);
  Lines lines;
  for (std::string_view line; reader.next(line);) lines.emplace_back(line);
  EXPECT_EQ(reader.line_number(), static_cast<int64_t>(lines.size()));
  return lines;
}

void read_all(Bytes bytes) {
  LineReader reader(ByteSource::memory(bytes, "a.txt"));
  for (std::string_view line; reader.next(line);) {
  }
}

// Returns one byte per call, as a pipe might.
class SlowSource : public ByteSource {
 public:
  explicit SlowSource(std::string bytes) : bytes_(std::move(bytes)) {}
  int64_t read(std::span<uint8_t> out) override {
    if (at_ == bytes_.size()) return 0;
    out[0] = static_cast<uint8_t>(bytes_[at_++]);
    return 1;
  }
  const std::string& name() const override { return name_; }

 private:
  std::string bytes_, name_ = "slow";
  size_t at_ = 0;
};

TEST(Text, HandsOutLines) {
  EXPECT_EQ(lines_of(""), Lines{});
  EXPECT_EQ(lines_of("a"), Lines{"a"});
  EXPECT_EQ(lines_of("a\nb\n"), (Lines{"a", "b"}));
  EXPECT_EQ(lines_of("a\r\nb\rc\r\n\r\n"), (Lines{"a", "b\rc", ""}));
  EXPECT_EQ(lines_of("\n\nx"), (Lines{"", "", "x"}));
  EXPECT_EQ(lines_of("a\r"), Lines{"a"});
  // The end of the first line applies to all lines.
  EXPECT_EQ(lines_of("a\rb\r\rc"), (Lines{"a", "b", "", "c"}));
  EXPECT_EQ(lines_of("\ra\r"), (Lines{"", "a"}));
  EXPECT_EQ(lines_of("\xef\xbb\xbf"
                     "a\rb\r"),
            (Lines{"a", "b"}));
  // CR CR LF: the output of a program that takes CR LF for LF.
  EXPECT_EQ(lines_of("a\r\r\nb\r\r\n\r\r\nc"), (Lines{"a", "b", "", "c"}));
  EXPECT_EQ(lines_of("\r\r\na\r\r\n"), (Lines{"", "a"}));
  EXPECT_EQ(lines_of("\r\ra"), (Lines{"", "", "a"}));
  // DOS's mark of the end.
  EXPECT_EQ(lines_of("a\r\n\x1a"), Lines{"a"});
  EXPECT_EQ(lines_of("a\n\x1a\n"), (Lines{"a", "\x1a"})) << "not at the end";
  EXPECT_EQ(lines_of("\x1a"), Lines{});
  LineReader slow(std::make_unique<SlowSource>("ab\rc\r"));
  Lines lines;
  for (std::string_view line; slow.next(line);) lines.emplace_back(line);
  EXPECT_EQ(lines, (Lines{"ab", "c"}));
  LineReader doubled(std::make_unique<SlowSource>("ab\r\r\nc\r\r\n\x1a"));
  lines.clear();
  for (std::string_view line; doubled.next(line);) lines.emplace_back(line);
  EXPECT_EQ(lines, (Lines{"ab", "c"}));
}

TEST(Text, ShowsTheLinesAhead) {
  for (const std::string text : {"a\nbb\n\nccc", "a\nbb\n\nccc\n\x1a"}) {
    LineReader reader(std::make_unique<SlowSource>(text));
    std::string_view line;
    EXPECT_EQ(reader.ahead(1), "");  // the line is not whole within one byte
    EXPECT_EQ(reader.ahead(5), "a\nbb\n");
    reader.skip(2, 1);
    EXPECT_EQ(reader.line_number(), 1);
    ASSERT_TRUE(reader.next(line));
    EXPECT_EQ(line, "bb");
    EXPECT_EQ(reader.line_number(), 2);
    EXPECT_EQ(reader.ahead(100), text.ends_with('c') ? "\n" : "\nccc\n");
    EXPECT_EQ(reader.buffered(1), "\n");
    ASSERT_TRUE(reader.next(line) && reader.next(line));
    EXPECT_EQ(line, "ccc");
    EXPECT_EQ(reader.ahead(100), "");
    EXPECT_FALSE(reader.next(line));
  }
  LineReader marked(std::make_unique<SlowSource>("a\n\x1a\n"));
  std::string_view line;
  EXPECT_EQ(marked.ahead(100), "a\n\x1a\n");
  ASSERT_TRUE(marked.next(line) && marked.next(line));
  EXPECT_EQ(line, "\x1a") << "not at the end";
}

TEST(Text, DropsTheUtf8Mark) {
  EXPECT_EQ(lines_of("\xef\xbb\xbf"
                     "a\nb"),
            (Lines{"a", "b"}));
  EXPECT_EQ(lines_of("\xef\xbb\xbf"), Lines{});
  EXPECT_EQ(lines_of("\xef\xbb"), Lines{"\xef\xbb"});
  EXPECT_EQ(lines_of("a\n\xef\xbb\xbf"
                     "b"),
            (Lines{"a",
                   "\xef\xbb\xbf"
                   "b"}));
}

TEST(Text, TakesItsInputInAnyPieces) {
  LineReader reader(std::make_unique<SlowSource>("\xef\xbb\xbfone\r\ntwo\n\nthree"));
  Lines lines;
  for (std::string_view line; reader.next(line);) lines.emplace_back(line);
  EXPECT_EQ(lines, (Lines{"one", "two", "", "three"}));
  EXPECT_EQ(reader.where(), "slow, line 4");
  std::string_view line;
  EXPECT_FALSE(reader.next(line));
}

TEST(Text, TakesLongLines) {
  const std::string text = std::string(900'000, 'a') + "\n" + std::string(900'000, 'b');
  EXPECT_EQ(lines_of(text, 900'000), (Lines{std::string(900'000, 'a'), std::string(900'000, 'b')}));
  expect_error(Status::kFormat, "a.txt, line 2: has more than 5 bytes",
               [] { lines_of("12345\n123456\n", 5); });
  expect_error(Status::kFormat, "line 1: has more than 5 bytes", [] { lines_of("123456", 5); });
  expect_error(Status::kFormat, "line 1: has more than 300000 bytes",
               [] { lines_of(std::string(600'000, 'x'), 300'000); });
}

TEST(Text, RefusesNulBytes) {
  expect_error(Status::kFormat, "a.txt, line 2: has a NUL byte at column 3",
               [] { lines_of(std::string_view("ok\nab\0c\n", 8)); });
  expect_error(Status::kFormat, "line 1: has a NUL byte at column 2, so this is no text file",
               [] { lines_of(std::string_view("a\0\nb\n", 5)); });
}

// Files of other kinds are named also for readers that do not look at the first bytes.
TEST(Text, NamesWhatIsNoText) {
  using namespace std::string_literals;
  for (const std::string& text :
       {"\xff\xfe"s + "1\0\n\0"s, "\xfe\xff"s + "\0001\0\n"s, "1\0\n\0"s, "\0001\0\n"s})
    expect_error(Status::kFormat, "for the file is text in UTF-16, which is not read; write it as",
                 [&] { lines_of(text); });
  expect_error(Status::kFormat, "is compressed by xz, which is not read; decompress it",
               [] { lines_of("\xfd"s + "7zXZ\0\0\x04\n"s); });
}

TEST(Text, Inflates) {
  EXPECT_EQ(lines_of(gzipped("a\nb\n")), (Lines{"a", "b"}));
  EXPECT_EQ(lines_of(gzipped("")), Lines{});
  // Members in a row are one text, wherever the lines are cut.
  EXPECT_EQ(lines_of(gzipped("a\nb") + gzipped("") + gzipped("c\nd\n")), (Lines{"a", "bc", "d"}));
  const std::string large(3'000'000, '\n');
  EXPECT_EQ(lines_of(gzipped(large)).size(), 3'000'000u);
}

TEST(Text, RefusesBrokenGzip) {
  const std::string good = gzipped("some text that is long enough to be deflated, long enough\n");
  expect_error(Status::kFormat, "cut", [&] { lines_of(good.substr(0, good.size() - 1)); });
  expect_error(Status::kFormat, "a.txt: the gzip data is broken",
               [&] { lines_of(good + "x more"); });
  expect_error(Status::kFormat, "cut", [&] { lines_of(good + "\x1f"); });
  std::string wrong_sum = good;
  wrong_sum[good.size() - 8] ^= 1;
  expect_error(Status::kChecksum, "data check", [&] { lines_of(wrong_sum); });
  std::string wrong_length = good;
  wrong_length[good.size() - 4] ^= 1;
  expect_error(Status::kChecksum, "length check", [&] { lines_of(wrong_length); });
  expect_error(Status::kFormat, "broken",
               [] { lines_of("\x1f\x8b\x08 and no more of it, really"); });
}

TEST(Text, RefusesEveryBeginningOfGzip) {
  const std::string bytes = gzipped("1,2\n3,4\n") + gzipped("5,6\n");
  const size_t first = gzipped("1,2\n3,4\n").size();
  for (size_t size = 2; size < bytes.size(); ++size) {
    if (size == first) continue;  // a whole member
    EXPECT_EQ(error_of([&] { lines_of(bytes.substr(0, size)); }).status(), Status::kFormat);
  }
}

TEST(Text, SurvivesEveryFlippedByte) {
  const std::string bytes = gzipped("1,2\n3,4\n5,6\n");
  EXPECT_GT(flip_each_byte(bytes, 0, bytes.size(), read_all), 60);
  // Data and checksums, without the bits that pad the last byte of the data; the first ten bytes
  // have a date and a system.
  EXPECT_GE(flip_each_byte(bytes, 10, bytes.size(), read_all),
            3 * static_cast<int64_t>(bytes.size() - 10) - 1);
}

TEST(Text, ReadsFiles) {
  const TempDir folder;
  const std::string path = folder.write("a.csv.gz", gzipped("1\n2\n"));
  LineReader reader(ByteSource::open(path));
  std::string_view line;
  EXPECT_TRUE(reader.next(line));
  EXPECT_EQ(line, "1");
  EXPECT_EQ(reader.where(), path + ", line 1");
  LineReader plain(ByteSource::open(folder.write("a.csv", "x")));
  EXPECT_TRUE(plain.next(line));
  EXPECT_FALSE(plain.next(line));
  LineReader empty(ByteSource::open(folder.write("empty", "")));
  EXPECT_FALSE(empty.next(line));
  expect_error(Status::kNotFound, "none", [&] { ByteSource::open(folder.file("none")); });
  expect_error(Status::kIo, "a folder", [&] { ByteSource::open(folder.path()); });
}

TEST(Text, ParsesIntegers) {
  EXPECT_EQ(io::parse_int("0"), 0);
  EXPECT_EQ(io::parse_int(" -17\t"), -17);
  EXPECT_EQ(io::parse_int("+17"), 17);
  EXPECT_EQ(io::parse_int("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(io::parse_int("-9223372036854775808"), INT64_MIN);
  for (const char* bad : {"", " ", "+", "++1", "+-1", "+ 1", "1.0", "1e3", "0x10", "1 2", "--1",
                          "-", "a", "1a", "9223372036854775808",
                          "\xe2\x88\x92"
                          "1"})
    EXPECT_EQ(io::parse_int(bad), std::nullopt) << bad;
}

TEST(Text, ParsesIntegersInAnyNotation) {
  for (const char* two : {"2", "+2", " 2.0 ", "2.000000000000000000e+00", "0.2e1"})
    EXPECT_EQ(io::parse_whole(two), 2) << two;
  EXPECT_EQ(io::parse_whole("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(io::parse_whole("-9007199254740991.0"), -9007199254740991);
  for (const char* bad : {"2.5", "9007199254740992.0", "1e300", "inf", "nan", "", "x", "2.0.0"})
    EXPECT_EQ(io::parse_whole(bad), std::nullopt) << bad;
}

TEST(Text, ParsesFloatingPoint) {
  EXPECT_EQ(io::parse_double("0.1"), 0.1);
  EXPECT_EQ(io::parse_double(" -2.5e-3 "), -2.5e-3);
  EXPECT_EQ(io::parse_double("7"), 7.0);
  EXPECT_EQ(io::parse_double(" +2.5e+3"), 2500.0);
  EXPECT_EQ(io::parse_double("+inf"), INFINITY);
  EXPECT_EQ(io::parse_double("4.9e-324"), 4.9e-324);
  for (const char* tiny :
       {"1e-400", "0.0001e-400", "123456e-500", "1e-99999999999999999999", "0e999"})
    EXPECT_EQ(io::parse_double(tiny), 0.0) << tiny;
  EXPECT_TRUE(std::signbit(*io::parse_double("-1e-400")));
  EXPECT_EQ(io::parse_double("0." + std::string(400, '0') + "1"), 0.0);
  EXPECT_EQ(io::parse_double("0." + std::string(400, '0') + "1e401"), 1.0);
  EXPECT_EQ(io::parse_double("1" + std::string(400, '0')), std::nullopt);
  EXPECT_TRUE(std::isnan(*io::parse_double("nan")));
  EXPECT_EQ(io::parse_double("-inf"), -INFINITY);
  for (const char* bad : {"", "+", "++1", "+-1", "-+1", "1,5", "1.5x", "1e999", "-1e999", "0x1p3",
                          "e5", ".", "1e99999999999999999999"})
    EXPECT_EQ(io::parse_double(bad), std::nullopt) << bad;
}

TEST(Text, SplitsFields) {
  std::vector<std::string_view> fields;
  io::split_fields("1,2,,3", ',', fields);
  EXPECT_THAT(fields, ElementsAre("1", "2", "", "3"));
  io::split_fields("", ',', fields);
  EXPECT_THAT(fields, ElementsAre(""));
  io::split_fields("a\t", '\t', fields);
  EXPECT_THAT(fields, ElementsAre("a", ""));
  io::split_fields("  a \t b  ", ' ', fields);
  EXPECT_THAT(fields, ElementsAre("a", "b"));
  io::split_fields("", ' ', fields);
  EXPECT_TRUE(fields.empty());
}

TEST(Text, GuessesSeparators) {
  EXPECT_EQ(io::guess_separator("1, 2"), ',');
  EXPECT_EQ(io::guess_separator("1\t2,3"), '\t');
  EXPECT_EQ(io::guess_separator("1;2 3"), ';');
  EXPECT_EQ(io::guess_separator("1|2"), '|');
  EXPECT_EQ(io::guess_separator("1 2"), ' ');
  EXPECT_EQ(io::guess_separator(""), ' ');
}

TEST(Text, ReadsRealFiles) {
  GNNMG_NEEDS_DATA("gowalla/train.txt");
  LineReader reader(ByteSource::open(data_path("gowalla/train.txt")));
  std::vector<std::string_view> fields;
  int64_t interactions = 0;
  for (std::string_view line; reader.next(line);) {
    io::split_fields(line, ' ', fields);
    for (const std::string_view field : fields) ASSERT_TRUE(io::parse_int(field)) << reader.where();
    interactions += static_cast<int64_t>(fields.size()) - 1;
  }
  EXPECT_EQ(reader.line_number(), 29'858);
  EXPECT_EQ(interactions, 810'128);
}

}  // namespace
}  // namespace gnnmg::test
