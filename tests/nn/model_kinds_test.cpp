// What holds for some kinds of models: loops of GCN and attention, GCN on drawn edges, dropout of
// attention.
#include "nn/model.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include <cmath>

#include "nn/model_world.h"

namespace gnnmg::nn {
namespace {

// The same edges in one graph with loops of its own and one without: a loop a node is put in their
// place. Degrees of the block are those that PyG takes on a sampled graph.
TEST(Stack, LoopsReplaceThoseOfTheGraph) {
  ModelConfig config = small_config();
  config.num_layers = 1;
  const at::Tensor x = random_tensor({6, kFeatures}, at::kDouble, 3);
  const TestBlock with_loops(6, 4, {{0, 0}, {1, 0}, {0, 0}, {2, 2}, {5, 2}, {4, 3}});
  const TestBlock without(6, 4, {{1, 0}, {5, 2}, {4, 3}});
  for (const Architecture architecture :
       {Architecture::kGcn, Architecture::kGat, Architecture::kGatv2}) {
    config.architecture = architecture;
    const auto run = [&](const TestBlock& block, bool self_loops) {
      config.self_loops = self_loops;
      const auto model = make_model(config);
      const std::vector<sample::BlockView> blocks{block.view()};
      ForwardArgs args;
      args.input.dense = x;
      args.blocks = blocks;
      return model->forward(args).detach().clone();
    };
    EXPECT_TRUE(near(run(with_loops, true), run(without, true), 1e-13));
    EXPECT_FALSE(near(run(with_loops, false), run(without, false), 1e-3));
  }
}

// Where all neighbours are drawn, GCN on blocks is GCN on the graph; where some are, they stand for
// all: the mean over many draws is the whole sum.
TEST(Stack, GcnOnDrawnEdgesIsUnbiased) {
  const graph::GraphRef graph = make_graph();
  ModelConfig config = small_config();
  config.architecture = Architecture::kGcn;
  config.num_layers = 1;
  const auto model = make_model(config);
  const at::Tensor whole = infer(*model, *graph, "x", kNodes)[0];
  at::Tensor sum = at::zeros_like(whole), squares = at::zeros_like(whole);
  constexpr int kDraws = 3000;
  for (int draw = 0; draw < kDraws; ++draw) {
    const Batch batch = sample_batch(graph, {5}, {0}, sample::Expansion::kOnce, draw);
    const at::Tensor difference = model->forward(args_of(batch, false, false))[0] - whole;
    sum += difference;
    squares += difference * difference;
  }
  // In standard errors of the mean.
  const at::Tensor mean = sum / kDraws;
  const at::Tensor error = ((squares / kDraws - mean * mean) / (kDraws - 1)).sqrt();
  EXPECT_GT(largest(error), 0);
  EXPECT_LT(largest(mean / error), 4.5);
  config.block_degrees = true;
  const auto of_blocks = make_model(config);
  const Batch batch = sample_batch(graph, {5}, {0});
  EXPECT_FALSE(near(of_blocks->forward(args_of(batch, false, false))[0],
                    model->forward(args_of(batch, false, false))[0], 0.01));
}

TEST(Stack, AttentionDropsOutInTrainingOnly) {
  const graph::GraphRef graph = make_graph();
  ModelConfig config = small_config();
  config.num_layers = 1;
  config.dropout = 0.5;
  for (const Architecture architecture : {Architecture::kGat, Architecture::kGatv2}) {
    config.architecture = architecture;
    config.heads = 2;
    const auto model = make_model(config);
    const Batch batch = sample_batch(graph, {-1}, {0, 1, 2, 3});
    const at::Tensor plain = model->forward(args_of(batch, false, false)).clone();
    const at::Tensor first = model->forward(args_of(batch, false, true)).detach().clone();
    EXPECT_FALSE(near(first, plain, 1e-3));
    EXPECT_TRUE(model->forward(args_of(batch, false, true)).detach().equal(first));
    ForwardArgs args = args_of(batch, false, true);
    at::Tensor mean = at::zeros_like(plain);
    constexpr int kDraws = 2000;
    for (int draw = 0; draw < kDraws; ++draw) {
      args.dropout.batch = draw;
      mean += model->forward(args).detach();
    }
    EXPECT_TRUE(near(mean / kDraws, plain, 0.1));
  }
}

}  // namespace
}  // namespace gnnmg::nn
