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

TEST(Names, CaseDoesNotHideTheNameThatWasMeant) {
  const std::array<std::string_view, 2> known{"heads", "x"};
  EXPECT_EQ(known_names("Heads", known), "; did you mean 'heads'? There are: heads, x");
  EXPECT_EQ(known_names("HEDS", known), "; did you mean 'heads'? There are: heads, x");
  EXPECT_EQ(known_names("X", known), "; did you mean 'x'? There are: heads, x");
}

TEST(Names, OfEquallyNearNamesThoseWithTheSameStartAreMeant) {
  const std::array<std::string_view, 2> known{"seed", "heads"};
  EXPECT_EQ(known_names("hed", known), "; did you mean 'heads'? There are: seed, heads");
  const std::array<std::string_view, 3> betas{"beta", "beta1", "beta2"};
  EXPECT_EQ(known_names("beta3", betas),
            "; did you mean 'beta' or 'beta1' or 'beta2'? There are: beta, beta1, beta2");
  const std::array<std::string_view, 3> slacks{"node_slack", "edge_slack", "seed"};
  EXPECT_EQ(known_names("ode_slack", slacks),
            "; did you mean 'node_slack'? There are: node_slack, edge_slack, seed");
}

TEST(Names, WordsOfANameAreEnough) {
  const std::array<std::string_view, 4> known{"hidden_dim", "heads", "batch_size",
                                              "eval_batch_size"};
  EXPECT_EQ(meant_names("hidden", known), "'hidden_dim'");
  EXPECT_EQ(meant_names("num_heads", known), "'heads'");
  EXPECT_EQ(meant_names("batch", known), "'batch_size' or 'eval_batch_size'");
  EXPECT_EQ(meant_names("bat", known), "");
  EXPECT_EQ(meant_names("dims", known), "");
}

}  // namespace
}  // namespace gnnmg::base
