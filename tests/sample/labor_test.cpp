// LABOR compared with its definition: known answers of Random123, every kernel of this machine, and
// whole samples; the probability of neighbors and pairs of them; and the smaller number of nodes in
// mini-batches.
#include "sample/labor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "graph/generate.h"
#include "sample/draw.h"
#include "sample/reference.h"
#include "sample/sampler.h"
#include "support/sanitized.h"

namespace gnnmg {
namespace {

using sample::Draw;
using sample::NeighborConfig;

TEST(Labor, NumbersAreThoseOfRandom123) {
  EXPECT_EQ(sample::labor_number({0, 0}, 0), 0x257a3673u);
  EXPECT_EQ(sample::labor_number({0xffffffffu, 0}, ~uint64_t{0}), 0xab302c4du);
  EXPECT_EQ(sample::labor_number({0xffffffffu, 0xffffffffu}, 0xffffffffu), 0xab302c4du);
}

TEST(Labor, ThresholdsAreTheShareOfTwoToThe32) {
  EXPECT_EQ(sample::labor_threshold(1, 2), 1u << 31);
  EXPECT_EQ(sample::labor_threshold(10, 30), 1431655765u);
  EXPECT_EQ(sample::labor_threshold(0, 7), 0u);
  EXPECT_EQ(sample::labor_threshold((int64_t{1} << 32) - 2, (int64_t{1} << 32) - 1), 0xfffffffeu);
}

TEST(Labor, KernelsFollowTheDefinition) {
  base::Stream stream({4, 4}, 4);
  std::vector<int32_t> sources(sample::kKeepAtOnce);
  std::vector<uint32_t> kept(sources.size());
  for (int round = 0; round < 300; ++round) {
    const base::Key key{stream.next(), stream.next()};
    const uint32_t threshold = stream.next() >> stream.below(20);
    for (int32_t& source : sources) source = static_cast<int32_t>(stream.next() >> 1);
    const int count = round < 100 ? round : static_cast<int>(stream.below(sources.size() + 1));
    // Sources at any address.
    const int32_t* first = sources.data() + (sources.size() - static_cast<size_t>(count));
    std::vector<uint32_t> expected;
    for (int i = 0; i < count; ++i)
      if (sample::labor_number(key, static_cast<uint64_t>(first[i])) < threshold)
        expected.push_back(static_cast<uint32_t>(i));
    for (const sample::NamedKernel& kernel : sample::lane_kernels()) {
      const int num_kept = kernel.keep(key.data(), first, count, threshold, kept.data());
      ASSERT_EQ(std::vector(kept.begin(), kept.begin() + num_kept), expected)
          << kernel.name << ", " << count << " sources";
    }
  }
}

TEST(Labor, EveryOptionFollowsTheDefinition) {
  const graph::GraphRef graph = test::skewed_graph(3000, 40000, 1);
  std::vector<int64_t> seeds(test::kSanitized ? 70 : 700);
  std::iota(seeds.begin(), seeds.end(), 0);
  seeds.push_back(3);  // repeated
  const sample::BatchKey key{7, base::Purpose::kSample, 1, 5};
  sample::Workspace workspace;
  sample::Sample found;
  for (const auto& fanouts :
       std::vector<std::vector<int64_t>>{{5}, {15, 10, 5}, {-1, 3}, {3, 0, 4}, {300, 2}}) {
    for (int bits = 0; bits < 16; bits += test::kSanitized ? 5 : 1) {
      NeighborConfig config;
      config.fanouts = fanouts;
      config.draw = bits & 1 ? Draw::kLaborOnce : Draw::kLabor;
      config.expansion = bits & 2 ? sample::Expansion::kEveryLayer : sample::Expansion::kOnce;
      config.edge_ids = bits & 4;
      config.transpose = bits & 8;
      SCOPED_TRACE(testing::PrintToString(fanouts) + " option bits " + std::to_string(bits));
      sample::make_neighbor_sampler(graph, config)->sample(seeds, key, workspace, found, {});
      test::expect_equal(found, test::reference_sample(graph->csc(), config, seeds, key), config);
      if (HasFailure()) return;
    }
  }
}

TEST(Labor, DoesNotGoWithReplacement) {
  NeighborConfig config;
  config.fanouts = {2};
  config.draw = Draw::kLabor;
  config.replace = true;
  EXPECT_THROW(sample::make_neighbor_sampler(test::skewed_graph(10, 5, 1), config), base::Error);
}

// Mini-batches of one row each: every neighbor is as frequent as the others, every pair of
// neighbors as frequent as an independent pair, and the mean number of picks is k.
TEST(Labor, NeighborsAreEquallyLikelyAndIndependent) {
  constexpr int64_t kBatches = test::kSanitized ? 6'000 : 60'000;
  for (const auto& [degree, fanout] : {std::pair<int64_t, int64_t>{2, 1}, {20, 5}, {300, 10}}) {
    std::vector<int64_t> indptr(static_cast<size_t>(degree) + 1, degree);
    indptr[0] = 0;
    std::vector<int32_t> sources(static_cast<size_t>(degree));
    std::iota(sources.begin(), sources.end(), 0);
    NeighborConfig config;
    config.fanouts = {fanout};
    config.draw = Draw::kLabor;
    const auto sampler = sample::make_neighbor_sampler(test::graph_of(indptr, sources), config);
    sample::Workspace workspace;
    sample::Sample sample;
    std::vector<double> single(sources.size()), pair(sources.size());
    double picks = 0;
    const std::vector<int64_t> seed = {0};
    for (int64_t b = 0; b < kBatches; ++b) {
      sampler->sample(seed, {3, base::Purpose::kSample, 0, static_cast<uint64_t>(b)}, workspace,
                      sample, {});
      const sample::BlockView& block = sample.blocks[0];
      picks += static_cast<double>(block.num_edges);
      std::vector<char> kept(sources.size());
      for (int64_t e = 0; e < block.num_edges; ++e) kept[sample.node_ids[block.indices[e]]] = 1;
      for (size_t i = 0; i < kept.size(); ++i) {
        single[i] += kept[i];
        pair[i] += kept[i] && kept[(i + 1) % kept.size()];
      }
    }
    const double n = kBatches, p = static_cast<double>(fanout) / static_cast<double>(degree);
    // Returns the chi-square of independent counts as a normal deviate.
    const auto deviate = [n](const std::vector<double>& counts, double chance) {
      double sum = 0;
      for (const double count : counts)
        sum += std::pow(count - n * chance, 2) / (n * chance * (1 - chance));
      const auto freedom = static_cast<double>(counts.size());
      return (sum - freedom) / std::sqrt(2 * freedom);
    };
    EXPECT_LT(std::abs(deviate(single, p)), 4.5) << degree;
    // A pair shares a neighbor with the next one, which increases the sum's deviation by less than
    // half.
    EXPECT_LT(std::abs(deviate(pair, p * p)), 6.5) << degree;
    const double k = static_cast<double>(fanout);
    EXPECT_LT(std::abs(picks / n - k), 4.5 * std::sqrt(k * (1 - p) / n)) << degree;
  }
}

// The purpose of LABOR.
TEST(Labor, MiniBatchesHaveAsManyEdgesOfFewerNodes) {
  base::ThreadPool pool;
  graph::LogNormalConfig shape;
  shape.num_nodes = 20'000;
  shape.num_features = 0;
  const graph::GraphRef graph = graph::log_normal(shape, pool);
  std::vector<int64_t> seeds(256);
  std::iota(seeds.begin(), seeds.end(), 1000);
  sample::Workspace workspace;
  sample::Sample sample;
  const auto measure = [&](Draw draw, int64_t& nodes, int64_t& edges) {
    NeighborConfig config;
    config.fanouts = {10, 10};
    config.draw = draw;
    const auto sampler = sample::make_neighbor_sampler(graph, config);
    nodes = edges = 0;
    for (uint64_t b = 0; b < 10; ++b) {
      sampler->sample(seeds, {1, base::Purpose::kSample, 0, b}, workspace, sample, {});
      nodes += sample.num_nodes();
      edges += sample.blocks[1].num_edges;  // edges of the seeds
    }
  };
  int64_t nodes[3], edges[3];
  for (const Draw draw : {Draw::kUniform, Draw::kLabor, Draw::kLaborOnce})
    measure(draw, nodes[static_cast<int>(draw)], edges[static_cast<int>(draw)]);
  EXPECT_LT(nodes[1], 0.8 * static_cast<double>(nodes[0]));
  EXPECT_LT(nodes[2], nodes[1]);
  EXPECT_NEAR(static_cast<double>(edges[1]), static_cast<double>(edges[0]),
              0.03 * static_cast<double>(edges[0]));
  std::printf(
      "[ FIGURE   ] nodes of ten mini-batches: %lld uniform, %lld LABOR, %lld with one number\n",
      static_cast<long long>(nodes[0]), static_cast<long long>(nodes[1]),
      static_cast<long long>(nodes[2]));
}

}  // namespace
}  // namespace gnnmg
