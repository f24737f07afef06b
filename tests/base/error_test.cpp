#include "base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <clocale>
#include <limits>
#include <set>
#include <string>

namespace gnnmg::base {
namespace {

TEST(StatusName, IsDistinctForEveryCode) {
  std::set<std::string> names;
  for (int32_t code = -26; code <= 2; ++code)
    EXPECT_TRUE(names.insert(status_name(static_cast<Status>(code))).second) << code;
  EXPECT_EQ(names.count("unknown status"), 0u);
  EXPECT_STREQ(status_name(static_cast<Status>(-27)), "unknown status");
  EXPECT_STREQ(status_name(static_cast<Status>(3)), "unknown status");
  EXPECT_STREQ(status_name(Status::kNoMemory), "ERR_NO_MEMORY");
  EXPECT_STREQ(status_name(Status::kEnd), "END");
}

TEST(Text, JoinsTextsAndNumbers) {
  EXPECT_EQ(text(), "");
  EXPECT_EQ(text("row ", 7, ", column ", int64_t{-3}, ": ", 'x', ' ', true, ' ', false),
            "row 7, column -3: x true false");
  EXPECT_EQ(text(std::numeric_limits<int64_t>::min(), " ", std::numeric_limits<uint64_t>::max()),
            "-9223372036854775808 18446744073709551615");
  EXPECT_EQ(text(std::string("a"), std::string_view("b"), "c"), "abc");
}

TEST(Text, WritesFloatsAsShortAsTheyRoundTrip) {
  EXPECT_EQ(text(0.1), "0.1");
  EXPECT_EQ(text(-1e300), "-1e+300");
  EXPECT_EQ(text(0.5f), "0.5");
  EXPECT_EQ(text(std::numeric_limits<double>::infinity()), "inf");
  const double third = 1.0 / 3.0;
  EXPECT_EQ(std::stod(text(third)), third);
}

TEST(Text, DoesNotFollowTheLocale) {
  const std::string before = std::setlocale(LC_NUMERIC, nullptr);
  for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE"})
    if (std::setlocale(LC_NUMERIC, name)) break;
  EXPECT_EQ(text(1.5, " ", 1234567), "1.5 1234567");
  std::setlocale(LC_NUMERIC, before.c_str());
}

TEST(Error, CarriesStatusTextRankAndErrno) {
  const Error error(Status::kPeerLost, "rank 3 is gone", 3, 104);
  EXPECT_EQ(error.status(), Status::kPeerLost);
  EXPECT_STREQ(error.what(), "rank 3 is gone");
  EXPECT_EQ(error.rank(), 3);
  EXPECT_EQ(error.system_error(), 104);
  const Error plain(Status::kFormat, "x");
  EXPECT_EQ(plain.rank(), -1);
  EXPECT_EQ(plain.system_error(), 0);
}

TEST(Error, FailJoinsItsArguments) {
  try {
    fail(Status::kRange, "edge ", 4, ": node ", 9);
    FAIL() << "fail() came back";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kRange);
    EXPECT_STREQ(error.what(), "edge 4: node 9");
  }
}

TEST(Error, TextsAreBounded) {
  EXPECT_EQ(std::string(Error(Status::kFormat, "short").what()), "short");
  std::string text = "begin ";
  for (int i = 0; i < 1'000'000; ++i) text += "\xc3\xa9";
  const std::string bounded = Error(Status::kFormat, text + " end").what();
  EXPECT_LE(bounded.size(), kMostTextBytes);
  EXPECT_GT(bounded.size(), kMostTextBytes - 16);
  EXPECT_TRUE(bounded.starts_with("begin \xc3\xa9"));
  EXPECT_TRUE(bounded.ends_with("\xc3\xa9 end"));
  EXPECT_THAT(bounded, testing::HasSubstr("\xc3\xa9 ... \xc3\xa9")) << "characters stay whole";
}

TEST(Error, BeginningsEndBeforeACharacterThatDoesNotFit) {
  EXPECT_EQ(beginning("plain", 5), "plain");
  EXPECT_EQ(beginning("plain", 2), "pl");
  EXPECT_EQ(beginning("a\xc3\xa9", 2), "a");
  EXPECT_EQ(beginning("\xf0\x9f\x98\x80z", 4), "\xf0\x9f\x98\x80");
  EXPECT_EQ(beginning("\xf0\x9f\x98\x80z", 3), "");
  EXPECT_EQ(beginning("", 0), "");
}

TEST(CheckedArithmetic, GivesExactResultsUpToTheEdge) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(checked_mul(3037000499, 3037000499, "n"), 9223372030926249001);
  EXPECT_EQ(checked_mul(kMax, 1, "n"), kMax);
  EXPECT_EQ(checked_mul(kMax, 0, "n"), 0);
  EXPECT_EQ(checked_add(kMax - 1, 1, "n"), kMax);
  EXPECT_EQ(checked_add(kMin, kMax, "n"), -1);
}

TEST(CheckedArithmetic, NamesWhatDoesNotFit) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const auto text_of = [](auto call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kFormat);
      return error.what();
    }
    return "nothing thrown";
  };
  EXPECT_EQ(text_of([] { checked_mul(3037000500, 3037000500, "shape of feat.npy"); }),
            "shape of feat.npy: 3037000500 x 3037000500 does not fit 64 bits");
  EXPECT_EQ(text_of([&] { checked_add(kMax, 1, "rows"); }),
            "rows: 9223372036854775807 + 1 does not fit 64 bits");
  EXPECT_THAT(text_of([&] { checked_mul(-kMax, 2, "n"); }), testing::HasSubstr("does not fit"));
}

}  // namespace
}  // namespace gnnmg::base
