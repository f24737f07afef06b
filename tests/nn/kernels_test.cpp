// Every kernel of every instruction set of this machine, compared with plain loops, on blocks with
// empty rows, duplicates and a hub, for widths around those of the vectors.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/thread_pool.h"
#include "nn/isas.h"
#include "nn/kernels/kernels.h"

namespace gnnmg::nn::kernels {
namespace {

constexpr int64_t kWidths[] = {1, 3, 8, 15, 16, 17, 47, 64, 100, 129, 256, 300};
constexpr int64_t kSources = 90, kTargets = 60, kEdges = 700;

struct Edges {
  std::vector<int32_t> indptr, indices;          // lists by target
  std::vector<int32_t> out_indptr, out_indices;  // lists by source

  Edges() : indptr(kTargets + 1), out_indptr(kSources + 1) {
    base::Stream words(base::stream_key(7, base::Purpose::kGenerator), 0);
    std::vector<std::vector<int32_t>> lists(kTargets), out(kSources);
    for (int64_t e = 0; e < kEdges; ++e) {
      // A third of the edges go into target 0; the last two targets and the last source have none.
      const int64_t target = e % 3 == 0 ? 0 : words.below(kTargets - 2);
      const int32_t source = static_cast<int32_t>(words.below(kSources - 1));
      lists[target].push_back(source);
      if (e % 10 == 0) lists[target].push_back(source);
    }
    for (int64_t t = 0; t < kTargets; ++t) {
      for (int32_t s : lists[t]) out[s].push_back(static_cast<int32_t>(t));
      indices.insert(indices.end(), lists[t].begin(), lists[t].end());
      indptr[t + 1] = static_cast<int32_t>(indices.size());
    }
    for (int64_t s = 0; s < kSources; ++s) {
      out_indices.insert(out_indices.end(), out[s].begin(), out[s].end());
      out_indptr[s + 1] = static_cast<int32_t>(out_indices.size());
    }
  }
  Lists by_target() const { return {indptr.data(), indices.data()}; }
  Lists by_source() const { return {out_indptr.data(), out_indices.data()}; }
};

// Rows in memory with a gap after each, which no kernel may change.
template <typename T>
class Values {
 public:
  static constexpr T kGuard = static_cast<T>(12345);
  Values(int64_t rows, int64_t width, uint64_t seed = 0)
      : rows_(rows), width_(width), values_(rows * (width + 3), kGuard) {
    if (!seed) return;
    base::Stream words(base::stream_key(seed, base::Purpose::kGenerator), 5);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < width; ++c) at(r, c) = static_cast<T>(words.normal());
  }
  T& at(int64_t r, int64_t c) { return values_[r * (width_ + 3) + c]; }
  T at(int64_t r, int64_t c) const { return values_[r * (width_ + 3) + c]; }
  Matrix<T> matrix() { return {values_.data(), width_ + 3}; }
  Matrix<const T> view() const { return {values_.data(), width_ + 3}; }
  Rows<T> rows() const { return {values_.data(), width_ + 3, nullptr}; }
  bool guarded() const {
    for (int64_t r = 0; r < rows_; ++r)
      for (int64_t c = width_; c < width_ + 3; ++c)
        if (values_[r * (width_ + 3) + c] != kGuard) return false;
    return true;
  }
  bool operator==(const Values&) const = default;

 private:
  int64_t rows_, width_;
  std::vector<T> values_;
};

template <typename T>
double tolerance() {
  return sizeof(T) == 4 ? 2e-5 : 1e-13;
}

template <typename T>
class Kernels : public testing::Test {
 protected:
  // Calls body(kernels, width) for all instruction sets and widths.
  template <typename F>
  void each(F&& body) {
    int tried = 0;
    for (Isa isa : kAllIsas) {
      const Table<T>* table = table_for<T>(isa);
      if (!table) continue;
      ++tried;
      for (int64_t width : kWidths) {
        SCOPED_TRACE(testing::Message() << "isa " << static_cast<int>(isa) << " width " << width);
        body(*table, width);
        if (this->HasFailure()) return;
      }
    }
    EXPECT_GT(tried, 0);
  }
  const Edges edges_;
};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Kernels, Types);

