// Whole samples of the GPU's sampler on the host's implementation, equal to the CPU's array by
// array.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "graph/generate.h"
#include "graph/transform.h"
#include "sample_support.h"

namespace gnnmg::cuda {
namespace {

using device::Placement;
using sample::Expansion;
using sample::NeighborConfig;

constexpr uint32_t kOrders[] = {0, 1, 2, 7, 12345};

graph::GraphRef from_arrays(const std::vector<int64_t>& indptr,
                            const std::vector<int32_t>& sources) {
  base::ThreadPool pool;
  graph::GraphParts parts;
  const int64_t num_nodes = static_cast<int64_t>(indptr.size()) - 1;
  parts.num_nodes = {num_nodes};
  parts.topology.push_back(graph::csc_from_arrays(base::Tensor::copy_of<int64_t>(indptr),
                                                  base::Tensor::copy_of<int32_t>(sources), {},
                                                  num_nodes, pool));
  return graph::Graph::create(std::move(parts));
}

// Isolated nodes, self-loops, repeated edges, a node that all edges lead to.
graph::GraphRef odd_graph() {
  std::vector<int64_t> indptr = {0};
  std::vector<int32_t> sources;
  base::Stream stream({8, 8}, 0);
  for (int32_t v = 0; v < 300; ++v) {
    const int kind = v % 5;
    if (v == 7)
      for (int32_t u = 0; u < 300; ++u) sources.push_back(u);
    else if (kind == 1)
      sources.insert(sources.end(), 3, v);
    else if (kind == 2)
      sources.insert(sources.end(), 45, (v * 7) % 300);
    else if (kind > 2)
      for (uint64_t i = stream.below(40); i > 0; --i)
        sources.push_back(static_cast<int32_t>(stream.below(300)));
    indptr.push_back(static_cast<int64_t>(sources.size()));
  }
  return from_arrays(indptr, sources);
}

std::vector<std::pair<std::string, graph::GraphRef>> five_graphs() {
  base::ThreadPool pool;
  graph::PlantedPartitionConfig planted;
  planted.num_nodes = 3000;
  planted.num_features = 1;
  graph::RmatConfig rmat;
  rmat.scale = 11;
  rmat.num_edges = 30000;
  graph::LogNormalConfig hubs;
  hubs.num_nodes = 4000;
  hubs.num_features = hubs.num_classes = 0;
  graph::ErdosRenyiConfig random;
  random.num_nodes = 2500;
  random.num_edges = 20000;
  return {{"planted", planted_partition(planted, pool)},
          {"R-MAT", graph::rmat(rmat, pool)},
          {"log-normal", log_normal(hubs, pool)},
          {"Erdos-Renyi", erdos_renyi(random, pool)},
          {"odd", odd_graph()}};
}

std::vector<std::vector<int64_t>> random_seeds(base::Stream& stream, int64_t num_nodes,
                                               int64_t batches, int64_t most) {
  std::vector<std::vector<int64_t>> lists(batches);
  for (auto& list : lists) {
    list.resize(stream.below(most + 1));
    // Few nodes, so that some are repeated.
    for (int64_t& seed : list) seed = static_cast<int64_t>(stream.below(num_nodes / 7 + 1) * 6);
    for (int64_t& seed : list) seed = std::min(seed, num_nodes - 1);
  }
  return lists;
}

int check_call(OnQueue& on, const graph::GraphRef& graph, const NeighborConfig& config,
               const Batches& batches, bool on_host) {
  const auto sampler = sample::make_neighbor_sampler(graph, config);
  sample::Workspace workspace;
  sample::Sample expected;
  const sample::DeviceSample& view = on.sample(batches.view(on_host));
  for (size_t m = 0; m < batches.seed_lists.size(); ++m) {
    sampler->sample(batches.seed_lists[m], batches.batch_keys[m], workspace, expected, {});
    expect_same(on.read(view, static_cast<int32_t>(m)), expected, config);
  }
  return static_cast<int>(batches.seed_lists.size());
}

TEST(DeviceNeighbor, IsTheCpusSampleOnFiveGraphs) {
  const std::vector<std::vector<int64_t>> lists = {
      {15, 10, 5}, {4, 3}, {-1, -1},  {3, 0, 4},  {32, 2},        {33, 5},
      {100, 1},    {0},    {1, 1, 1}, {5, -1, 2}, {2000000000, 2}};
  int mini_batches = 0;
  base::Stream stream({1, 2}, 0);
  for (const auto& [name, graph] : five_graphs()) {
    for (const auto& fanouts : lists) {
      for (int bits = 0; bits < 4; ++bits) {
        NeighborConfig config;
        config.fanouts = fanouts;
        config.expansion = bits & 1 ? Expansion::kEveryLayer : Expansion::kOnce;
        config.replace = bits & 2;
        config.edge_ids = stream.below(2) == 0;
        config.transpose = stream.below(2) == 0;
        config.transpose_input = stream.below(2) == 0;
        if (config.replace && fanouts[0] > 1000) continue;  // too many picks
        SCOPED_TRACE(name + " " + testing::PrintToString(fanouts) + " bits " +
                     std::to_string(bits));
        const int64_t num_batches = 1 + static_cast<int64_t>(stream.below(16));
        const bool pinned = stream.below(2) == 0;
        Twin queue(kOrders[stream.below(5)]);
        {
          OnQueue on(queue, graph->csc(), config, 30, 16,
                     pinned ? Placement::kPinned : Placement::kDevice);
          for (const int64_t batches : {num_batches, int64_t{1}}) {
            mini_batches +=
                check_call(on, graph, config,
                           Batches(random_seeds(stream, graph->num_nodes(), batches, 30), 30,
                                   static_cast<int>(fanouts.size())),
                           stream.below(2) == 0);
            if (testing::Test::HasFailure()) return;
          }
        }
        EXPECT_EQ(queue.device.num_live, 0);
        EXPECT_TRUE(queue.pinned.adopted.empty());
      }
    }
  }
  EXPECT_GE(mini_batches, 1000);
}

TEST(DeviceNeighbor, LaborIsTheCpusSample) {
  base::Stream stream({1, 6}, 0);
  int mini_batches = 0;
  for (const auto& [name, graph] : five_graphs()) {
    for (const auto& fanouts :
         std::vector<std::vector<int64_t>>{{15, 10, 5}, {-1, 2}, {3, 0, 4}, {33, 5}, {2000, 1}}) {
      for (int bits = 0; bits < 4; ++bits) {
        NeighborConfig config;
        config.fanouts = fanouts;
        config.draw = bits & 1 ? sample::Draw::kLaborOnce : sample::Draw::kLabor;
        config.expansion = bits & 2 ? Expansion::kEveryLayer : Expansion::kOnce;
        config.edge_ids = stream.below(2) == 0;
        config.transpose = stream.below(2) == 0;
        SCOPED_TRACE(name + " " + testing::PrintToString(fanouts) + " bits " +
                     std::to_string(bits));
        Twin queue(kOrders[stream.below(5)]);
        OnQueue on(queue, graph->csc(), config, 30, 16);
        for (const int64_t batches : {int64_t{5}, int64_t{1}})
          mini_batches +=
              check_call(on, graph, config,
                         Batches(random_seeds(stream, graph->num_nodes(), batches, 30), 30, config),
                         stream.below(2) == 0);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
  EXPECT_GE(mini_batches, 500);
}

TEST(DeviceNeighbor, IsTheSameInEveryOrder) {
  const graph::GraphRef graph = odd_graph();
  base::Stream stream({3, 4}, 0);
  for (const auto& fanouts : std::vector<std::vector<int64_t>>{{12, 7}, {-1, 6}, {40, 3}}) {
    for (const Expansion expansion : {Expansion::kOnce, Expansion::kEveryLayer}) {
      NeighborConfig config;
      config.fanouts = fanouts;
      config.expansion = expansion;
      config.edge_ids = config.transpose = true;
      config.transpose_input = fanouts[0] == 12;
      const Batches batches(random_seeds(stream, 300, 5, 40), 50, 2);
      for (const uint32_t order : kOrders) {
        Twin queue(order);
        OnQueue on(queue, graph->csc(), config, 40, 5);
        check_call(on, graph, config, batches, false);
        ASSERT_FALSE(testing::Test::HasFailure()) << "order " << order;
      }
    }
  }
}

TEST(DeviceNeighbor, FollowsOutgoingEdgesOfTheReversedGraph) {
  const graph::GraphRef graph = odd_graph();
  base::ThreadPool pool;
  NeighborConfig config;
  config.fanouts = {6, 4};
  config.outgoing = config.edge_ids = true;
  base::Stream stream({5, 6}, 0);
  Twin queue(2);
  OnQueue on(queue, graph::reversed(graph->csc(), pool), config, 20, 3);
  check_call(on, graph, config, Batches(random_seeds(stream, 300, 3, 20), 20, 2), true);
}

TEST(DeviceNeighbor, SmallestGraphs) {
  for (const auto& graph :
       {from_arrays({0, 0}, {}), from_arrays({0, 1}, {0}), from_arrays({0, 0, 0, 0, 0, 0}, {})}) {
    for (const int64_t fanout : {-1, 0, 3, 50}) {
      for (int bits = 0; bits < 2; ++bits) {
        NeighborConfig config;
        config.fanouts = {fanout, fanout};
        config.expansion = bits ? Expansion::kEveryLayer : Expansion::kOnce;
        config.edge_ids = config.transpose = true;
        Twin queue(7);
        OnQueue on(queue, graph->csc(), config, 4, 3);
        check_call(on, graph, config, Batches({{0, 0}, {}, {0}}, 4, 2), false);
        check_call(on, graph, config, Batches({{}}, 4, 2), true);
      }
    }
  }
}

TEST(DeviceNeighbor, NeitherWaitsNorAllocatesOnceItRuns) {
  const graph::GraphRef graph = odd_graph();
  base::Stream stream({9, 9}, 0);
  for (int bits = 0; bits < 8; ++bits) {
    NeighborConfig config;
    config.fanouts = {40, 5, 2};
    config.expansion = bits & 1 ? Expansion::kEveryLayer : Expansion::kOnce;
    config.replace = bits & 2;
    config.edge_ids = config.transpose = true;
    config.transpose_input = bits & 4;
    Twin queue(2);
    OnQueue on(queue, graph->csc(), config, 20, 4);
    const int64_t waits = queue.num_synchronizations, taken = queue.device.num_allocations;
    const int64_t bytes = on.bytes();
    EXPECT_GT(bytes, 20 * 4 * 8);
    for (int i = 0; i < 5; ++i)
      on.sample(Batches(random_seeds(stream, 300, 1 + i % 4, 20), 20, 3).view(i % 2 == 0));
    EXPECT_EQ(queue.num_synchronizations, waits);
    EXPECT_EQ(queue.device.num_allocations, taken);
    EXPECT_EQ(on.bytes(), bytes);
  }
}

// Hops before the first with all neighbors are bounded.
TEST(DeviceNeighbor, WaitsOnceAMeasuredHop) {
  const graph::GraphRef graph = odd_graph();
  for (const int64_t first : {0, 1, 2})
    for (const auto expansion : {sample::Expansion::kOnce, sample::Expansion::kEveryLayer}) {
      NeighborConfig config;
      config.fanouts = {5, 4, 3};
      config.fanouts[first] = -1;
      config.expansion = expansion;
      config.transpose = true;
      config.transpose_input = first != 1;
      Twin queue;
      OnQueue on(queue, graph->csc(), config, 20, 2);
      const Batches batches({{1, 2, 3, 4}, {8}}, 20, 3);
      for (int call = 0; call < 2; ++call) on.sample(batches.view());  // buffers grow
      const int64_t waits = queue.num_synchronizations, taken = queue.device.num_allocations;
      on.sample(batches.view());
      EXPECT_EQ(queue.num_synchronizations, waits + 3 - first);
      EXPECT_EQ(queue.device.num_allocations, taken);
      check_call(on, graph, config, batches, false);
      check_call(on, graph, config, Batches({{7, 7, 9}, {1, 2, 3, 4, 5, 6}}, 20, 3), false);
    }
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

TEST(DeviceNeighbor, FailedAllocationsLeaveAllAsItWas) {
  const graph::GraphRef graph = odd_graph();
  for (const auto& fanouts : std::vector<std::vector<int64_t>>{{40, 3}, {-1, -1, 2}}) {
    for (const Placement placement : {Placement::kDevice, Placement::kPinned}) {
      NeighborConfig config;
      config.fanouts = fanouts;
      config.edge_ids = config.transpose = true;
      const Batches batches({{1, 2, 3, 4, 7, 7}, {9, 7}}, 20, static_cast<int>(fanouts.size()));
      // Opening and creation.
      int64_t failures = 0;
      for (bool failed = true; failed; ++failures) {
        Twin queue;
        queue.device.fail_after = failures;
        try {
          OnQueue on(queue, graph->csc(), config, 20, 2, placement);
          queue.device.fail_after = -1;
          failed = false;
        } catch (const base::Error& error) {
          EXPECT_EQ(error.status(), base::Status::kNoMemory);
        }
        EXPECT_EQ(queue.device.num_live, 0);
        EXPECT_TRUE(queue.pinned.adopted.empty());
      }
      EXPECT_GT(failures, 10);
      // Sampling of measured hops, which allocate.
      for (int64_t after = 0, failed = 1; failed != 0; ++after) {
        Twin queue;
        OnQueue on(queue, graph->csc(), config, 20, 2, placement);
        queue.device.fail_after = after;
        failed = 0;
        try {
          on.sample(batches.view());
        } catch (const base::Error& error) {
          EXPECT_EQ(error.status(), base::Status::kNoMemory);
          failed = 1;
        }
        queue.device.fail_after = -1;
        check_call(on, graph, config, batches, false);
        ASSERT_FALSE(testing::Test::HasFailure()) << "allocation " << after;
        if (!failed && fanouts[0] == -1) {
          EXPECT_GT(after, 8);
        }
      }
    }
  }
  // Pinning of each of the arrays.
  for (int64_t array = 0; array < 2; ++array) {
    Twin queue;
    NeighborConfig config;
    config.fanouts = {2};
    queue.pinned.fail_after = array;
    EXPECT_EQ(status_of([&] { OnQueue(queue, graph->csc(), config, 2, 1, Placement::kPinned); },
                        "no memory to pin a graph's array"),
              base::Status::kNoMemory);
    EXPECT_TRUE(queue.pinned.adopted.empty());
  }
}

TEST(DeviceNeighbor, PinsAGraphOnce) {
  const graph::GraphRef graph = odd_graph();
  NeighborConfig config;
  config.fanouts = {2};
  Twin first, second;
  {
    OnQueue a(first, graph->csc(), config, 2, 1, Placement::kPinned);
    EXPECT_EQ(first.pinned.adopted.size(), 2u);
    {
      OnQueue b(second, graph->csc(), config, 2, 1, Placement::kPinned);
      EXPECT_TRUE(second.pinned.adopted.empty());
      EXPECT_EQ(first.device.num_live, second.device.num_live);
    }
    EXPECT_EQ(first.pinned.adopted.size(), 2u);
    check_call(a, graph, config, Batches({{7, 9}}, 2, 1), false);
  }
  EXPECT_TRUE(first.pinned.adopted.empty());
  // Memory that its owner has pinned is read in place and stays pinned.
  const base::Tensor& indices = graph->csc().indices;
  first.pinned.pin_by_owner(indices.data(), indices.view().num_bytes());
  {
    OnQueue c(first, graph->csc(), config, 2, 1, Placement::kPinned);
    EXPECT_EQ(first.pinned.num_live, 0);
    EXPECT_EQ(first.pinned.adopted, std::set<void*>{graph->csc().indptr.data()});
    check_call(c, graph, config, Batches({{7, 9}}, 2, 1), false);
  }
  EXPECT_TRUE(first.pinned.adopted.empty());
  // Partly pinned and small memory is copied.
  first.pinned.foreign.clear();
  first.pinned.pin_by_owner(indices.data(), 64);
  for (const int64_t least : {0, 1 << 20}) {
    first.pinned.adopts_from = least;
    OnQueue c(first, graph->csc(), config, 2, 1, Placement::kPinned);
    EXPECT_EQ(first.pinned.num_live, least == 0 ? 1 : 2);
    EXPECT_EQ(first.pinned.adopted.size(), least == 0 ? 1u : 0u);
    check_call(c, graph, config, Batches({{7, 9}}, 2, 1), false);
  }
  EXPECT_EQ(first.pinned.num_live, 0);
}

TEST(DeviceNeighbor, BadSeeds) {
  const graph::GraphRef graph = odd_graph();
  for (const int64_t fanout : {-1, 3}) {
    for (const Expansion expansion : {Expansion::kOnce, Expansion::kEveryLayer}) {
      NeighborConfig config;
      config.fanouts = {fanout, fanout};
      config.expansion = expansion;
      Twin queue(1);
      OnQueue on(queue, graph->csc(), config, 4, 2);
      const Batches bad({{1, 2}, {7, 300, -1, 9}}, 4, 2);
      EXPECT_EQ(status_of([&] { on.sample(bad.view(true)); },
                          "seed 1 of mini-batch 1 is node 300, expected 0 to 299"),
                base::Status::kRange);
      const sample::DeviceSample& view = on.sample(bad.view());
      EXPECT_EQ(status_of([&] { on.read(view, 0); }, "seed 1 of mini-batch 1 is no node"),
                base::Status::kRange);
      // Every id in the sample is a node, and the rows of bad seeds are empty.
      const int64_t end = view.hop_ends[2 * 3 - 1];
      for (int64_t i = 0; i < end; ++i) {
        EXPECT_GE(view.node_ids[view.node_stride + i], 0);
        EXPECT_LT(view.node_ids[view.node_stride + i], 300);
      }
      const sample::DeviceLayer& layer = view.layers[1];
      const int32_t* indptr = layer.indptr + layer.indptr_stride;
      EXPECT_GT(indptr[1], 0);
      EXPECT_EQ(indptr[1], indptr[2]);
      EXPECT_EQ(indptr[2], indptr[3]);
      Batches many({{1, 2}, {7, 7, 7, 7}}, 4, 2);
      many.num_seeds[1] = 5;
      EXPECT_EQ(status_of([&] { on.read(on.sample(many.view()), 0); },
                          "seed 4 of mini-batch 1 is no node or one too many"),
                base::Status::kRange);
      EXPECT_EQ(status_of([&] { on.sample(many.view(true)); },
                          "mini-batch 1 has 5 seeds, expected 0 to 4"),
                base::Status::kRange);
      check_call(on, graph, config, Batches({{1, 2}, {7, 9}}, 4, 2), false);
    }
  }
}

TEST(DeviceNeighbor, RefusesWhatDoesNotFit) {
  const graph::GraphRef graph = odd_graph();
  Twin queue;
  const auto make = [&](std::vector<int64_t> fanouts, int64_t seeds, int32_t batches) {
    NeighborConfig config;
    config.fanouts = std::move(fanouts);
    OnQueue(queue, graph->csc(), config, seeds, batches);
  };
  using base::Status;
  EXPECT_EQ(status_of([&] { make({}, 1, 1); }, "0 fan-outs, expected 1 to 16"),
            Status::kInvalidArgument);
  EXPECT_EQ(status_of([&] { make({3, -2}, 1, 1); }, "fan-out 1 is -2"), Status::kInvalidArgument);
  EXPECT_EQ(status_of([&] { make({3}, 0, 1); }, "1 mini-batches of 0 seeds"),
            Status::kInvalidArgument);
  EXPECT_EQ(status_of([&] { make({3}, int64_t{1} << 30, 4); }, "sample fewer mini-batches"),
            Status::kRange);
  graph::Csc wide = graph->csc();
  wide.indices = base::Tensor::zeros(base::DType::kI64, {wide.num_edges()});
  EXPECT_EQ(status_of([&] { sample::csc_for_device(wide, false); }, "sample it on the CPU"),
            Status::kUnsupported);
  graph::Csc two = graph->csc();
  two.num_sources = 400;
  EXPECT_EQ(status_of([&] { sample::csc_for_device(two, false); }, "nodes of one type"),
            Status::kInvalidArgument);
  const sample::HostCsc csc = sample::csc_for_device(graph->csc(), true);
  EXPECT_EQ(sample::graph_bytes(csc), 301 * 8 + csc.num_edges * 4);
  EXPECT_EQ(queue.device.num_live, 0);

  // Fan-out with replacement gives more than 2^31 picks, which is known only after measuring.
  NeighborConfig config;
  config.fanouts = {2000000000};
  config.replace = true;
  OnQueue on(queue, graph->csc(), config, 4, 2);
  EXPECT_EQ(status_of([&] { on.sample(Batches({{7, 1}, {9}}, 4, 1).view()); },
                      "take smaller mini-batches or fan-outs"),
            Status::kRange);
  check_call(on, graph, config, Batches({{0, 5}}, 4, 1), false);
}

}  // namespace
}  // namespace gnnmg::cuda
