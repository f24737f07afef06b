// Checks that every neighbor, and every pair, is as likely as the others, from degree 2 to a hub of
// 40 000, with a million rows each; and that the test detects known errors of other samplers.
#include "sample/uniformity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "sample/reference.h"
#include "sample/sampler.h"

namespace gnnmg {
namespace {

constexpr int64_t kRows = 1'000'000;

struct Case {
  int64_t degree, fanout;
};
const Case kCases[] = {{2, 1}, {3, 2}, {6, 3}, {20, 5}, {500, 10}, {40000, 25}, {500, 40}};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << "degree " << c.degree << ", fan-out " << c.fanout;
}

// Rows of the built-in sampler: `targets` nodes have the neighbors 0 .. degree-1 each, in order, so
// that a source is its position.
class SamplerRows {
 public:
  explicit SamplerRows(const Case& c) : fanout_(c.fanout), seeds_(c.degree > 1000 ? 64 : 500) {
    std::iota(seeds_.begin(), seeds_.end(), 0);
    const int64_t num_targets = static_cast<int64_t>(seeds_.size());
    std::vector<int64_t> indptr(std::max(num_targets, c.degree) + 1, num_targets * c.degree);
    std::vector<int32_t> sources;
    for (int64_t v = 0; v < num_targets; ++v) {
      indptr[v] = v * c.degree;
      for (int64_t i = 0; i < c.degree; ++i) sources.push_back(static_cast<int32_t>(i));
    }
    sample::NeighborConfig config;
    config.fanouts = {c.fanout};
    sampler_ = sample::make_neighbor_sampler(test::graph_of(indptr, sources), config);
  }

  void operator()(int64_t* picks) {
    if (row_ == static_cast<int64_t>(seeds_.size())) row_ = 0;
    if (row_ == 0)
      sampler_->sample(seeds_, {5, base::Purpose::kSample, 0, batch_++}, workspace_, sample_, {});
    const sample::BlockView& block = sample_.blocks[0];
    for (int64_t i = 0; i < fanout_; ++i)
      picks[i] = sample_.node_ids[block.indices[row_ * fanout_ + i]];
    ++row_;
  }

