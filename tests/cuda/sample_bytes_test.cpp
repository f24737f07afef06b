// The planned and the real memory of a sampler.
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

// A sampler takes as much memory as planned.
TEST(PlannedSampler, TakesItsBytes) {
  const graph::GraphRef graph = some_graph();
  for (const auto& fanouts : std::vector<std::vector<int64_t>>{{3}, {4, 2}, {5, 0, 3}, {40, 2}})
    for (int options = 0; options < 64; ++options)
      for (const int64_t batches : {1, 3}) {
        NeighborConfig config;
        config.fanouts = fanouts;
        config.expansion = options % 2 ? Expansion::kOnce : Expansion::kEveryLayer;
        config.transpose = options / 2 % 2;
        config.edge_ids = options / 4 % 2;
        config.replace = options / 8 % 2;
        const bool pad = options / 16 % 2;
        config.transpose_input = options / 32;
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
