// Dropout of edges and of nodes: which ones remain, how many, and that models see no others.
#include "nn/model/thinned_batch.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "nn/model_world.h"

namespace gnnmg::nn {
namespace {

// Returns the edge ids that remain in each layer.
std::vector<std::vector<int64_t>> left(const ThinnedBatch& batch) {
  std::vector<std::vector<int64_t>> all;
  for (const sample::BlockView& block : batch.args().blocks)
    all.emplace_back(block.edge_ids, block.edge_ids + block.num_edges);
  return all;
}

TEST(ThinnedBatch, KeepsSourcesAndWhatEdgesCarry) {
  const Batch batch = sample_batch(make_graph(), {4, 4}, {1, 2, 3, 40, 41});
  ForwardArgs args = args_of(batch, false, true);
  std::vector<EdgeValues> edges;
  for (const sample::BlockView& block : batch.sample.blocks)
    edges.push_back({at::arange(block.num_edges, at::kDouble), {}, {}});
  args.edges = edges;
  const ThinnedBatch thinned(args, 0.4, 0.2);
  for (size_t i = 0; i < args.blocks.size(); ++i) {
    const sample::BlockView& was = args.blocks[i];
    const sample::BlockView& is = thinned.args().blocks[i];
    const at::Tensor places = thinned.args().edges[i].weight;
    ASSERT_EQ(places.numel(), is.num_edges);
    EXPECT_EQ(is.num_targets, was.num_targets);
    EXPECT_EQ(is.num_sources, was.num_sources);
    EXPECT_LT(is.num_edges, was.num_edges);
    EXPECT_GT(is.num_edges, 0);
    EXPECT_EQ(is.indptr[is.num_targets], is.num_edges);
    for (int64_t t = 0; t < is.num_targets; ++t)
      for (int64_t e = is.indptr[t]; e < is.indptr[t + 1]; ++e) {
        const auto place = static_cast<int64_t>(places[e].item<double>());
        EXPECT_GE(place, was.indptr[t]);
        EXPECT_LT(place, was.indptr[t + 1]);
        EXPECT_EQ(is.indices[e], was.indices[place]);
        EXPECT_EQ(is.edge_ids[e], was.edge_ids[place]);
      }
  }
}

// The shares of 30 mini-batches each are within five standard deviations; nodes take all their
// edges along.
TEST(ThinnedBatch, DropsTheShareThatItIsAskedFor) {
  const Batch batch = sample_batch(make_graph(), {-1}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  ForwardArgs args = args_of(batch, false, true);
  const sample::BlockView& block = args.blocks[0];
  const int64_t nodes = block.num_sources;
  int64_t kept = 0, draws = 0;
  for (uint64_t number = 0; number < 30; ++number) {
    args.dropout.batch = number;
    kept += ThinnedBatch(args, 0.3, 0).args().blocks[0].num_edges;
    draws += block.num_edges;
    const ThinnedBatch without_nodes(args, 0, 0.25);
    std::vector<int64_t> left_of(nodes);
    const sample::BlockView& is = without_nodes.args().blocks[0];
    for (int64_t t = 0; t < is.num_targets; ++t)
      for (int64_t e = is.indptr[t]; e < is.indptr[t + 1]; ++e) {
        ++left_of[t];
        if (is.indices[e] != t) ++left_of[is.indices[e]];
      }
    const std::vector<int64_t> ids = left(without_nodes)[0];
    // A dropped edge has an end whose edges are all dropped.
    for (int64_t t = 0; t < block.num_targets; ++t)
      for (int64_t e = block.indptr[t]; e < block.indptr[t + 1]; ++e) {
        const int64_t s = block.indices[e];
        if (left_of[t] > 0 && left_of[s] > 0) {
          EXPECT_NE(std::ranges::find(ids, block.edge_ids[e]), ids.end()) << "edge " << e;
        }
      }
    EXPECT_LT(is.num_edges, block.num_edges);
  }
  const double share = static_cast<double>(kept) / static_cast<double>(draws);
  EXPECT_NEAR(share, 0.7, 5 * std::sqrt(0.3 * 0.7 / static_cast<double>(draws)));
}

TEST(ThinnedBatch, BitsFollowTheKeyAndTheLayer) {
  const Batch batch = sample_batch(make_graph(), {-1, -1}, {0, 1, 2, 3, 4, 5, 6, 7});
  ForwardArgs args = args_of(batch, false, true);
  const auto first = left(ThinnedBatch(args, 0.5, 0));
  EXPECT_EQ(left(ThinnedBatch(args, 0.5, 0)), first);
  const std::set<int64_t> below(first[0].begin(), first[0].end());
  std::set<int64_t> above;  // edges with the same ids above
  for (int64_t id : first[1]) above.insert(id);
  const sample::BlockView& last = args.blocks[1];
  bool differs = false;
  for (int64_t e = 0; e < last.num_edges; ++e)
    differs |= below.contains(last.edge_ids[e]) != above.contains(last.edge_ids[e]);
  EXPECT_TRUE(differs) << "layers drop edges of their own";
  for (uint64_t* number : {&args.dropout.seed, &args.dropout.epoch, &args.dropout.batch}) {
    ++*number;
    EXPECT_NE(left(ThinnedBatch(args, 0.5, 0)), first);
    --*number;
  }
}

TEST(ThinnedBatch, ModelsDropInTrainingAlone) {
  const graph::GraphRef graph = make_graph();
  const Batch batch = sample_batch(graph, {4, 4, 4}, {1, 2, 3, 40, 41});
  ModelConfig config = small_config();
  config.architecture = Architecture::kGine;
  config.edge_dim = kEdgeColumns;
  const auto plain = make_model(config);
  config.edge_dropout = 0.4;
  config.node_dropout = 0.2;
  const auto model = make_model(config);
  const ForwardArgs args = args_of(batch, false, true);
  const at::Tensor trained = model->forward(args);
  trained.pow(2).sum().backward();
  const ThinnedBatch thinned(args, 0.4, 0.2);
  const at::Tensor expected = plain->forward(thinned.args());
  expected.pow(2).sum().backward();
  EXPECT_TRUE(trained.equal(expected));
  EXPECT_TRUE(model->flat_gradients().equal(plain->flat_gradients()));
  const ForwardArgs evaluated = args_of(batch, false, false);
  EXPECT_TRUE(model->forward(evaluated).equal(plain->forward(evaluated)));
  EXPECT_FALSE(near(trained.detach(), plain->forward(evaluated), 1e-3));
}

}  // namespace
}  // namespace gnnmg::nn
