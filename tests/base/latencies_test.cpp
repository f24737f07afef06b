// Quantiles of latencies from a histogram.
#include "base/latencies.h"

#include <gtest/gtest.h>

namespace gnnmg::base {
namespace {

TEST(Latencies, QuantilesAreAtMostAnEighthTooHigh) {
  Latencies none;
  EXPECT_EQ(none.quantile(0.5), 0);
  for (const int64_t value : {1, 7, 8, 15, 16, 100, 1'000, 12'345, 1'000'000, 60'000'000}) {
    Latencies one;
    one.add(value);
    const double seconds = static_cast<double>(value) * 1e-6;
    EXPECT_GE(one.quantile(0.5), seconds) << value;
    EXPECT_LE(one.quantile(0.5), seconds * 1.126 + 1.01e-6) << value;
  }
  Latencies many;
  for (int64_t value = 1; value <= 1000; ++value) many.add(value);
  EXPECT_NEAR(many.quantile(0.5), 500e-6, 64e-6);
  EXPECT_NEAR(many.quantile(0.99), 990e-6, 128e-6);
  many.add(-5);  // a clock's whim
  many.add(int64_t{1} << 60);
  EXPECT_GT(many.quantile(1), 100);
}

}  // namespace
}  // namespace gnnmg::base
