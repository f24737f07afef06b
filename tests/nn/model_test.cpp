// GraphSAGE as a whole: training passes against inference over the whole graph, sampled blocks,
// state, batch statistics, dropout, gradients in one flat tensor.
#include "nn/model.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/from_blob.h>
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
  sample::Sample sample;
  at::Tensor dense;
  feature::SparseRows sparse;
};

Batch sample_batch(const graph::GraphRef& graph, std::vector<int64_t> fanouts,
                   const std::vector<int64_t>& seeds,
                   sample::Expansion expansion = sample::Expansion::kOnce) {
  sample::NeighborConfig config;
  config.fanouts = std::move(fanouts);
  config.expansion = expansion;
  config.transpose = true;
  const auto sampler = sample::make_neighbor_sampler(graph, config);
  sample::Workspace workspace;
  Batch batch;
  sampler->sample(seeds, {}, workspace, batch.sample, {});
  const at::Tensor ids = at::from_blob(batch.sample.node_ids.data(), {batch.sample.num_nodes()},
                                       at::TensorOptions(at::kLong));
  batch.dense = to_torch(std::get<base::Tensor>(*graph->node_column("x"))).index_select(0, ids);
  batch.sparse = rows_of(std::get<base::CsrMatrix>(*graph->node_column("s")),
                         batch.sample.node_ids.data(), batch.sample.num_nodes());
  return batch;
}

