// Conversion of weights between PyG and DGL: the stored conversions of single layers, tensor by
// tensor, models that compute the same in both forms, keys of older versions, and layers under
// other names.
#include "nn/state/convert.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include "base/error.h"
#include "nn/model/model.h"
#include "nn/state/convert_notes.h"
#include "nn/state/layer_names.h"
#include "nn/support.h"
#include "support/data.h"

namespace gnnmg::nn {
namespace {

using testing::HasSubstr;
using testing::Not;

template <typename F>
std::string refusal_of(base::Status status, F&& f) {
  try {
    f();
  } catch (const base::Error& e) {
    EXPECT_EQ(e.status(), status) << e.what();
    return e.what();
  }
  return "nothing was refused";
}

ConvertedLayer layer_of(const std::string& name) {
  const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
  ConvertedLayer layer;
  layer.kind = has("gatv2")                                  ? LayerKind::kGatv2
               : has("gat_")                                 ? LayerKind::kGat
               : has("graphconv_mean") || has("weighted")    ? LayerKind::kGraphMean
               : has("gcn_sym") || has("graphconv_sym")      ? LayerKind::kGcn
               : has("sage_max_project") || has("sage_pool") ? LayerKind::kSagePool
               : has("edgeconv")                             ? LayerKind::kEdge
               : has("blocks") || has("bdd")                 ? LayerKind::kRelationBlocks
               : has("rel") || has("rgcn")                   ? LayerKind::kRelation
               : has("gin")                                  ? LayerKind::kGin
                                                             : LayerKind::kSage;
  layer.concat = !has("sym_mean");
  layer.residual = has("residual");
  return layer;
}

// Reads the number of heads and of blocks from a dimension of a stored tensor.
void complete(ConvertedLayer& layer, const io::StateFile& from, const io::StateFile& to) {
  for (const char* key : {"att_src", "att", "attn_l", "attn"})
    if (from.find(key)) layer.heads = from.find(key)->shape()[1];
  if (layer.kind == LayerKind::kRelationBlocks && to.find("weight")) {
    layer.blocks = to.find("weight")->shape()[1];
    layer.width = layer.blocks * to.find("weight")->shape()[3];
  }
}

TEST(Convert, StoredLayersTensorByTensor) {
  GNNMG_NEEDS_DATA("parity/pyg");
  int converted = 0;
  for (const bool to_dgl_side : {true, false}) {
    const std::string from_dir = test::data_path(to_dgl_side ? "parity/pyg/" : "parity/dgl/");
    const std::string to_dir = test::data_path(to_dgl_side ? "parity/dgl/" : "parity/pyg/");
    std::ifstream list(to_dir + "convert.tsv");
    std::string line;
    std::getline(list, line);
    while (std::getline(list, line)) {
      std::stringstream columns(line);
      std::string result, source;
      std::getline(columns, result, '\t');
      std::getline(columns, source, '\t');
      SCOPED_TRACE(result);
      const io::StateFile from = io::read_pth(from_dir + source + ".pth");
      const io::StateFile expected = io::read_pth(to_dir + result + ".pth");
      ConvertedLayer layer = layer_of(result);
      complete(layer, from, expected);
      const NamedTensors got =
          to_dgl_side ? to_dgl(layer, from.tensors) : to_pyg(layer, from.tensors);
      ASSERT_EQ(got.size(), expected.tensors.size());
      for (size_t i = 0; i < got.size(); ++i) {
        const auto& [key, tensor] = got[i];
        EXPECT_EQ(key, expected.tensors[i].first) << "the order, by which optimizers number";
        ASSERT_TRUE(expected.find(key)) << key;
        const at::Tensor want = to_torch(*expected.find(key)), have = to_torch(tensor);
        ASSERT_EQ(have.sizes(), want.sizes()) << key;
        EXPECT_TRUE(near(have, want, 1e-6, 1)) << key;
      }
      ++converted;
    }
  }
  EXPECT_EQ(converted, 15 + 17);
}

ModelConfig config_of(Framework framework, Architecture architecture) {
  ModelConfig config;
  config.framework = framework;
  config.architecture = architecture;
  config.input_dim = 7;
  config.hidden_dim = 6;
  config.output_dim = 4;
  config.num_layers = 3;
  config.dtype = base::DType::kF64;
  config.seed = 5;
  const bool attention = architecture == Architecture::kGat || architecture == Architecture::kGatv2;
  if (attention) config.heads = 2;
  config.self_loops = !attention && architecture != Architecture::kGcn;
  return config;
}

at::Tensor run(Model& model, const TestBlock& block, const at::Tensor& x,
               const EdgeValues& edges = {}) {
  const auto blocks = TestBlock::repeated(block, model.config().num_layers);
  const std::vector<EdgeValues> values(blocks.size(), edges);
  ForwardArgs args;
  args.input.dense = x;
  args.blocks = blocks;
  args.edges = values;
  return model.forward(args);
}

// Every node has an edge: for a node without one PyG's GATv2 keeps a bias that DGL's does not have.
TestBlock ring_with_more() {
  TestBlock::Edges edges = random_edges(20, 20, 60, 4);
  for (int64_t i = 0; i < 20; ++i) edges.emplace_back(i, (i + 1) % 20);
  return TestBlock(20, 20, edges);
}

// Each edge once in both directions, and a loop at every node or at none.
TestBlock symmetric(bool loops) {
  std::set<std::pair<int64_t, int64_t>> edges;
  for (const auto& [u, v] : random_edges(20, 20, 60, 4))
    if (u != v) edges.insert({{u, v}, {v, u}});
  if (loops)
    for (int64_t i = 0; i < 20; ++i) edges.emplace(i, i);
  return TestBlock(20, 20, {edges.begin(), edges.end()});
}

constexpr int64_t kRelations = 3;

// Types of the edges, with the weights 1 / (edges of the type into the node).
EdgeValues typed(const sample::BlockView& block) {
  EdgeValues values;
  values.type =
      (random_tensor({block.num_edges}, at::kDouble, 9).abs() * 100).to(at::kLong) % kRelations;
  values.weight = at::zeros({block.num_edges}, at::kDouble);
  const auto* types = values.type.const_data_ptr<int64_t>();
  auto* weights = values.weight.mutable_data_ptr<double>();
  for (int64_t t = 0; t < block.num_targets; ++t)
    for (int32_t e = block.indptr[t]; e < block.indptr[t + 1]; ++e)
      weights[e] = 1.0 / static_cast<double>(std::count(types + block.indptr[t],
                                                        types + block.indptr[t + 1], types[e]));
  return values;
}

using Change = std::function<void(ModelConfig&)>;
struct Row {
  const char* name;
  Architecture pyg, dgl;
  const char* graph = "any";  // "symmetric"; "looped": symmetric with a loop at every node
  Change both, pyg_only, dgl_only;
  bool pyg_weights = false, dgl_weights = false;  // true if edges have weights there
};

// The table in docs/guide/weights.md, with its conditions.
std::vector<Row> rows() {
  const auto reduce = [](Aggregation how) -> Change {
    return [how](ModelConfig& c) { c.aggregation = how; };
  };
  const Change none = [](ModelConfig&) {};
  const Change loops = [](ModelConfig& c) { c.self_loops = true; };
  const Change heads_apart = [](ModelConfig& c) { c.concat = false; };
  const auto relations = [](int64_t bases, int64_t blocks) -> Change {
    return [=](ModelConfig& c) {
      c.relations = kRelations;
      c.bases = bases;
      c.blocks = blocks;
    };
  };
  const Change sum = reduce(Aggregation::kSum);
  using enum Architecture;
  return {
      {"SAGE mean", kSage, kSage, "any", none, none, none},
      {"SAGE pool", kSage, kSage, "any", none,
       [](ModelConfig& c) {
         c.aggregation = Aggregation::kMax;
         c.project = true;
       },
       reduce(Aggregation::kPool)},
      {"GCN", kGcn, kGcn, "symmetric", none, none, none},
      {"GCN with loops", kGcn, kGcn, "looped", none, loops, none},
      {"GCN without norm", kGcn, kGcn, "any",
       [](ModelConfig& c) { c.degree_norm = DegreeNorm::kNone; }, none, none},
      {"GAT", kGat, kGat, "any", none, none, none},
      {"GAT with loops", kGat, kGat, "looped", none, loops, none},
      {"GAT, means over heads", kGat, kGat, "any", heads_apart, none, none},
      {"GATv2", kGatv2, kGatv2, "any", none, none, none},
      {"GATv2 with loops", kGatv2, kGatv2, "looped", none, loops, none},
      {"GIN sum", kGin, kGin, "any", none, none, none},
      {"GIN mean", kGin, kGin, "any", reduce(Aggregation::kMean), none, none},
      {"GIN max", kGin, kGin, "any", reduce(Aggregation::kMax), none, none},
      {"R-GCN", kRelation, kRelation, "any", relations(0, 0), sum, none},
      {"R-GCN of bases", kRelation, kRelation, "any", relations(2, 0), sum, none},
      {"R-GCN of blocks", kRelation, kRelation, "any", relations(0, 2), sum, none},
      {"R-GCN, means", kRelation, kRelation, "any", relations(2, 0), reduce(Aggregation::kMean),
       [](ModelConfig& c) { c.edge_weights = true; }, false, true},
      {"GraphConv mean", kGraphConv, kSage, "any", none, reduce(Aggregation::kMean), none},
      {"GraphConv mean with weights", kGraphConv, kSage, "any", none,
       [](ModelConfig& c) {
         c.aggregation = Aggregation::kMean;
         c.edge_weights = true;
       },
       none, true, true},
      {"EdgeConv", kEdge, kEdge, "any", none, [](ModelConfig& c) { c.mlp_layers = 1; }, none},
  };
}

TEST(Convert, ModelsComputeTheSameInBothForms) {
  const at::Tensor x = random_tensor({20, 6}, at::kDouble, 6);
  for (const Row& row : rows()) {
    SCOPED_TRACE(row.name);
    const std::string_view graph = row.graph;
    const TestBlock block = graph == "any" ? ring_with_more() : symmetric(graph == "looped");
    EdgeValues pyg_edges = typed(block.view()), dgl_edges = pyg_edges;
    if (!row.pyg_weights) pyg_edges.weight = at::Tensor();
    if (!row.dgl_weights) dgl_edges.weight = at::Tensor();
    const auto make = [&](Framework framework, Architecture architecture, const Change& own) {
      ModelConfig config = config_of(framework, architecture);
      config.input_dim = 6;
      row.both(config);
      own(config);
      return make_model(config);
    };
    const auto pyg = make(Framework::kPyg, row.pyg, row.pyg_only);
    const auto dgl = make(Framework::kDgl, row.dgl, row.dgl_only);
    // Biases are not zero.
    for (Model* model : {pyg.get(), dgl.get()}) {
      at::Tensor weights = model->flat_parameters();
      weights += 0.1 * random_tensor(weights.sizes(), at::kDouble, 7);
    }
    const at::Tensor from_dgl = run(*dgl, block, x, dgl_edges);
    pyg->load_state_of_other_framework(dgl->state());
    EXPECT_TRUE(near(run(*pyg, block, x, pyg_edges), from_dgl, 1e-11));

    at::Tensor weights = pyg->flat_parameters();
    weights += 0.1 * random_tensor(weights.sizes(), at::kDouble, 8);
    const at::Tensor from_pyg = run(*pyg, block, x, pyg_edges);
    EXPECT_FALSE(near(from_pyg, from_dgl, 1e-3));
    dgl->load_state(pyg->state_of_other_framework());
    EXPECT_TRUE(near(run(*dgl, block, x, dgl_edges), from_pyg, 1e-11));
  }
}

// Residuals of attention, in layers that concatenate heads and in layers that average them; DGL
// adds rows of the result's width unchanged.
TEST(Convert, AttentionWithResiduals) {
  const TestBlock block = ring_with_more();
  const at::Tensor x = random_tensor({20, 7}, at::kDouble, 6);
  for (const bool concat : {true, false}) {
    SCOPED_TRACE(concat);
    ModelConfig config = config_of(Framework::kDgl, Architecture::kGat);
    config.residual = true;
    config.concat = concat;
    config.output_dim = 3;  // the hidden rows are twice as wide, so the last layer adds them
    const auto dgl = make_model(config);
    config.framework = Framework::kPyg;
    const auto pyg = make_model(config);
    at::Tensor weights = dgl->flat_parameters();
    weights += 0.1 * random_tensor(weights.sizes(), at::kDouble, 7);
    pyg->load_state_of_other_framework(dgl->state());
    EXPECT_TRUE(near(run(*pyg, block, x), run(*dgl, block, x), 1e-11));
    // The reverse, into a model with other weights.
    const at::Tensor expected = run(*pyg, block, x);
    weights += random_tensor(weights.sizes(), at::kDouble, 8);
    dgl->load_state(pyg->state_of_other_framework());
    EXPECT_TRUE(near(run(*dgl, block, x), expected, 1e-11));
    // Weights other than the identity have no counterpart.
    at::Tensor own = pyg->flat_parameters();
    own += 0.1 * random_tensor(own.sizes(), at::kDouble, 9);
    EXPECT_THAT(refusal_of(base::Status::kUnsupported, [&] { pyg->state_of_other_framework(); }),
                HasSubstr("is the row itself, and res.weight is not the"));
  }
  // If no row is as wide as the result, any weights have a counterpart.
  ModelConfig config = config_of(Framework::kPyg, Architecture::kGat);
  config.residual = true;
  config.num_layers = 2;
  const auto pyg = make_model(config);
  config.framework = Framework::kDgl;
  const auto dgl = make_model(config);
  at::Tensor weights = pyg->flat_parameters();
  weights += 0.1 * random_tensor(weights.sizes(), at::kDouble, 7);
  dgl->load_state_of_other_framework(pyg->state());
  EXPECT_TRUE(near(run(*dgl, block, x), run(*pyg, block, x), 1e-11));
}

// DGL's SAGEConv with edge weights is PyG's GraphConv.
TEST(Convert, WeightedMeansAreGraphConv) {
  const TestBlock block = ring_with_more();
  const at::Tensor x = random_tensor({20, 7}, at::kDouble, 6);
  ModelConfig config = config_of(Framework::kDgl, Architecture::kSage);
  config.edge_weights = true;
  const auto dgl = make_model(config);
  config.framework = Framework::kPyg;
  config.architecture = Architecture::kGraphConv;
  config.aggregation = Aggregation::kMean;
  const auto pyg = make_model(config);
  const auto blocks = TestBlock::repeated(block, 3);
  const std::vector<EdgeValues> edges(
      3, {random_tensor({block.view().num_edges}, at::kDouble, 3), {}, {}});
  ForwardArgs args;
  args.input.dense = x;
  args.blocks = blocks;
  args.edges = edges;
  pyg->load_state(dgl->state_of_other_framework());
  const at::Tensor out = dgl->forward(args);
  EXPECT_TRUE(near(pyg->forward(args), out, 1e-11));
  dgl->flat_parameters().zero_();
  dgl->load_state(pyg->state_of_other_framework());
  EXPECT_TRUE(near(dgl->forward(args), out, 1e-11));
}

// Default options give different results for the same weights; following the notes makes them
// equal.
TEST(Convert, NotesTellWhatHasToBeSetForEqualResults) {
  const TestBlock block = ring_with_more();
  const at::Tensor x = random_tensor({20, 7}, at::kDouble, 6);
  const auto notes = [](const ModelConfig& config, bool reading) {
    std::string all;
    for (const std::string& note : conversion_notes(config, reading)) all += note + "\n";
    return all;
  };
  for (const Architecture architecture : {Architecture::kSage, Architecture::kGin})
    for (const Framework framework : {Framework::kPyg, Framework::kDgl})
      for (const bool reading : {true, false})
        EXPECT_EQ(notes(config_of(framework, architecture), reading), "");
  for (const Architecture architecture : {Architecture::kGat, Architecture::kGatv2}) {
    ModelConfig config = config_of(Framework::kPyg, architecture);
    EXPECT_EQ(notes(config, true), "");
    config.self_loops = true;  // the default
    EXPECT_THAT(notes(config, true), HasSubstr("set self_loops to 0"));
    EXPECT_THAT(notes(config, false), HasSubstr("has to hold one at every node"));
    const auto dgl = make_model(config_of(Framework::kDgl, architecture));
    EXPECT_THAT(notes(dgl->config(), true), HasSubstr("has to hold those that it added"));
    EXPECT_THAT(notes(dgl->config(), false), HasSubstr("add_self_loops off"));
    for (const bool loops : {true, false}) {
      config.self_loops = loops;
      const auto pyg = make_model(config);
      pyg->load_state_of_other_framework(dgl->state());
      EXPECT_EQ(near(run(*pyg, block, x), run(*dgl, block, x), 1e-6), notes(config, true).empty());
    }
  }
  EXPECT_THAT(notes(config_of(Framework::kPyg, Architecture::kGatv2), false),
              HasSubstr("nodes without an incoming edge"));

  ModelConfig config = config_of(Framework::kPyg, Architecture::kGcn);
  for (const bool reading : {true, false}) {
    EXPECT_THAT(notes(config, reading), HasSubstr("on symmetric graphs without edge weights"));
    EXPECT_THAT(notes(config, reading), Not(HasSubstr("loops")));
  }
  config.self_loops = true;
  EXPECT_THAT(notes(config, true),
              HasSubstr("set self_loops to 0; results are equal on symmetric"));
  config.self_loops = false;
  config.degree_norm = DegreeNorm::kNone;
  EXPECT_EQ(notes(config, true), "");
  config.framework = Framework::kDgl;
  EXPECT_THAT(notes(config, false), HasSubstr("normalize off"));

  config = config_of(Framework::kPyg, Architecture::kRelation);
  config.relations = 3;
  EXPECT_THAT(notes(config, true), HasSubstr("set aggregation to the sum"));
  EXPECT_THAT(notes(config, false), HasSubstr("1 / (edges of the type into the node)"));
  config.aggregation = Aggregation::kSum;
  EXPECT_EQ(notes(config, true) + notes(config, false), "");
  config = config_of(Framework::kDgl, Architecture::kRelation);
  EXPECT_THAT(notes(config, true), HasSubstr("unless its aggr is add"));
  EXPECT_THAT(notes(config, false), HasSubstr("aggr add"));
  config.edge_weights = true;
  EXPECT_EQ(notes(config, true) + notes(config, false), "");

  // A stack names its layers.
  ModelConfig stack;
  stack.architecture = Architecture::kLayers;
  for (const char* name : {"first", "second"}) {
    LayerConfig layer;
    layer.kind = LayerConfig::Kind::kConv;
    layer.name = name;
    layer.options.architecture = name[0] == 'f' ? Architecture::kSage : Architecture::kGat;
    stack.layers.push_back(layer);
  }
  EXPECT_EQ(notes(stack, true),
            "weights converted between PyG's GAT and DGL's, layer 'second': DGL's layer adds no "
            "loops: set self_loops to 0\n");
}

// DGL's self_loop=False and bias=False are PyG's root_weight=False and bias=False.
TEST(Convert, RelationLayersWithoutAnOwnRowOrABias) {
  for (const int64_t blocks : {0, 2})
    for (const bool root : {false, true})
      for (const bool bias : {false, true}) {
        SCOPED_TRACE(base::text("blocks ", blocks, ", root ", root, ", bias ", bias));
        ModelConfig config = config_of(Framework::kPyg, Architecture::kRelation);
        config.input_dim = 6;  // two blocks
        config.aggregation = Aggregation::kSum;
        config.relations = kRelations;
        config.blocks = blocks;
        config.root_weight = root;
        config.bias = bias;
        const auto pyg = make_model(config);
        config.framework = Framework::kDgl;
        config.seed = 77;
        const auto dgl = make_model(config);
        const io::StateFile turned = pyg->state_of_other_framework();
        dgl->load_state(turned);
        EXPECT_EQ(turned.tensors.size(), dgl->state().tensors.size());
        const at::Tensor expected = pyg->flat_parameters().clone();
        pyg->flat_parameters().zero_();
        pyg->load_state_of_other_framework(dgl->state());
        EXPECT_TRUE(pyg->flat_parameters().equal(expected));
        pyg->flat_parameters().zero_();
        pyg->load_state(dgl->state_of_other_framework());
        EXPECT_TRUE(pyg->flat_parameters().equal(expected));
        // The error names the layer of the missing tensor.
        if (!root) continue;
        io::StateFile less = pyg->state();
        std::erase_if(less.tensors,
                      [](const auto& entry) { return entry.first == "convs.1.weight"; });
        EXPECT_EQ(
            refusal_of(base::Status::kFormat, [&] { to_other_framework(pyg->config(), less); }),
            "convs.1: missing: weight");
      }
}

TEST(Convert, WhatHasNoCounterpartIsRefused) {
  const auto text_of = [](auto&& change) {
    ModelConfig config = config_of(Framework::kPyg, Architecture::kSage);
    change(config);
    const auto model = make_model(config);
    return refusal_of(base::Status::kUnsupported, [&] { model->state_of_other_framework(); });
  };
  EXPECT_THAT(text_of([](ModelConfig& c) { c.normalize = true; }), HasSubstr("normalize"));
  EXPECT_THAT(text_of([](ModelConfig& c) { c.aggregation = Aggregation::kSum; }),
              HasSubstr("aggregation"));
  EXPECT_THAT(text_of([](ModelConfig& c) { c.aggregation = Aggregation::kMax; }),
              HasSubstr("aggregation"));
  EXPECT_THAT(text_of([](ModelConfig& c) { c.root_weight = false; }), HasSubstr("own row"));
  EXPECT_THAT(text_of([](ModelConfig& c) { c.reductions = {PnaReduction::kMean}; }),
              HasSubstr("several reductions"));
  for (const Aggregation aggregation : {Aggregation::kPool, Aggregation::kGcn})
    EXPECT_THAT(text_of([&](ModelConfig& c) {
                  c.framework = Framework::kDgl;
                  c.aggregation = aggregation;
                  c.edge_weights = true;
                }),
                HasSubstr("edge weights"));
  for (const Architecture architecture :
       {Architecture::kGin, Architecture::kRelation, Architecture::kEdge})
    EXPECT_THAT(text_of([&](ModelConfig& c) {
                  c.framework = Framework::kDgl;
                  c.architecture = architecture;
                  c.relations = architecture == Architecture::kRelation ? 3 : 0;
                  c.edge_weights = architecture == Architecture::kGin;
                  c.inner_norm = architecture != Architecture::kGin;
                }),
                HasSubstr("has no counterpart in PyG"));
  EXPECT_THAT(text_of([](ModelConfig& c) {
                c.framework = Framework::kDgl;
                c.architecture = Architecture::kGat;
                c.edge_weights = true;
              }),
              HasSubstr("edge weights"));
  EXPECT_THAT(text_of([](ModelConfig& c) {
                c.architecture = Architecture::kGin;
                c.norm = Norm::kBatch;
              }),
              HasSubstr("norms"));
  EXPECT_THAT(text_of([](ModelConfig& c) {
                c.architecture = Architecture::kGatv2;
                c.residual = true;
              }),
              HasSubstr("residual"));

  const auto pyg = make_model(config_of(Framework::kPyg, Architecture::kSage));
  const auto before = pyg->flat_parameters().clone();
  io::StateFile state = pyg->state_of_other_framework();
  state.tensors.erase(state.tensors.begin());
  state.tensors.emplace_back("layers.0.fc_other.weight",
                             base::Tensor::zeros(base::DType::kF32, {2}));
  const std::string text =
      refusal_of(base::Status::kFormat, [&] { pyg->load_state_of_other_framework(state); });
  EXPECT_THAT(text, HasSubstr("missing: layers.0.fc_neigh.weight"));
  EXPECT_THAT(text, HasSubstr("unexpected: layers.0.fc_other.weight"));
  EXPECT_TRUE(pyg->flat_parameters().equal(before));
}

TEST(Convert, KeysOfOlderVersionsOfDgl) {
  const auto model = make_model(config_of(Framework::kDgl, Architecture::kSage));
  at::Tensor weights = model->flat_parameters();
  weights += random_tensor(weights.sizes(), at::kDouble, 7);
  const at::Tensor expected = weights.clone();
  // One bias beside the linear layers; and one in each, which are added.
  io::StateFile one = model->state(), two = model->state();
  for (auto& [key, tensor] : one.tensors)
    if (key.ends_with("fc_self.bias")) key.replace(key.size() - 12, 12, "bias");
  io::StateFile halves;
  for (auto& [key, tensor] : two.tensors) {
    if (key.ends_with("fc_self.bias")) {
      for (double& value : tensor.as<double>()) value /= 2;
      halves.tensors.emplace_back(std::string(key).replace(key.size() - 12, 12, "fc_neigh.bias"),
                                  tensor);
    }
    halves.tensors.emplace_back(key, tensor);
  }
  for (const io::StateFile& state : {one, halves}) {
    weights.zero_();
    model->load_state(state);
    EXPECT_TRUE(weights.equal(expected));
  }
  ModelConfig config = config_of(Framework::kDgl, Architecture::kGat);
  config.residual = true;
  const auto gat = make_model(config);
  const at::Tensor first = gat->flat_parameters().clone();
  io::StateFile older = gat->state();
  int renamed = 0;
  for (auto& [key, tensor] : older.tensors)
    if (key.ends_with("res_fc.bias")) {
      key.replace(key.size() - 11, 11, "bias");
      ++renamed;
    }
  ASSERT_GT(renamed, 0);
  gat->flat_parameters().zero_();
  gat->load_state(older);
  EXPECT_TRUE(gat->flat_parameters().equal(first));
}

TEST(LayerNames, AreFoundByTheirNumbers) {
  const auto model = make_model(config_of(Framework::kPyg, Architecture::kSage));
  const at::Tensor expected = model->flat_parameters().clone();
  for (const char* name : {"conv1", "gnn.0", "layers.1", "sage0"}) {
    SCOPED_TRACE(name);
    io::StateFile state = model->state();
    rename_layers(state, "convs", name);
    EXPECT_TRUE(state.tensors[0].first.starts_with(name));
    model->flat_parameters().zero_();
    model->load_state(state);
    EXPECT_TRUE(model->flat_parameters().equal(expected));
  }
  io::StateFile state = model->state();
  for (const char* name : {"conv", "", "1", ".1", "a b1", "conv1.x"})
    EXPECT_THAT(
        refusal_of(base::Status::kInvalidArgument, [&] { rename_layers(state, "convs", name); }),
        HasSubstr("the first layer's name"));
  // Two series of layers match, so neither is taken.
  for (const auto& [key, tensor] : model->state().tensors)
    state.tensors.emplace_back("twin" + key.substr(5), tensor);
  rename_layers(state, "convs", "conv1");
  EXPECT_THAT(refusal_of(base::Status::kFormat, [&] { model->load_state(state); }),
              HasSubstr("missing: convs.0.lin_l.weight"));
}

}  // namespace
}  // namespace gnnmg::nn
