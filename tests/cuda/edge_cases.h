// Blocks and numbers for the cases of attention and of edges: the numbers make no result depend on
// rounding, and blocks may begin anywhere among their sources.
#pragma once

#include <utility>

#include "base/philox.h"
#include "layer_cases.h"

namespace gnnmg::cuda {

// Random edges, by target and by source. Target t is source first_own + t.
struct TestBlock {
  int64_t sources, targets, first_own = 0;
  Array<int32_t> indptr, indices, out_indptr, out_targets, positions;

  TestBlock(int64_t num_sources, int64_t num_targets, int64_t num_edges, uint64_t seed,
            int64_t own = 0)
      : sources(num_sources), targets(num_targets), first_own(own) {
    base::Stream words(base::stream_key(seed, base::Purpose::kGenerator), 0);
    std::vector<std::vector<int32_t>> lists(targets);
    for (int64_t e = 0; e < num_edges; ++e) {
      // A third of the edges go into target 0, a fifth come from source 0, some are loops, some are
      // repeated. If there are several targets and sources, the last ones have no edges.
      const auto some = [&](int64_t n) {
        return static_cast<int64_t>(words.below(n > 3 ? n - 2 : 1));
      };
      const int64_t t = e % 3 == 0 ? 0 : some(targets);
      const int64_t s = e % 5 == 1 ? 0 : e % 9 == 4 && own + t < sources ? own + t : some(sources);
      for (int64_t copy = 0; copy < (e % 10 == 0 ? 2 : 1); ++copy)
        lists[t].push_back(static_cast<int32_t>(s));
    }
    if (targets > 6 && own + 5 < sources) lists[5].assign(2, static_cast<int32_t>(own + 5));
    list_by_both(lists);
  }
  // Targets with these in-degrees, from arbitrary sources.
  TestBlock(int64_t num_sources, const std::vector<int64_t>& degrees, uint64_t seed)
      : sources(num_sources), targets(static_cast<int64_t>(degrees.size())) {
    base::Stream words(base::stream_key(seed, base::Purpose::kGenerator), 0);
    std::vector<std::vector<int32_t>> lists(targets);
    for (int64_t t = 0; t < targets; ++t)
      for (int64_t k = 0; k < degrees[t]; ++k)
        lists[t].push_back(static_cast<int32_t>(words.below(static_cast<uint32_t>(sources))));
    list_by_both(lists);
  }
  int64_t edges() const { return static_cast<int64_t>(indices.size()); }
  nn::kernels::Lists by_target() const { return {indptr.data(), indices.data()}; }
  nn::kernels::EdgesBySource by_source() const {
    return {{out_indptr.data(), out_targets.data()}, positions.data(), targets};
  }

 private:
  void list_by_both(const std::vector<std::vector<int32_t>>& lists) {
    indptr.resize(targets + 1);
    out_indptr.resize(sources + 1);
    std::vector<std::vector<std::pair<int32_t, int32_t>>> out(sources);
    for (int64_t t = 0; t < targets; ++t) {
      for (const int32_t s : lists[t]) {
        out[s].emplace_back(static_cast<int32_t>(t), static_cast<int32_t>(indices.size()));
        indices.push_back(s);
      }
      indptr[t + 1] = static_cast<int32_t>(indices.size());
    }
    for (int64_t s = 0; s < sources; ++s) {
      // Targets of other layers come after this layer's.
      if (s % 4 == 1 && edges() > 0)
        for (int64_t more = 0; more < 3; ++more)
          out[s].emplace_back(static_cast<int32_t>(targets + more), 0);
      for (const auto& [target, position] : out[s]) {
        out_targets.push_back(target);
        positions.push_back(position);
      }
      out_indptr[s + 1] = static_cast<int32_t>(out_targets.size());
    }
  }
};

inline std::vector<TestBlock> test_blocks() {
  return {{30, 20, 160, 1}, {40, 40, 700, 2}, {3, 2, 5, 3},
          {7, 11, 60, 4},   {9, 6, 0, 5},     {1, 1, 40, 6}};
}

// Multiples of 1/32 in (-2, 2), plus `shift`: their sums, and those of a few of their products, are
// exact in f32 too, so that rounding never decides the side of a ReLU.
template <typename T>
Array<T> numbers(int64_t count, uint64_t seed, double shift = 0) {
  base::Stream words(base::stream_key(seed, base::Purpose::kGenerator), 6);
  Array<T> all(count + nn::kernels::kPadding);  // the CPU's kernels may read the padding
  for (int64_t i = 0; i < count; ++i)
    all[i] = static_cast<T>((static_cast<double>(words.below(127)) - 63) / 32 + shift);
  return all;
}
inline constexpr double kShift = 1.0 / 4096;  // keeps sums with one shifted number away from zero

// Memory that must be written or stay as it is.
template <typename T>
Array<T> unwritten(int64_t count) {
  return Array<T>(count + nn::kernels::kPadding, std::numeric_limits<T>::quiet_NaN());
}

template <typename T>
constexpr double kTolerance = sizeof(T) == 4 ? 1e-5 : 1e-13;

// Equal up to rounding; elements that one side does not write must be unwritten in the other.
template <typename T>
void expect_near(const Array<T>& found, const Array<T>& expected, const char* what,
                 double more = 1) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  double largest = 1;
  for (const T x : expected)
    if (!std::isnan(x)) largest = std::max(largest, std::abs(static_cast<double>(x)));
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(std::isnan(found[i]), std::isnan(expected[i])) << what << " at " << i;
    if (!std::isnan(found[i])) {
      ASSERT_NEAR(found[i], expected[i], more * kTolerance<T> * largest) << what << " at " << i;
    }
  }
}
// Returns the sum of a * b over elements written in both.
inline double dot_of_written(const Array<double>& a, const Array<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i)
    if (!std::isnan(a[i]) && !std::isnan(b[i])) sum += a[i] * b[i];
  return sum;
}

// Checks that `gradient` is the gradient of `value` with respect to `input`, along a random
// direction.
template <typename F>
void expect_gradient(Array<double>& input, const Array<double>& gradient, const F& value,
                     const char* what) {
  constexpr double kStep = 1e-6;
  const Array<double> before = input, direction = numbers<double>(input.size(), 77);
  double sides[2], size = 1;
  for (const int side : {0, 1}) {
    for (size_t i = 0; i < input.size(); ++i)
      input[i] = before[i] + (side == 0 ? kStep : -kStep) * direction[i];
    sides[side] = value();
  }
  input = before;
  for (size_t i = 0; i < gradient.size(); ++i)
    if (!std::isnan(gradient[i])) size += std::abs(gradient[i] * direction[i]);
  ASSERT_NEAR(dot_of_written(gradient, direction), (sides[0] - sides[1]) / (2 * kStep), 1e-7 * size)
      << what;
}

}  // namespace gnnmg::cuda
