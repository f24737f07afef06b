// Products in bf16 of every instruction set of this machine, bit by bit against plain loops that
// round and add in the documented order: odd sizes, empty factors, unaligned rows.
#include "nn/kernels/bf16.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "base/philox.h"

namespace gnnmg::nn::kernels {
namespace {

constexpr std::pair<Bf16Isa, const char*> kIsas[] = {{Bf16Isa::kGeneric, "generic"},
                                                     {Bf16Isa::kAvx2, "AVX2"},
                                                     {Bf16Isa::kAvx512, "AVX-512"},
                                                     {Bf16Isa::kAvx512Bf16, "AVX512-BF16"},
                                                     {Bf16Isa::kAmx, "AMX"}};

template <typename F>
void each_isa(const F& f) {
  for (const auto& [isa, name] : kIsas)
    if (const Bf16Kernels* kernels = bf16_kernels_for(isa)) {
      SCOPED_TRACE(name);
      f(isa, *kernels);
    }
}

// Rows with `gap` numbers after each, which keep their first value unless a kernel writes there.
template <typename T>
struct Grid {
  static constexpr T kGap = static_cast<T>(12345);
  int64_t rows, width, stride;
  std::vector<T> values;

  Grid(int64_t rows, int64_t width, int64_t gap)
      : rows(rows), width(width), stride(width + gap), values(rows * stride + 1, kGap) {}
  T& at(int64_t r, int64_t c) { return values[r * stride + c]; }
  T at(int64_t r, int64_t c) const { return values[r * stride + c]; }
  Matrix<T> matrix() { return {values.data(), stride}; }
  Matrix<const T> view() const { return {values.data(), stride}; }
  bool guarded() const {
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = width; c < stride; ++c)
        if (at(r, c) != kGap) return false;
    return values.back() == kGap;
  }
};

// Numbers of both signs and of very different sizes, so that sums depend on their order.
Grid<float> numbers(int64_t rows, int64_t width, uint64_t seed) {
  Grid<float> x(rows, width, 3);
  base::Stream words(base::stream_key(seed, base::Purpose::kGenerator), 5);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < width; ++c)
      x.at(r, c) =
          std::ldexp(static_cast<float>(words.normal()), static_cast<int>(words.below(12)));
  return x;
}

float widened(Bf16 value) { return std::bit_cast<float>(uint32_t{value} << 16); }

// The nearer of the two neighbors in bf16, and of two equally near ones the even one.
Bf16 nearest(float x) {
  const auto toward_zero = static_cast<Bf16>(std::bit_cast<uint32_t>(x) >> 16);
  const auto away = static_cast<Bf16>(toward_zero + 1);
  // Beyond the largest number the next one would be 2^128.
  const double far =
      std::isinf(widened(away)) ? std::copysign(std::ldexp(1.0, 128), x) : double{widened(away)};
  const double low = std::fabs(x - double{widened(toward_zero)}), high = std::fabs(far - x);
  if (low != high) return low < high ? toward_zero : away;
  return toward_zero % 2 == 0 ? toward_zero : away;
}

// Arranged factors, aligned as the kernels expect.
struct alignas(64) Line {
  Bf16 values[32];
};
class Packed {
 public:
  Packed(int64_t depth, int64_t width)
      : lines_(static_cast<size_t>(packed_size(depth, width) / 32 + 1), filler()) {}
  Bf16* data() { return lines_.front().values; }
  Bf16 operator[](int64_t i) const { return lines_[i / 32].values[i % 32]; }
  bool guarded() const { return lines_.back().values[0] == 0xabcd; }

 private:
  static Line filler() {
    Line line;
    std::fill_n(line.values, 32, Bf16{0xabcd});
    return line;
  }
  std::vector<Line> lines_;
};

Grid<Bf16> rounded(const Bf16Kernels& kernels, const Grid<float>& x) {
  Grid<Bf16> out(x.rows, filled_depth(x.width), 32);
  kernels.round(x.view(), x.rows, x.width, out.matrix());
  EXPECT_TRUE(out.guarded());
  return out;
}

