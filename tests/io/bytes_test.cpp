#include "io/bytes.h"

#include <gtest/gtest.h>

#include <vector>

namespace gnnmg::test {
namespace {

using io::is_utf8;

TEST(Bytes, LoadsAndAppendsLittleEndian) {
  std::string out;
  io::append_little<uint16_t>(out, 0x1234);
  io::append_little<int64_t>(out, -2);
  EXPECT_EQ(out, std::string("\x34\x12\xfe") + std::string(7, '\xff'));
  EXPECT_EQ(io::load_little<uint16_t>(io::as_bytes(out), 0), 0x1234);
  EXPECT_EQ(io::load_little<int64_t>(io::as_bytes(out), 2), -2);
}

TEST(Bytes, PrintsAnythingOnOneLine) {
  EXPECT_EQ(io::printable("plain text"), "plain text");
  EXPECT_EQ(io::printable("a\nb\x7f"), "a\\x0ab\\x7f");
  EXPECT_EQ(io::printable(std::string(80, 'x')), std::string(80, 'x'));
  EXPECT_EQ(io::printable(std::string(81, 'x')), std::string(80, 'x') + "...");
  EXPECT_EQ(io::printable("abc", 2), "ab...");
}

TEST(Bytes, PrintsCharactersThatShow) {
  for (const char* text : {"от", "é€", "山田", "😀", "e\xcc\x81", "\xef\xbf\xbd"})
    EXPECT_EQ(io::printable(text), text);
  // C1, a blank of fixed width, a soft hyphen, a join of width 0, line ends, directions, a byte
  // order mark, a filler, a private character, a tag.
  for (const char* text :
       {"\xc2\x85", "\xc2\xa0", "\xc2\xad", "\xe2\x80\x8b", "\xe2\x80\x8d", "\xe2\x80\xa8",
        "\xe2\x80\xa9", "\xe2\x80\x8f", "\xe2\x80\xae", "\xe2\x81\xa6", "\xd8\x9c", "\xef\xbb\xbf",
        "\xe3\x85\xa4", "\xee\x80\x80", "\xf3\xa0\x81\x81", "\xed\xa0\x80", "\xc3"}) {
    std::string escaped;
    for (const char* c = text; *c; ++c) {
      char byte[5];
      snprintf(byte, sizeof byte, "\\x%02x", static_cast<unsigned char>(*c));
      escaped += byte;
    }
    EXPECT_EQ(io::printable(text), escaped);
  }
  EXPECT_EQ(io::printable("a\xe2\x82о"), "a\\xe2\\x82о");
  EXPECT_EQ(io::printable("отец", 2), "от...");
  EXPECT_EQ(io::printable("отец", 4), "отец");
}

TEST(Bytes, FindsEndsThatDoNotShow) {
  for (const char* mark : {" ", "\t", "\x7f", "\xc2\xa0", "\xe2\x80\x8b", "\xe2\x80\xae",
                           "\xe3\x85\xa4", "\xef\xbb\xbf"}) {
    const std::string hidden = mark;
    for (const std::string& text : {hidden, hidden + "a", "отец" + hidden})
      EXPECT_TRUE(io::has_invisible_end(text)) << io::printable(text);
    EXPECT_FALSE(io::has_invisible_end("a" + hidden + "é")) << io::printable(hidden);
  }
  // Bytes that are not UTF-8 belong to names in other encodings.
  for (const char* text :
       {"", "a", "山田", "\xee\x80\x80", "\xe1\xa0", "a\xa0", "\xa0\xa0\xa0\xa0"})
    EXPECT_FALSE(io::has_invisible_end(text)) << io::printable(text);
}

TEST(Bytes, MakesOneLineOfAnyText) {
  EXPECT_EQ(io::one_line("a\xc3\xa9\xe2\x82\xac"), "a\xc3\xa9\xe2\x82\xac");
  EXPECT_EQ(io::one_line("a\n\x1b\xff\xc3"), "a\\x0a\\x1b\\xff\\xc3");
  EXPECT_EQ(io::one_line("\xc2\x85 \xc2\xa0"), "\\xc2\\x85 \xc2\xa0");
  EXPECT_EQ(io::one_line("\xe2\x80\xa8\xe2\x80\xae\xe2\x81\xa6"),
            "\\xe2\\x80\\xa8\\xe2\\x80\\xae\\xe2\\x81\\xa6");
  EXPECT_EQ(io::one_line("\xe2\x80\x93\xe2\x80\xaf"), "\xe2\x80\x93\xe2\x80\xaf");
}

TEST(Bytes, KnowsUtf8) {
  for (const char* good :
       {"", "plain", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xed\x9f\xbf", "\xee\x80\x80",
        "\xf4\x8f\xbf\xbf", "\xc2\x80", "\xe0\xa0\x80", "\xf0\x90\x80\x80"})
    EXPECT_TRUE(is_utf8(good)) << io::printable(good);
  for (const char* bad :
       {"\x80", "\xbf", "\xc0\xaf", "\xc1\xbf", "\xc3", "\xc3(", "\xe2\x82", "\xe2(\xa1",
        "\xe0\x9f\xbf", "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80", "\xff", "\xfe", "ok\xf0\x9f\x98"})
    EXPECT_FALSE(is_utf8(bad)) << io::printable(bad);
}

}  // namespace
}  // namespace gnnmg::test