ForwardArgs args_of(const Batch& batch, bool sparse, bool training) {
  ForwardArgs args;
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

SageConfig small_config() {
  SageConfig config;
  config.input_dim = kFeatures;
  config.hidden_dim = 12;
  config.output_dim = 4;
  config.num_layers = 3;
  config.dtype = base::DType::kF64;
  config.seed = 3;
  return config;
}

// All that can be switched, one or two at a time.
std::vector<SageConfig> configs() {
  std::vector<SageConfig> all;
  for (const Skip skip : {Skip::kNone, Skip::kLinear, Skip::kResidual})
    for (const Aggregation aggregation : {Aggregation::kMean, Aggregation::kMax, Aggregation::kSum})
      for (const Norm norm : {Norm::kNone, Norm::kBatch, Norm::kLayer, Norm::kLayerGraph}) {
        SageConfig config = small_config();
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
  SageConfig config = small_config();
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
  return all;
}

std::string describe(const SageConfig& c) {
  return base::text("skip ", static_cast<int>(c.skip), " aggregation ",
                    static_cast<int>(c.aggregation), " norm ", static_cast<int>(c.norm),
                    " normalize ", c.normalize, " project ", c.project, " root ", c.root_weight,
                    " activation ", static_cast<int>(c.activation), " layers ", c.num_layers);
}

// Norms over all rows see other rows in a mini-batch than in the whole graph.
bool rows_are_independent(const SageConfig& c) { return c.norm != Norm::kLayerGraph; }

TEST(Sage, InferenceIsTheForwardPassOverTheWholeGraph) {
  const graph::GraphRef graph = make_graph();
  std::vector<int64_t> all(kNodes);
  for (int64_t i = 0; i < kNodes; ++i) all[i] = i;
  for (const SageConfig& config : configs()) {
    SCOPED_TRACE(describe(config));
    const auto model = make_sage(config);
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
  for (const SageConfig& config : configs()) {
    if (!rows_are_independent(config)) continue;
    SCOPED_TRACE(describe(config));
    const auto model = make_sage(config);
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
  for (SageConfig config : configs()) {
    SCOPED_TRACE(describe(config));
    config.dropout = 0.3;
    config.input_dropout = 0.2;
    const auto model = make_sage(config);
    const Batch batch =
        sample_batch(graph, std::vector<int64_t>(config.num_layers, 4), {4, 0, 59, 17, 30, 31});
    for (const bool sparse : {false, true}) {
      const auto value = [&] {
        return model->forward(args_of(batch, sparse, true)).detach().pow(2).sum().item<double>();
      };
      model->zero_gradients();
      model->forward(args_of(batch, sparse, true)).pow(2).sum().backward();
      at::Tensor weights = model->flat_parameters();
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
  SageConfig config = small_config();
  config.dtype = base::DType::kF32;
  config.dropout = 0.5;
  std::vector<int64_t> all(kNodes);
  for (int64_t i = 0; i < kNodes; ++i) all[i] = i;
  const Batch batch = sample_batch(graph, {-1, -1, -1}, all);
  const int before = at::get_num_threads();
  std::vector<at::Tensor> logits, gradients;
  for (const int threads : {1, 2, 5}) {
    at::set_num_threads(threads);
    const auto model = make_sage(config);
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
  for (const SageConfig& config : configs()) {
    SCOPED_TRACE(describe(config));
    const auto model = make_sage(config);
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
  for (SageConfig config : configs()) {
    if (config.num_layers != 3) continue;
    SCOPED_TRACE(describe(config));
    config.dtype = base::DType::kF32;
    const auto model = make_sage(config);
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

TEST(Sage, FeaturesOfOtherTypesAreConverted) {
  const graph::GraphRef graph = make_graph();
  const Batch batch = sample_batch(graph, {3, 3, 3}, {1, 2, 3});
  const auto model = make_sage(small_config());
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
  SageConfig config = small_config();
  config.dropout = 0.5;
  const auto model = make_sage(config);
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
  const auto model = make_sage(small_config());
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
  SageConfig config = small_config();
  config.norm = Norm::kBatch;
  const auto model = make_sage(config);
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
  SageConfig config = small_config();
  config.norm = Norm::kBatch;
  config.num_layers = 2;
  const auto model = make_sage(config);
  const Batch batch = sample_batch(graph, {0, 0}, {3});
  std::string text;
  EXPECT_EQ(status_of([&] { model->forward(args_of(batch, false, true)); }, &text),
            Status::kInvalidArgument);
  EXPECT_THAT(text, HasSubstr("more than one row"));
  EXPECT_EQ(model->forward(args_of(batch, false, false)).size(0), 1);
}

TEST(Sage, BatchesThatDoNotFitAreRefused) {
  const graph::GraphRef graph = make_graph();
  const auto model = make_sage(small_config());
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
  SageConfig config = small_config();
  config.norm = Norm::kBatch;
  const auto model = make_sage(config);
  const at::Tensor before = model->flat_parameters().clone();
  config.seed = 77;
  const io::StateFile good = make_sage(config)->state();
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

TEST(Sage, ClonesAreEqualAndApart) {
  SageConfig config = small_config();
  config.norm = Norm::kBatch;
  const auto model = make_sage(config);
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
  SageConfig config = small_config();
  config.input_dim = 100;
  config.hidden_dim = 50;
  for (const Init init : {Init::kPyg, Init::kGlorot, Init::kDgl}) {
    config.init = init;
    config.dtype = base::DType::kF32;
    const auto model = make_sage(config);
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
    EXPECT_TRUE(make_sage(config)->flat_parameters().equal(model->flat_parameters()));
    config.dtype = base::DType::kF64;
    EXPECT_TRUE(near(make_sage(config)->flat_parameters(), model->flat_parameters(), 1e-7));
    config.seed = 4;
    EXPECT_FALSE(near(make_sage(config)->flat_parameters(), model->flat_parameters(), 1e-3));
    config.seed = 3;
  }
}

TEST(SageConfigCheck, NamesTheField) {
  const auto text_of = [](auto&& change) {
    SageConfig config = small_config();
    change(config);
    std::string text;
    EXPECT_EQ(status_of([&] { make_sage(config); }, &text), Status::kInvalidArgument);
    return text;
  };
  EXPECT_THAT(text_of([](SageConfig& c) { c.input_dim = 0; }), HasSubstr("input_dim is 0"));
  EXPECT_THAT(text_of([](SageConfig& c) { c.hidden_dim = -1; }), HasSubstr("hidden_dim"));
  EXPECT_THAT(text_of([](SageConfig& c) { c.num_layers = 11; }), HasSubstr("num_layers is 11"));
  EXPECT_THAT(text_of([](SageConfig& c) { c.dropout = 1; }), HasSubstr("dropout"));
  EXPECT_THAT(text_of([](SageConfig& c) { c.dropout = NAN; }), HasSubstr("dropout"));
  EXPECT_THAT(text_of([](SageConfig& c) { c.dtype = base::DType::kF16; }), HasSubstr("f16"));
  EXPECT_THAT(text_of([](SageConfig& c) { c.norm = static_cast<Norm>(9); }), HasSubstr("norm"));
  EXPECT_THAT(text_of([](SageConfig& c) {
                c.skip = Skip::kResidual;
                c.act_first = true;
              }),
              HasSubstr("act_first"));
}

}  // namespace
}  // namespace gnnmg::nn
