// Padded mini-batches: kernels that run over the bounds find only padding beyond the counts.
#include <algorithm>

#include "graph/generate.h"
#include "sample_support.h"

namespace gnnmg::cuda {
namespace {

using sample::DeviceLayer;
using sample::Expansion;
using sample::NeighborConfig;

class PaddedSample : public testing::TestWithParam<uint32_t> {
 protected:
  static graph::GraphRef make_graph() {
    base::ThreadPool pool;
    graph::RmatConfig config;
    config.scale = 9;
    config.num_edges = 4000;
    return graph::rmat(config, pool);
  }
  const graph::GraphRef graph_ = make_graph();
};

void expect_zeros(const auto* values, int64_t first, int64_t last, const char* what) {
  for (int64_t i = first; i < last; ++i) ASSERT_EQ(values[i], 0) << what << " " << i;
}

void expect_padded(const sample::DeviceSample& sample, int32_t m) {
  const int32_t* ends = sample.hop_ends + m * (sample.num_layers + 1);
  expect_zeros(sample.node_ids + m * sample.node_stride, ends[sample.num_layers],
               sample.node_stride, "node");
  for (int32_t i = 0; i < sample.num_layers; ++i) {
    const DeviceLayer& layer = sample.layers[i];
    const int32_t* indptr = layer.indptr + m * layer.indptr_stride;
    const bool listed = layer.out_indptr != nullptr;  // expect_same() needs to know
    const int64_t begin = m * layer.edge_stride;
    EXPECT_LE(ends[layer.hop], layer.max_targets);
    EXPECT_LE(ends[layer.hop + 1], layer.max_sources);
    EXPECT_LT(layer.max_targets, layer.indptr_stride);
    EXPECT_LE(layer.max_sources, sample.node_stride);
    const int32_t edges = indptr[ends[layer.hop]];
    EXPECT_LE(edges, layer.max_edges);
    EXPECT_EQ(edges, sample.num_edges[m * sample.num_layers + i]);
    for (int64_t t = ends[layer.hop]; t < layer.indptr_stride; ++t) ASSERT_EQ(indptr[t], edges);
    for (int32_t e = 0; e < edges; ++e) {
      ASSERT_LT(layer.indices[begin + e], ends[layer.hop + 1]);
    }
    expect_zeros(layer.indices + begin, edges, layer.edge_stride, "source");
    expect_zeros(layer.edge_ids + begin, edges, layer.edge_stride, "edge id");
    if (!listed) continue;
    const int32_t* out_indptr = layer.out_indptr + m * layer.out_indptr_stride;
    EXPECT_LT(layer.max_sources, layer.out_indptr_stride);
    for (int64_t s = ends[layer.hop + 1]; s < layer.out_indptr_stride; ++s)
      ASSERT_EQ(out_indptr[s], edges);
    for (int32_t e = 0; e < edges; ++e) ASSERT_LT(layer.out_targets[begin + e], ends[layer.hop]);
    expect_zeros(layer.out_targets + begin, edges, layer.edge_stride, "target");
  }
}

TEST_P(PaddedSample, HoldsNothingBeyondItsCounts) {
  for (const auto& fanouts : std::vector<std::vector<int64_t>>{{5, 3}, {0, 4}, {3, 2, 40}, {7}})
    for (const Expansion expansion : {Expansion::kOnce, Expansion::kEveryLayer})
      for (const int bits : {0, 1, 2, 3}) {
        NeighborConfig config;
        config.fanouts = fanouts;
        config.expansion = expansion;
        config.replace = bits & 1;
        config.edge_ids = config.transpose = true;
        config.transpose_input = bits & 2;
        const auto sampler = sample::make_neighbor_sampler(graph_, config);
        Twin queue(GetParam());
        OnQueue on(queue, graph_->csc(), config, 20, 4);
        // Large ones first, so that smaller ones find old contents; one without a seed.
        const std::vector<std::vector<int64_t>> lists[] = {
            {{1, 9, 400, 33, 2, 2, 511}, {0, 300, 7}, {5}, {100, 200, 300, 400}},
            {{7}, {}, {3, 4}},
            {{2, 2}}};
        for (const auto& seeds : lists) {
          const Batches batches(seeds, 20, static_cast<int>(fanouts.size()));
          sample::DeviceBatches padded = batches.view();
          padded.pad = true;
          const sample::DeviceSample& view = on.sample(padded);
          for (int32_t m = 0; m < padded.num_batches; ++m) {
            sample::Workspace workspace;
            sample::Sample expected;
            sampler->sample(seeds[m], batches.batch_keys[m], workspace, expected, {});
            expect_same(on.read(view, m), expected, config, true);
            expect_padded(view, m);
            if (testing::Test::HasFatalFailure()) return;
          }
        }
      }
}

TEST_P(PaddedSample, NeedsBounds) {
  NeighborConfig config;
  config.fanouts = {3, -1};
  Twin queue(GetParam());
  OnQueue on(queue, graph_->csc(), config, 4, 1);
  const Batches batches({{1, 2}}, 4, 2);
  sample::DeviceBatches padded = batches.view();
  padded.pad = true;
  try {
    on.sample(padded);
    ADD_FAILURE() << "padded without bounds";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.status(), base::Status::kUnsupported);
    EXPECT_NE(std::string(error.what()).find("a fan-out of -1"), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(, PaddedSample, testing::Values(0, 1, 2, 7, 12345));

}  // namespace
}  // namespace gnnmg::cuda
