// Operations along edges and whole models on a device compared with the CPU: every layer and
// option, batches of graphs, mini-batches without some of their edges, whole graphs. Runs like
// device_test.cpp.
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/error.h"
#include "nn/conv/layers.h"
#include "nn/device_fixture.h"
#include "nn/layers/readout_layer.h"
#include "nn/layers/sequence.h"
#include "nn/model/graph_facts.h"
#include "nn/model/thinned_batch.h"
#include "nn/ops/edge_functions.h"
#include "nn/ops/made_block.h"

namespace gnnmg::nn {
namespace {

using base::Status;
using testing::HasSubstr;

class DeviceConvs : public testing::Test {
 protected:
  const graph::GraphRef graph_ = make_graph();
  TestDevices devices_;

  static std::vector<int64_t> seeds() { return {4, 0, 59, 17, 33}; }
};

TEST_F(DeviceConvs, EveryKindTrainsAsOnTheCpu) {
  int turn = 0;
  for (const ModelConfig& config : configs()) {
    SCOPED_TRACE(describe(config));
    const auto model = make_model(config);
    // Layers with a common list of edges, and with a list each.
    const auto expansion = ++turn % 4 ? sample::Expansion::kOnce : sample::Expansion::kEveryLayer;
    const Batch batch = sample_batch(graph_, std::vector<int64_t>(model->config().num_layers, 3),
                                     seeds(), expansion);
    const bool sparse = config.reads_features() && turn % 3 == 0;
    expect_same_on_device(*model, args_of(batch, sparse, true), devices_[1], kF64);
  }
}

TEST_F(DeviceConvs, OfSingleNumbersToo) {
  std::map<Architecture, int> done;
  for (ModelConfig config : configs()) {
    // A norm leaves only rounding as the gradient of the layers before it.
    if (config.norm != Norm::kNone || config.architecture == Architecture::kLayers) continue;
    if (done[config.architecture]++ >= 4) continue;
    config.dtype = base::DType::kF32;
    SCOPED_TRACE(describe(config));
    const auto model = make_model(config);
    const Batch batch =
        sample_batch(graph_, std::vector<int64_t>(model->config().num_layers, 3), seeds());
    expect_same_on_device(*model, args_of(batch, false, true), devices_[0], kF32);
  }
}

// Without a graph, layers use the degrees of the block, and the given edge data.
TEST_F(DeviceConvs, WithoutAGraphTheBlockIsAllThereIs) {
  const Batch batch = sample_batch(graph_, {4, 4, 4}, seeds());
  std::map<Architecture, int> done;
  for (const ModelConfig& config : configs()) {
    const auto model = make_model(config);
    const EdgeNeeds needs = edge_needs(model->config());
    if (config.num_layers != 3 || model->config().num_layers != 3) continue;
    if (!needs.any() && done[config.architecture]++ >= 2) continue;
    SCOPED_TRACE(describe(config));
    std::vector<EdgeValues> edges;
    for (const sample::BlockView& block : batch.sample.blocks) {
      const int64_t count = block.num_edges;
      EdgeValues& of_block = edges.emplace_back();
      if (needs.weights) of_block.weight = random_tensor({count}, at::kDouble, 5).abs() + 0.1;
      if (needs.features) of_block.features = random_tensor({count, kEdgeColumns}, at::kDouble, 6);
      if (needs.types) of_block.type = at::arange(count, at::TensorOptions(at::kLong)) * 7 % kTypes;
    }
    ForwardArgs args = args_of(batch, false, true);
    args.graph = nullptr;
    args.edges = edges;
    expect_same_on_device(*model, args, devices_[1], kF64);
  }
}

TEST_F(DeviceConvs, CategoriesOfNodesAndEdges) {
  ModelConfig config = small_config();
  config.architecture = Architecture::kGine;
  config.activation = Activation::kElu;
  config.num_layers = 2;
  config.node_vocabulary = {4, 3};
  config.input_dim = 2;
  config.edge_vocabulary = {4, 2};
  config.edge_dim = 12;
  const Batch batch = sample_batch(graph_, {4, 4}, seeds());
  std::vector<EdgeValues> edges;
  for (const sample::BlockView& block : batch.sample.blocks) {
    const at::Tensor numbers = at::arange(2 * block.num_edges, at::TensorOptions(at::kLong));
    edges.push_back({{}, (numbers * 5 % 7 % 2).view({block.num_edges, 2}), {}});
  }
  const auto model = make_model(config);
  ForwardArgs args = args_of(batch, false, true);
  args.input.dense = batch.codes;
  args.edges = edges;
  expect_same_on_device(*model, args, devices_[0], kF64);
  args.input.dense = batch.codes.to(at::kFloat);
  expect_same_on_device(*model, args, devices_[0], kF64);

  const auto clone = model->clone_on(&devices_[0]);
  const auto refusal = [&] {
    const DeviceBatch there(args, devices_[0]);
    std::string on_cpu, on_device;
    EXPECT_EQ(status_of([&] { model->forward(args); }, &on_cpu), Status::kRange);
    EXPECT_EQ(status_of([&] { clone->forward(there.args()); }, &on_device), Status::kRange);
    EXPECT_EQ(on_device, on_cpu);
    return on_device;
  };
  args.input.dense = batch.codes.clone();
  args.input.dense[3][1] = 3;
  EXPECT_THAT(refusal(), HasSubstr("node 3 of the mini-batch has 3 in column 1"));
  args.input.dense = batch.codes.to(at::kFloat);
  args.input.dense[2][0] = 0.5;
  EXPECT_THAT(refusal(), HasSubstr("node 2 of the mini-batch has 0.5 in column 0"));
}

// A disjoint union of graphs; the second has no edge, the last no node.
struct Graphs {
  Graphs() {
    TestBlock::Edges edges;
    for (const int64_t size : {6, 4, 1, 9, 0}) {
      const int64_t first = graph_ptr.back();
      if (size > 4)
        for (const auto& [source, target] : random_edges(size, size, 3 * size, size))
          edges.emplace_back(first + source, first + target);
      graph_ptr.push_back(first + size);
    }
    const int64_t n = graph_ptr.back();
    block = std::make_unique<TestBlock>(n, n, edges);
    x = random_tensor({n, kFeatures}, at::kDouble, 8);
    x[7] = x[8];  // a tie
  }
  std::vector<int64_t> graph_ptr{0};
  std::unique_ptr<TestBlock> block;
  at::Tensor x;
};

TEST_F(DeviceConvs, ReadoutsOfBatchesOfGraphs) {
  const Graphs graphs;
  for (const Readout kind : {Readout::kSum, Readout::kMean, Readout::kMax, Readout::kAttention,
                             Readout::kSet2Set, Readout::kSort})
    for (const Jumping jumping :
         {Jumping::kNone, Jumping::kCat, Jumping::kMax, Jumping::kLstm, Jumping::kScores})
      for (const Norm norm : {Norm::kNone, Norm::kBatch, Norm::kLayerGraph, Norm::kGraph,
                              Norm::kInstance, Norm::kPair}) {
        ModelConfig config = small_config();
        config.num_layers = 2;
        config.readout = kind;
        config.sort_rows = kind == Readout::kSort ? 5 : config.sort_rows;
        config.activation = Activation::kTanh;
        config.jumping = jumping;
        config.norm = norm;
        if (norm != Norm::kNone && jumping != Jumping::kNone && jumping != Jumping::kScores)
          continue;
        const bool learns =
            kind == Readout::kAttention || kind == Readout::kSet2Set || kind == Readout::kSort;
        if (learns && jumping == Jumping::kScores) continue;
        if (kind == Readout::kSet2Set || kind == Readout::kSort)
          if (jumping == Jumping::kNone) continue;
        SCOPED_TRACE(base::text(describe(config), " readout ", static_cast<int>(kind)));
        const auto model = make_model(config);
        const auto blocks = TestBlock::repeated(*graphs.block, config.num_layers);
        ForwardArgs args;
        args.input.dense = graphs.x;
        args.blocks = blocks;
        args.graph_ptr = graphs.graph_ptr;
        args.dropout = {1, 2, 3};
        expect_same_on_device(*model, args, devices_[1], kF64);
      }
}

// Tied rows and NaNs keep their order.
TEST_F(DeviceConvs, SortedRowsHaveOneOrder) {
  const Graphs graphs;
  ModelConfig config = small_config();
  config.readout = Readout::kSort;
  config.sort_rows = 7;
  const ReadoutLayer layer(config, kFeatures);
  at::Tensor x = graphs.x.clone();
  x.select(1, kFeatures - 1).copy_(x.select(1, kFeatures - 1).mul(2).round());
  x[1][kFeatures - 1] = x[4][kFeatures - 1] = std::nan("");
  Execution on_device;
  on_device.device = &devices_[0];
  const at::Tensor expected = layer.apply(x, graphs.graph_ptr, {});
  const at::Tensor found = layer.apply(x.to(devices_[0].torch()), graphs.graph_ptr, on_device);
  EXPECT_TRUE(found.cpu().nan_to_num(99).equal(expected.nan_to_num(99)));
}

// The remaining parts of a mini-batch, number by number.
TEST_F(DeviceConvs, ThinnedBatchesLoseTheSameEdges) {
  for (const sample::Expansion expansion :
       {sample::Expansion::kOnce, sample::Expansion::kEveryLayer}) {
    const Batch batch = sample_batch(graph_, {4, 4}, seeds(), expansion);
    ForwardArgs args = args_of(batch, false, true);
    std::vector<EdgeValues> edges;
    for (const sample::BlockView& block : batch.sample.blocks)
      edges.push_back({at::arange(block.num_edges, at::kDouble), {}, {}});
    args.edges = edges;
    Execution execution;
    execution.device = &devices_[1];
    execution.gradients = true;
    for (const auto& [edge_rate, node_rate] :
         std::vector<std::pair<double, double>>{{0.4, 0}, {0, 0.3}, {0.2, 0.2}, {0.9999, 0}}) {
      const DeviceBatch there(args, devices_[1]);
      const ThinnedBatch expected(args, edge_rate, node_rate);
      const ThinnedBatch found(there.args(), edge_rate, node_rate, execution);
      for (size_t i = 0; i < args.blocks.size(); ++i) {
        const sample::BlockView& a = expected.args().blocks[i];
        const sample::BlockView& b = found.args().blocks[i];
        ASSERT_EQ(b.num_edges, a.num_edges);
        EXPECT_EQ(b.num_targets, a.num_targets);
        EXPECT_EQ(b.num_sources, a.num_sources);
        const auto expect_same = [&]<typename T>(const T* host, const T* device, int64_t count) {
          std::vector<T> copy(count);
          devices_[1].table->copy(devices_[1].queue, copy.data(), device, count * sizeof(T));
          devices_[1].table->synchronize(devices_[1].queue);
          EXPECT_EQ(copy, std::vector<T>(host, host + count));
        };
        expect_same(a.indptr, b.indptr, a.num_targets + 1);
        expect_same(a.indices, b.indices, a.num_edges);
        expect_same(a.edge_ids, b.edge_ids, a.num_edges);
        expect_same(a.out_indptr, b.out_indptr, a.num_sources + 1);
        expect_same(a.out_targets, b.out_targets, a.num_edges);
        EXPECT_TRUE(found.args().edges[i].weight.cpu().equal(expected.args().edges[i].weight));
        EXPECT_NE(b.edge_ids, nullptr);
      }
    }
  }
}

TEST_F(DeviceConvs, WholeGraphsInRangesOfNodes) {
  std::map<std::tuple<Architecture, Norm, Jumping>, int> done;
  for (const ModelConfig& config : configs()) {
    if (done[{config.architecture, config.norm, config.jumping}]++ >= 6) continue;
    SCOPED_TRACE(describe(config));
    const auto model = make_model(config);
    const auto clone = model->clone_on(&devices_[0]);
    for (const char* features : {"x", "s"}) {
      const at::Tensor expected = infer(*model, *graph_, features, kNodes);
      const at::Tensor found = infer(*clone, *graph_, features, *features == 'x' ? 17 : kNodes);
      EXPECT_TRUE(found.is_cpu());
      EXPECT_TRUE(near(found, expected, kF64)) << features;
      if (!config.reads_features()) break;
    }
  }
}

TEST_F(DeviceConvs, EdgesThatNoLayerTakesAreNamedAsOnTheCpu) {
  const Batch batch = sample_batch(graph_, {5}, seeds());
  const int64_t edges = batch.sample.blocks[0].num_edges;
  const auto refusal = [&](const ModelConfig& config, const EdgeValues& values, Status status,
                           bool same_text = true) {
    const auto model = make_model(config), clone = model->clone_on(&devices_[0]);
    ForwardArgs args = args_of(batch, false, false);
    args.graph = nullptr;
    args.edges = {&values, 1};
    const DeviceBatch there(args, devices_[0]);
    std::string on_cpu, on_device;
    EXPECT_EQ(status_of([&] { model->forward(args); }, &on_cpu), status);
    EXPECT_EQ(status_of([&] { clone->forward(there.args()); }, &on_device), status);
    if (same_text) {
      EXPECT_EQ(on_device, on_cpu);
    }
    return on_device;
  };
  ModelConfig config = small_config();
  config.num_layers = 1;
  config.architecture = Architecture::kRelation;
  config.relations = kTypes;
  const at::Tensor types = at::full({edges}, 1, at::TensorOptions(at::kLong));
  types[4] = kTypes;
  EXPECT_THAT(refusal(config, {{}, {}, types}, Status::kRange), HasSubstr("edge 4 has type 4"));
  types[4] = 0;
  types[7] = -2;
  EXPECT_THAT(refusal(config, {{}, {}, types}, Status::kRange), HasSubstr("edge 7 has type -2"));
  EXPECT_THAT(refusal(config, {}, Status::kInvalidArgument), HasSubstr("needs the type of all"));
  config.relations = 0;
  config.architecture = Architecture::kGcn;
  config.edge_weights = true;
  const at::Tensor weights = at::full({edges}, -3.0, at::TensorOptions(at::kDouble));
  EXPECT_THAT(refusal(config, {weights, {}, {}}, Status::kInvalidArgument),
              HasSubstr("the weights of the edges into node "));
}

// A device reads no number back, so the whole graph is checked at its first use.
TEST_F(DeviceConvs, NegativeDegreesOfAGraphAreFoundAtOnce) {
  base::ThreadPool pool(1);
  base::Tensor sources = base::Tensor::zeros(base::DType::kI64, {2});
  base::Tensor targets = base::Tensor::zeros(base::DType::kI64, {2});
  sources.as<int64_t>()[1] = targets.as<int64_t>()[0] = 1;
  targets.as<int64_t>()[1] = 2;
  base::Tensor weights = base::Tensor::zeros(base::DType::kF32, {2});
  weights.as<float>()[0] = -1.5f;
  weights.as<float>()[1] = 1;
  graph::Columns carried, nodes;
  carried.emplace("edge_weight", weights);
  nodes.emplace("x", base::Tensor::zeros(base::DType::kF32, {3, kFeatures}));
  graph::GraphParts parts;
  parts.num_nodes = {3};
  parts.topology = {graph::csc_from_coo(sources.view(), targets.view(), 3, 3, pool)};
  parts.node_columns.push_back(nodes);
  parts.edge_columns.push_back(carried);
  const graph::GraphRef graph = graph::Graph::create(std::move(parts));
  ModelConfig config = small_config();
  config.architecture = Architecture::kGcn;
  config.edge_weights = true;
  const auto text_of = [&](const Device* device) {
    std::string text;
    const auto model = make_model(config)->clone_on(device);
    const Status status = status_of(
        [&] { (void)model->inference(*graph, graph->node_column("x"), nullptr)->run(0, 0, 3); },
        &text);
    EXPECT_EQ(status, config.improved ? Status::kOk : Status::kInvalidArgument) << text;
    return text;
  };
  EXPECT_EQ(text_of(&devices_[0]), text_of(nullptr));
  EXPECT_THAT(text_of(&devices_[0]), HasSubstr("into node 1, its loop included, add up to -0.5"));
  config.improved = true;  // loops of weight 2
  EXPECT_EQ(text_of(&devices_[0]), "");
}

// Includes loops, several of one node and one of another.
TestBlock::Edges edges_with_loops() {
  for (uint64_t seed = 3;; ++seed) {
    const TestBlock::Edges edges = random_edges(12, 7, 30, seed);
    std::map<int64_t, int> loops;
    for (const auto& [source, target] : edges)
      if (source == target) ++loops[target];
    const auto has = [&](bool several) {
      return std::ranges::any_of(loops, [&](const auto& l) { return (l.second > 1) == several; });
    };
    if (has(true) && has(false)) return edges;
  }
}

// Single operations, with every input that has a gradient.
class DeviceFunctions : public DeviceConvs {
 protected:
  const TestBlock block_{12, 7, edges_with_loops()};

