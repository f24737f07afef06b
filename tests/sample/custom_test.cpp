// Custom samplers: the built-in sampler rebuilt by the one-hop call, edges in any order, and the
// errors for wrong functions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <thread>

#include "sample/reference.h"
#include "sample/sampler.h"

namespace gnnmg {
namespace {

using sample::BatchKey;
using sample::EdgeSink;
using sample::LayerRequest;

void expect_same(const sample::Sample& a, const sample::Sample& b) {
  const auto vector = [](const auto* data, int64_t count) {
    return std::vector<int64_t>(data, data + count);
  };
  ASSERT_EQ(vector(a.node_ids.data(), a.num_nodes()), vector(b.node_ids.data(), b.num_nodes()));
  ASSERT_EQ(a.hop_ends, b.hop_ends);
  ASSERT_EQ(a.blocks.size(), b.blocks.size());
  for (size_t i = 0; i < a.blocks.size(); ++i) {
    const sample::BlockView &x = a.blocks[i], &y = b.blocks[i];
    ASSERT_EQ(x.num_targets, y.num_targets);
    ASSERT_EQ(x.num_sources, y.num_sources);
    ASSERT_EQ(x.num_edges, y.num_edges);
    EXPECT_EQ(vector(x.indptr, x.num_targets + 1), vector(y.indptr, y.num_targets + 1));
    EXPECT_EQ(vector(x.indices, x.num_edges), vector(y.indices, y.num_edges));
    EXPECT_EQ(vector(x.edge_ids, x.num_edges), vector(y.edge_ids, y.num_edges));
    EXPECT_EQ(vector(x.out_indptr, x.num_sources + 1), vector(y.out_indptr, y.num_sources + 1));
    EXPECT_EQ(vector(x.out_targets, x.num_edges), vector(y.out_targets, y.num_edges));
  }
}

// DGL's multi-layer sampler is one-hop sampling for all nodes found so far, layer after layer.
TEST(CustomSampler, OneHopCallsRebuildTheMultiLayerSampler) {
  const graph::GraphRef graph = test::skewed_graph(4000, 30000, 1);
  sample::NeighborConfig config;
  config.fanouts = {4, 4, 4};
  config.expansion = sample::Expansion::kEveryLayer;
  config.edge_ids = config.transpose = true;
  const auto built_in = sample::make_neighbor_sampler(graph, config);
  const auto custom = sample::make_custom_sampler(
      graph, 3, true, true, [&](const LayerRequest& request, EdgeSink& sink) {
        sample::sample_neighbors(*graph, request.targets, 4, false, request.key, sink);
      });
  EXPECT_EQ(custom->num_layers(), 3);
  EXPECT_EQ(custom->num_nodes(), 4000);
  // Several threads, as in the ranks of a process.
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      sample::Workspace workspace;
      sample::Sample a, b;
      for (int64_t batch = t; batch < 40; batch += 4) {
        std::vector<int64_t> seeds(64);
        std::iota(seeds.begin(), seeds.end(), batch * 64);
        if (batch % 3 == 0) seeds[9] = seeds[5] = seeds[60];
        const BatchKey key{11, base::Purpose::kSample, 2, static_cast<uint64_t>(batch)};
        built_in->sample(seeds, key, workspace, a, {});
        custom->sample(seeds, key, workspace, b, {});
        expect_same(a, b);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(CustomSampler, LeavesOutListsOfTheInput) {
  const graph::GraphRef graph = test::skewed_graph(400, 3000, 1);
  const auto whole = sample::make_custom_sampler(
      graph, 2, true, true, [&](const LayerRequest& request, EdgeSink& sink) {
        sample::sample_neighbors(*graph, request.targets, 4, false, request.key, sink);
      });
  const auto lean = whole->without_input_lists();
  ASSERT_NE(lean, nullptr);
  sample::Workspace workspace;
  sample::Sample a, b;
  const std::vector<int64_t> seeds = {1, 2, 3};
  whole->sample(seeds, {5}, workspace, a, {});
  lean->sample(seeds, {5}, workspace, b, {});
  EXPECT_EQ(b.blocks[0].out_indptr, nullptr);
  EXPECT_EQ(b.blocks[0].out_targets, nullptr);
  b.blocks[0].out_indptr = a.blocks[0].out_indptr;
  b.blocks[0].out_targets = a.blocks[0].out_targets;
  expect_same(a, b);
}

TEST(CustomSampler, TellsTheFunctionWhatItSamplesFor) {
  const graph::GraphRef graph = test::skewed_graph(100, 10, 1);
  std::vector<LayerRequest> requests;
  std::vector<std::vector<int64_t>> targets;
  const auto sampler = sample::make_custom_sampler(
      graph, 2, false, false, [&](const LayerRequest& request, EdgeSink& sink) {
        requests.push_back(request);
        targets.emplace_back(request.targets.begin(), request.targets.end());
        if (request.layer == 0)
          sink.add(std::vector<int64_t>{50, 51}, std::vector<int64_t>{7, 7}, {});
      });
  sample::Workspace workspace;
  sample::Sample sample;
  const BatchKey key{3, base::Purpose::kSample, 4, 5};
  const base::CancelToken cancel;
  const std::vector<int64_t> seeds = {7, 8, 7};
  sampler->sample(seeds, key, workspace, sample, cancel);
  ASSERT_EQ(requests.size(), 2u);
  for (int layer = 0; layer < 2; ++layer) {
    EXPECT_EQ(requests[layer].epoch, 4u);
    EXPECT_EQ(requests[layer].batch, 5u);
    EXPECT_EQ(requests[layer].layer, layer);
    EXPECT_EQ(requests[layer].key, key.hop(layer));
    EXPECT_EQ(requests[layer].cancel, &cancel);
  }
  EXPECT_EQ(targets[0], (std::vector<int64_t>{7, 8}));
  EXPECT_EQ(targets[1], (std::vector<int64_t>{7, 8, 50, 51}));
  EXPECT_EQ(sample.blocks[1].num_edges, 4);  // includes the row of the repeated seed again
  EXPECT_EQ(sample.blocks[0].num_edges, 0);
  EXPECT_EQ(sample.blocks[0].num_targets, 5);
}

TEST(CustomSampler, EdgesMayComeInAnyOrder) {
  const graph::GraphRef graph = test::skewed_graph(100, 10, 1);
  const auto sampler =
      sample::make_custom_sampler(graph, 1, true, false, [](const LayerRequest&, EdgeSink& sink) {
        sink.add(std::vector<int64_t>{30, 31, 1}, std::vector<int64_t>{2, 1, 2},
                 std::vector<int64_t>{5, 6, 7});
        sink.add(std::vector<int64_t>{31, 30}, std::vector<int64_t>{2, 1},
                 std::vector<int64_t>{8, 9});
      });
  sample::Workspace workspace;
  sample::Sample sample;
  const std::vector<int64_t> seeds = {1, 2};
  sampler->sample(seeds, {}, workspace, sample, {});
  const sample::BlockView& block = sample.blocks[0];
  EXPECT_EQ(std::vector(sample.node_ids.begin(), sample.node_ids.end()),
            (std::vector<int64_t>{1, 2, 31, 30}));
  EXPECT_EQ(std::vector(block.indptr, block.indptr + 3), (std::vector<int32_t>{0, 2, 5}));
  EXPECT_EQ(std::vector(block.indices, block.indices + 5), (std::vector<int32_t>{2, 3, 3, 0, 2}));
  EXPECT_EQ(std::vector(block.edge_ids, block.edge_ids + 5), (std::vector<int64_t>{6, 9, 5, 7, 8}));
}

TEST(CustomSampler, WrongEdgesAreNamedAndFunctionsMayThrow) {
  const graph::GraphRef graph = test::skewed_graph(100, 10, 1);
  const int64_t num_edges = graph->num_edges();
  sample::Workspace workspace;
  sample::Sample sample;
  const std::vector<int64_t> seeds = {7, 8};
  const auto message = [&](sample::LayerFunction function, base::Status expected) -> std::string {
    try {
      sample::make_custom_sampler(graph, 2, true, false, std::move(function))
          ->sample(seeds, {}, workspace, sample, {});
    } catch (const base::Error& error) {
      EXPECT_EQ(error.status(), expected);
      return error.what();
    }
    return "nothing thrown";
  };
  const auto edge = [&](int64_t source, int64_t target, int64_t id, int layer = 0) {
    return [=](const LayerRequest& request, EdgeSink& sink) {
      sink.add(std::vector<int64_t>{1, layer == request.layer ? source : 1},
               std::vector<int64_t>{7, layer == request.layer ? target : 7},
               std::vector<int64_t>{0, layer == request.layer ? id : 0});
    };
  };
  using base::Status;
  using testing::HasSubstr;
  EXPECT_THAT(message(edge(100, 7, 0), Status::kCallback),
              HasSubstr("layer 0: edge 1 comes from node 100, expected 0 to 99"));
  EXPECT_THAT(message(edge(-1, 7, 0, 1), Status::kCallback),
              HasSubstr("layer 1: edge 1 comes from node -1"));
  EXPECT_THAT(message(edge(5, 9, 0), Status::kCallback),
              HasSubstr("layer 0: edge 1 goes to node 9, which is not among the targets"));
  EXPECT_THAT(message(edge(5, int64_t{1} << 32 | 7, 0), Status::kCallback),
              HasSubstr("goes to node 4294967303"));
  EXPECT_THAT(message(edge(5, 7, num_edges), Status::kCallback),
              HasSubstr("edge 1 has edge id " + std::to_string(num_edges)));
  EXPECT_THAT(message(edge(5, 7, -1), Status::kCallback), HasSubstr("edge 1 has edge id -1"));
  EXPECT_THAT(message(
                  [](const LayerRequest&, EdgeSink& sink) {
                    sink.add(std::vector<int64_t>{1, 2}, std::vector<int64_t>{7, 8}, {});
                  },
                  Status::kCallback),
              HasSubstr("edge 0 came without an edge id"));
  EXPECT_THAT(message(
                  [](const LayerRequest&, EdgeSink& sink) {
                    sink.add(std::vector<int64_t>{1, 2}, std::vector<int64_t>{1}, {});
                  },
                  Status::kInvalidArgument),
              HasSubstr("1 targets, expected 2"));
  EXPECT_THAT(message([](const LayerRequest&,
                         EdgeSink&) { base::fail(Status::kAborted, "as the function says"); },
                      Status::kAborted),
              HasSubstr("as the function says"));

  // Edge ids are not checked if they are not requested.
  const auto sampler = sample::make_custom_sampler(graph, 2, false, false, edge(5, 7, -1));
  sampler->sample(seeds, {}, workspace, sample, {});
  EXPECT_EQ(sample.blocks[1].num_edges, 2);
  EXPECT_EQ(sample.blocks[1].edge_ids, nullptr);

  for (const int layers : {0, 17})
    EXPECT_THROW(sample::make_custom_sampler(graph, layers, false, false, edge(1, 1, 1)),
                 base::Error);
  EXPECT_THROW(sample::make_custom_sampler(graph, 1, false, false, nullptr), base::Error);
}

TEST(CustomSampler, NoSeedsMeanNoCall) {
  const graph::GraphRef graph = test::skewed_graph(100, 10, 1);
  const auto sampler = sample::make_custom_sampler(
      graph, 2, true, true, [](const LayerRequest&, EdgeSink&) { FAIL() << "called"; });
  sample::Workspace workspace;
  sample::Sample sample;
  sampler->sample({}, {}, workspace, sample, {});
  EXPECT_EQ(sample.num_nodes(), 0);
  EXPECT_EQ(sample.blocks.size(), 2u);
  EXPECT_EQ(sample.blocks[0].indptr[0], 0);
}

}  // namespace
}  // namespace gnnmg
