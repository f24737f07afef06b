// GraphSAGE as a whole: training passes against inference over the whole graph, sampled blocks,
// state, batch statistics, dropout, gradients in one flat tensor.
#include "nn/model.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros_like.h>
#include <gmock/gmock.h>

#include <cmath>

#include "base/error.h"
#include "nn/loss.h"
#include "nn/support.h"
#include "sample/sampler.h"

namespace gnnmg::nn {
namespace {

using base::Status;
using testing::HasSubstr;

constexpr int64_t kNodes = 60, kFeatures = 10;

// A graph of 60 nodes with dense ("x") and sparse ("s") features, two of them isolated.
graph::GraphRef make_graph() {
  base::ThreadPool pool(1);
  const TestBlock::Edges edges = random_edges(kNodes - 1, kNodes - 1, 300, 17);
  base::Tensor sources = base::Tensor::empty(base::DType::kI64, {300});
  base::Tensor targets = base::Tensor::empty(base::DType::kI64, {300});
  for (size_t e = 0; e < edges.size(); ++e) {
    sources.as<int64_t>()[e] = edges[e].first;
    targets.as<int64_t>()[e] = edges[e].second;
  }
  graph::GraphParts parts;
  parts.num_nodes = {kNodes};
  parts.topology = {graph::csc_from_coo(sources.view(), targets.view(), kNodes, kNodes, pool)};
  base::Tensor x = base::Tensor::empty(base::DType::kF32, {kNodes, kFeatures});
  const at::Tensor values = random_tensor({kNodes, kFeatures}, at::kFloat, 5);
  std::copy_n(values.const_data_ptr<float>(), kNodes * kFeatures, x.as<float>().data());
  base::CsrMatrix sparse{kNodes, kFeatures, base::Tensor::empty(base::DType::kI64, {kNodes + 1}),
                         base::Tensor::empty(base::DType::kI32, {2 * kNodes}),
                         base::Tensor::empty(base::DType::kF32, {2 * kNodes})};
  for (int64_t i = 0; i <= kNodes; ++i) sparse.indptr.as<int64_t>()[i] = 2 * i;
  for (int64_t k = 0; k < 2 * kNodes; ++k) {
    sparse.indices.as<int32_t>()[k] = static_cast<int32_t>((k * 7 + k / 3) % kFeatures);
    sparse.values.as<float>()[k] = values.const_data_ptr<float>()[k];
  }
  graph::Columns columns;
  columns.emplace("x", x);
  columns.emplace("s", sparse);
  parts.node_columns.push_back(std::move(columns));
  return graph::Graph::create(std::move(parts));
}

feature::SparseRows rows_of(const base::CsrMatrix& m, const int64_t* ids, int64_t count) {
  feature::SparseRows rows;
  rows.num_rows = count;
  rows.num_cols = m.num_cols;
  rows.indptr.resize_discard(count + 1);
  rows.indices.resize_discard(2 * count);
  rows.values.resize_discard(2 * count);
  for (int64_t i = 0; i <= count; ++i) rows.indptr[i] = 2 * i;
  for (int64_t i = 0; i < count; ++i)
    for (int64_t k = 0; k < 2; ++k) {
      rows.indices[2 * i + k] = m.indices.as<int32_t>()[2 * ids[i] + k];
      rows.values[2 * i + k] = m.values.as<float>()[2 * ids[i] + k];
    }
  return rows;
}

// A mini-batch with its rows.
struct Batch {
  graph::GraphRef graph;
  sample::Sample sample;
  at::Tensor dense;
  feature::SparseRows sparse;
};

Batch sample_batch(const graph::GraphRef& graph, std::vector<int64_t> fanouts,
                   const std::vector<int64_t>& seeds,
                   sample::Expansion expansion = sample::Expansion::kOnce, uint64_t seed = 0) {
  sample::NeighborConfig config;
  config.fanouts = std::move(fanouts);
  config.expansion = expansion;
  config.transpose = true;
  const auto sampler = sample::make_neighbor_sampler(graph, config);
  sample::Workspace workspace;
  Batch batch;
  batch.graph = graph;
  sampler->sample(seeds, {seed}, workspace, batch.sample, {});
  const at::Tensor ids = at::from_blob(batch.sample.node_ids.data(), {batch.sample.num_nodes()},
                                       at::TensorOptions(at::kLong));
  batch.dense = to_torch(std::get<base::Tensor>(*graph->node_column("x"))).index_select(0, ids);
  batch.sparse = rows_of(std::get<base::CsrMatrix>(*graph->node_column("s")),
                         batch.sample.node_ids.data(), batch.sample.num_nodes());
  return batch;
}

ForwardArgs args_of(const Batch& batch, bool sparse, bool training) {
  ForwardArgs args;
  args.graph = batch.graph;
  args.node_ids = batch.sample.node_ids.span();
  if (sparse)
    args.input.sparse = &batch.sparse;
  else
    args.input.dense = batch.dense;
  args.blocks = batch.sample.blocks;
  args.training = training;
  args.dropout = {1, 2, 3};
  return args;
}

at::Tensor infer(Model& model, const graph::Graph& graph, bool sparse, int64_t grain) {
  const auto inference = model.inference(graph, *graph.node_column(sparse ? "s" : "x"), nullptr);
  at::Tensor rows;
  for (int stage = 0; stage < inference->num_stages(); ++stage) {
    std::vector<at::Tensor> parts;
    for (int64_t begin = 0; begin < kNodes; begin += grain)
      parts.push_back(inference->run(stage, begin, std::min(begin + grain, kNodes)));
    rows = at::cat(parts);
    EXPECT_EQ(rows.size(1), inference->width(stage));
    if (stage + 1 < inference->num_stages()) inference->set_rows(stage, rows);
  }
  return rows;
}

ModelConfig small_config() {
  ModelConfig config;
  config.input_dim = kFeatures;
  config.hidden_dim = 12;
  config.output_dim = 4;
  config.num_layers = 3;
  config.dtype = base::DType::kF64;
  config.seed = 3;
  return config;
}

// All that can be switched, one or two at a time.
std::vector<ModelConfig> configs() {
  std::vector<ModelConfig> all;
  for (const Skip skip : {Skip::kNone, Skip::kLinear, Skip::kResidual})
    for (const Aggregation aggregation : {Aggregation::kMean, Aggregation::kMax, Aggregation::kSum})
      for (const Norm norm : {Norm::kNone, Norm::kBatch, Norm::kLayer, Norm::kLayerGraph}) {
        ModelConfig config = small_config();
        config.skip = skip;
        config.aggregation = aggregation;
        config.norm = norm;
        all.push_back(config);
        config.normalize = true;
        config.activation = Activation::kGelu;
        all.push_back(config);
        config.normalize = false;
        config.project = true;
        config.activation = Activation::kElu;
        all.push_back(config);
        config.project = false;
        config.root_weight = false;
        config.bias = false;
        config.output_dim = 0;
        config.activation = Activation::kTanh;
        all.push_back(config);
      }
  ModelConfig config = small_config();
  for (const Norm norm : {Norm::kGraph, Norm::kInstance, Norm::kPair, Norm::kPairRows})
    for (const Skip skip : {Skip::kNone, Skip::kResidual}) {
      config.norm = norm;
      config.skip = skip;
      all.push_back(config);
    }
  config = small_config();
  config.framework = Framework::kDgl;
  for (const Aggregation aggregation :
       {Aggregation::kMean, Aggregation::kPool, Aggregation::kLstm, Aggregation::kGcn}) {
    config.aggregation = aggregation;
    all.push_back(config);
  }
  config.aggregation = Aggregation::kMean;
  for (const Architecture architecture :
       {Architecture::kGcn, Architecture::kGat, Architecture::kGatv2, Architecture::kGin}) {
    config.architecture = architecture;
    config.heads =
        architecture == Architecture::kGat || architecture == Architecture::kGatv2 ? 3 : 1;
    config.residual = config.heads == 3;
    config.mlp_layers = 3;
    config.activation = Activation::kElu;  // biases begin at 0, where ReLU has no derivative
    all.push_back(config);
  }
  config = small_config();
  config.jumping = Jumping::kLstm;
  all.push_back(config);
  config = small_config();
  config.act_first = true;
  config.norm = Norm::kLayer;
  config.activation = Activation::kPrelu;
  all.push_back(config);
  config = small_config();
  config.num_layers = 1;
  all.push_back(config);
  config.activation = Activation::kNone;
  config.num_layers = 2;
  config.hidden_dim = 40;
  all.push_back(config);
  for (const Architecture architecture :
       {Architecture::kGcn, Architecture::kGat, Architecture::kGatv2, Architecture::kGin}) {
    const bool attention =
        architecture == Architecture::kGat || architecture == Architecture::kGatv2;
    config = small_config();
    config.architecture = architecture;
    if (attention) config.heads = 3;
    config.eps = 0.2;
    all.push_back(config);
    config.skip = Skip::kLinear;
    config.norm = Norm::kBatch;
    config.activation = Activation::kElu;
    config.self_loops = false;
    config.train_eps = true;
    all.push_back(config);
    config.skip = Skip::kResidual;
    config.norm = Norm::kLayer;
    config.residual = true;
    config.concat = false;
    all.push_back(config);
    config = small_config();
    config.architecture = architecture;
    config.hidden_dim = 8;  // wider than what it reads from, narrower than the features
    if (attention) config.heads = 2;
    config.activation = Activation::kPrelu;
    config.norm = architecture == Architecture::kGin ? Norm::kLayer : Norm::kLayerGraph;
    config.jumping = Jumping::kCat;
    all.push_back(config);
    config.norm = Norm::kBatch;
    config.jumping = Jumping::kMax;
    config.bias = architecture == Architecture::kGin;
    all.push_back(config);
    config.jumping = Jumping::kLast;
    config.output_dim = 0;
    config.init = Init::kDgl;
    all.push_back(config);
  }
  return all;
}

std::string describe(const ModelConfig& c) {
  return base::text("architecture ", static_cast<int>(c.architecture), " framework ",
                    static_cast<int>(c.framework), " jumping ", static_cast<int>(c.jumping),
                    " skip ", static_cast<int>(c.skip), " aggregation ",
                    static_cast<int>(c.aggregation), " norm ", static_cast<int>(c.norm),
                    " normalize ", c.normalize, " project ", c.project, " root ", c.root_weight,
                    " activation ", static_cast<int>(c.activation), " layers ", c.num_layers);
}

// Norms over all rows see other rows in a mini-batch than in the whole graph.
// So does a source of DGL's GraphConv see fewer of its edges.
bool rows_are_independent(const ModelConfig& c) {
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
    const Batch batch = sample_batch(graph, std::vector<int64_t>(config.num_layers, -1), all);
    for (const bool sparse : {false, true}) {
      const at::Tensor expected = model->forward(args_of(batch, sparse, false));
      EXPECT_EQ(expected.size(1), config.output_width());
      EXPECT_TRUE(near(infer(*model, *graph, sparse, kNodes), expected, 1e-12));
      EXPECT_TRUE(near(infer(*model, *graph, sparse, 7), expected, 1e-12)) << "in ranges";
    }
  }
}

TEST(Sage, BlocksOfAllNeighboursGiveTheRowsOfTheWholeGraph) {
  const graph::GraphRef graph = make_graph();
  const std::vector<int64_t> seeds{4, 0, 59, 17};
  for (const ModelConfig& config : configs()) {
    if (!rows_are_independent(config)) continue;
    SCOPED_TRACE(describe(config));
    const auto model = make_model(config);
    const at::Tensor whole = infer(*model, *graph, false, kNodes);
    for (const auto expansion : {sample::Expansion::kOnce, sample::Expansion::kEveryLayer}) {
      const Batch batch =
          sample_batch(graph, std::vector<int64_t>(config.num_layers, -1), seeds, expansion);
      const at::Tensor logits = model->forward(args_of(batch, false, false));
      ASSERT_EQ(logits.size(0), 4);
      for (size_t i = 0; i < seeds.size(); ++i)
        EXPECT_TRUE(near(logits[i], whole[seeds[i]], 1e-11, largest(whole)));
    }
  }
}

// Along a random direction, with dropout (whose mask stays), through sampled blocks.
TEST(Sage, GradientsAgreeWithDifferences) {
  const graph::GraphRef graph = make_graph();
  for (ModelConfig config : configs()) {
    SCOPED_TRACE(describe(config));
    config.dropout = 0.3;
    config.input_dropout = 0.2;
    const auto model = make_model(config);
    const Batch batch =
        sample_batch(graph, std::vector<int64_t>(config.num_layers, 4), {4, 0, 59, 17, 30, 31});
    for (const bool sparse : {false, true}) {
      const auto value = [&] {
        return model->forward(args_of(batch, sparse, true)).detach().pow(2).sum().item<double>();
      };
      at::Tensor weights = model->flat_parameters();
      // Where all attention of a row drops out, a bias of 0 would put it on the edge of the relu.
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

TEST(Sage, AnEmptyMiniBatchHasNoLogitsAndNoGradient) {
  const graph::GraphRef graph = make_graph();
  for (const ModelConfig& config : configs()) {
    SCOPED_TRACE(describe(config));
    const auto model = make_model(config);
    const Batch batch = sample_batch(graph, std::vector<int64_t>(config.num_layers, 4), {});
    for (const bool sparse : {false, true}) {
      const at::Tensor out = model->forward(args_of(batch, sparse, true));
      EXPECT_EQ(out.sizes(), (std::vector<int64_t>{0, config.output_width()}));
      out.sum().backward();
      EXPECT_EQ(largest(model->flat_gradients()), 0);
    }
    EXPECT_EQ(model->take_batch_statistics().size(0), 0);
  }
}

TEST(Sage, ReadsRowsOfATableWithoutGatheringThem) {
  const graph::GraphRef graph = make_graph();
  const Batch batch = sample_batch(graph, {3, 3, 3}, {1, 2, 3, 40});
  for (ModelConfig config : configs()) {
    if (config.num_layers != 3) continue;
    SCOPED_TRACE(describe(config));
    config.dtype = base::DType::kF32;
    const auto model = make_model(config);
    ForwardArgs args = args_of(batch, false, true);
    const at::Tensor gathered = model->forward(args);
    gathered.pow(2).sum().backward();
    const at::Tensor gradient = model->flat_gradients().clone();
    model->zero_gradients();
    args.input.dense = at::Tensor();
    args.input.table = to_torch(std::get<base::Tensor>(*graph->node_column("x")));
    args.input.ids = batch.sample.node_ids.span();
    const at::Tensor direct = model->forward(args);
    EXPECT_TRUE(near(direct, gathered, 1e-5));
    direct.pow(2).sum().backward();
    EXPECT_TRUE(near(model->flat_gradients(), gradient, 1e-4));
  }
}

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
  const at::Tensor whole = infer(*model, *graph, false, kNodes)[0];
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
  EXPECT_EQ(model->batch_statistics_width(), 2 * 2 * 12);
  EXPECT_EQ(model->take_batch_statistics().size(0), 0);
  model->fold_batch_statistics(rows);
  const at::Tensor mean = rows.narrow(1, 0, 12), var = rows.narrow(1, 12, 12);
  EXPECT_TRUE(near(model->buffers()[0].tensor, (mean[0] * 0.1) * 0.9 + mean[1] * 0.1, 1e-14));
  EXPECT_TRUE(near(model->buffers()[1].tensor, (var[0] * 0.1 + 0.9) * 0.9 + var[1] * 0.1, 1e-14));
  EXPECT_EQ(model->buffers()[2].tensor.item<int64_t>(), 2);
}

Status status_of(const std::function<void()>& f, std::string* text = nullptr) {
  try {
    f();
  } catch (const base::Error& e) {
    if (text) *text = e.what();
    return e.status();
  }
  return Status::kOk;
}

TEST(Sage, BatchNormOfOneRowIsRefused) {
  const graph::GraphRef graph = make_graph();
  ModelConfig config = small_config();
  config.norm = Norm::kBatch;
  config.num_layers = 2;
  const auto model = make_model(config);
  const Batch batch = sample_batch(graph, {0, 0}, {3});
  std::string text;
  EXPECT_EQ(status_of([&] { model->forward(args_of(batch, false, true)); }, &text),
            Status::kInvalidArgument);
  EXPECT_THAT(text, HasSubstr("more than one row"));
  EXPECT_EQ(model->forward(args_of(batch, false, false)).size(0), 1);
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
              const auto inference = model->inference(*graph, *graph->node_column("x"), nullptr);
              inference->run(0, 0, kNodes + 1);
            }),
            Status::kRange);
}

