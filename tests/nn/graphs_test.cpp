// Batches of graphs: readouts with their gradients, and models with results per graph, which must
// not depend on the other graphs in the batch.
#include <ATen/TensorOperators.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>
#include <gmock/gmock.h>

#include "base/error.h"
#include "nn/layers/norm.h"
#include "nn/model/model.h"
#include "nn/ops/readout.h"
#include "nn/support.h"

namespace gnnmg::nn {
namespace {

using base::Status;
using testing::HasSubstr;

constexpr int64_t kWidth = 7;

// A disjoint union of graphs; the second has no edge.
struct GraphBatch {
  explicit GraphBatch(const std::vector<int64_t>& sizes) : graph_ptr{0} {
    TestBlock::Edges edges;
    for (size_t g = 0; g < sizes.size(); ++g) {
      const int64_t first = graph_ptr.back();
      parts.push_back(g == 1 ? TestBlock::Edges{} : edges_of(sizes[g], g));
      for (const auto& [source, target] : parts.back())
        edges.emplace_back(first + source, first + target);
      graph_ptr.push_back(first + sizes[g]);
    }
    const int64_t n = graph_ptr.back();
    block = std::make_unique<TestBlock>(n, n, edges);
    x = random_tensor({n, kWidth}, at::kDouble, 8);
  }
  static TestBlock::Edges edges_of(int64_t size, uint64_t seed) {
    return size ? random_edges(size, size, 3 * size, seed) : TestBlock::Edges{};
  }
  int64_t size(size_t g) const { return graph_ptr[g + 1] - graph_ptr[g]; }