TYPED_TEST(Kernels, Aggregate) {
  using T = TypeParam;
  this->each([&](const Table<T>& table, int64_t width) {
    const Values<T> x(kSources, width, 1);
    for (Reduce reduce : {Reduce::kSum, Reduce::kMean, Reduce::kMax}) {
      Values<T> out(kTargets, width);
      // Two ranges: the rows of a range start at its matrix.
      const int64_t cut = 13;
      table.aggregate(reduce, this->edges_.by_target(), x.rows(), width, out.matrix(), 0, cut);
      table.aggregate(reduce, this->edges_.by_target(), x.rows(), width,
                      {out.matrix().row(cut), out.matrix().stride}, cut, kTargets);
      EXPECT_TRUE(out.guarded());
      for (int64_t t = 0; t < kTargets; ++t)
        for (int64_t c = 0; c < width; ++c) {
          const int64_t first = this->edges_.indptr[t], last = this->edges_.indptr[t + 1];
          double sum = 0, most = -1e300;
          for (int64_t e = first; e < last; ++e) {
            const double value = x.at(this->edges_.indices[e], c);
            sum += value;
            most = std::max(most, value);
          }
          if (reduce == Reduce::kMean) sum /= std::max<int64_t>(1, last - first);
          if (reduce == Reduce::kMax) sum = last > first ? most : 0;
          ASSERT_NEAR(out.at(t, c), sum, tolerance<T>() * 20) << "row " << t << " column " << c;
        }
    }
  });
}

TYPED_TEST(Kernels, AggregateReadsTheRowsOfATable) {
  using T = TypeParam;
  std::vector<int64_t> ids(kSources);
  for (int64_t s = 0; s < kSources; ++s) ids[s] = (s * 37 + 5) % 200;
  this->each([&](const Table<T>& table, int64_t width) {
    const Values<T> all(200, width, 2);
    Values<T> x(kSources, width), direct(kTargets, width), gathered(kTargets, width);
    for (int64_t s = 0; s < kSources; ++s)
      for (int64_t c = 0; c < width; ++c) x.at(s, c) = all.at(ids[s], c);
    Rows<T> rows = all.rows();
    rows.ids = ids.data();
    table.aggregate(Reduce::kMean, this->edges_.by_target(), rows, width, direct.matrix(), 0,
                    kTargets);
    table.aggregate(Reduce::kMean, this->edges_.by_target(), x.rows(), width, gathered.matrix(), 0,
                    kTargets);
    EXPECT_TRUE(direct == gathered);
  });
}

TYPED_TEST(Kernels, MaximumOfNegativesAndNan) {
  using T = TypeParam;
  this->each([&](const Table<T>& table, int64_t width) {
    Values<T> x(3, width), out(2, width);
    for (int64_t c = 0; c < width; ++c) {
      x.at(0, c) = -5;
      x.at(1, c) = c == 0 ? static_cast<T>(NAN) : T{-3};
      x.at(2, c) = -4;
    }
    const int32_t indptr[] = {0, 3, 3}, indices[] = {0, 1, 2};
    table.aggregate(Reduce::kMax, {indptr, indices}, x.rows(), width, out.matrix(), 0, 2);
    EXPECT_TRUE(std::isnan(out.at(0, 0)));
    for (int64_t c = 1; c < width; ++c) EXPECT_EQ(out.at(0, c), -3);
    for (int64_t c = 0; c < width; ++c) EXPECT_EQ(out.at(1, c), 0) << "an empty row";
  });
}

// Lists by source may continue with targets of other layers, which do not exist here.
TYPED_TEST(Kernels, AggregateTransposed) {
  using T = TypeParam;
  std::vector<T> scale(kTargets);
  for (int64_t t = 0; t < kTargets; ++t) scale[t] = static_cast<T>(1) / static_cast<T>(t + 2);
  this->each([&](const Table<T>& table, int64_t width) {
    const Values<T> y(kTargets, width, 3), own(kTargets, width, 4);
    for (const int64_t targets : {kTargets, int64_t{21}, int64_t{0}})
      for (const bool scaled : {false, true})
        for (const bool with_own : {false, true}) {
          Values<T> out(kSources, width);
          table.aggregate_transposed(
              this->edges_.by_source(), targets, scaled ? scale.data() : nullptr, y.view(),
              with_own ? own.view() : Matrix<const T>{}, width, out.matrix(), 0, kSources);
          EXPECT_TRUE(out.guarded());
          for (int64_t s = 0; s < kSources; ++s)
            for (int64_t c = 0; c < width; ++c) {
              double sum = with_own && s < targets ? own.at(s, c) : 0;
              for (int64_t e = this->edges_.out_indptr[s]; e < this->edges_.out_indptr[s + 1];
                   ++e) {
                const int64_t t = this->edges_.out_indices[e];
                if (t < targets) sum += (scaled ? scale[t] : 1) * y.at(t, c);
              }
              ASSERT_NEAR(out.at(s, c), sum, tolerance<T>() * 20);
            }
        }
  });
}

