// Properties of some kinds of models: loops of GCN and attention, GCN on drawn edges, dropout of
// attention.
#include "nn/model/model.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include <cmath>

#include "nn/model_world.h"

namespace gnnmg::nn {
namespace {

// The same edges in one graph with loops and one without: one loop per node replaces them. Degrees
// of the block are those that PyG takes on a sampled graph.
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

// Before a layer that makes rows narrower, only the products that it reads are kept: of the
// neighbors, and of the own row where the layer has a map for it.
TEST(Stack, KeepsOnlyTheProductsOfANarrowerLayer) {
  const graph::GraphRef graph = make_graph();
  const auto widths = [&](ModelConfig config) {
    const auto model = make_model(config);
    const auto inference = model->inference(*graph, graph->node_column("x"), nullptr);
    std::vector<int64_t> all;
    for (int stage = 0; stage < inference->num_stages(); ++stage)
      all.push_back(inference->width(stage));
    return all;
  };
  using Widths = std::vector<int64_t>;
  ModelConfig config = small_config();  // 10, 12, 12, 4
  EXPECT_EQ(widths(config), (Widths{12, 8, 4}));
  config.framework = Framework::kDgl;
  EXPECT_EQ(widths(config), (Widths{12, 8, 4}));
  config.aggregation = Aggregation::kGcn;
  EXPECT_EQ(widths(config), (Widths{12, 4, 4}));
  config = small_config();
  config.aggregation = Aggregation::kMax;  // does not change places with a product
  EXPECT_EQ(widths(config), (Widths{12, 12, 4}));
  config = small_config();
  config.skip = Skip::kLinear;  // reads the rows too
  EXPECT_EQ(widths(config), (Widths{12, 12, 12, 4}));
  config = small_config();
  config.architecture = Architecture::kGraphConv;
  EXPECT_EQ(widths(config), (Widths{12, 8, 4}));
  config.architecture = Architecture::kGcn;
  EXPECT_EQ(widths(config), (Widths{12, 4, 4}));
}

// With all neighbors, GCN on blocks equals GCN on the graph; with some neighbors these stand for
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
  // The difference in standard errors of the mean.
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

// The error for a node with a negative sum of edge weights names its id in the graph.
TEST(Stack, GcnNamesTheNodeOfNegativeDegree) {
  base::ThreadPool pool(1);
  base::Tensor from = base::Tensor::zeros(base::DType::kI64, {5});
  base::Tensor to = base::Tensor::zeros(base::DType::kI64, {5});
  base::Tensor weights = base::Tensor::zeros(base::DType::kF32, {5, 1});
  for (int64_t e = 0; e < 5; ++e) {
    from.as<int64_t>()[e] = e;
    to.as<int64_t>()[e] = e + 1;
    weights.as<float>()[e] = e == 2 ? -3.5F : 1.0F;  // an edge into node 3
  }
  graph::GraphParts parts;
  parts.num_nodes = {6};
  parts.topology = {graph::csc_from_coo(from.view(), to.view(), 6, 6, pool)};
  graph::Columns nodes, edges;
  nodes.emplace("x", base::Tensor::zeros(base::DType::kF32, {6, kFeatures}));
  edges.emplace("edge_weight", weights);
  parts.node_columns.push_back(std::move(nodes));
  parts.edge_columns.push_back(std::move(edges));
  const graph::GraphRef graph = graph::Graph::create(std::move(parts));
  sample::NeighborConfig drawn;
  drawn.fanouts = {-1, -1};
  drawn.transpose = drawn.edge_ids = true;
  const auto sampler = sample::make_neighbor_sampler(graph, drawn);
  sample::Workspace workspace;
  sample::Sample sample;
  const std::vector<int64_t> seeds{4};
  sampler->sample(seeds, {0}, workspace, sample, {});
  ModelConfig config = small_config();
  config.architecture = Architecture::kGcn;
  config.num_layers = 2;
  config.edge_weights = true;
  ForwardArgs args;
  args.graph = graph;
  args.node_ids = sample.node_ids.span();
  args.blocks = sample.blocks;
  args.input.dense = random_tensor({sample.num_nodes(), kFeatures}, at::kDouble, 3);
  for (const bool block_degrees : {false, true}) {
    config.block_degrees = block_degrees;
    for (const bool loops : {true, false}) {
      config.self_loops = loops;
      const auto model = make_model(config);
      std::string text;
      EXPECT_EQ(status_of([&] { model->forward(args); }, &text), base::Status::kInvalidArgument);
      EXPECT_EQ(text, base::text("GCN: the weights of the edges into node 3",
                                 loops ? ", its loop included," : "", " add up to ",
                                 loops ? "-2.5" : "-3.5",
                                 ", expected 0 or more, of which the layer takes the root"));
      const auto inference = model->inference(*graph, graph->node_column("x"), nullptr);
      EXPECT_EQ(status_of(
                    [&] {
                      for (int stage = 0; stage < inference->num_stages(); ++stage)
                        inference->set_rows(stage, inference->run(stage, 0, 6));
                    },
                    &text),
                base::Status::kInvalidArgument);
      EXPECT_NE(text.find("into node 3"), std::string::npos) << text;
    }
  }
}

// PyG's numbers (GCNConv, weight the unit matrix). Nodes 1 and 2 have two loops each, nodes 0 and 3
// none.
TEST(Gcn, OfSeveralLoopsTheLastCounts) {
  base::ThreadPool pool(1);
  const std::vector<int64_t> from{0, 1, 2, 1, 3, 2, 0, 1, 2, 2}, to{1, 1, 1, 1, 2, 2, 2, 0, 2, 3};
  const std::vector<float> weights{.5, 2, .25, .75, 1.5, 3, .125, 1, .5, .25};
  const std::vector<float> features{1, 2, -1, .5, 3, -2, .5, 4};
  const auto ends = [](const std::vector<int64_t>& ids) {
    return base::Tensor::copy_of(std::span(ids));
  };
  const base::Tensor rows = base::Tensor::copy_of(std::span(features));
  graph::GraphParts parts;
  parts.num_nodes = {4};
  parts.topology = {graph::csc_from_coo(ends(from).view(), ends(to).view(), 4, 4, pool)};
  parts.node_columns.emplace_back();
  parts.node_columns[0].emplace(
      "x", base::Tensor({rows.data(), base::DType::kF32, {4, 2}}, rows.owner()));
  parts.edge_columns.emplace_back();
  parts.edge_columns[0].emplace("edge_weight", base::Tensor::copy_of(std::span(weights)));
  const graph::GraphRef graph = graph::Graph::create(std::move(parts));
  sample::NeighborConfig all;
  all.fanouts = {-1};
  all.edge_ids = all.transpose = true;
  sample::Workspace workspace;
  sample::Sample sample;
  const std::vector<int64_t> seeds{0, 1, 2, 3};
  sample::make_neighbor_sampler(graph, all)->sample(seeds, {0}, workspace, sample, {});

  struct Case {
    bool improved, loops;
    std::vector<double> expected;  // one per node
  };
  for (const Case& c :
       {Case{false,
             true,
             {-0.07735026918962595, 1.2886751345948126, 0.2087591598032158, 0.5472942523840238,
              1.2266952525086818, 3.3321115236914265, 0.8601789933084222, 2.8932140044610515}},
        Case{true,
             true,
             {0.19526214587563506, 1.5690355937288496, 0.15578628560391883, 0.44134850398542985,
              1.0983869003750275, 2.3724038812836907, 0.7874416147294621, 3.3268907753655435}},
        Case{false,
             false,
             {-0.5345224838248488, 0.2672612419124244, -0.3413686429715748, 0.8093233594618008,
              2.7665854072913802, 4.045291119130895, 0.6625891564490792, -0.44172610429938614}}})
    for (const bool block_degrees : {false, true}) {
      SCOPED_TRACE(base::text("improved ", c.improved, ", loops ", c.loops, ", degrees of the ",
                              block_degrees ? "block" : "graph"));
      ModelConfig config;
      config.architecture = Architecture::kGcn;
      config.dtype = base::DType::kF64;
      config.input_dim = config.hidden_dim = config.output_dim = 2;
      config.num_layers = 1;
      config.bias = false;
      config.edge_weights = true;
      config.improved = c.improved;
      config.self_loops = c.loops;
      config.block_degrees = block_degrees;
      const auto model = make_model(config);
      model->flat_parameters().detach().copy_(at::eye(2, at::TensorOptions(at::kDouble)).flatten());
      const at::Tensor expected = at::tensor(c.expected).view({4, 2});
      const at::Tensor x = to_torch(rows).view({4, 2}).to(at::kDouble);
      ForwardArgs args;
      args.graph = graph;
      args.node_ids = sample.node_ids.span();
      args.blocks = sample.blocks;
      args.input.dense = x.index_select(
          0, at::tensor(std::vector<int64_t>(args.node_ids.begin(), args.node_ids.end())));
      EXPECT_TRUE(near(model->forward(args), expected, 1e-7));
      const auto inference = model->inference(*graph, graph->node_column("x"), nullptr);
      EXPECT_TRUE(near(inference->run(0, 0, 4), expected, 1e-7));
    }
}

// DGL's GINConv without apply_func, compared with matrices: (1 + eps) x + the neighbors' sum or
// mean.
TEST(Gin, WithoutANetworkIsTheAggregationAlone) {
  const int64_t n = 7;
  const TestBlock block(n, n, {{0, 1}, {2, 1}, {2, 1}, {3, 3}, {4, 5}, {5, 0}, {1, 0}, {6, 0}});
  const auto blocks = TestBlock::repeated(block, 2);
  at::Tensor sums = at::zeros({n, n}, at::TensorOptions(at::kDouble));
  for (int64_t t = 0; t < n; ++t)
    for (int64_t e = block.view().indptr[t]; e < block.view().indptr[t + 1]; ++e)
      sums[t][block.view().indices[e]].add_(1);
  const at::Tensor x = random_tensor({n, kFeatures}, at::kDouble, 3);
  for (const Aggregation aggregation : {Aggregation::kSum, Aggregation::kMean}) {
    ModelConfig config = small_config();
    config.architecture = Architecture::kGin;
    config.framework = Framework::kDgl;
    config.aggregation = aggregation;
    config.mlp_layers = 0;
    config.num_layers = 2;
    config.hidden_dim = config.output_dim = kFeatures;
    config.train_eps = true;
    config.eps = 0.25;
    const auto model = make_model(config);
    ASSERT_EQ(model->parameters().size(), 2u);
    EXPECT_EQ(model->parameters()[1].key, "layers.1.eps");
    ForwardArgs args;
    args.blocks = blocks;
    args.input.dense = x;
    args.training = true;
    const at::Tensor out = model->forward(args);
    const at::Tensor by =
        aggregation == Aggregation::kSum ? sums : sums / sums.sum(1, true).clamp_min(1);
    const at::Tensor eps = at::full({2}, 0.25, x.options()).requires_grad_(true);
    const at::Tensor first = ((1 + eps[0]) * x + by.matmul(x)).relu();
    const at::Tensor expected = (1 + eps[1]) * first + by.matmul(first);
    EXPECT_TRUE(near(out, expected, 1e-12));
    out.square().sum().backward();
    expected.square().sum().backward();
    EXPECT_TRUE(near(model->flat_gradients(), eps.grad(), 1e-12));
  }
  ModelConfig nothing = small_config();
  nothing.architecture = Architecture::kGin;
  nothing.framework = Framework::kDgl;
  nothing.mlp_layers = 0;
  nothing.hidden_dim = nothing.output_dim = kFeatures;
  EXPECT_EQ(status_of([&] { make_model(nothing); }), base::Status::kInvalidArgument);
}

// Models that report not to read the lists by source of the block next to the input give the same
// bits without them; those that read them report it.
TEST(Stack, SaysWhetherItReadsListsOfTheInput) {
  const graph::GraphRef graph = make_graph();
  int spared = 0, read = 0;
  std::vector<ModelConfig> all = configs();
  for (const Architecture architecture : {Architecture::kSage, Architecture::kGcn})
    for (const int64_t width : {4, 24}) {  // below and above the width of the features
      all.push_back(small_config());
      all.back().architecture = architecture;
      all.back().hidden_dim = width;
    }
  for (const ModelConfig& config : all) {
    SCOPED_TRACE(describe(config));
    const auto model = make_model(config);
    for (const bool sparse : {false, true}) {
      if (sparse && (!config.reads_features() || !config.node_vocabulary.empty())) continue;
      const Batch batch = sample_batch(
          graph, std::vector<int64_t>(static_cast<size_t>(model->config().num_layers), 3),
          {4, 0, 59, 17, 33}, sample::Expansion::kEveryLayer);
      ForwardArgs args = args_of(batch, sparse, true);
      if (!config.node_vocabulary.empty()) args.input.dense = batch.codes;
      std::vector<sample::BlockView> lean(args.blocks.begin(), args.blocks.end());
      lean[0].out_indptr = lean[0].out_targets = nullptr;
      const auto train = [&](std::span<const sample::BlockView> blocks) {
        args.blocks = blocks;
        model->zero_gradients();
        const at::Tensor logits = model->forward(args);
        logits.square().sum().backward();
        if (model->batch_statistics_width() > 0) model->take_batch_statistics();
        return std::pair(logits.detach().clone(), model->flat_gradients().clone());
      };
      if (model->reads_input_by_source(sparse)) {
        std::string text;
        read += status_of([&] { train(lean); }, &text) == base::Status::kInvalidArgument &&
                text.find("no lists of edges by source") != std::string::npos;
        continue;
      }
      ++spared;
      const auto expected = train(batch.sample.blocks);
      auto found = expected;
      EXPECT_EQ(status_of([&] { found = train(lean); }), base::Status::kOk);
      EXPECT_TRUE(found.first.equal(expected.first));
      EXPECT_TRUE(found.second.equal(expected.second));
    }
  }
  EXPECT_GT(spared, 20);
  EXPECT_GT(read, 20);
  // The report of some models.
  const auto reads = [](ModelConfig config, bool sparse = false) {
    return make_model(config)->reads_input_by_source(sparse);
  };
  ModelConfig config = small_config();
  config.hidden_dim = kFeatures;
  EXPECT_FALSE(reads(config));
  EXPECT_TRUE(reads(config, /*sparse=*/true));
  config.hidden_dim = kFeatures - 1;  // allows the product first
  EXPECT_TRUE(reads(config));
  config.aggregation = Aggregation::kMax;
  EXPECT_FALSE(reads(config));
  config.skip = Skip::kResidual;  // rows from a linear layer
  EXPECT_TRUE(reads(config));
  config = small_config();
  config.hidden_dim = 2 * kFeatures;
  config.project = true;
  EXPECT_TRUE(reads(config));
  config.project = false;
  config.input = Input::kEmbedding;
  EXPECT_TRUE(reads(config));
  config.input = Input::kFeatures;
  config.architecture = Architecture::kGat;
  config.heads = 1;
  EXPECT_TRUE(reads(config));
}

TEST(Stack, IsTrainedWithASamplerOfWhatItReads) {
  const graph::GraphRef graph = make_graph();
  sample::NeighborConfig law;
  law.fanouts = {3, 3, 3};
  law.transpose = true;
  const std::shared_ptr<const sample::Sampler> whole = sample::make_neighbor_sampler(graph, law);
  ModelConfig config = small_config();
  config.hidden_dim = kFeatures;
  const auto lean = training_sampler(*make_model(config), whole, false);
  EXPECT_FALSE(lean->neighbors()->config->transpose_input);
  EXPECT_EQ(training_sampler(*make_model(config), whole, true), whole);
  config.architecture = Architecture::kGat;
  config.heads = 1;
  EXPECT_EQ(training_sampler(*make_model(config), whole, false), whole);
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
