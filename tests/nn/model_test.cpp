// Models of all kinds as wholes: training passes compared with inference over the whole graph,
// sampled blocks, batch statistics, dropout, gradients in one flat tensor. model_state_test.cpp
// tests their state, edge_models_test.cpp edge data.
#include "nn/model/model.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros_like.h>
#include <gmock/gmock.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "base/error.h"
#include "nn/model_world.h"
#include "nn/torch/parallel.h"

namespace gnnmg::nn {
namespace {

using base::Status;
using testing::HasSubstr;

// False for norms over all rows, whose rows differ between a mini-batch and the whole graph;
// for DGL's GraphConv, which sees fewer edges of a source; and for PyG's recurrent network, whose
// number of steps is the largest in-degree of the block.
bool rows_are_independent(const ModelConfig& c) {
  for (const LayerConfig& layer : c.layers)
    if (over_graph(layer.options.norm)) return false;
  if (c.aggregation == Aggregation::kLstm && c.framework == Framework::kPyg) return false;
  return !over_graph(c.norm) &&
         (c.architecture != Architecture::kGcn || c.framework == Framework::kPyg);
}

TEST(Sage, InferenceIsTheForwardPassOverTheWholeGraph) {
  const graph::GraphRef graph = make_graph();
  std::vector<int64_t> all(kNodes);
  for (int64_t i = 0; i < kNodes; ++i) all[i] = i;
  for (const ModelConfig& config : configs()) {
    SCOPED_TRACE(describe(config));
    const auto model = make_model(config);
    const Batch batch =
        sample_batch(graph, std::vector<int64_t>(model->config().num_layers, -1), all);
    for (const bool sparse : {false, true}) {
      const at::Tensor expected = model->forward(args_of(batch, sparse, false));
      EXPECT_EQ(expected.size(1), model->config().output_width());
      EXPECT_TRUE(near(infer(*model, *graph, sparse ? "s" : "x", kNodes), expected, 1e-12));
      EXPECT_TRUE(near(infer(*model, *graph, sparse ? "s" : "x", 7), expected, 1e-12))
          << "in ranges";
    }
  }
}

TEST(Sage, BlocksOfAllNeighborsGiveTheRowsOfTheWholeGraph) {
  const graph::GraphRef graph = make_graph();
  const std::vector<int64_t> seeds{4, 0, 59, 17};
  for (const ModelConfig& config : configs()) {
    if (!rows_are_independent(config)) continue;
    SCOPED_TRACE(describe(config));
    const auto model = make_model(config);
    const at::Tensor whole = infer(*model, *graph, "x", kNodes);
    for (const auto expansion : {sample::Expansion::kOnce, sample::Expansion::kEveryLayer}) {
      const Batch batch = sample_batch(graph, std::vector<int64_t>(model->config().num_layers, -1),
                                       seeds, expansion);
      const at::Tensor logits = model->forward(args_of(batch, false, false));
      ASSERT_EQ(logits.size(0), 4);
      for (size_t i = 0; i < seeds.size(); ++i)
        EXPECT_TRUE(near(logits[i], whole[seeds[i]], 1e-11, largest(whole)));
    }
  }
}

// Along a random direction, with dropout (with a fixed mask), through sampled blocks.
TEST(Sage, GradientsAgreeWithDifferences) {
  const graph::GraphRef graph = make_graph();
  for (ModelConfig config : configs()) {
    SCOPED_TRACE(describe(config));
    if (config.architecture != Architecture::kLayers) {
      config.dropout = 0.3;
      config.input_dropout = config.input == Input::kNodes ? 0 : 0.2;
    }
    const auto model = make_model(config);
    const Batch batch = sample_batch(graph, std::vector<int64_t>(model->config().num_layers, 4),
                                     {4, 0, 59, 17, 30, 31});
    for (const bool sparse : {false, true}) {
      const auto value = [&] {
        return model->forward(args_of(batch, sparse, true)).detach().pow(2).sum().item<double>();
      };
      at::Tensor weights = model->flat_parameters();
      // If dropout removes all attention of a row, a bias of 0 would put it on ReLU's corner.
      if (config.architecture == Architecture::kGat || config.architecture == Architecture::kGatv2)
        weights += 0.01 * random_tensor(weights.sizes(), at::kDouble, 7);
      model->zero_gradients();
      model->forward(args_of(batch, sparse, true)).pow(2).sum().backward();
      const at::Tensor start = weights.clone();
      const at::Tensor direction = random_tensor(weights.sizes(), at::kDouble, 8);
      constexpr double kStep = 1e-6;
      weights.copy_(start + direction * kStep);
      const double above = value();
      weights.copy_(start - direction * kStep);
      const double below = value();
      weights.copy_(start);
      const double along = (model->flat_gradients() * direction).sum().item<double>();
      EXPECT_NEAR((above - below) / (2 * kStep), along, 2e-4 * std::max(1.0, std::abs(along)));
      model->take_batch_statistics();
    }
  }
}

TEST(Sage, ForwardAndBackwardAreEqualForAnyNumberOfThreads) {
  const graph::GraphRef graph = make_graph();
  ModelConfig config = small_config();
  config.dtype = base::DType::kF32;
  config.dropout = 0.5;
  std::vector<int64_t> all(kNodes);
  for (int64_t i = 0; i < kNodes; ++i) all[i] = i;
  const Batch batch = sample_batch(graph, {-1, -1, -1}, all);
  const int before = at::get_num_threads();
  std::vector<at::Tensor> logits, gradients;
  for (const int threads : {1, 2, 5}) {
    at::set_num_threads(threads);
    const auto model = make_model(config);
    const at::Tensor out = model->forward(args_of(batch, false, true));
    out.pow(2).sum().backward();
    logits.push_back(out.detach().clone());
    gradients.push_back(model->flat_gradients().clone());
  }
  at::set_num_threads(before);
  for (size_t i = 1; i < logits.size(); ++i) {
    EXPECT_TRUE(logits[i].equal(logits[0]));
    EXPECT_TRUE(gradients[i].equal(gradients[0]));
  }
}

// Other threads, started before or after one sets its own number, keep the default number.
TEST(Parallel, IntraopThreadsAreOneThreadsAlone) {
  const int own = at::get_num_threads();
  std::atomic<bool> over{false};
  std::thread setter([&] {
    for (int i = 0; !over; ++i) {
      const int wanted = i % 2 == 0 ? own + 3 : 1;
      set_intraop_threads(wanted);
      EXPECT_EQ(at::get_num_threads(), wanted);
    }
  });
  for (int i = 0; i < 300; ++i) std::thread([&] { EXPECT_EQ(at::get_num_threads(), own); }).join();
  over = true;
  setter.join();
  EXPECT_EQ(at::get_num_threads(), own);
}

TEST(Sage, AnEmptyMiniBatchHasNoLogitsAndNoGradient) {
  const graph::GraphRef graph = make_graph();
  for (const ModelConfig& config : configs()) {
    SCOPED_TRACE(describe(config));
    const auto model = make_model(config);
    const Batch batch =
        sample_batch(graph, std::vector<int64_t>(model->config().num_layers, 4), {});
    for (const bool sparse : {false, true}) {
      const at::Tensor out = model->forward(args_of(batch, sparse, true));
      EXPECT_EQ(out.sizes(), (std::vector<int64_t>{0, model->config().output_width()}));
      out.sum().backward();
      EXPECT_EQ(largest(model->flat_gradients()), 0);
    }
    if (model->batch_statistics_width() > 0) {
      EXPECT_EQ(largest(model->take_batch_statistics()), 0) << "of no norm";
    }
  }
}

// Training works on mini-batches of one row, and of one row and an edge.
TEST(Stack, TrainsOnALoneSeed) {
  const graph::GraphRef graph = make_graph();
  for (const ModelConfig& config : configs()) {
    SCOPED_TRACE(describe(config));
    const auto model = make_model(config);
    for (const int64_t fanout : {0, 1}) {
      const Batch batch =
          sample_batch(graph, std::vector<int64_t>(model->config().num_layers, fanout), {3});
      model->zero_gradients();
      const at::Tensor out = model->forward(args_of(batch, false, true));
      EXPECT_EQ(out.sizes(), (std::vector<int64_t>{1, model->config().output_width()}));
      out.sum().backward();
      EXPECT_TRUE(out.isfinite().all().item<bool>());
      EXPECT_TRUE(model->flat_gradients().isfinite().all().item<bool>());
      model->fold_batch_statistics(model->take_batch_statistics());
    }
    for (const NamedTensor& buffer : model->buffers())
      EXPECT_TRUE(buffer.tensor.isfinite().all().item<bool>()) << buffer.key;
  }
}

// Features are in memory or mapped from a file; strict mode promises the same bits for both.
TEST(Sage, RowsReadFromATableGiveTheBitsOfGatheredOnes) {
  const graph::GraphRef graph = make_graph();
  const Batch batch = sample_batch(graph, {3, 3, 3}, {1, 2, 3, 40});
  std::vector<ModelConfig> all = configs();
  all.push_back(small_config());
  all.back().hidden_dim = 3;  // narrower than the features, so the product comes before the sums
  for (ModelConfig config : all) {
    if (config.num_layers != 3) continue;
    SCOPED_TRACE(describe(config));
    config.dtype = base::DType::kF32;
    const auto model = make_model(config);
    if (model->config().num_layers != 3) continue;
    ForwardArgs args = args_of(batch, false, true);
    const at::Tensor gathered = model->forward(args);
    gathered.pow(2).sum().backward();
    const at::Tensor gradient = model->flat_gradients().clone();
    model->zero_gradients();
    args.input.dense = at::Tensor();
    args.input.table = to_torch(std::get<base::Tensor>(*graph->node_column("x")));
    args.input.ids = batch.sample.node_ids.span();
    const at::Tensor direct = model->forward(args);
    EXPECT_TRUE(direct.equal(gathered));
    direct.pow(2).sum().backward();
    EXPECT_TRUE(model->flat_gradients().equal(gradient));
  }
}

TEST(Sage, FeaturesOfOtherTypesAreConverted) {
  const graph::GraphRef graph = make_graph();
  const Batch batch = sample_batch(graph, {3, 3, 3}, {1, 2, 3});
  const auto model = make_model(small_config());
  ForwardArgs args = args_of(batch, false, false);
  const at::Tensor expected = model->forward(args);
  for (const at::ScalarType type : {at::kDouble, at::kHalf, at::kBFloat16}) {
    args.input.dense = batch.dense.to(type);
    EXPECT_TRUE(near(model->forward(args), expected, type == at::kDouble ? 1e-12 : 0.05));
  }
}

TEST(Sage, DropoutFollowsItsKeyAndIsOffInEvaluation) {
  const graph::GraphRef graph = make_graph();
  const Batch batch = sample_batch(graph, {3, 3, 3}, {1, 2, 3});
  ModelConfig config = small_config();
  config.dropout = 0.5;
  const auto model = make_model(config);
  ForwardArgs args = args_of(batch, false, true);
  const at::Tensor first = model->forward(args).detach();
  EXPECT_TRUE(model->forward(args).detach().equal(first));
  args.dropout.batch = 4;
  EXPECT_FALSE(model->forward(args).detach().equal(first));
  args.training = false;
  const at::Tensor evaluated = model->forward(args);
  EXPECT_FALSE(evaluated.requires_grad());
  args.dropout.batch = 5;
  EXPECT_TRUE(model->forward(args).equal(evaluated));
}

TEST(Sage, GradientsAddUpInOneFlatTensor) {
  const graph::GraphRef graph = make_graph();
  const Batch one = sample_batch(graph, {3, 3, 3}, {1, 2, 3}),
              two = sample_batch(graph, {3, 3, 3}, {7, 8});
  const auto model = make_model(small_config());
  const auto gradient_of = [&](const Batch& batch) {
    model->forward(args_of(batch, false, true)).pow(2).sum().backward();
    return model->flat_gradients().clone();
  };
  const at::Tensor first = gradient_of(one), both = gradient_of(two);
  model->zero_gradients();
  EXPECT_EQ(largest(model->flat_gradients()), 0);
  const at::Tensor second = gradient_of(two);
  EXPECT_TRUE(near(both, first + second, 1e-13));
  int64_t total = 0;
  for (const NamedTensor& parameter : model->parameters()) {
    const int64_t size = parameter.tensor.numel();
    EXPECT_EQ(parameter.tensor.data_ptr(),
              model->flat_parameters().narrow(0, total, size).data_ptr());
    EXPECT_EQ(parameter.tensor.grad().data_ptr(),
              model->flat_gradients().narrow(0, total, size).data_ptr());
    total += size;
  }
  EXPECT_EQ(total, model->flat_parameters().numel());
}

TEST(Sage, BatchStatisticsWaitUntilTheyAreFolded) {
  const graph::GraphRef graph = make_graph();
  ModelConfig config = small_config();
  config.norm = Norm::kBatch;
  const auto model = make_model(config);
  const Batch one = sample_batch(graph, {3, 3, 3}, {1, 2, 3}),
              two = sample_batch(graph, {3, 3, 3}, {7, 8});
  const io::StateFile before = model->state();
  model->forward(args_of(one, false, true));
  model->forward(args_of(two, false, true));
  model->forward(args_of(two, false, false));
  for (const auto& [key, tensor] : before.tensors)
    EXPECT_TRUE(to_torch(tensor).equal(to_torch(*model->state().find(key)))) << key;
  const at::Tensor rows = model->take_batch_statistics();
  EXPECT_EQ(rows.sizes(), (std::vector<int64_t>{2, model->batch_statistics_width()}));
  EXPECT_EQ(model->batch_statistics_width(), 2 * (2 * 12 + 1));
  EXPECT_EQ(model->take_batch_statistics().size(0), 0);
  model->fold_batch_statistics(rows);
  const at::Tensor mean = rows.narrow(1, 0, 12), var = rows.narrow(1, 12, 12);
  EXPECT_TRUE(near(model->buffers()[0].tensor, (mean[0] * 0.1) * 0.9 + mean[1] * 0.1, 1e-14));
  EXPECT_TRUE(near(model->buffers()[1].tensor, (var[0] * 0.1 + 0.9) * 0.9 + var[1] * 0.1, 1e-14));
  EXPECT_EQ(model->buffers()[2].tensor.item<int64_t>(), 2);
}

// A single row uses the running statistics, which do not change; a norm with more rows takes its
// own statistics.
TEST(Sage, BatchNormOfOneRowTakesTheRunningStatistics) {
  const graph::GraphRef graph = make_graph();
  ModelConfig config = small_config();
  config.norm = Norm::kBatch;
  const auto model = make_model(config);
  const Batch many = sample_batch(graph, {3, 3, 3}, {1, 2, 3});
  for (int i = 0; i < 3; ++i) model->forward(args_of(many, false, true));
  model->fold_batch_statistics(model->take_batch_statistics());
  EXPECT_FALSE(model->take_lone_row());
  const auto buffers = [&] {
    std::vector<at::Tensor> all;
    for (const NamedTensor& buffer : model->buffers()) all.push_back(buffer.tensor.clone());
    return all;
  };
  const std::vector<at::Tensor> before = buffers();
  ASSERT_EQ(before.size(), 6u);  // statistics of two norms

  const Batch alone = sample_batch(graph, {0, 0, 0}, {3});
  const at::Tensor logits = model->forward(args_of(alone, false, true));
  EXPECT_TRUE(logits.equal(model->forward(args_of(alone, false, false))));
  logits.sum().backward();
  int of_norms = 0;
  for (const NamedTensor& parameter : model->parameters())
    if (parameter.key.starts_with("norms.")) {
      EXPECT_GT(largest(parameter.tensor.grad()), 0) << parameter.key;
      ++of_norms;
    }
  EXPECT_GT(of_norms, 0);
  EXPECT_TRUE(model->take_lone_row());
  EXPECT_FALSE(model->take_lone_row());
  at::Tensor rows = model->take_batch_statistics();
  EXPECT_EQ(rows.size(0), 1);
  model->fold_batch_statistics(rows);
  std::vector<at::Tensor> after = buffers();
  for (size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(after[i].equal(before[i])) << i;

  // One seed that every layer samples anew: the second norm has one row, the first one more.
  const Batch mixed = sample_batch(graph, {0, 3, 3}, {3}, sample::Expansion::kEveryLayer);
  ASSERT_EQ(mixed.sample.blocks[1].num_targets, 1);
  ASSERT_GT(mixed.sample.blocks[0].num_targets, 1);
  model->forward(args_of(mixed, false, true));
  model->fold_batch_statistics(model->take_batch_statistics());
  after = buffers();
  for (size_t i = 0; i < before.size(); ++i)
    EXPECT_EQ(after[i].equal(before[i]), i >= 3) << model->buffers()[i].key;
}

TEST(Sage, BatchesThatDoNotFitAreRefused) {
  const graph::GraphRef graph = make_graph();
  const auto model = make_model(small_config());
  const Batch batch = sample_batch(graph, {3, 3, 3}, {1, 2, 3});
  const Batch shallow = sample_batch(graph, {3, 3}, {1, 2, 3});
  const auto refused = [&](const ForwardArgs& args) {
    return status_of([&] { model->forward(args); }) == Status::kInvalidArgument;
  };
  EXPECT_TRUE(refused(args_of(shallow, false, false)));
  ForwardArgs args = args_of(batch, false, false);
  args.input.dense = batch.dense.narrow(1, 0, 4).contiguous();
  EXPECT_TRUE(refused(args));
  args.input.dense = batch.dense.narrow(0, 0, 2);
  EXPECT_TRUE(refused(args));
  args.input.dense = at::Tensor();
  EXPECT_TRUE(refused(args));
  args = args_of(batch, false, false);
  args.input.sparse = &batch.sparse;
  EXPECT_TRUE(refused(args)) << "two kinds of rows";
  auto blocks = batch.sample.blocks;
  blocks[1].out_indptr = nullptr;
  args = args_of(batch, false, true);
  args.blocks = blocks;
  EXPECT_TRUE(refused(args)) << "no lists by source";
  EXPECT_EQ(status_of([&] {
              const auto inference = model->inference(*graph, graph->node_column("x"), nullptr);
              inference->run(0, 0, kNodes + 1);
            }),
            Status::kRange);
}

}  // namespace
}  // namespace gnnmg::nn