TEST(Bf16Kernels, RoundToTheNearestAndFillUpWithZeros) {
  each_isa([](Bf16Isa, const Bf16Kernels& kernels) {
    for (const int64_t width : {0, 1, 3, 15, 16, 17, 31, 32, 33, 100}) {
      Grid<float> x = numbers(5, width, 1);
      if (width > 16) {  // ties to both sides, the largest numbers, zeros, below 2^-126
        const float special[] = {1 + 0x1p-8f,  1 + 0x3p-8f, -(1 + 0x1p-8f), 0x1.fffffep127f,
                                 -0x1.fep127f, 0.0f,        -0.0f,          0x1p-149f,
                                 0x1.8p-133f,  0x1p-130f};
        std::copy(std::begin(special), std::end(special), &x.at(1, 0));
      }
      const Grid<Bf16> out = rounded(kernels, x);
      for (int64_t r = 0; r < x.rows; ++r)
        for (int64_t c = 0; c < out.width; ++c)
          ASSERT_EQ(out.at(r, c), c < width ? nearest(x.at(r, c)) : 0) << r << ' ' << c;
    }
  });
}

TEST(Bf16Kernels, InfinitiesAndNaNsStay) {
  static constexpr float kInf = std::numeric_limits<float>::infinity();
  each_isa([](Bf16Isa, const Bf16Kernels& kernels) {
    Grid<float> x(1, 20, 0);
    std::fill_n(x.values.begin(), 20, std::bit_cast<float>(0x7f800001u));  // a NaN in the low half
    x.at(0, 1) = kInf;
    x.at(0, 19) = -kInf;
    const Grid<Bf16> out = rounded(kernels, x);
    EXPECT_TRUE(std::isnan(widened(out.at(0, 0))));
    EXPECT_TRUE(std::isnan(widened(out.at(0, 18))));
    EXPECT_EQ(widened(out.at(0, 1)), kInf);
    EXPECT_EQ(widened(out.at(0, 19)), -kInf);
  });
}

// Returns element (k, c) of a packed factor.
Bf16 element(const Packed& packed, int64_t depth, int64_t k, int64_t c) {
  const int64_t pair = c / kBf16Panel * (filled_depth(depth) / 2) + k / 2;
  return packed[(pair * kBf16Panel + c % kBf16Panel) * 2 + k % 2];
}

TEST(Bf16Kernels, ArrangeFactors) {
  each_isa([](Bf16Isa, const Bf16Kernels& kernels) {
    for (const int64_t rows : {0, 1, 2, 15, 32, 33, 70})
      for (const int64_t width : {1, 2, 15, 16, 17, 47, 64}) {
        const Grid<Bf16> x = rounded(kernels, numbers(rows, width, 2));
        Packed packed(rows, width), turned(width, rows);
        Grid<Bf16> columns(width, filled_depth(rows), 32);
        kernels.pack(x.view(), rows, width, packed.data());
        kernels.pack_transpose(x.view(), width, rows, turned.data());
        kernels.transpose(x.view(), rows, width, columns.matrix());
        EXPECT_TRUE(packed.guarded() && turned.guarded() && columns.guarded());
        const auto at = [&](int64_t r, int64_t c) {
          return r < rows && c < width ? x.at(r, c) : Bf16{0};
        };
        for (int64_t r = 0; r < filled_depth(rows); ++r)
          for (int64_t c = 0; c < filled(width, kBf16Panel); ++c)
            ASSERT_EQ(element(packed, rows, r, c), at(r, c));
        for (int64_t r = 0; r < filled(rows, kBf16Panel); ++r)
          for (int64_t c = 0; c < filled_depth(width); ++c)
            ASSERT_EQ(element(turned, width, c, r), at(r, c));
        for (int64_t r = 0; r < filled_depth(rows); ++r)
          for (int64_t c = 0; c < width; ++c) ASSERT_EQ(columns.at(c, r), at(r, c));
      }
  });
}