TYPED_TEST(Kernels, MaximumSharesItsGradientAmongTies) {
  using T = TypeParam;
  this->each([&](const Table<T>& table, int64_t width) {
    Values<T> x(kSources, width, 5);
    // Few values, so that many are tied, and the largest is often 0.
    for (int64_t s = 0; s < kSources; ++s)
      for (int64_t c = 0; c < width; ++c) x.at(s, c) = std::min<T>(0, std::round(x.at(s, c)));
    const Values<T> gradient(kTargets, width, 6), own(kTargets, width, 7);
    Values<T> max(kTargets, width), share(kTargets, width), out(kSources, width);
    table.aggregate(Reduce::kMax, this->edges_.by_target(), x.rows(), width, max.matrix(), 0,
                    kTargets);
    table.max_share(this->edges_.by_target(), x.rows(), max.view(), gradient.view(), width,
                    share.matrix(), 0, kTargets);
    table.max_transposed(this->edges_.by_source(), kTargets, x.view(), max.view(), share.view(),
                         own.view(), width, out.matrix(), 0, kSources);
    EXPECT_TRUE(share.guarded() && out.guarded());
    Values<double> expected(kSources, width);
    for (int64_t s = 0; s < kSources; ++s)
      for (int64_t c = 0; c < width; ++c)
        expected.at(s, c) = s < kTargets ? static_cast<double>(own.at(s, c)) : 0;
    for (int64_t t = 0; t < kTargets; ++t)
      for (int64_t c = 0; c < width; ++c) {
        int ties = 0;
        const int64_t first = this->edges_.indptr[t], last = this->edges_.indptr[t + 1];
        for (int64_t e = first; e < last; ++e)
          ties += x.at(this->edges_.indices[e], c) == max.at(t, c);
        for (int64_t e = first; e < last; ++e)
          if (x.at(this->edges_.indices[e], c) == max.at(t, c))
            expected.at(this->edges_.indices[e], c) +=
                static_cast<double>(gradient.at(t, c)) / ties;
      }
    for (int64_t s = 0; s < kSources; ++s)
      for (int64_t c = 0; c < width; ++c)
        ASSERT_NEAR(out.at(s, c), expected.at(s, c), tolerance<T>() * 20);
  });
}

template <typename T>
struct Sparse {
  std::vector<int64_t> indptr{0};
  std::vector<int32_t> indices;
  std::vector<T> values;
  Sparse(int64_t rows, int64_t columns) {
    base::Stream words(base::stream_key(9, base::Purpose::kGenerator), 0);
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t count = r % 5 == 0 ? 0 : words.below(40);
      for (int64_t k = 0; k < count; ++k) {
        indices.push_back(static_cast<int32_t>(words.below(columns)));
        values.push_back(static_cast<T>(words.normal()));
      }
      indptr.push_back(static_cast<int64_t>(indices.size()));
    }
  }
  SparseMatrix<T> view() const { return {indptr.data(), indices.data(), values.data()}; }
};

