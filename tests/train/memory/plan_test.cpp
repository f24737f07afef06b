// The memory that training on a GPU is planned to take, for sizes chosen here.
#include "train/memory/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "graph/generate.h"

namespace gnnmg::train {
namespace {

using loader::FeaturePlacement;
using loader::GraphPlacement;

// The request of a mini-batch of the products-shaped graph.
MemoryRequest request() {
  MemoryRequest r;
  r.num_nodes = 2449029;
  r.graph = 514'000'000;
  r.feature_row = 400;
  r.features = r.num_nodes * r.feature_row;
  r.can_cache = true;
  r.sampler = 300'000'000;
  r.copied = 100'000'000;
  r.rows = 900'000'000;
  r.pass = 4'000'000'000;
  r.evaluation = 5'000'000'000;
  r.parameters = r.optimizer = 2'000'000;
  r.reserve = kUsualReserve;
  return r;
}

int place(const MemoryPlan& plan) {
  return 10 * static_cast<int>(plan.graph_placement) + static_cast<int>(plan.feature_placement);
}

TEST(MemoryPlan, AddsUpItsParts) {
  const MemoryPlan plan = plan_memory(request(), 80'000'000'000);
  EXPECT_TRUE(plan.fits);
  EXPECT_EQ(plan.graph_placement, GraphPlacement::kDevice);
  EXPECT_EQ(plan.feature_placement, FeaturePlacement::kDevice);
  EXPECT_EQ(plan.rows, 0) << "a table of all rows is read in place";
  EXPECT_EQ(plan.pinned, 0);
  EXPECT_EQ(plan.total, plan.graph + plan.features + plan.sampler + plan.evaluation +
                            plan.parameters + plan.optimizer + plan.reserve);
  MemoryRequest gathers = request();
  gathers.placement.gather = true;
  EXPECT_EQ(plan_memory(gathers, 80'000'000'000).total, plan.total + gathers.rows);
}

// Everything is on the device at first, only the indispensable at the end, and never more than fits
// where that can be avoided.
TEST(MemoryPlan, GivesWayAsMemoryShrinks) {
  int last = 11;
  bool cached = false, pinned = false;
  for (int64_t memory = 80'000'000'000; memory > 0; memory -= 50'000'000) {
    const MemoryPlan plan = plan_memory(request(), memory);
    EXPECT_EQ(plan.fits, plan.total <= memory);
    if (plan.graph_placement == GraphPlacement::kDevice) {
      EXPECT_EQ(plan.pinned,
                plan.feature_placement == FeaturePlacement::kDevice ? 0 : request().features);
    }
    if (plan.feature_placement == FeaturePlacement::kCached) {
      cached = true;
      EXPECT_GT(plan.num_cached, 0);
      EXPECT_LE(plan.num_cached * 400, memory * 3 / 10);
    }
    pinned = pinned || plan.graph_placement == GraphPlacement::kPinned;
    if (plan.fits) last = place(plan);
  }
  EXPECT_TRUE(cached);
  EXPECT_TRUE(pinned);
  EXPECT_NE(last, 11);
}

TEST(MemoryPlan, TakesPlacementsAsAsked) {
  MemoryRequest r = request();
  r.placement.graph = GraphPlacement::kHost;
  r.placement.features = FeaturePlacement::kCached;
  r.placement.cache_bytes = 4'000'000;
  const MemoryPlan plan = plan_memory(r, 80'000'000'000);
  EXPECT_EQ(plan.graph, 0);
  EXPECT_EQ(plan.sampler, r.copied);
  EXPECT_EQ(plan.num_cached, 10'000);
  EXPECT_EQ(plan.features, 4'000'000 + 4 * r.num_nodes);
  EXPECT_EQ(plan.rows, r.rows);
  EXPECT_EQ(plan.pinned, r.features);
}

TEST(MemoryPlan, NamesPartsAndRemedies) {
  const MemoryPlan plan = plan_memory(request(), 1'000'000'000);
  EXPECT_FALSE(plan.fits);
  EXPECT_THAT(list_parts(plan), testing::HasSubstr("an evaluation, between steps 5000000000"));
  EXPECT_THAT(remedies(plan), testing::HasSubstr("evaluation to sampled"));
  MemoryRequest r = request();
  r.evaluation = 0;
  EXPECT_THAT(remedies(plan_memory(r, 1'000'000'000)), testing::HasSubstr("batch_size"));
  r.pass = r.rows = r.sampler = 1;
  r.placement.features = FeaturePlacement::kDevice;
  EXPECT_THAT(remedies(plan_memory(r, 1'000'000'000)), testing::HasSubstr("cached or pinned"));
}

graph::GraphRef some_graph() {
  base::ThreadPool pool;
  graph::LogNormalConfig config;
  config.num_nodes = 900;
  config.num_features = config.num_classes = 0;
  return graph::log_normal(config, pool);
}

// Against the plain way: all degrees sorted.
TEST(DegreeCounts, BoundEdgesByTheNodesThatHaveMost) {
  const graph::GraphRef graph = some_graph();
  const graph::Csc& csc = graph->csc();
  std::vector<int64_t> degrees;
  for (int64_t t = 0; t < csc.num_targets; ++t) degrees.push_back(csc.in_degree(t));
  std::sort(degrees.begin(), degrees.end(), std::greater<>());
  const DegreeCounts counts(csc);
  EXPECT_EQ(counts.largest(), degrees[0]);
  for (const int64_t fanout : {-1, 0, 1, 5, 40, 1000})
    for (const int64_t rows : {0, 1, 7, 300, 900, 5000}) {
      int64_t expected = 0;
      for (int64_t i = 0; i < std::min<int64_t>(rows, 900); ++i)
        expected += fanout < 0 ? degrees[i] : std::min(degrees[i], fanout);
      EXPECT_EQ(counts.most_edges(rows, fanout), expected) << fanout << " of " << rows;
    }
}

TEST(BatchBounds, HoldForSamples) {
  const graph::GraphRef graph = some_graph();
  const DegreeCounts counts(graph->csc());
  for (const std::vector<int64_t>& fanouts : {std::vector<int64_t>{3}, {-1, 2}, {4, 0, 5}, {2, -1}})
    for (int options = 0; options < 4; ++options) {
      sample::NeighborConfig config;
      config.fanouts = fanouts;
      config.expansion = options % 2 ? sample::Expansion::kOnce : sample::Expansion::kEveryLayer;
      config.replace = options / 2;
      const auto sampler = sample::make_neighbor_sampler(graph, config);
      for (const int64_t count : {1, 20, 400}) {
        const std::vector<nn::LayerBounds> bounds = batch_bounds(config, counts, 900, count);
        std::vector<int64_t> seeds(count);
        for (int64_t i = 0; i < count; ++i) seeds[i] = i * 2;
        sample::Workspace workspace;
        sample::Sample found;
        sampler->sample(seeds, {.seed = 3}, workspace, found, {});
        ASSERT_EQ(found.blocks.size(), bounds.size());
        for (size_t l = 0; l < bounds.size(); ++l) {
          EXPECT_LE(found.blocks[l].num_targets, bounds[l].targets);
          EXPECT_LE(found.blocks[l].num_sources, bounds[l].sources);
          EXPECT_LE(found.blocks[l].num_edges, bounds[l].edges);
        }
      }
    }
}

}  // namespace
}  // namespace gnnmg::train