TEST(Sage, StateIsStrictAndFailsAsAWhole) {
  ModelConfig config = small_config();
  config.norm = Norm::kBatch;
  const auto model = make_model(config);
  const at::Tensor before = model->flat_parameters().clone();
  config.seed = 77;
  const io::StateFile good = make_model(config)->state();
  std::string text;

  io::StateFile bad;
  for (const auto& [key, tensor] : good.tensors) {
    if (key == "convs.1.lin_r.weight") continue;
    if (key == "convs.0.lin_l.bias")
      bad.tensors.emplace_back(key, base::Tensor::zeros(base::DType::kF64, {13}));
    else if (key == "norms.0.module.num_batches_tracked")
      bad.tensors.emplace_back(key, base::Tensor::zeros(base::DType::kF32, {}));
    else
      bad.tensors.emplace_back(key, tensor);
  }
  bad.tensors.emplace_back("convs.9.lin_l.weight", base::Tensor::zeros(base::DType::kF32, {1}));
  EXPECT_EQ(status_of([&] { model->load_state(bad); }, &text), Status::kFormat);
  EXPECT_EQ(
      text,
      "the state does not fit the model: missing: convs.1.lin_r.weight; unexpected: "
      "convs.9.lin_l.weight; of the wrong shape or type: convs.0.lin_l.bias is [13], expected "
      "[12], norms.0.module.num_batches_tracked has elements of type f32, expected i64");
  EXPECT_TRUE(model->flat_parameters().equal(before));

  io::StateFile wrapped;  // as a data-parallel wrapper saves it, and without counters
  for (const auto& [key, tensor] : good.tensors)
    if (!key.ends_with("num_batches_tracked"))
      wrapped.tensors.emplace_back("module." + key, tensor);
  model->load_state(wrapped);
  const io::StateFile back = model->state();
  ASSERT_EQ(back.tensors.size(), good.tensors.size());
  for (size_t i = 0; i < back.tensors.size(); ++i) {
    EXPECT_EQ(back.tensors[i].first, good.tensors[i].first);
    EXPECT_TRUE(to_torch(back.tensors[i].second).equal(to_torch(good.tensors[i].second)));
  }
}