// The documented order of additions, number by number.
float in_order(Bf16Isa isa, float sum, const std::vector<float>& a, const std::vector<float>& b) {
  const size_t depth = a.size();
  if (isa != Bf16Isa::kAmx) {
    for (size_t k = 0; k < depth; k += 2) {
      if (k + 1 < depth) sum += a[k + 1] * b[k + 1];
      sum += a[k] * b[k];
    }
    return sum;
  }
  for (size_t step = 0; step < depth; step += kBf16Step) {
    float even = 0, odd = 0;
    for (size_t k = step; k < std::min(depth, step + kBf16Step); ++k)
      (k % 2 == 0 ? even : odd) += a[k] * b[k];
    sum += even + odd;
  }
  return sum;
}

TEST(Bf16Kernels, ProductsAddInTheDocumentedOrder) {
  each_isa([](Bf16Isa isa, const Bf16Kernels& kernels) {
    for (const int64_t rows : {0, 1, 7, 16, 17, 33, 70})
      for (const int64_t width : {1, 16, 17, 31, 47, 64, 100})
        for (const int64_t depth : {0, 1, 2, 31, 32, 33, 100}) {
          const Grid<Bf16> a = rounded(kernels, numbers(rows, depth, 3));
          const Grid<Bf16> b = rounded(kernels, numbers(depth, width, 4));
          Packed packed(depth, width);
          kernels.pack(b.view(), depth, width, packed.data());
          for (const bool add : {false, true}) {
            Grid<float> c = numbers(rows, width, 5), parts = c;
            const Grid<float> before = c;
            Bf16Product p{a.view(), packed.data(), c.matrix(), depth, width, add};
            kernels.product(p, 0, rows);
            p.c = parts.matrix();
            const int64_t first = std::min<int64_t>(rows, 3), second = std::min<int64_t>(rows, 20);
            kernels.product(p, 0, first);
            kernels.product(p, first, second);
            kernels.product(p, second, rows);
            EXPECT_EQ(parts.values, c.values) << "bits depend on the range";
            EXPECT_TRUE(c.guarded());
            for (int64_t r = 0; r < rows; r += 5)
              for (int64_t col = 0; col < width; col += 3) {
                std::vector<float> left(depth), right(depth);
                for (int64_t k = 0; k < depth; ++k) {
                  left[k] = widened(a.at(r, k));
                  right[k] = widened(b.at(k, col));
                }
                ASSERT_EQ(c.at(r, col), in_order(isa, add ? before.at(r, col) : 0, left, right))
                    << rows << " x " << depth << " x " << width << " at " << r << ' ' << col;
              }
          }
        }
  });
}

TEST(Bf16Kernels, SetsWithoutTilesHaveTheSameBits) {
  const int64_t rows = 40, depth = 77, width = 50;
  std::vector<float> expected;
  each_isa([&](Bf16Isa isa, const Bf16Kernels& kernels) {
    if (isa == Bf16Isa::kAmx) return;
    const Grid<Bf16> a = rounded(kernels, numbers(rows, depth, 6));
    const Grid<Bf16> b = rounded(kernels, numbers(depth, width, 7));
    Packed packed(depth, width);
    kernels.pack(b.view(), depth, width, packed.data());
    Grid<float> c(rows, width, 1);
    kernels.product({a.view(), packed.data(), c.matrix(), depth, width, false}, 0, rows);
    if (expected.empty()) expected = c.values;
    EXPECT_EQ(c.values, expected);
  });
}

TEST(Bf16Kernels, TheFastestIsOneOfThisMachines) {
  bool found = false;
  each_isa([&](Bf16Isa, const Bf16Kernels& kernels) { found |= &kernels == &bf16_kernels(); });
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace gnnmg::nn::kernels
