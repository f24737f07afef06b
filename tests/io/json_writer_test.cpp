#include "io/json_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "io/damage.h"
#include "io/json.h"

namespace gnnmg::test {
namespace {

using base::Status;
using io::JsonWriter;

void write_sample(JsonWriter& out) {
  out.begin_object().member("a", int64_t{-1}).key("list").begin_list();
  out.value(1.5).value(true).value("x").begin_object().end_object().begin_list().end_list();
  out.end_list().key("inner").begin_object().member("b", false).end_object().end_object();
}

TEST(JsonWriter, WritesOnOneLine) {
  JsonWriter out;
  write_sample(out);
  EXPECT_EQ(out.finish(), R"({"a":-1,"list":[1.5,true,"x",{},[]],"inner":{"b":false}})");
}

TEST(JsonWriter, WritesIndented) {
  JsonWriter out(2);
  write_sample(out);
  EXPECT_EQ(
      out.finish(),
      "{\n  \"a\": -1,\n  \"list\": [\n    1.5,\n    true,\n    \"x\",\n    {},\n    []\n  ],\n"
      "  \"inner\": {\n    \"b\": false\n  }\n}");
}

TEST(JsonWriter, WritesPlainValues) {
  const auto number = [](double value) { return JsonWriter().value(value).finish(); };
  EXPECT_EQ(number(1), "1.0");
  EXPECT_EQ(number(-0.1), "-0.1");
  EXPECT_EQ(number(1e300), "1e+300");
  EXPECT_EQ(number(std::nan("")), "null");
  EXPECT_EQ(number(-INFINITY), "null");
  EXPECT_EQ(JsonWriter().value(std::numeric_limits<int64_t>::min()).finish(),
            "-9223372036854775808");
}

TEST(JsonWriter, EscapesWhatItMust) {
  std::string text = "\"\\/\n\x7f\xc3\xa9";
  for (char c = 0; c < 0x20; ++c) text += c;
  JsonWriter out;
  out.begin_object().member(text, text).end_object();
  const std::string written = out.finish();
  const io::JsonValue parsed = io::parse_json(io::as_bytes(written), "a.json");
  ASSERT_NE(parsed.find(text), nullptr);
  EXPECT_EQ(*parsed.find(text)->as<std::string>(), text);
  expect_error(Status::kInvalidArgument, "\"a\\xff\" is not UTF-8",
               [] { JsonWriter().value("a\xff"); });
  for (const char* broken : {"\x80", "\xc0\xaf", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80",
                             "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "a\xe2\x82"})
    expect_error(Status::kInvalidArgument, "is not UTF-8", [&] { JsonWriter().key(broken); });
}

}  // namespace
}  // namespace gnnmg::test