TEST(Stack, ReadsTheKeysOfOlderGat) {
  ModelConfig config = small_config();
  config.architecture = Architecture::kGat;
  config.heads = 2;
  const auto model = make_model(config);
  io::StateFile older;
  for (const auto& [key, tensor] : model->state().tensors) {
    const size_t at = key.find(".lin.weight");
    if (at == std::string::npos) {
      older.tensors.emplace_back(key, tensor);
      continue;
    }
    older.tensors.emplace_back(key.substr(0, at) + ".lin_src.weight", tensor);
    older.tensors.emplace_back(key.substr(0, at) + ".lin_dst.weight", tensor);
  }
  config.seed = 77;
  const auto other = make_model(config);
  other->load_state(older);
  EXPECT_TRUE(other->flat_parameters().equal(model->flat_parameters()));
  // Two matrices are two layers: nothing that the model could hold.
  for (auto& [key, tensor] : older.tensors)
    if (key == "convs.1.lin_dst.weight") {
      tensor = base::Tensor::empty(tensor.dtype(), tensor.shape());
      std::ranges::fill(tensor.as<double>(), 1.0);
      std::string text;
      EXPECT_EQ(status_of([&] { other->load_state(older); }, &text), Status::kFormat);
      EXPECT_THAT(text, HasSubstr("missing: convs.1.lin.weight"));
      EXPECT_THAT(text, HasSubstr("convs.1.lin_src.weight"));
    }
}