  // Compares results and gradients of f(inputs, block, execution) on the CPU with two runs on a
  // device.
  template <typename F>
  void expect_same(const F& f, const std::vector<at::Tensor>& inputs) {
    const auto run = [&](const Device* device) {
      Execution execution;
      execution.gradients = true;
      execution.device = device;
      std::vector<at::Tensor> own, kept;
      for (const at::Tensor& input : inputs)
        own.push_back((device ? input.to(device->torch()) : input.clone()).set_requires_grad(true));
      const sample::BlockView block =
          device ? block_on(*device, block_.view(), kept) : block_.view();
      const at::Tensor y = f(own, block, execution);
      (y * random_tensor(y.sizes(), at::kDouble, 99).to(y.device())).sum().backward();
      std::vector<at::Tensor> all{y.detach().cpu()};
      for (const at::Tensor& input : own) all.push_back(input.grad().cpu());
      return all;
    };
    const auto expected = run(nullptr), found = run(&devices_[1]), again = run(&devices_[1]);
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_TRUE(near(found[i], expected[i], kF64)) << (i ? "gradient " : "result ") << i;
      EXPECT_TRUE(again[i].equal(found[i])) << (i ? "gradient " : "result ") << i << ", again";
    }
  }
  static at::Tensor numbers(at::IntArrayRef sizes, uint64_t seed) {
    return random_tensor(sizes, at::kDouble, seed);
  }
};
using Inputs = std::vector<at::Tensor>;

TEST_F(DeviceFunctions, WeightedSums) {
  for (const int64_t heads : {1, 3}) {
    const Inputs inputs{numbers({12, 6}, 1), numbers({30, heads}, 2), numbers({5, heads}, 3),
                        numbers({7, 6}, 4), numbers({6}, 5)};
    expect_same(
        [](const Inputs& in, const sample::BlockView& block, const Execution& execution) {
          WeightedSum sum;
          sum.x = in[0];
          sum.weights = in[1];
          sum.self_weights = in[2];
          sum.x_target = in[3];
          sum.bias = in[4];
          sum.finish = {true, kernels::make_dropout(0.2, 1, 2, 3, 4)};
          return weighted_sum(sum, block, execution);
        },
        inputs);
    if (heads > 1) continue;  // edges without weights have one head
    expect_same(
        [](const Inputs& in, const sample::BlockView& block, const Execution& execution) {
          WeightedSum sum;
          sum.x = in[0];
          sum.self_weights = in[1];
          return weighted_sum(sum, block, execution);
        },
        {inputs[0], inputs[2]});
  }
}

TEST_F(DeviceFunctions, RowsOfEdges) {
  const Inputs rows{numbers({12, 5}, 1), numbers({7, 5}, 2), numbers({30}, 3)};
  expect_same(
      [](const Inputs& in, const sample::BlockView& block, const Execution& execution) {
        const at::Tensor of_edges = rows_of_edges(in[0], in[1], block, execution) +
                                    weighted_rows(in[0], in[2], block, execution);
        return aggregate_edges(of_edges, block, Reduce::kMean, execution) +
               aggregate_edges(of_edges, block, Reduce::kMax, execution);
      },
      rows);
  expect_same(
      [](const Inputs& in, const sample::BlockView& block, const Execution& execution) {
        return aggregate_last_max(in[0], block, execution) +
               weighted_last_max(in[0], in[1], block, execution);
      },
      {(rows[0] * 2).round(), rows[2]});
  expect_same([](const Inputs& in, const sample::BlockView& block,
                 const Execution& execution) { return relu_sum(in[0], in[1], block, execution); },
              {rows[0], numbers({30, 5}, 6)});
}

TEST_F(DeviceFunctions, ScoresOfEdges) {
  for (const int64_t heads : {1, 3})
    expect_same(
        [&](const Inputs& in, const sample::BlockView& block, const Execution& execution) {
          return edge_softmax(edge_dots(in[0], in[1], heads, block, execution), block, execution);
        },
        {numbers({12, 6}, 1), numbers({7, 6}, 2)});
}

TEST_F(DeviceFunctions, RowsOfLoops) {
  for (const LoopFill fill :
       {LoopFill::kMean, LoopFill::kSum, LoopFill::kMax, LoopFill::kMin, LoopFill::kConstant})
    for (const int64_t first_own : {0, 3})
      expect_same(
          [&](const Inputs& in, const sample::BlockView& block, const Execution& execution) {
            return with_loop_rows(in[0], {fill, 0.5, first_own}, block, execution);
          },
          {numbers({30, 4}, 1)});
}

TEST_F(DeviceFunctions, Sequences) {
  for (const bool packed : {false, true})
    for (const int64_t least_steps : {0, 40})
      expect_same(
          [&](const Inputs& in, const sample::BlockView& block, const Execution& execution) {
            const Lstm lstm{in[1], in[2], in[3], in[4]};
            return packed ? lstm_packed(in[0], lstm, block, execution)
                          : lstm_padded(in[0], lstm, block, least_steps, execution);
          },
          {numbers({12, 5}, 1), numbers({12, 5}, 2), numbers({12, 3}, 3), numbers({12}, 4),
           numbers({12}, 5)});
}

// Edge weights with gradients, normalized by the degrees of the block.
TEST_F(DeviceFunctions, GradientsOfWeightsOfGcn) {
  for (const bool loops : {true, false})
    for (const bool improved : {true, false}) {
      GcnOptions options;
      options.in = 5;
      options.out = 4;
      options.add_self_loops = loops;
      options.improved = improved;
      expect_same(
          [&](const Inputs& in, const sample::BlockView& block, const Execution& execution) {
            const auto conv = make_gcn_conv(options);
            ParameterList list(Init::kPyg);
            conv->declare(list);
            const ParameterSet parameters(list, at::kDouble, 1, in[0].device());
            ConvInput own;
            own.x = in[0];
            own.edge_weight = in[1];
            return conv->forward(own, {block, execution, {}, {}, {}});
          },
          {numbers({12, 5}, 1), numbers({30}, 2).abs() + 0.1});
    }
}

}  // namespace
}  // namespace gnnmg::nn