TYPED_TEST(Kernels, SparseProducts) {
  using T = TypeParam;
  constexpr int64_t kRows = 50, kColumns = 70;
  const Sparse<T> a(kRows, kColumns);
  this->each([&](const Table<T>& table, int64_t width) {
    const Values<T> y(kColumns, width, 8), z(kRows, width, 9);
    Values<T> out(kRows, width), transposed(kColumns, width, 10);
    const Values<T> before = transposed;
    table.sparse_times_dense(a.view(), y.view(), width, out.matrix(), 0, kRows);
    const int64_t cut = width / 3;
    table.sparse_transposed_times_dense(a.view(), kRows, z.view(), transposed.matrix(), 0, cut);
    table.sparse_transposed_times_dense(a.view(), kRows, z.view(), transposed.matrix(), cut, width);
    EXPECT_TRUE(out.guarded() && transposed.guarded());
    Values<double> expected(kRows, width), expected_transposed(kColumns, width);
    for (int64_t c = 0; c < width; ++c) {
      for (int64_t r = 0; r < kRows; ++r) expected.at(r, c) = 0;
      for (int64_t k = 0; k < kColumns; ++k) expected_transposed.at(k, c) = before.at(k, c);
      for (int64_t r = 0; r < kRows; ++r)
        for (int64_t k = a.indptr[r]; k < a.indptr[r + 1]; ++k) {
          expected.at(r, c) += static_cast<double>(a.values[k]) * y.at(a.indices[k], c);
          expected_transposed.at(a.indices[k], c) += static_cast<double>(a.values[k]) * z.at(r, c);
        }
      for (int64_t r = 0; r < kRows; ++r)
        ASSERT_NEAR(out.at(r, c), expected.at(r, c), tolerance<T>() * 20);
      for (int64_t k = 0; k < kColumns; ++k)
        ASSERT_NEAR(transposed.at(k, c), expected_transposed.at(k, c), tolerance<T>() * 20);
    }
  });
}

// The definition of dropout, word by word.
bool kept(const Dropout& dropout, int64_t row, int64_t column) {
  const uint32_t block = static_cast<uint32_t>(column / 128 * 16 + column % 16);
  const base::Counter words = base::philox(
      {static_cast<uint32_t>(row), static_cast<uint32_t>(row >> 32), block, 0}, dropout.key);
  const int half = static_cast<int>(column % 128 / 16);
  return (words[half / 2] >> (half % 2 * 16) & 0xffff) >= dropout.threshold;
}

TYPED_TEST(Kernels, FinishIsBiasReluDropout) {
  using T = TypeParam;
  constexpr int64_t kRows = 9;
  this->each([&](const Table<T>& table, int64_t width) {
    Values<T> x(kRows, width, 11);
    const Values<T> bias(1, width, 12), dy(kRows, width, 13);
    for (const double rate : {0.0, 0.3, 0.5})
      for (const bool relu : {false, true})
        for (const bool with_bias : {false, true}) {
          const Dropout dropout = make_dropout(rate, 3, 1, 4, 2);
          const double scale = dropout.scale;
          Values<T> y(kRows, width), dx(kRows, width);
          std::vector<T> sums(width, T{1});
          table.finish(x.view(), width, with_bias ? bias.view().data : nullptr, relu, dropout,
                       y.matrix(), 0, kRows);
          table.finish_backward(dy.view(), y.view(), width, relu, dropout, dx.matrix(), sums.data(),
                                0, kRows);
          EXPECT_TRUE(y.guarded() && dx.guarded());
          for (int64_t c = 0; c < width; ++c) {
            double sum = 1;
            for (int64_t r = 0; r < kRows; ++r) {
              double value = x.at(r, c) + (with_bias ? bias.at(0, c) : T{0});
              double slope = 1;
              if (relu && value <= 0) value = slope = 0;
              if (rate > 0) {
                const double factor = kept(dropout, r, c) ? scale : 0;
                value *= factor;
                slope *= factor;
              }
              sum += slope * dy.at(r, c);
              ASSERT_NEAR(y.at(r, c), value, tolerance<T>() * 10);
              ASSERT_NEAR(dx.at(r, c), slope * dy.at(r, c), tolerance<T>() * 10);
            }
            ASSERT_NEAR(sums[c], sum, tolerance<T>() * 50);
          }
        }
  });
}

TYPED_TEST(Kernels, ColumnSums) {
  using T = TypeParam;
  this->each([&](const Table<T>& table, int64_t width) {
    const Values<T> x(kSources, width, 14);
    for (const int64_t end : {int64_t{3}, kSources}) {
      Values<T> sums(1, width);
      table.column_sums(x.view(), width, sums.matrix().data, 3, end);
      EXPECT_TRUE(sums.guarded());
      for (int64_t c = 0; c < width; ++c) {
        T sum = 0;
        for (int64_t r = 3; r < end; ++r) sum += x.at(r, c);
        ASSERT_EQ(sums.at(0, c), sum);
      }
    }
  });
}