TEST(Sage, ClonesAreEqualAndApart) {
  ModelConfig config = small_config();
  config.norm = Norm::kBatch;
  const auto model = make_model(config);
  at::Tensor weights = model->flat_parameters();
  weights.add_(1);
  model->fold_batch_statistics(random_tensor({1, model->batch_statistics_width()}, at::kDouble, 1));
  const auto copy = model->clone();
  const io::StateFile a = model->state(), b = copy->state();
  for (size_t i = 0; i < a.tensors.size(); ++i)
    EXPECT_TRUE(to_torch(a.tensors[i].second).equal(to_torch(b.tensors[i].second)));
  weights.add_(1);
  EXPECT_FALSE(weights.equal(copy->flat_parameters()));
}

TEST(Sage, InitialWeightsFollowTheirLaw) {
  ModelConfig config = small_config();
  config.input_dim = 100;
  config.hidden_dim = 50;
  for (const Init init : {Init::kPyg, Init::kGlorot, Init::kDgl}) {
    config.init = init;
    config.dtype = base::DType::kF32;
    const auto model = make_model(config);
    const at::Tensor weight = model->parameters()[0].tensor.detach();
    const at::Tensor bias = model->parameters()[1].tensor.detach();
    ASSERT_EQ(model->parameters()[0].key, "convs.0.lin_l.weight");
    const double bound = init == Init::kPyg      ? 0.1
                         : init == Init::kGlorot ? std::sqrt(6 / 150.0)
                                                 : std::sqrt(12 / 150.0);
    EXPECT_LE(largest(weight), bound);
    EXPECT_GT(largest(weight), 0.99 * bound);
    EXPECT_NEAR(weight.mean().item<double>(), 0, 0.05 * bound);
    EXPECT_NEAR(weight.pow(2).mean().item<double>(), bound * bound / 3, 0.03 * bound * bound);
    if (init == Init::kGlorot)
      EXPECT_EQ(largest(bias), 0);
    else
      EXPECT_LE(largest(bias), 0.1 + 1e-7);
    EXPECT_TRUE(make_model(config)->flat_parameters().equal(model->flat_parameters()));
    config.dtype = base::DType::kF64;
    EXPECT_TRUE(near(make_model(config)->flat_parameters(), model->flat_parameters(), 1e-7));
    config.seed = 4;
    EXPECT_FALSE(near(make_model(config)->flat_parameters(), model->flat_parameters(), 1e-3));
    config.seed = 3;
  }
}

