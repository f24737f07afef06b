// The built-in sampler compared with the plain reference, its edge cases and its errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <numeric>

#include "sample/reference.h"
#include "sample/sampler.h"
#include "sample/workspace.h"
#include "support/data.h"
#include "support/sanitized.h"

namespace gnnmg {
namespace {

using base::Tensor;
using sample::BatchKey;
using sample::Expansion;
using sample::NeighborConfig;
using test::graph_of;

constexpr BatchKey kKey{7, base::Purpose::kSample, 1, 5};

void expect_as_reference(const graph::GraphRef& graph, const NeighborConfig& config,
                         std::span<const int64_t> seeds, sample::Workspace& workspace,
                         sample::Sample& sample, const BatchKey& key = kKey) {
  const auto sampler = sample::make_neighbor_sampler(graph, config);
  sampler->sample(seeds, key, workspace, sample, {});
  test::expect_equal(sample, test::reference_sample(graph->csc(), config, seeds, key), config);
}

base::Status status_of(const auto& call, std::string_view part) {
  try {
    call();
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(part));
    return error.status();
  }
  ADD_FAILURE() << "nothing thrown";
  return base::Status::kOk;
}

TEST(Neighbor, EveryOptionFollowsTheDefinition) {
  const graph::GraphRef graph = test::skewed_graph(3000, 40000, 1);
  std::vector<int64_t> seeds(test::kSanitized ? 70 : 700);
  std::iota(seeds.begin(), seeds.end(), 0);
  const std::vector<std::vector<int64_t>> fanouts = {
      {5}, {15, 10, 5}, {-1, -1}, {3, 0, 4}, {0}, {32, 2}, {33, 2}, {100, 1}, {1, 1, 1, 1, 1}};
  sample::Workspace workspace;  // and one sample: a batch must not affect the next one
  sample::Sample sample;
  const int step = test::kSanitized ? 5 : 1;  // both values of every bit
  for (const auto& list : fanouts) {
    for (int bits = 0; bits < 32; bits += step) {
      NeighborConfig config;
      config.fanouts = list;
      config.expansion = bits & 1 ? Expansion::kEveryLayer : Expansion::kOnce;
      config.replace = bits & 2;
      config.edge_ids = bits & 4;
      config.transpose = bits & 8;
      config.transpose_input = bits & 16;
      SCOPED_TRACE(testing::PrintToString(list) + " option bits " + std::to_string(bits));
      expect_as_reference(graph, config, seeds, workspace, sample);
      if (HasFailure()) return;
    }
  }
}

// The sampler for training models that do not read the lists: identical except for these.
TEST(Neighbor, LeavesOutListsOfTheInput) {
  const graph::GraphRef graph = test::skewed_graph(300, 3000, 3);
  const std::vector<int64_t> seeds = {4, 9, 250};
  for (const bool outgoing : {false, true}) {
    NeighborConfig config;
    config.fanouts = {4, 3, 2};
    config.edge_ids = config.transpose = true;
    config.outgoing = outgoing;
    const auto whole = sample::make_neighbor_sampler(graph, config);
    const auto lean = whole->without_input_lists();
    ASSERT_NE(lean, nullptr);
    EXPECT_TRUE(whole->neighbors()->config->transpose_input);
    EXPECT_FALSE(lean->neighbors()->config->transpose_input);
    EXPECT_TRUE(lean->neighbors()->config->transpose);
    EXPECT_EQ(lean->describe(), whole->describe());
    sample::Workspace workspace;
    sample::Sample sample;
    lean->sample(seeds, kKey, workspace, sample, {});
    config.transpose_input = false;
    const graph::Csc csc = *whole->neighbors()->csc;
    test::expect_equal(sample, test::reference_sample(csc, config, seeds, kKey), config);
    EXPECT_EQ(sample.blocks[0].out_indptr, nullptr);
    EXPECT_NE(sample.blocks[1].out_indptr, nullptr);
  }
}

TEST(Neighbor, RepeatedSeedsHaveRowsOfTheirOwnWithTheSameDraws) {
  const graph::GraphRef graph = test::skewed_graph(200, 1000, 2);
  sample::Workspace workspace;
  sample::Sample sample;
  for (const Expansion expansion : {Expansion::kOnce, Expansion::kEveryLayer}) {
    NeighborConfig config;
    config.fanouts = {4, 3};
    config.expansion = expansion;
    config.edge_ids = config.transpose = true;
    const std::vector<int64_t> seeds = {0, 17, 0, 0, 5, 17};
    expect_as_reference(graph, config, seeds, workspace, sample);
    const sample::BlockView& last = sample.blocks.back();
    for (const auto& [a, b] : {std::pair{0, 2}, {0, 3}, {1, 5}}) {
      EXPECT_EQ(std::vector(last.indices + last.indptr[a], last.indices + last.indptr[a + 1]),
                std::vector(last.indices + last.indptr[b], last.indices + last.indptr[b + 1]));
    }
  }
}

// Zeros that take no memory until they are written; undefined if the system has too few addresses.
Tensor endless_zeros(base::DType dtype, int64_t count) {
  const size_t bytes = count * base::dtype_size(dtype);
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return {};
  return Tensor({memory, dtype, {count}},
                std::shared_ptr<void>(memory, [bytes](void* m) { munmap(m, bytes); }));
}

graph::GraphRef graph_of(graph::Csc csc) {
  graph::GraphParts parts;
  parts.num_nodes = {csc.num_targets};
  parts.topology.push_back(std::move(csc));
  return graph::Graph::create(std::move(parts));
}

// A graph with more nodes than 32 bits can number, of which only the last few have edges.
graph::GraphRef graph_of_wide_ids(int64_t num_nodes, int64_t num_active) {
  graph::Csc csc;
  csc.num_sources = csc.num_targets = num_nodes;
  csc.indptr = endless_zeros(base::DType::kI64, num_nodes + 1);
  if (!csc.indptr.defined()) return nullptr;
  const std::span<int64_t> indptr = csc.indptr.as<int64_t>();
  base::Stream stream({4, 4}, 0);
  std::vector<int64_t> sources;
  for (int64_t v = num_nodes - num_active; v < num_nodes; ++v) {
    for (uint64_t i = stream.below(40); i > 0; --i) {
      const int64_t span = stream.below(3) == 0 ? num_nodes : num_active;
      sources.push_back(num_nodes - 1 - static_cast<int64_t>(stream.below(span)));
    }
    indptr[v + 1] = static_cast<int64_t>(sources.size());
  }
  csc.indices = Tensor::copy_of<int64_t>(sources);
  return graph_of(std::move(csc));
}

TEST(Neighbor, IdsOf64BitsFollowTheDefinition) {
  const int64_t num_nodes = (int64_t{1} << 31) + 5000;
  const graph::GraphRef graph = graph_of_wide_ids(num_nodes, 3000);
  GNNMG_NEEDS(graph, "16 GiB of addresses");
  ASSERT_TRUE(graph->csc().wide());
  std::vector<int64_t> seeds = {3, num_nodes - 1, num_nodes - 99, 3};
  for (int64_t v = num_nodes - 700; v < num_nodes - 100; ++v) seeds.push_back(v);
  sample::Workspace workspace;
  sample::Sample sample;
  NeighborConfig config;
  config.fanouts = {10, 8, 6};
  config.edge_ids = config.transpose = true;
  for (const Expansion expansion : {Expansion::kOnce, Expansion::kEveryLayer}) {
    config.expansion = expansion;
    config.draw = sample::Draw::kUniform;
    expect_as_reference(graph, config, seeds, workspace, sample);
    EXPECT_GT(sample.num_nodes(), 3000);
    config.draw = sample::Draw::kLabor;
    expect_as_reference(graph, config, seeds, workspace, sample);
    EXPECT_GT(sample.num_nodes(), 1500);
  }
}

TEST(Neighbor, DegreesEndWhere32BitsEnd) {
  constexpr int64_t kMost = (int64_t{1} << 32) - 1;
  for (const int64_t degree : {kMost, kMost + 1}) {
    graph::Csc csc;
    csc.num_sources = csc.num_targets = 2;
    csc.indptr = Tensor::copy_of<int64_t>(std::vector<int64_t>{0, 1, 1 + degree});
    csc.indices = endless_zeros(base::DType::kI32, degree + 1);
    GNNMG_NEEDS(csc.indices.defined(), "16 GiB of addresses");
    const graph::GraphRef graph = graph_of(std::move(csc));
    NeighborConfig config;
    config.fanouts = {5};
    config.edge_ids = true;
    const std::vector<int64_t> seeds = {0, 1};
    sample::EdgeSink sink;
    if (degree == kMost) {
      sample::Workspace workspace;
      sample::Sample sample;
      expect_as_reference(graph, config, seeds, workspace, sample);
      sample::sample_neighbors(*graph, seeds, 5, true, kKey.hop(0), sink);
      EXPECT_EQ(sink.sources.size(), 10);
      continue;
    }
    EXPECT_EQ(status_of([&] { sample::make_neighbor_sampler(graph, config); },
                        "node 1 has 4294967296 neighbors"),
              base::Status::kUnsupported);
    EXPECT_EQ(status_of([&] { sample::sample_neighbors(*graph, seeds, 5, true, {}, sink); },
                        "node 1 has 4294967296 neighbors"),
              base::Status::kUnsupported);
    EXPECT_EQ(sink.sources.size(), 0);
  }
}

TEST(Neighbor, NoSeedsNoEdgesAndOneNodeAreLegal) {
  sample::Workspace workspace;
  sample::Sample sample;
  NeighborConfig config;
  config.fanouts = {2, -1};
  config.edge_ids = config.transpose = true;
  const std::vector<int64_t> none, one = {0}, loop = {0, 0};
  for (const Expansion expansion : {Expansion::kOnce, Expansion::kEveryLayer}) {
    config.expansion = expansion;
    expect_as_reference(test::skewed_graph(50, 3, 1), config, none, workspace, sample);
    EXPECT_EQ(sample.num_nodes(), 0);
    expect_as_reference(graph_of({0, 0, 0}, {}), config, one, workspace, sample);
    EXPECT_EQ(sample.num_edges_drawn(), 0);
    expect_as_reference(graph_of({0, 4}, {0, 0, 0, 0}), config, loop, workspace, sample);
    EXPECT_EQ(sample.num_nodes(), 2);
  }
}

TEST(Neighbor, OnceSharesOneEdgeSetAndTrims) {
  const graph::GraphRef graph = test::skewed_graph(3000, 100, 3);
  NeighborConfig config;
  config.fanouts = {4, 3, 2};
  sample::Workspace workspace;
  sample::Sample sample;
  const std::vector<int64_t> seeds = {1, 2, 3, 4};
  sample::make_neighbor_sampler(graph, config)->sample(seeds, kKey, workspace, sample, {});
  ASSERT_EQ(sample.stores.size(), 1u);
  for (const sample::BlockView& block : sample.blocks) {
    EXPECT_EQ(block.indptr, sample.stores[0].indptr.data());
    EXPECT_EQ(block.indices, sample.stores[0].indices.data());
  }
  EXPECT_EQ(sample.blocks[2].num_targets, 4);
  EXPECT_EQ(sample.blocks[0].num_sources, sample.num_nodes());
  EXPECT_EQ(sample.num_edges_drawn(), sample.blocks[0].num_edges);
}

TEST(Neighbor, OutgoingFollowsTheEdgesTheOtherWay) {
  const graph::GraphRef graph = test::skewed_graph(500, 300, 4);
  base::ThreadPool pool(1);
  const auto [sources, targets] = graph::coo_of(graph->csc(), pool);
  const graph::Csc reverse = graph::csc_from_coo(targets.view(), sources.view(), 500, 500, pool);
  NeighborConfig config;
  config.fanouts = {6, 4};
  config.edge_ids = config.outgoing = true;
  std::vector<int64_t> seeds(60);
  std::iota(seeds.begin(), seeds.end(), 100);
  sample::Workspace workspace;
  sample::Sample sample;
  sample::make_neighbor_sampler(graph, config)->sample(seeds, kKey, workspace, sample, {});
  test::expect_equal(sample, test::reference_sample(reverse, config, seeds, kKey), config);
  // In terms of the graph: each edge leaves its block's target.
  const auto from = sources.as<int64_t>(), to = targets.as<int64_t>();
  const sample::BlockView& block = sample.blocks[0];
  for (int64_t t = 0; t < block.num_targets; ++t) {
    for (int32_t e = block.indptr[t]; e < block.indptr[t + 1]; ++e) {
      EXPECT_EQ(from[block.edge_ids[e]], sample.node_ids[t]);
      EXPECT_EQ(to[block.edge_ids[e]], sample.node_ids[block.indices[e]]);
    }
  }
}

TEST(Neighbor, DrawsDependOnEveryPartOfTheKeyAndOnNothingElse) {
  const graph::GraphRef graph = test::skewed_graph(1000, 5000, 5);
  NeighborConfig config;
  config.fanouts = {5};
  config.edge_ids = true;
  const auto sampler = sample::make_neighbor_sampler(graph, config);
  sample::Workspace workspace;
  const auto edges_of_hub = [&](const BatchKey& key, std::vector<int64_t> seeds) {
    sample::Sample sample;
    sampler->sample(seeds, key, workspace, sample, {});
    const sample::BlockView& block = sample.blocks[0];
    const int64_t row = std::find(seeds.begin(), seeds.end(), 0) - seeds.begin();
    return std::vector(block.edge_ids + block.indptr[row], block.edge_ids + block.indptr[row + 1]);
  };
  const auto plain = edges_of_hub(kKey, {0});
  EXPECT_EQ(plain, edges_of_hub(kKey, {9, 8, 7, 0, 6}));
  for (int part = 0; part < 4; ++part) {
    BatchKey key = kKey;
    if (part == 0) ++key.seed;
    if (part == 1) ++key.epoch;
    if (part == 2) ++key.batch;
    if (part == 3) key.purpose = base::Purpose::kEvaluationSample;
    EXPECT_NE(plain, edges_of_hub(key, {0})) << part;
  }
}

TEST(Neighbor, OneHopCallGivesTheSamplersPicks) {
  const graph::GraphRef graph = test::skewed_graph(2000, 20000, 6);
  std::vector<int64_t> targets(1500);
  std::iota(targets.begin(), targets.end(), 0);
  targets.push_back(0);
  for (const int64_t fanout : {-1, 0, 3, 32, 50}) {
    for (const bool replace : {false, true}) {
      sample::EdgeSink sink;
      sink.add(std::vector<int64_t>{1}, std::vector<int64_t>{2}, {});
      sample::sample_neighbors(*graph, targets, fanout, replace, kKey.hop(1), sink);
      std::vector<int64_t> sources = {1}, to = {2}, ids = {sample::EdgeSink::kNoId};
      const auto* indptr = static_cast<const int64_t*>(graph->csc().indptr.data());
      for (const int64_t target : targets) {
        for (const int64_t pick : test::reference_picks(
                 kKey.hop(1), target, graph->csc().in_degree(target), fanout, replace)) {
          sources.push_back(graph->csc().source(indptr[target] + pick));
          to.push_back(target);
          ids.push_back(graph->csc().edge_id(indptr[target] + pick));
        }
      }
      EXPECT_EQ(std::vector(sink.sources.begin(), sink.sources.end()), sources);
      EXPECT_EQ(std::vector(sink.targets.begin(), sink.targets.end()), to);
      EXPECT_EQ(std::vector(sink.edge_ids.begin(), sink.edge_ids.end()), ids);
    }
  }
}

TEST(Neighbor, BadArgumentsAreNamed) {
  const graph::GraphRef graph = test::skewed_graph(10, 5, 1);
  const auto create = [&](std::vector<int64_t> fanouts, int32_t edge_type = 0) {
    NeighborConfig config;
    config.fanouts = std::move(fanouts);
    sample::make_neighbor_sampler(graph, config, edge_type);
  };
  using base::Status;
  EXPECT_EQ(status_of([&] { create({}); }, "0 fan-outs, expected 1 to 16"),
            Status::kInvalidArgument);
  EXPECT_EQ(status_of([&] { create(std::vector<int64_t>(17, 1)); }, "17 fan-outs"),
            Status::kInvalidArgument);
  EXPECT_EQ(status_of([&] { create({3, -2}); }, "fan-out 1 is -2, expected -1 (all)"),
            Status::kInvalidArgument);
  EXPECT_EQ(status_of([&] { create({int64_t{1} << 40}); }, "fan-out 0 is 1099511627776"),
            Status::kInvalidArgument);
  EXPECT_EQ(status_of([&] { create({3}, 1); }, "edge type is 1, expected 0 to 0"),
            Status::kInvalidArgument);

  NeighborConfig config;
  config.fanouts = {2};
  const auto sampler = sample::make_neighbor_sampler(graph, config);
  EXPECT_EQ(sampler->num_nodes(), 10);
  sample::Workspace workspace;
  sample::Sample sample;
  for (const int64_t bad : {int64_t{-1}, int64_t{10}, INT64_MAX, INT64_MIN}) {
    const std::vector<int64_t> seeds = {3, bad};
    EXPECT_EQ(status_of([&] { sampler->sample(seeds, kKey, workspace, sample, {}); },
                        "seed 1 is node " + std::to_string(bad) + ", expected 0 to 9"),
              Status::kRange);
    sample::EdgeSink sink;
    EXPECT_EQ(status_of([&] { sample::sample_neighbors(*graph, seeds, 1, false, {}, sink); },
                        "target 1 is node " + std::to_string(bad)),
              Status::kRange);
  }
  const std::vector<int64_t> seeds = {3, 4};
  base::CancelToken cancel;
  cancel.cancel();
  EXPECT_EQ(status_of([&] { sampler->sample(seeds, kKey, workspace, sample, cancel); }, "sampling"),
            Status::kCancelled);
  sampler->sample(seeds, kKey, workspace, sample, {});  // unaffected by the error before
  test::expect_equal(sample, test::reference_sample(graph->csc(), config, seeds, kKey), config);
}

TEST(Neighbor, EdgeTypesBetweenTwoNodeTypesAreRefused) {
  graph::GraphParts parts;
  parts.schema.node_types = {"paper", "author"};
  parts.schema.edge_types = {{0, 0, "cites"}, {1, 0, "writes"}};
  parts.num_nodes = {2, 3};
  for (const int64_t sources : {2, 3}) {
    graph::Csc csc;
    csc.num_sources = sources;
    csc.num_targets = 2;
    csc.indptr = Tensor::copy_of<int64_t>(std::vector<int64_t>{0, 1, 2});
    csc.indices = Tensor::copy_of<int32_t>(std::vector<int32_t>{1, 0});
    parts.topology.push_back(csc);
  }
  const graph::GraphRef graph = graph::Graph::create(std::move(parts));
  NeighborConfig config;
  config.fanouts = {2};
  EXPECT_EQ(sample::make_neighbor_sampler(graph, config, 0)->num_nodes(), 2);
  EXPECT_EQ(status_of([&] { sample::make_neighbor_sampler(graph, config, 1); }, "'writes'"),
            base::Status::kInvalidArgument);
}

// A table of 2^12 slots has stamps of 20 bits; a large one soon runs out of them.
TEST(NarrowTable, ForgetsWithEachBatchAlsoWhenTheStampsRunOut) {
  sample::NarrowTable table;
  table.begin();
  table.reserve(int64_t{1} << 21, {});  // 2^22 slots: stamps of 10 bits
  for (uint32_t batch = 0; batch < 2500; ++batch) {
    table.begin();
    for (uint32_t i = 0; i < 50; ++i) ASSERT_EQ(table.find(batch * 7 + i), -1);
    for (uint32_t i = 0; i < 50; ++i) ASSERT_EQ(table.put(batch * 7 + i, i), i);
    for (uint32_t i = 0; i < 50; ++i) ASSERT_EQ(table.put(batch * 7 + i, 99), i);
    for (uint32_t i = 0; i < 50; ++i) ASSERT_EQ(table.find(batch * 7 + i), i);
  }
}

template <typename Table>
class IdTable : public testing::Test {};
using Tables = testing::Types<sample::NarrowTable, sample::WideTable>;
TYPED_TEST_SUITE(IdTable, Tables);

TYPED_TEST(IdTable, KeepsNumbersWhenItGrows) {
  TypeParam table;
  for (int batch = 0; batch < 3; ++batch) {
    table.begin();
    std::vector<int64_t> nodes = {5, 9, 5};  // a repeated seed keeps its first number
    table.reserve(3, {});
    EXPECT_EQ(table.put(5, 0), 0u);
    EXPECT_EQ(table.put(9, 1), 1u);
    EXPECT_EQ(table.put(5, 2), 0u);
    for (uint32_t i = 3; i < 20000; ++i) {
      table.reserve(i + 1, nodes);
      ASSERT_EQ(table.put(i * 4096u + 77, i), i);
      nodes.push_back(i * 4096u + 77);
    }
    for (uint32_t i = 3; i < 20000; ++i) ASSERT_EQ(table.put(i * 4096u + 77, 0), i);
    EXPECT_EQ(table.find(5), 0);
    EXPECT_EQ(table.find(4), -1);
  }
}

}  // namespace
}  // namespace gnnmg