  std::vector<int64_t> graph_ptr;
  std::vector<TestBlock::Edges> parts;
  std::unique_ptr<TestBlock> block;
  at::Tensor x;
};

at::Tensor run(Model& model, const TestBlock& block, const at::Tensor& x,
               std::span<const int64_t> graph_ptr, bool training = false,
               DropoutKey dropout = {1, 2, 3}) {
  const auto blocks = TestBlock::repeated(block, model.config().num_layers);
  ForwardArgs args;
  args.input.dense = x;
  args.blocks = blocks;
  args.graph_ptr = graph_ptr;
  args.training = training;
  args.gradients = true;
  args.dropout = dropout;
  return model.forward(args);
}

ModelConfig config_of_graphs(Architecture architecture = Architecture::kGin) {
  ModelConfig config;
  config.architecture = architecture;
  config.input_dim = kWidth;
  config.hidden_dim = 6;
  config.output_dim = 3;
  config.readout = Readout::kSum;
  config.dtype = base::DType::kF64;
  return config;
}

std::vector<ModelConfig> configs_of_graphs() {
  std::vector<ModelConfig> all;
  for (const Architecture architecture :
       {Architecture::kSage, Architecture::kGcn, Architecture::kGat, Architecture::kGin})
    for (const Readout kind : {Readout::kSum, Readout::kMean, Readout::kMax})
      for (const Jumping jumping : {Jumping::kNone, Jumping::kLast, Jumping::kCat, Jumping::kMax,
                                    Jumping::kLstm, Jumping::kScores}) {
        ModelConfig config = config_of_graphs(architecture);
        config.readout = kind;
        config.jumping = jumping;
        all.push_back(config);
      }
  for (const Norm norm : {Norm::kLayer, Norm::kLayerGraph, Norm::kGraph, Norm::kInstance,
                          Norm::kPair, Norm::kPairRows}) {
    ModelConfig config = config_of_graphs();
    config.norm = norm;
    if (norm == Norm::kPair || norm == Norm::kPairRows) config.norm_options.scale = 1.5;
    config.jumping = Jumping::kScores;
    // Norms inside GIN's networks take all rows of a mini-batch.
    if (norm != Norm::kLayer) config.architecture = Architecture::kSage;
    all.push_back(config);
    config.architecture = Architecture::kSage;
    config.jumping = Jumping::kNone;
    config.skip = Skip::kResidual;
    all.push_back(config);
  }
  for (const Readout kind : {Readout::kAttention, Readout::kSet2Set, Readout::kSort})
    for (const Jumping jumping : {Jumping::kLast, Jumping::kCat}) {
      ModelConfig config = config_of_graphs(Architecture::kSage);
      config.activation = Activation::kTanh;  // avoids rows of zeros, whose order would be a tie
      config.readout = kind;
      config.jumping = jumping;
      if (kind == Readout::kSort) config.sort_rows = 4;
      all.push_back(config);
    }
  ModelConfig config = config_of_graphs();
  config.readout = Readout::kAttention;
  all.push_back(config);
  config = config_of_graphs();
  for (const Skip skip : {Skip::kLinear, Skip::kResidual}) {
    config.skip = skip;
    config.norm = Norm::kLayer;
    all.push_back(config);
    config.output_dim = 0;
    all.push_back(config);
  }
  return all;
}

// Returns the text of the Error(kInvalidArgument) of `f`.
template <typename F>
std::string refusal_of(F&& f) {
  try {
    f();
  } catch (const base::Error& e) {
    EXPECT_EQ(e.status(), Status::kInvalidArgument);
    return e.what();
  }
  return "nothing was refused";
}

TEST(Readouts, GradientsAreThoseOfDifferences) {
  const std::vector<int64_t> graph_ptr{0, 4, 4, 5, 11};
  Execution execution;
  execution.gradients = true;
  for (const Readout kind : {Readout::kSum, Readout::kMean, Readout::kMax})
    for (const Ties ties : {Ties::kSplit, Ties::kFirst}) {
      const at::Tensor x = random_tensor({11, 5}, at::kDouble, 3).set_requires_grad(true);
      const at::Tensor cotangent = random_tensor({4, 5}, at::kDouble, 4);
      const auto value = [&] {
        return (readout(x, graph_ptr, kind, ties, execution) * cotangent).sum();
      };
      value().backward();
      at::Tensor values = x.detach();
      for (int64_t k = 0; k < values.numel(); ++k) {
        double& at = values.mutable_data_ptr<double>()[k];
        const double before = at;
        at = before + 1e-6;
        const double above = value().item<double>();
        at = before - 1e-6;
        const double below = value().item<double>();
        at = before;
        EXPECT_NEAR(x.grad().flatten()[k].item<double>(), (above - below) / 2e-6, 1e-7);
      }
    }
}

TEST(Readouts, SameBitsOnAnyNumberOfThreads) {
  std::vector<int64_t> graph_ptr{0};
  for (int64_t g = 0; g < 300; ++g) graph_ptr.push_back(graph_ptr.back() + g % 23);
  const at::Tensor x = random_tensor({graph_ptr.back(), 33}, at::kFloat, 3);
  base::ThreadPool pool(3);
  Execution alone, together;
  together.pool = &pool;
  for (const Readout kind : {Readout::kSum, Readout::kMean, Readout::kMax})
    EXPECT_TRUE(readout(x, graph_ptr, kind, Ties::kSplit, alone)
                    .equal(readout(x, graph_ptr, kind, Ties::kSplit, together)));
}

TEST(Norms, InstanceNormOfEachGraph) {
  const std::vector<int64_t> graph_ptr{0, 4, 4, 5, 11};
  const at::Tensor x = random_tensor({11, 5}, at::kDouble, 3) + 2;
  NormPass pass;
  pass.graphs = {graph_ptr};
  at::Tensor out = x;
  NormLayer(Norm::kInstance, 5).apply({&out, 1}, pass);
  for (size_t g = 0; g + 1 < graph_ptr.size(); ++g) {
    const int64_t size = graph_ptr[g + 1] - graph_ptr[g];
    if (size == 0) continue;
    const at::Tensor rows = x.narrow(0, graph_ptr[g], size);
    const at::Tensor centered = rows - rows.mean(0, true);
    const at::Tensor unit = centered / (centered.square().mean(0, true) + 1e-5).sqrt();
    EXPECT_TRUE(near(out.narrow(0, graph_ptr[g], size), unit, 1e-12, 1)) << "graph " << g;
  }
  // Without graphs all rows form one graph.
  at::Tensor whole = x;
  NormLayer(Norm::kInstance, 5).apply({&whole, 1}, {});
  EXPECT_TRUE(near(whole.mean(0), at::zeros_like(whole[0]), 1e-12, 1));
}

TEST(GraphModels, EachGraphHasTheResultThatItHasAlone) {
  const GraphBatch batch({5, 3, 9, 0, 1, 12});
  for (const ModelConfig& config : configs_of_graphs()) {
    SCOPED_TRACE(base::text(
        "architecture ", static_cast<int>(config.architecture), " readout ",
        static_cast<int>(config.readout), " jumping ", static_cast<int>(config.jumping), " skip ",
        static_cast<int>(config.skip), " norm ", static_cast<int>(config.norm)));
    const std::unique_ptr<Model> model = make_model(config);
    const at::Tensor logits = run(*model, *batch.block, batch.x, batch.graph_ptr);
    ASSERT_EQ(logits.sizes(), (std::vector<int64_t>{6, config.output_width()}));
    const at::Tensor cotangent = random_tensor(logits.sizes(), at::kDouble, 9);
    model->zero_gradients();
    (logits * cotangent).sum().backward();
    const at::Tensor gradient = model->flat_gradients().clone();
    model->zero_gradients();
    for (int64_t g = 0; g < 6; ++g) {
      const int64_t n = batch.size(g);
      const TestBlock alone(n, n, batch.parts[g]);
      const std::vector<int64_t> graph_ptr{0, n};
      const at::Tensor row =
          run(*model, alone, batch.x.narrow(0, batch.graph_ptr[g], n), graph_ptr);
      EXPECT_TRUE(near(row, logits.narrow(0, g, 1), 1e-12, 1)) << "graph " << g;
      (row * cotangent.narrow(0, g, 1)).sum().backward();
    }
    EXPECT_TRUE(near(model->flat_gradients(), gradient, 1e-12));
  }
}

TEST(GraphModels, ScoresComeFromTheInputAndEveryLayer) {
  ModelConfig config = config_of_graphs();
  config.jumping = Jumping::kScores;
  config.norm = Norm::kBatch;
  const std::unique_ptr<Model> model = make_model(config);
  std::vector<std::string> linears, norms;
  for (const NamedTensor& parameter : model->parameters()) {
    if (parameter.key.starts_with("lins.")) linears.push_back(parameter.key);
    if (parameter.key.starts_with("norms.")) norms.push_back(parameter.key);
  }
  EXPECT_THAT(linears, testing::ElementsAre("lins.0.weight", "lins.0.bias", "lins.1.weight",
                                            "lins.1.bias", "lins.2.weight", "lins.2.bias"));
  EXPECT_EQ(norms.size(), 4u) << "weight and bias after both layers";
  // Without scores of the layers the readout is linear in the nodes' sums.
  const c10::NoGradGuard no_grad;
  at::Tensor weight, bias;
  for (const NamedTensor& parameter : model->parameters()) {
    if (parameter.key == "lins.0.weight") weight = parameter.tensor;
    if (parameter.key == "lins.0.bias") bias = parameter.tensor;
    if (parameter.key.starts_with("lins.1.") || parameter.key.starts_with("lins.2."))
      at::Tensor(parameter.tensor).zero_();
  }
  const GraphBatch batch({5, 3, 9});
  const at::Tensor sums = at::stack({batch.x.narrow(0, 0, 5).sum(0), batch.x.narrow(0, 5, 3).sum(0),
                                     batch.x.narrow(0, 8, 9).sum(0)});
  EXPECT_TRUE(near(run(*model, *batch.block, batch.x, batch.graph_ptr),
                   at::linear(sums, weight, bias), 1e-12));
}

TEST(GraphModels, OutputDropoutActsInTrainingAlone) {
  const GraphBatch batch(std::vector<int64_t>(200, 3));
  for (const Jumping jumping : {Jumping::kLast, Jumping::kScores}) {
    ModelConfig config = config_of_graphs();
    config.jumping = jumping;
    const std::unique_ptr<Model> plain = make_model(config);
    config.output_dropout = 0.5;
    const std::unique_ptr<Model> model = make_model(config);
    const at::Tensor expected = run(*plain, *batch.block, batch.x, batch.graph_ptr);
    EXPECT_TRUE(run(*model, *batch.block, batch.x, batch.graph_ptr).equal(expected));
    const auto trained = [&](uint64_t number) {
      return run(*model, *batch.block, batch.x, batch.graph_ptr, true, {1, 2, number});
    };
    EXPECT_TRUE(trained(3).equal(trained(3)));
    EXPECT_FALSE(trained(3).equal(trained(4)));
    at::Tensor mean = at::zeros_like(expected);
    for (uint64_t number = 0; number < 400; ++number) mean += trained(number).detach() / 400;
    EXPECT_TRUE(near(mean, expected.detach(), 0.2));
    EXPECT_NEAR(((mean - expected).detach().sum() / expected.detach().abs().sum()).item<double>(),
                0, 0.02);
  }
}

TEST(GraphModels, BatchesThatAreNoneAreRefused) {
  const GraphBatch batch({5, 3, 9});
  const std::unique_ptr<Model> model = make_model(config_of_graphs());
  const auto refused = [&](const std::vector<int64_t>& graph_ptr) {
    return refusal_of([&] { run(*model, *batch.block, batch.x, graph_ptr); });
  };
  EXPECT_THAT(refused({}), HasSubstr("reads batches of graphs"));
  EXPECT_THAT(refused({1, 17}), HasSubstr("graph_ptr begins with 1, expected 0"));
  EXPECT_THAT(refused({0, 9, 8, 17}), HasSubstr("graph_ptr[2] is 8, less than"));
  EXPECT_THAT(refused({0, 9, 16}), HasSubstr("graph_ptr ends with 16, and the batch has 17 nodes"));
  const TestBlock narrowing(17, 16, {});
  EXPECT_THAT(refusal_of([&] { run(*model, narrowing, batch.x, batch.graph_ptr); }),
              HasSubstr("from 17 sources to 16 targets"));

  graph::GraphParts parts;
  base::ThreadPool pool(1);
  const base::Tensor none = base::Tensor::empty(base::DType::kI64, {0});
  parts.num_nodes = {4};
  parts.topology = {graph::csc_from_coo(none.view(), none.view(), 4, 4, pool)};
  parts.node_columns.emplace_back();
  parts.node_columns[0].emplace("x", base::Tensor::zeros(base::DType::kF32, {4, kWidth}));
  const graph::GraphRef graph = graph::Graph::create(std::move(parts));
  try {
    model->inference(*graph, graph->node_column("x"), nullptr);
    ADD_FAILURE() << "nothing was refused";
  } catch (const base::Error& e) {
    EXPECT_EQ(e.status(), Status::kUnsupported);
  }
}

TEST(GraphModels, ConfigNamesTheField) {
  const auto text_of = [](auto&& change) {
    ModelConfig config = config_of_graphs();
    change(config);
    return refusal_of([&] { make_model(config); });
  };
  EXPECT_THAT(text_of([](ModelConfig& c) { c.readout = static_cast<Readout>(7); }),
              HasSubstr("readout is 7"));
  EXPECT_THAT(text_of([](ModelConfig& c) {
                c.readout = Readout::kNone;
                c.jumping = Jumping::kScores;
              }),
              HasSubstr("readout is none"));
  EXPECT_THAT(text_of([](ModelConfig& c) { c.output_dropout = 0.5; }),
              HasSubstr("no linear layer comes last"));
  EXPECT_THAT(text_of([](ModelConfig& c) {
                c.jumping = Jumping::kLast;
                c.output_dropout = 1;
              }),
              HasSubstr("output_dropout is 1"));
}

}  // namespace
}  // namespace gnnmg::nn