TEST(ModelConfigCheck, NamesTheField) {
  const auto text_of = [](auto&& change) {
    ModelConfig config = small_config();
    change(config);
    std::string text;
    EXPECT_EQ(status_of([&] { make_model(config); }, &text), Status::kInvalidArgument);
    return text;
  };
  EXPECT_THAT(text_of([](ModelConfig& c) { c.input_dim = 0; }), HasSubstr("input_dim is 0"));
  EXPECT_THAT(text_of([](ModelConfig& c) { c.hidden_dim = -1; }), HasSubstr("hidden_dim"));
  EXPECT_THAT(text_of([](ModelConfig& c) { c.num_layers = 11; }), HasSubstr("num_layers is 11"));
  EXPECT_THAT(text_of([](ModelConfig& c) { c.dropout = 1; }), HasSubstr("dropout"));
  EXPECT_THAT(text_of([](ModelConfig& c) { c.dropout = NAN; }), HasSubstr("dropout"));
  EXPECT_THAT(text_of([](ModelConfig& c) { c.dtype = base::DType::kF16; }), HasSubstr("f16"));
  EXPECT_THAT(text_of([](ModelConfig& c) { c.norm = static_cast<Norm>(9); }), HasSubstr("norm"));
  EXPECT_THAT(text_of([](ModelConfig& c) {
                c.skip = Skip::kResidual;
                c.act_first = true;
              }),
              HasSubstr("act_first"));
  EXPECT_THAT(text_of([](ModelConfig& c) { c.heads = 2; }), HasSubstr("only attention has heads"));
  EXPECT_THAT(text_of([](ModelConfig& c) {
                c.architecture = Architecture::kGat;
                c.heads = 5;
              }),
              HasSubstr("hidden_dim is 12, expected a multiple of the 5 heads"));
  EXPECT_THAT(text_of([](ModelConfig& c) {
                c.jumping = Jumping::kCat;
                c.skip = Skip::kLinear;
              }),
              HasSubstr("jumping"));
  EXPECT_THAT(text_of([](ModelConfig& c) { c.slope = INFINITY; }), HasSubstr("slope"));
  EXPECT_THAT(text_of([](ModelConfig& c) { c.norm_scale = 0; }), HasSubstr("norm_scale is 0"));
  EXPECT_THAT(text_of([](ModelConfig& c) { c.mlp_layers = 9; }), HasSubstr("mlp_layers is 9"));
  EXPECT_THAT(text_of([](ModelConfig& c) { c.aggregation = Aggregation::kPool; }),
              HasSubstr("PyG's GraphSAGE has mean, max and sum"));
  EXPECT_THAT(text_of([](ModelConfig& c) {
                c.framework = Framework::kDgl;
                c.aggregation = Aggregation::kSum;
              }),
              HasSubstr("DGL's GraphSAGE has mean, pool"));
  EXPECT_THAT(text_of([](ModelConfig& c) {
                c.architecture = Architecture::kGin;
                c.bias = false;
              }),
              HasSubstr("bias"));
  EXPECT_THAT(text_of([](ModelConfig& c) {
                c.architecture = Architecture::kGin;
                c.norm = Norm::kLayerGraph;
              }),
              HasSubstr("the norm of each row"));
}

}  // namespace
}  // namespace gnnmg::nn
