// Layers of padded mini-batches: up to the true counts the CPU's sample, behind them nothing that a
// layer could stumble over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/generate.h"
#include "sample/device_shape.h"
#include "sample_support.h"

namespace gnnmg::cuda {
namespace {

using sample::Expansion;
using sample::NeighborConfig;

graph::GraphRef some_graph() {
  base::ThreadPool pool;
  graph::LogNormalConfig config;
  config.num_nodes = 900;
  config.num_features = config.num_classes = 0;
  return log_normal(config, pool);
}

// Lists of nodes [0, count) as the CPU has them, without targets of other layers, and empty ones up
// to the bound.
void expect_lists(const int32_t* pointers, const int32_t* found, int64_t count, int64_t bound,
                  const int32_t* expected_pointers, const int32_t* expected, int64_t num_targets) {
  ASSERT_LE(count, bound);
  ASSERT_EQ(pointers[0], 0);
  for (int64_t n = 0; n < bound; ++n) {
    const std::vector<int32_t> list(found + pointers[n], found + pointers[n + 1]);
    std::vector<int32_t> wanted;
    if (n < count)
      std::copy_if(expected + expected_pointers[n], expected + expected_pointers[n + 1],
                   std::back_inserter(wanted), [&](int32_t id) { return id < num_targets; });
    ASSERT_EQ(list, wanted) << "of " << n << ", " << count << " of at most " << bound;
  }
}

void check(const graph::GraphRef& graph, const NeighborConfig& config, uint32_t seed) {
  const Batches batches({{1, 2, 3, 2}, {}, {8, 899, 400, 401, 77}}, 6,
                        static_cast<int>(config.fanouts.size()));
  HostQueue queue(seed);
  OnQueue on(queue, graph->csc(), config, 6, 4);
  sample::DeviceBatches padded = batches.view();
  padded.pad = true;
  on.sample(padded);  // takes what padding wants besides
  const int64_t taken = queue.device.num_allocations, bytes = on.bytes();
  const sample::DeviceSample& view = on.sample(padded);
  EXPECT_EQ(queue.device.num_allocations, taken);
  EXPECT_EQ(on.bytes(), bytes);
  const auto sampler = sample::make_neighbor_sampler(graph, config);
  sample::Workspace workspace;
  sample::Sample expected;
  for (int64_t m = 0; m < 3; ++m) {
    sampler->sample(batches.seed_lists[m], batches.batch_keys[m], workspace, expected, {});
    const int64_t* ids = view.node_ids + m * view.node_stride;
    for (int64_t n = 0; n < view.node_stride; ++n)
      ASSERT_EQ(ids[n], n < expected.num_nodes() ? expected.node_ids[n] : 0);
    for (int32_t l = 0; l < view.num_layers; ++l) {
      const sample::DeviceLayer& layer = view.layers[l];
      const sample::BlockView& block = expected.blocks[l];
      EXPECT_EQ(view.num_edges[m * view.num_layers + l], block.num_edges);
      EXPECT_LE(block.num_edges, layer.max_edges);
      EXPECT_LE(layer.max_sources, view.node_stride);
      const int32_t* indices = layer.indices + m * layer.edge_stride;
      expect_lists(layer.indptr + m * layer.indptr_stride, indices, block.num_targets,
                   layer.max_targets, block.indptr, block.indices, INT32_MAX);
      if (config.transpose)
        expect_lists(layer.out_indptr + m * layer.out_indptr_stride,
                     layer.out_targets + m * layer.edge_stride, block.num_sources,
                     layer.max_sources, block.out_indptr, block.out_targets, block.num_targets);
      // Layers fit together: what one gives is what the next one reads.
      if (l > 0) {
        EXPECT_EQ(layer.max_sources, view.layers[l - 1].max_targets);
      }
    }
  }
}

TEST(PaddedLayers, IsTheCpusAndEmptyBehind) {
  const graph::GraphRef graph = some_graph();
  for (const auto& fanouts : std::vector<std::vector<int64_t>>{{3}, {4, 2}, {5, 0, 3}, {40, 2}})
    for (const Expansion expansion : {Expansion::kOnce, Expansion::kEveryLayer})
      for (const bool transpose : {false, true})
        for (const uint32_t seed : {0u, 1u, 7u}) {
          NeighborConfig config;
          config.fanouts = fanouts;
          config.expansion = expansion;
          config.transpose = transpose;
          check(graph, config, seed);
          if (testing::Test::HasFatalFailure()) return;
        }
}

// What is planned for a sampler is what it takes.
TEST(PlannedSampler, TakesItsBytes) {
  const graph::GraphRef graph = some_graph();
  for (const auto& fanouts : std::vector<std::vector<int64_t>>{{3}, {4, 2}, {5, 0, 3}, {40, 2}})
    for (int options = 0; options < 32; ++options)
      for (const int64_t batches : {1, 3}) {
        NeighborConfig config;
        config.fanouts = fanouts;
        config.expansion = options % 2 ? Expansion::kOnce : Expansion::kEveryLayer;
        config.transpose = options / 2 % 2;
        config.edge_ids = options / 4 % 2;
        config.replace = options / 8 % 2;
        const bool pad = options / 16 % 2;
        const sample::SampleShape shape =
            sample::shape_of(config, graph->csc().num_targets, graph->num_edges(), 50, batches);
        HostQueue queue;
        OnQueue on(queue, graph->csc(), config, 50, static_cast<int32_t>(batches));
        const Batches seeds({{1, 2, 3}}, 50, static_cast<int>(fanouts.size()));
        sample::DeviceBatches call = seeds.view();
        call.pad = pad;
        on.sample(call);
        EXPECT_EQ(on.bytes(), sample::sampler_bytes(config, shape, 50, batches, pad))
            << options << ", " << batches << " mini-batches";
      }
}

}  // namespace
}  // namespace gnnmg::cuda
