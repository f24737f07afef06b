// The steps of the partitioner one by one: clusters, their graph, moves, dealing of rows, quality.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "graph/generate.h"
#include "partition/cluster.h"
#include "partition/contract.h"
#include "partition/graphs.h"
#include "partition/moves.h"
#include "partition/quality.h"
#include "partition/refine.h"
#include "partition/small.h"

namespace gnnmg {
namespace {

using namespace partition;
using namespace partition_test;
using ::testing::Each;
using ::testing::ElementsAre;

graph::Csc rmat_csc(int32_t scale, int64_t num_edges) {
  base::ThreadPool pool(1);
  graph::RmatConfig config;
  config.scale = scale;
  config.num_edges = num_edges;
  return graph::rmat(config, pool)->csc();
}

TEST(Clusters, AreTheCliquesWhereTheyFit) {
  const graph::Csc csc = csc_of(200, ring_of_cliques(10, 20));
  const CscRows rows(csc, {});
  const auto labels = cluster(rows, {{20, 1000, 0}, 5, 3}, {});
  for (int64_t v = 0; v < 200; ++v) EXPECT_EQ(labels[v], labels[v % 10]) << v;
}

TEST(Clusters, HoldNoMoreThanTheirLimit) {
  const graph::Csc csc = rmat_csc(12, 60000);
  const auto train = each_of(0, 1000);
  const CscRows rows(csc, train);
  const Load limit{50, 800, 20};
  const auto labels = cluster(rows, {limit, 5, 1}, {});
  std::map<uint32_t, Load> loads;
  for (int64_t v = 0; v < rows.size(); ++v) loads[labels[v]] += rows.weight(v);
  EXPECT_LT(loads.size(), 2000u);
  for (const auto& [label, load] : loads)
    EXPECT_TRUE(load.within(limit) || load.nodes == 1) << label;
}

TEST(Contraction, CountsEveryEdgeBetweenClustersOnce) {
  const graph::Csc csc = rmat_csc(10, 20000);
  const auto train = each_of(0, 1024, 5);
  const CscRows rows(csc, train);
  auto places = cluster(rows, {{30, 2000, 30}, 4, 0}, {});
  const auto labels = places;
  const SmallGraph graph = contract(rows, {{30, 2000, 30}}, {}, places);
  std::map<std::pair<uint32_t, uint32_t>, int64_t> expected;
  for (int64_t v = 0; v < rows.size(); ++v)
    rows.for_each(v, [&](uint32_t u, int64_t) {
      if (labels[u] == labels[v]) return;
      ++expected[{places[u], places[v]}];
      ++expected[{places[v], places[u]}];
    });
  size_t found = 0;
  for (int64_t c = 0; c < graph.size(); ++c)
    graph.for_each(c, [&](uint32_t d, int64_t weight) {
      ++found;
      EXPECT_EQ(weight, (expected[{static_cast<uint32_t>(c), d}]));
    });
  EXPECT_EQ(found, expected.size());
  EXPECT_EQ(total_of(graph), total_of(rows));

  // The same for the small graph: equal edges between groups of clusters.
  std::vector<uint32_t> groups(graph.size());
  for (size_t c = 0; c < groups.size(); ++c) groups[c] = static_cast<uint32_t>(c % 7);
  const SmallGraph again = contract(graph, {{0, 0, 0}}, {}, groups);
  int64_t between = 0;
  for (const auto& [pair, weight] : expected)
    between += pair.first % 7 != pair.second % 7 ? weight : 0;
  int64_t sum = 0;
  for (const uint32_t weight : again.weights) sum += weight;
  EXPECT_EQ(sum, between);
}

TEST(Contraction, PacksWhatHasNoEdges) {
  const graph::Csc csc = csc_of(100, {});
  const CscRows rows(csc, {});
  auto places = cluster(rows, {{30, 1, 1}, 2, 0}, {});
  const SmallGraph graph = contract(rows, {{30, 1, 1}}, {}, places);
  ASSERT_EQ(graph.size(), 4);
  EXPECT_EQ(graph.loads[0].nodes, 30);
  EXPECT_EQ(graph.loads[3].nodes, 10);
}

TEST(Contraction, KeepsTheHeaviestPairsInLittleMemory) {
  Pairs pairs;
  for (int64_t v = 0; v < 400; ++v)
    for (int64_t i = 0; i < 20; ++i) pairs.add(v, (v * 7 + i * 13) % 400);  // light
  for (int64_t v = 0; v < 400; v += 2)
    for (int i = 0; i < 50; ++i) pairs.add(v, v + 1);  // heavy
  const graph::Csc csc = csc_of(400, pairs);
  const CscRows rows(csc, {});
  std::vector<uint32_t> places(400);
  for (uint32_t v = 0; v < 400; ++v) places[v] = v;
  const SmallGraph graph = contract(rows, {{0, 0, 0}, 1000}, {}, places);
  EXPECT_LE(graph.ends.size(), 2000u);
  for (int64_t v = 0; v < 400; v += 2) {
    bool kept = false;
    graph.for_each(places[v], [&](uint32_t u, int64_t) { kept |= u == places[v + 1]; });
    EXPECT_TRUE(kept) << v;
  }
}

TEST(Moves, FindTheTwoHalvesAndNeverGoBeyondTheGoal) {
  const graph::Csc csc = csc_of(80, ring_of_cliques(2, 40));
  const CscRows rows(csc, {});
  std::vector<uint32_t> places(80);
  for (uint32_t v = 0; v < 80; ++v) places[v] = v;
  const SmallGraph graph = contract(rows, {{1, 1 << 20, 1}}, {}, places);
  const Load goal = goal_of(total_of(graph), {1.1, 1.1, 1.1}, 2);
  std::vector<uint16_t> start(80);
  for (size_t v = 0; v < start.size(); ++v) start[v] = v % 3 == 0;
  Parts parts(graph, start, 2);
  EXPECT_GT(parts.excess(goal), 0);
  rebalance(graph, goal, 1, parts);
  EXPECT_EQ(parts.excess(goal), 0);
  improve(graph, goal, 1, {}, parts);
  EXPECT_EQ(parts.excess(goal), 0);
  EXPECT_LE(cut_of(graph, partition_small(graph, 2, goal, 1, {})), 4);
}

TEST(Dealing, IsEvenInAllThree) {
  const graph::Csc csc = rmat_csc(11, 40000);
  const auto train = each_of(0, 300);
  const CscRows rows(csc, train);
  const Load largest = largest_of(rows);
  for (const int32_t parts : {2, 7, 64, 3000}) {
    const auto loads = loads_of(rows, dealt(rows, parts, {}), parts);
    const auto spread = [&](auto field) {
      int64_t least = loads[0].*field, most = loads[0].*field;
      for (const Load& load : loads) {
        least = std::min(least, load.*field);
        most = std::max(most, load.*field);
      }
      return most - least;
    };
    EXPECT_LE(spread(&Load::nodes), 1);
    EXPECT_LE(spread(&Load::train), 1);
    EXPECT_LE(spread(&Load::edges), largest.edges);
  }
}

TEST(QualityOfParts, CountsByHand) {
  Pairs pairs;
  pairs.add(0, 1);
  pairs.add(0, 1);
  pairs.add(2, 1);
  pairs.add(3, 3);
  const graph::Csc csc = csc_of(4, pairs);
  const std::vector<int64_t> train = {1, 3};
  const std::vector<uint16_t> parts = {0, 1, 1, 0};
  const Quality quality = quality_of(CscRows(csc, train), parts, 2, {});
  EXPECT_THAT(quality.loads, ElementsAre(Load{2, 1, 1}, Load{2, 3, 1}));
  EXPECT_THAT(quality.cut_edges, ElementsAre(0, 2));
  EXPECT_EQ(quality.cut, 0.5);
  EXPECT_EQ(quality.node_balance, 1);
  EXPECT_EQ(quality.edge_balance, 1.5);
  const Quality empty = quality_of(CscRows(csc_of(0, {}), {}), {}, 3, {});
  EXPECT_EQ(empty.cut, 0);
  EXPECT_EQ(empty.node_balance, 1);
}

}  // namespace
}  // namespace gnnmg
