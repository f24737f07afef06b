// Patterns of names, and the name that a misspelled one was meant to be.
#include "base/names.h"

#include <gtest/gtest.h>

#include <array>

namespace gnnmg::base {
namespace {

TEST(Names, PatternsStandForAnyCharacters) {
  const std::string_view key = "convs.0.lin_l.weight";
  for (const char* pattern : {"convs.0.lin_l.weight", "convs.0.*", "*", "**", "*weight", "*.lin_*",
                              "c*.0.*l*t", "convs.0.lin_l.weight*"})
    EXPECT_TRUE(matches(key, pattern)) << pattern;
  for (const char* pattern :
       {"", "convs.0", "convs.1.*", "*bias", "lin_l.weight", "convs.0.lin_?.weight", "*.lin_*.x",
        "convs.0.lin_l.weight.*", "CONVS.0.*"})
    EXPECT_FALSE(matches(key, pattern)) << pattern;
  EXPECT_TRUE(matches("", ""));
  EXPECT_TRUE(matches("", "*"));
  EXPECT_FALSE(matches("", "a"));
  EXPECT_TRUE(matches("aabab", "*ab"));  // the first fit of the text is not the last
}

TEST(Names, ASlipIsAnsweredWithTheNameThatWasMeant) {
  const std::array<std::string_view, 3> known{"heads", "dropout", "seed"};
  EXPECT_EQ(known_names("head", known), "; did you mean 'heads'? There are: heads, dropout, seed");
  EXPECT_EQ(known_names("dorpout", known),
            "; did you mean 'dropout'? There are: heads, dropout, seed");
  EXPECT_EQ(known_names("seeed", known), "; did you mean 'seed'? There are: heads, dropout, seed");
  EXPECT_EQ(known_names("aggregation", known), "; there are: heads, dropout, seed");
  EXPECT_EQ(known_names("x", known), "; there are: heads, dropout, seed");
}

}  // namespace
}  // namespace gnnmg::base
