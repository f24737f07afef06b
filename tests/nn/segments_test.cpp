// Reductions over runs of rows and their gradients, compared with explicit sums, with empty runs,
// ties and NaN, for several divisions of the runs into ranges.
#include "nn/kernels/segments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace gnnmg::nn::kernels {
namespace {

const std::vector<int64_t> kPointers{0, 0, 3, 4, 4, 11, 12, 12};
constexpr int64_t kRuns = 7, kRows = 12, kWidth = 19, kStride = 21;

template <typename T>
struct Rows19 {
  explicit Rows19(int64_t rows, uint64_t seed = 0) : values(rows * kStride, T{77}) {
    if (!seed) return;
    base::Stream words(base::stream_key(seed, base::Purpose::kGenerator), 2);
    // Few different numbers, so that many are tied.
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < kWidth; ++c) at(r, c) = static_cast<T>(words.below(4)) - 5;
  }
  T& at(int64_t r, int64_t c) { return values[r * kStride + c]; }
  T at(int64_t r, int64_t c) const { return values[r * kStride + c]; }
  Matrix<T> matrix() { return {values.data(), kStride}; }
  Matrix<const T> rows() const { return {values.data(), kStride}; }
  std::vector<T> values;
};

template <typename T>
class Segments : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Segments, Types);

template <typename T>
T expected_value(Reduce reduce, const Rows19<T>& x, int64_t g, int64_t c) {
  const int64_t first = kPointers[g], last = kPointers[g + 1];
  if (first == last) return 0;
  T value = x.at(first, c);
  for (int64_t r = first + 1; r < last; ++r)
    value = reduce == Reduce::kMax ? std::max(value, x.at(r, c)) : value + x.at(r, c);
  return reduce == Reduce::kMean ? value / static_cast<T>(last - first) : value;
}

TYPED_TEST(Segments, ReduceRunsOfRows) {
  using T = TypeParam;
  const Rows19<T> x(kRows, 3);
  for (const Reduce reduce : {Reduce::kSum, Reduce::kMean, Reduce::kMax})
    for (const int64_t range : {1, 3, 7}) {
      Rows19<T> out(kRuns);
      for (int64_t g = 0; g < kRuns; g += range)
        reduce_segments<T>(reduce, kPointers.data(), x.rows(), kWidth, out.matrix(), g,
                           std::min(kRuns, g + range));
      for (int64_t g = 0; g < kRuns; ++g) {
        for (int64_t c = 0; c < kWidth; ++c)
          ASSERT_EQ(out.at(g, c), expected_value(reduce, x, g, c)) << g << ' ' << c;
        ASSERT_EQ(out.at(g, kWidth), T{77}) << "memory after a row is not touched";
      }
    }
}

TYPED_TEST(Segments, MaximumKeepsNan) {
  using T = TypeParam;
  for (const int64_t row : {4, 7, 10}) {
    Rows19<T> x(kRows, 3), out(kRuns);
    x.at(row, 2) = std::numeric_limits<T>::quiet_NaN();
    reduce_segments<T>(Reduce::kMax, kPointers.data(), x.rows(), kWidth, out.matrix(), 0, kRuns);
    EXPECT_TRUE(std::isnan(out.at(4, 2)));
    EXPECT_FALSE(std::isnan(out.at(4, 3)));
  }
}

TYPED_TEST(Segments, GradientsOfSumsAndMeans) {
  using T = TypeParam;
  const Rows19<T> dy(kRuns, 4);
  for (const Reduce reduce : {Reduce::kSum, Reduce::kMean}) {
    Rows19<T> dx(kRows);
    spread_segments<T>(reduce, kPointers.data(), dy.rows(), kWidth, dx.matrix(), 0, kRuns);
    for (int64_t g = 0; g < kRuns; ++g)
      for (int64_t r = kPointers[g]; r < kPointers[g + 1]; ++r)
        for (int64_t c = 0; c < kWidth; ++c) {
          const int64_t count = reduce == Reduce::kMean ? kPointers[g + 1] - kPointers[g] : 1;
          ASSERT_EQ(dx.at(r, c), dy.at(g, c) / static_cast<T>(count));
        }
  }
}

TYPED_TEST(Segments, GradientOfTheMaximumGoesToTiedRows) {
  using T = TypeParam;
  const Rows19<T> x(kRows, 3), dy(kRuns, 4);
  Rows19<T> max(kRuns);
  reduce_segments<T>(Reduce::kMax, kPointers.data(), x.rows(), kWidth, max.matrix(), 0, kRuns);
  int64_t ties = 0;
  for (const bool first_of_tied : {false, true}) {
    Rows19<T> dx(kRows);
    segment_max_backward<T>(first_of_tied, kPointers.data(), x.rows(), max.rows(), dy.rows(),
                            kWidth, dx.matrix(), 0, kRuns);
    for (int64_t g = 0; g < kRuns; ++g)
      for (int64_t c = 0; c < kWidth; ++c) {
        int64_t tied = 0, seen = 0;
        for (int64_t r = kPointers[g]; r < kPointers[g + 1]; ++r)
          tied += x.at(r, c) == max.at(g, c);
        ties += tied > 1;
        for (int64_t r = kPointers[g]; r < kPointers[g + 1]; ++r) {
          const bool wins = x.at(r, c) == max.at(g, c);
          const T share =
              first_of_tied ? (seen == 0 ? dy.at(g, c) : T{0}) : dy.at(g, c) / static_cast<T>(tied);
          ASSERT_EQ(dx.at(r, c), wins ? share : T{0}) << "run " << g << " row " << r;
          seen += wins;
        }
      }
  }
  EXPECT_GT(ties, 20);
}

}  // namespace
}  // namespace gnnmg::nn::kernels
