// Fields of a line, quoted and unquoted.
#include "io/fields.h"

#include <gmock/gmock.h>

namespace gnnmg::io {
namespace {

using testing::ElementsAre;
using Result = FieldCutter::Result;

TEST(Fields, AreCutAtSeparators) {
  FieldCutter cutter(10);
  EXPECT_EQ(cutter.cut("1, 2 ,,\t3", ','), Result::kWhole);
  EXPECT_THAT(cutter.fields(), ElementsAre("1", "2", "", "3"));
  EXPECT_EQ(cutter.cut("", ','), Result::kWhole);
  EXPECT_THAT(cutter.fields(), ElementsAre(""));
  EXPECT_EQ(cutter.cut("a\t\tb\t", '\t'), Result::kWhole);
  EXPECT_THAT(cutter.fields(), ElementsAre("a", "", "b", ""));
  EXPECT_EQ(cutter.cut("  a \t b  ", ' '), Result::kWhole);
  EXPECT_THAT(cutter.fields(), ElementsAre("a", "b"));
  EXPECT_EQ(cutter.cut("   ", ' '), Result::kWhole);
  EXPECT_TRUE(cutter.fields().empty());
}

TEST(Fields, QuotesHoldSeparators) {
  FieldCutter cutter(10);
  EXPECT_EQ(cutter.cut("\"a, b\",\"say \"\"x\"\"\", \"c\" ,\"\"", ','), Result::kWhole);
  EXPECT_THAT(cutter.fields(), ElementsAre("a, b", "say \"x\"", "c", ""));
  EXPECT_EQ(cutter.cut("\"a b\" \t\"c\"", ' '), Result::kWhole);
  EXPECT_THAT(cutter.fields(), ElementsAre("a b", "c"));
  EXPECT_EQ(cutter.cut("\"a\tb\"\t\"c\"", '\t'), Result::kWhole);
  EXPECT_THAT(cutter.fields(), ElementsAre("a\tb", "c"));
  EXPECT_EQ(cutter.cut("5\" disk,\"a\"b,c", ','), Result::kWhole) << "quotes that are text";
  EXPECT_THAT(cutter.fields(), ElementsAre("5\" disk", "\"a\"b", "c"));
  EXPECT_EQ(cutter.cut("a,\"b", ','), Result::kOpenQuote);
  EXPECT_EQ(cutter.cut("a,\"b\"\"", ','), Result::kOpenQuote);
}

// Spark, MySQL and Neo4j write quotes so; the field would not end otherwise.
TEST(Fields, BackslashesBeforeQuotes) {
  FieldCutter cutter(10);
  EXPECT_EQ(cutter.cut(R"("a \"x\"",0)", ','), Result::kWhole);
  EXPECT_THAT(cutter.fields(), ElementsAre("a \"x\"", "0"));
  EXPECT_EQ(cutter.cut(R"("say \"hi, you\"","\\",1)", ','), Result::kWhole);
  EXPECT_THAT(cutter.fields(), ElementsAre("say \"hi, you\"", R"(\\)", "1"));
  EXPECT_EQ(cutter.cut(R"("x\"",5)", ','), Result::kWhole);
  EXPECT_THAT(cutter.fields(), ElementsAre("x\"", "5"));
  EXPECT_EQ(cutter.cut(R"("C:\","D:\" 7)", ','), Result::kWhole) << "the end by RFC 4180";
  EXPECT_THAT(cutter.fields(), ElementsAre("C:\\", "\"D:\\\" 7"));
  EXPECT_EQ(cutter.cut(R"("open \")", ','), Result::kWhole);
  EXPECT_THAT(cutter.fields(), ElementsAre("open \\"));
  EXPECT_EQ(cutter.cut(R"("open \"" x)", ','), Result::kOpenQuote);
}

TEST(Fields, AreBoundedInNumber) {
  FieldCutter cutter(3);
  EXPECT_EQ(cutter.cut("1,2,3", ','), Result::kWhole);
  EXPECT_EQ(cutter.cut("1,2,3,4", ','), Result::kTooMany);
  EXPECT_EQ(cutter.cut("1,2,3,", ','), Result::kTooMany);
  EXPECT_EQ(cutter.cut("1 2 3 ", ' '), Result::kWhole);
}

}  // namespace
}  // namespace gnnmg::io