// a may be transposed, and c may be added to; a number does not depend on the range of its row.
TYPED_TEST(Kernels, Product) {
  using T = TypeParam;
  constexpr int64_t kRows = 31;
  EXPECT_TRUE(table<T>().product || !has_faster_product<T>());
  this->each([&](const Table<T>& table, int64_t width) {
    if (!table.product || width * sizeof(T) < 64) return;
    for (const int64_t depth : {0, 1, 50}) {
      const Values<T> a(kRows, depth, 21), turned(depth, kRows, 22), b(depth, width, 23);
      for (const bool transposed : {false, true})
        for (const bool add : {false, true}) {
          Values<T> c(kRows, width, 24), parts(c);
          const Values<T> before(c);
          const Matrix<const T> from = transposed ? turned.view() : a.view();
          ProductOf<T> p{from.data,
                         transposed ? 1 : from.stride,
                         transposed ? from.stride : 1,
                         b.view(),
                         c.matrix(),
                         depth,
                         width,
                         add};
          table.product(p, 0, kRows);
          EXPECT_TRUE(c.guarded());
          p.c = parts.matrix();
          table.product(p, 0, 8);
          table.product(p, 8, 9);
          table.product(p, 9, kRows);
          EXPECT_TRUE(parts == c);
          for (int64_t r = 0; r < kRows; ++r)
            for (int64_t col = 0; col < width; ++col) {
              double sum = add ? before.at(r, col) : T{0};
              for (int64_t k = 0; k < depth; ++k)
                sum += double{transposed ? turned.at(k, r) : a.at(r, k)} * b.at(k, col);
              ASSERT_NEAR(c.at(r, col), sum, tolerance<T>() * 50);
            }
        }
    }
  });
}

TYPED_TEST(Kernels, ReluPassesNanOn) {
  using T = TypeParam;
  this->each([&](const Table<T>& table, int64_t width) {
    Values<T> x(1, width);
    for (int64_t c = 0; c < width; ++c) x.at(0, c) = static_cast<T>(NAN);
    table.finish(x.view(), width, nullptr, true, {}, x.matrix(), 0, 1);
    for (int64_t c = 0; c < width; ++c) EXPECT_TRUE(std::isnan(x.at(0, c)));
  });
}

TYPED_TEST(Kernels, SparseDropoutHasTheBitsOfTheDenseOne) {
  using T = TypeParam;
  constexpr int64_t kRows = 50, kColumns = 700;
  const Sparse<float> a(kRows, kColumns);
  const Dropout dropout = make_dropout(0.4, 5, 6, 7, 0);
  for (Isa isa : kAllIsas) {
    const Table<T>* table = table_for<T>(isa);
    if (!table) continue;
    std::vector<T> out(a.values.size());
    table->sparse_dropout(a.view(), dropout, out.data(), 0, 20);
    table->sparse_dropout(a.view(), dropout, out.data(), 20, kRows);
    for (int64_t r = 0; r < kRows; ++r)
      for (int64_t k = a.indptr[r]; k < a.indptr[r + 1]; ++k)
        ASSERT_NEAR(out[k], kept(dropout, r, a.indices[k]) ? a.values[k] * dropout.scale : 0,
                    tolerance<T>() * 10);
  }
}

TYPED_TEST(Kernels, NormalizeAndItsGradient) {
  using T = TypeParam;
  constexpr int64_t kRows = 5;
  this->each([&](const Table<T>& table, int64_t width) {
    Values<T> x(kRows, width, 14);
    const Values<T> dy(kRows, width, 15);
    for (int64_t c = 0; c < width; ++c) x.at(2, c) = 0;
    Values<T> y(kRows, width), dx(kRows, width);
    std::vector<T> norms(kRows);
    table.normalize(x.view(), width, y.matrix(), norms.data(), 0, kRows);
    table.normalize_backward(dy.view(), y.view(), norms.data(), width, dx.matrix(), 0, kRows);
    for (int64_t r = 0; r < kRows; ++r) {
      double square = 0, along = 0;
      for (int64_t c = 0; c < width; ++c) square += double{x.at(r, c)} * x.at(r, c);
      const double norm = std::max(std::sqrt(square), 1e-12);
      for (int64_t c = 0; c < width; ++c) along += dy.at(r, c) * (x.at(r, c) / norm);
      for (int64_t c = 0; c < width; ++c) {
        const double unit = x.at(r, c) / norm;
        ASSERT_NEAR(y.at(r, c), unit, tolerance<T>());
        const double slope = square > 0 ? (dy.at(r, c) - along * unit) / norm : dy.at(r, c) / norm;
        ASSERT_NEAR(dx.at(r, c), slope, tolerance<T>() * std::max(20.0, std::abs(slope)));
      }
    }
  });
}