 private:
  int64_t fanout_;
  std::vector<int64_t> seeds_;
  std::unique_ptr<sample::Sampler> sampler_;
  sample::Workspace workspace_;
  sample::Sample sample_;
  uint64_t batch_ = 0;
  int64_t row_ = 0;
};

// Floyd's algorithm over words of one stream, with `pick(word, j)` instead of the correct draw from
// [0, j].
test::DrawRow floyd(const Case& c, const std::function<int64_t(uint32_t, int64_t)>& pick) {
  return [=, stream = base::Stream({3, 3}, 3)](int64_t* picks) mutable {
    for (int64_t i = 0; i < c.fanout; ++i) {
      const int64_t j = c.degree - c.fanout + i;
      const int64_t t = pick(stream.next(), j);
      picks[i] = std::find(picks, picks + i, t) == picks + i ? t : j;
    }
  };
}

TEST(Uniformity, TheSamplerPassesAtEveryDegree) {
  for (const Case& c : kCases) {
    SamplerRows rows(c);
    const test::Uniformity found =
        test::measure_uniformity(c.degree, c.fanout, kRows, std::ref(rows));
    EXPECT_TRUE(found.passed()) << c << ": single " << found.single << ", pair " << found.pair
                                << ", distinct " << found.distinct;
  }
}

TEST(Uniformity, TheTestPassesTheRightDraw) {
  for (const Case& c : kCases) {
    const auto right = [](uint32_t word, int64_t j) {
      return static_cast<int64_t>(base::bounded(word, static_cast<uint32_t>(j + 1)));
    };
    EXPECT_TRUE(test::measure_uniformity(c.degree, c.fanout, kRows, floyd(c, right)).passed()) << c;
  }
}

// The bias is 0.8 % at degree 500, which takes more picks per row to detect.
TEST(Uniformity, TheTestRejectsARemainderOfSixteenBits) {
  for (const Case& c : {Case{40000, 25}, Case{500, 40}}) {
    const auto modulo = [](uint32_t word, int64_t j) {
      return static_cast<int64_t>(word & 0xffff) % (j + 1);
    };
    const test::Uniformity found =
        test::measure_uniformity(c.degree, c.fanout, kRows, floyd(c, modulo));
    EXPECT_FALSE(found.passed()) << c << ": single " << found.single << ", pair " << found.pair;
  }
}

// A single neighbor out of d is missing, so hubs do not show it.
TEST(Uniformity, TheTestRejectsADrawThatStopsOneShort) {
  for (const Case& c : kCases) {
    if (c.degree > 500) continue;
    const auto short_of_j = [](uint32_t word, int64_t j) {
      return static_cast<int64_t>(base::bounded(word, static_cast<uint32_t>(j)));
    };
    const test::Uniformity found =
        test::measure_uniformity(c.degree, c.fanout, kRows, floyd(c, short_of_j));
    EXPECT_FALSE(found.passed()) << c << ": single " << found.single << ", pair " << found.pair;
  }
}

// Each neighbor is as likely as the others, but not each pair: a run of neighbors from a random
// one.
TEST(Uniformity, TheTestRejectsPairsThatComeTogether) {
  for (const Case& c : {Case{6, 3}, Case{20, 5}, Case{500, 10}, Case{40000, 25}}) {
    const auto run = [=, stream = base::Stream({4, 4}, 4)](int64_t* picks) mutable {
      const auto first = static_cast<int64_t>(stream.below(c.degree));
      for (int64_t i = 0; i < c.fanout; ++i) picks[i] = (first + i) % c.degree;
    };
    EXPECT_GT(test::measure_uniformity(c.degree, c.fanout, kRows, run).pair, 4.5) << c;
  }
}

TEST(Uniformity, TheTestSeesAPickThatIsThereTwice) {
  EXPECT_FALSE(test::measure_uniformity(20, 5, 1000, [](int64_t* picks) {
                 std::iota(picks, picks + 5, 0);
                 picks[4] = 3;
               }).distinct);
}

// With replacement, picks are independent: counts are multinomial.
TEST(Uniformity, DrawsWithReplacementAreUniformAndIndependent) {
  constexpr int64_t kDegree = 20, kFanout = 5;
  std::vector<int64_t> indptr(kDegree + 1), seeds(kDegree);
  std::vector<int32_t> sources;
  std::iota(seeds.begin(), seeds.end(), 0);
  for (int64_t v = 0; v < kDegree; ++v) {
    indptr[v + 1] = (v + 1) * kDegree;
    for (int64_t i = 0; i < kDegree; ++i) sources.push_back(static_cast<int32_t>(i));
  }
  sample::NeighborConfig config;
  config.fanouts = {kFanout};
  config.replace = true;
  const auto sampler = sample::make_neighbor_sampler(test::graph_of(indptr, sources), config);
  sample::Workspace workspace;
  sample::Sample sample;
  std::vector<double> singles(kDegree), pairs(kDegree * kDegree);
  constexpr int64_t kBatches = kRows / kDegree;
  for (int64_t batch = 0; batch < kBatches; ++batch) {
    sampler->sample(seeds, {1, base::Purpose::kSample, 0, static_cast<uint64_t>(batch)}, workspace,
                    sample, {});
    const sample::BlockView& block = sample.blocks[0];
    for (int64_t row = 0; row < kDegree; ++row) {
      const auto pick = [&](int64_t i) {
        return sample.node_ids[block.indices[row * kFanout + i]];
      };
      for (int64_t i = 0; i < kFanout; ++i) ++singles[pick(i)];
      ++pairs[pick(0) * kDegree + pick(1)];
    }
  }
  const auto chi_square = [](const std::vector<double>& counts) {
    const double mean = std::accumulate(counts.begin(), counts.end(), 0.0) / counts.size();
    double sum = 0;
    for (const double count : counts) sum += (count - mean) * (count - mean) / mean;
    return sum;
  };
  EXPECT_LT(chi_square(singles), 50);  // 19 degrees of freedom
  EXPECT_GT(chi_square(singles), 3);
  EXPECT_LT(chi_square(pairs), 530);  // 399 degrees of freedom
  EXPECT_GT(chi_square(pairs), 285);
}

}  // namespace
}  // namespace gnnmg
