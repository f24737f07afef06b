#include "io/json.h"

#include <gtest/gtest.h>

#include "io/damage.h"

namespace gnnmg::test {
namespace {

using base::Status;
using io::as_bytes;
using io::JsonLimits;
using io::JsonValue;

JsonValue parse(std::string_view text, const JsonLimits& limits = {}) {
  return io::parse_json(as_bytes(text), "a.json", limits);
}

void expect_refused(std::string_view text, std::string_view part, const JsonLimits& limits = {}) {
  expect_error(Status::kFormat, part, [&] { parse(text, limits); });
}

// The parsed value, written on one line.
std::string dump(const JsonValue& value) {
  if (const auto* array = value.as<JsonValue::Array>()) {
    std::string out;
    for (const JsonValue& item : *array) out += (out.empty() ? "" : ",") + dump(item);
    return "[" + out + "]";
  }
  if (const auto* object = value.as<JsonValue::Object>()) {
    std::string out;
    for (const auto& [key, item] : *object)
      out += (out.empty() ? "" : ",") + key + ":" + dump(item);
    return "{" + out + "}";
  }
  if (const auto* text = value.as<std::string>()) return "'" + *text + "'";
  if (const auto* number = value.as<int64_t>()) return std::to_string(*number);
  if (const auto* number = value.as<uint64_t>()) return std::to_string(*number) + "u";
  if (const auto* number = value.as<double>()) return base::text(*number) + "f";
  if (const auto* truth = value.as<bool>()) return *truth ? "true" : "false";
  return value.kind();
}

TEST(Json, ParsesValues) {
  EXPECT_EQ(dump(parse(R"( {"b": [1, -2, 3.5, 1e3, true, false, null],
                            "a": {"c": "\u00e9\n", "d": {}, "e": []}} )")),
            "{a:{c:'\xc3\xa9\n',d:{},e:[]},b:[1,-2,3.5f,1000f,true,false,null]}");
  EXPECT_EQ(dump(parse("7")), "7");
  EXPECT_EQ(dump(parse("\xef\xbb\xbf[]")), "[]");
  EXPECT_EQ(dump(parse("[[1], [2, [3]], {\"x\": [4]}]")), "[[1],[2,[3]],{x:[4]}]");
}

TEST(Json, NamesKindsAndFindsMembers) {
  const JsonValue value = parse(R"({"a": 1})");
  EXPECT_EQ(*value.find("a")->as<int64_t>(), 1);
  EXPECT_EQ(value.find("b"), nullptr);
  EXPECT_EQ(value.find("a")->find("a"), nullptr);
  EXPECT_STREQ(value.kind(), "an object");
  EXPECT_STREQ(parse("[]").kind(), "a list");
  EXPECT_STREQ(parse("1.5").kind(), "a number");
}

TEST(Json, KeepsIntegersWhole) {
  EXPECT_EQ(*parse("-9223372036854775808").as<int64_t>(), INT64_MIN);
  EXPECT_EQ(*parse("9223372036854775807").as<int64_t>(), INT64_MAX);
  EXPECT_EQ(*parse("18446744073709551615").as<uint64_t>(), UINT64_MAX);
  expect_refused("18446744073709551616", "does not fit 64 bits");
  expect_refused("[-9223372036854775809]", "does not fit 64 bits");
  expect_refused("1e999", "number overflow");
}

TEST(Json, RefusesWhatIsNoJson) {
  for (const std::string_view text : {"",
                                      " ",
                                      "{",
                                      "[1",
                                      "[1,]",
                                      "{\"a\"}",
                                      "{\"a\":}",
                                      "{a:1}",
                                      "'a'",
                                      "nul",
                                      "01",
                                      "1 2",
                                      "[1] x",
                                      "\"a\nb\"",
                                      "\"\\x\"",
                                      "\"\\ud800\"",
                                      "\"\xff\"",
                                      "\"\xc0\xaf\"",
                                      "\"\xed\xa0\x80\"",
                                      "NaN",
                                      "// comment\n1",
                                      "\xff\xfe["})
    expect_refused(text, "a.json, byte ");
  expect_refused(std::string_view("1\0", 2), "NUL byte");
  expect_refused(std::string_view("{\"a\0\": 1}", 9), "NUL byte");
}

TEST(Json, RefusesDuplicateKeys) {
  expect_refused(R"({"a": 1, "b": 2, "a": 3})", "the key \"a\" occurs twice");
  expect_refused(R"([{"x": {"a": 1, "\u0061": 3}}])", "the key \"a\" occurs twice");
  EXPECT_EQ(dump(parse(R"([{"a": 1}, {"a": {"a": 2}}])")), "[{a:1},{a:{a:2}}]");
}

TEST(Json, LimitsDepthAndSize) {
  const auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_NE(parse(nested(64)).as<JsonValue::Array>(), nullptr);
  expect_refused(nested(65), "more than 64 levels");
  expect_refused(std::string(100'000, '['), "more than 64 levels");
  expect_refused(nested(4), "more than 3 levels", {.max_depth = 3});
  EXPECT_EQ(dump(parse("[1]", {.max_bytes = 3})), "[1]");
  expect_refused("[1] ", "has 4 bytes, at most 3", {.max_bytes = 3});
}

TEST(Json, RefusesEveryBeginning) {
  expect_no_beginning(R"({"a": [1, 2.5, "text"], "b": {"c": null}})",
                      [](Bytes bytes) { io::parse_json(bytes, "a.json"); });
}

TEST(Json, SurvivesEveryFlippedByte) {
  const std::string text = R"({"a": [1, 2.5, "t\u00e9xt"], "b": {"c": null}})";
  EXPECT_GT(
      flip_each_byte(text, 0, text.size(), [](Bytes bytes) { io::parse_json(bytes, "a.json"); }),
      90);
}

}  // namespace
}  // namespace gnnmg::test