TEST(Dropout, KeepsTheRateAndScalesWhatIsKept) {
  constexpr int64_t kRows = 400, kWidth = 256;
  for (const double rate : {0.1, 0.5, 0.75}) {
    const Dropout dropout = make_dropout(rate, 1, 2, 3, 4);
    Values<float> x(kRows, kWidth);
    for (int64_t r = 0; r < kRows; ++r)
      for (int64_t c = 0; c < kWidth; ++c) x.at(r, c) = 1;
    table<float>().finish(x.view(), kWidth, nullptr, false, dropout, x.matrix(), 0, kRows);
    double zeros = 0, sum = 0;
    std::vector<double> by_column(kWidth);
    for (int64_t r = 0; r < kRows; ++r)
      for (int64_t c = 0; c < kWidth; ++c) {
        zeros += x.at(r, c) == 0;
        by_column[c] += x.at(r, c) == 0;
        sum += x.at(r, c);
      }
    const double n = kRows * kWidth, deviation = std::sqrt(rate * (1 - rate) / n);
    EXPECT_NEAR(zeros / n, rate, 5 * deviation);
    EXPECT_NEAR(sum / n, 1, 5 * deviation / (1 - rate));
    for (int64_t c = 0; c < kWidth; ++c)
      EXPECT_NEAR(by_column[c] / kRows, rate, 6 * std::sqrt(rate * (1 - rate) / kRows));
  }
}

TEST(Dropout, DependsOnEveryPartOfItsKey) {
  const Dropout base = make_dropout(0.5, 1, 2, 3, 4);
  for (const Dropout& other : {make_dropout(0.5, 9, 2, 3, 4), make_dropout(0.5, 1, 9, 3, 4),
                               make_dropout(0.5, 1, 2, 9, 4), make_dropout(0.5, 1, 2, 3, 9)})
    EXPECT_NE(base.key, other.key);
  EXPECT_FALSE(make_dropout(0, 1, 2, 3, 4).active());
}

// Ranges and threads change nothing, not even the last bit.
TEST(Threads, ResultsAreEqualForAnyNumber) {
  const Edges edges;
  constexpr int64_t kWidth = 100;
  const Values<float> x(kSources, kWidth, 1), y(kTargets, kWidth, 2);
  const Table<float>& kernels = table<float>();
  std::vector<Values<float>> means, gradients, finished;
  for (const int threads : {1, 2, 5}) {
    base::ThreadPool pool(threads);
    Values<float> mean(kTargets, kWidth), gradient(kSources, kWidth), out(kSources, kWidth);
    const int64_t grain = 3 * threads + 1;
    pool.parallel_for(kTargets, grain, [&](int64_t begin, int64_t end) {
      kernels.aggregate(Reduce::kMean, edges.by_target(), x.rows(), kWidth,
                        {mean.matrix().row(begin), mean.matrix().stride}, begin, end);
    });
    pool.parallel_for(kSources, grain, [&](int64_t begin, int64_t end) {
      kernels.aggregate_transposed(edges.by_source(), kTargets, nullptr, y.view(), {}, kWidth,
                                   gradient.matrix(), begin, end);
      kernels.finish(x.view(), kWidth, nullptr, true, make_dropout(0.5, 1, 1, 1, 1), out.matrix(),
                     begin, end);
    });
    means.push_back(mean);
    gradients.push_back(gradient);
    finished.push_back(out);
  }
  for (size_t i = 1; i < means.size(); ++i) {
    EXPECT_TRUE(means[i] == means[0]);
    EXPECT_TRUE(gradients[i] == gradients[0]);
    EXPECT_TRUE(finished[i] == finished[0]);
  }
}

}  // namespace
}  // namespace gnnmg::nn::kernels
