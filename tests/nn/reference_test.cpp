// Every stored case of the reference frameworks, from shared/data/parity: outputs, gradients and
// buffers of all layers and models, with weights from their files. Cases without a counterpart are
// listed here, and the list must be exact.
#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <numeric>
#include <set>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "io/npy.h"
#include "nn/config/layer_config.h"
#include "nn/conv/layers.h"
#include "nn/loss.h"
#include "nn/model/model.h"
#include "nn/ops/readout.h"
#include "nn/state/layer_names.h"
#include "nn/support.h"
#include "support/data.h"

namespace gnnmg::nn {
namespace {

// Kinds ("framework/layer") and single cases ("framework/case") without a counterpart.
const std::set<std::string> kNotCovered = {};
// Cases that parity_test.cpp runs from its own copies.
const std::set<std::string> kElsewhere = {"pyg/trajectory", "pyg/real_sage_100_256_47_l3"};

struct LayerCase {
  std::string framework, name, layer;
  bool f64 = false, training = true;
  std::map<std::string, std::string> options;

  std::string path(const std::string& ending) const {
    return test::data_path("parity/" + framework) + "/" + name + ending;
  }
  std::string kind() const { return framework + "/" + layer; }
  std::string full_name() const { return framework + "/" + name; }
  bool pyg() const { return framework == "pyg"; }
  double output_tolerance() const { return f64 ? 1e-12 : 1e-5; }
  double gradient_tolerance() const { return f64 ? 1e-11 : 1e-4; }
  std::string text(const std::string& option, const std::string& otherwise) const {
    const auto found = options.find(option);
    return found == options.end() ? otherwise : found->second;
  }
  bool flag(const std::string& option, bool otherwise = false) const {
    return text(option, otherwise ? "True" : "False") == "True";
  }
  int64_t number(const std::string& option, int64_t otherwise) const {
    const auto found = options.find(option);
    return found == options.end() ? otherwise : std::stoll(found->second);
  }
  // Parses "8" or "(8, 5)"; the second is 0 for a single width.
  std::pair<int64_t, int64_t> widths(const std::string& option) const {
    const std::string value = text(option, "0");
    const size_t comma = value.find(',');
    if (comma == std::string::npos) return {std::stoll(value), 0};
    return {std::stoll(value.substr(1)), std::stoll(value.substr(comma + 1))};
  }
  // An unknown option would change the comparison.
  bool knows(const std::set<std::string>& known) const {
    for (const auto& [option, value] : options)
      if (!known.contains(option)) return false;
    return true;
  }
};

std::vector<LayerCase> read_cases(const std::string& framework) {
  std::ifstream index(test::data_path("parity/" + framework) + "/index.tsv");
  std::vector<LayerCase> all;
  std::string line;
  std::getline(index, line);
  while (std::getline(index, line)) {
    std::vector<std::string> fields;
    std::stringstream columns(line);
    for (std::string field; std::getline(columns, field, '\t');) fields.push_back(field);
    fields.resize(6);
    LayerCase c{framework, fields[0], fields[1], fields[2] == "f64", fields[3] != "eval", {}};
    std::stringstream options(fields[5]);
    for (std::string option; std::getline(options, option, ';');) {
      const size_t equals = option.find('=');
      if (equals != std::string::npos)
        c.options[option.substr(0, equals)] = option.substr(equals + 1);
    }
    all.push_back(std::move(c));
  }
  return all;
}

// Parses "Linear(8,6)+ReLU+Linear(6,6)" into {8, 6, 6}.
std::vector<int64_t> network(const std::string& text) {
  std::vector<int64_t> widths;
  for (size_t at = text.find("Linear("); at != std::string::npos;
       at = text.find("Linear(", at + 1)) {
    const size_t comma = text.find(',', at);
    if (widths.empty()) widths.push_back(std::stoll(text.substr(at + 7)));
    widths.push_back(std::stoll(text.substr(comma + 1)));
  }
  return widths;
}

// Parses "['mean', 'max']" into values that count from 1, in the order of `words`.
template <typename E>
std::vector<E> list_of(const std::string& text, const std::vector<std::string>& words) {
  std::vector<E> found;
  for (size_t at = text.find('\''); at != std::string::npos; at = text.find('\'', at + 1)) {
    const size_t end = text.find('\'', at + 1);
    const auto word = std::find(words.begin(), words.end(), text.substr(at + 1, end - at - 1));
    if (word == words.end()) throw std::runtime_error("unknown word in " + text);
    found.push_back(static_cast<E>(word - words.begin() + 1));
    at = end;
  }
  return found;
}

std::unique_ptr<Conv> relation_layer_of(const LayerCase& c) {
  if (!c.knows({"in_channels", "out_channels", "num_relations", "num_bases", "num_blocks", "aggr",
                "in_feat", "out_feat", "num_rels", "regularizer", "self_loop"}))
    return nullptr;
  RelationOptions o;
  o.dgl = !c.pyg();
  std::tie(o.in, o.in_target) = c.widths(o.dgl ? "in_feat" : "in_channels");
  o.out = c.number(o.dgl ? "out_feat" : "out_channels", 0);
  o.relations = c.number(o.dgl ? "num_rels" : "num_relations", 0);
  const bool blocks = o.dgl ? c.text("regularizer", "") == "bdd" : c.options.contains("num_blocks");
  (blocks ? o.blocks : o.bases) = c.number(blocks && !o.dgl ? "num_blocks" : "num_bases", 0);
  o.reduce = c.text("aggr", "mean") == "add" ? Reduce::kSum : Reduce::kMean;
  o.root_weight = c.flag("self_loop", true);
  o.features = c.name != "rgcn_featureless";
  return make_relation_conv(o);
}

std::unique_ptr<Conv> rarer_layer_of(const LayerCase& c) {
  if (c.kind() == "dgl/SAGEConv") {
    if (!c.knows({"in_feats", "out_feats", "aggregator_type", "activation"})) return nullptr;
    using Aggregator = DglSageOptions::Aggregator;
    DglSageOptions o;
    std::tie(o.in, o.in_target) = c.widths("in_feats");
    o.out = c.number("out_feats", 0);
    o.aggregator = std::map<std::string, Aggregator>{{"mean", Aggregator::kMean},
                                                     {"pool", Aggregator::kPool},
                                                     {"gcn", Aggregator::kGcn},
                                                     {"lstm", Aggregator::kLstm}}
                       .at(c.text("aggregator_type", ""));
    return make_dgl_sage_conv(o);
  }
  if (c.layer == "EdgeConv") {
    if (!c.knows({"nn", "aggr", "in_feat", "out_feat", "allow_zero_in_degree"})) return nullptr;
    EdgeOptions o;
    o.dgl = !c.pyg();
    o.in = c.number("in_feat", 0);
    o.widths = o.dgl ? std::vector<int64_t>{c.number("out_feat", 0)} : network(c.text("nn", ""));
    o.reduce = c.text("aggr", "max") == "add" ? Reduce::kSum : Reduce::kMax;
    return make_edge_conv(o);
  }
  if (c.layer == "RGCNConv" || c.layer == "RelGraphConv") return relation_layer_of(c);
  if (c.kind() == "pyg/TransformerConv") {
    if (!c.knows(
            {"in_channels", "out_channels", "heads", "concat", "edge_dim", "beta", "root_weight"}))
      return nullptr;
    TransformerOptions o;
    std::tie(o.in, o.in_target) = c.widths("in_channels");
    o.out = c.number("out_channels", 0);
    o.heads = c.number("heads", 1);
    o.concat = c.flag("concat", true);
    o.edge_dim = c.number("edge_dim", 0);
    o.beta = c.flag("beta");
    o.root_weight = c.flag("root_weight", true);
    return make_transformer_conv(o);
  }
  if (c.kind() == "pyg/PNAConv") {
    if (!c.knows({"in_channels", "out_channels", "aggregators", "scalers", "edge_dim", "towers",
                  "divide_input"}))
      return nullptr;
    PnaOptions o;
    o.in = c.number("in_channels", 0);
    o.out = c.number("out_channels", 0);
    o.edge_dim = c.number("edge_dim", 0);
    o.towers = c.number("towers", 1);
    o.divide_input = c.flag("divide_input");
    o.reductions = list_of<PnaOptions::Reduction>(c.text("aggregators", ""),
                                                  {"mean", "min", "max", "sum", "var", "std"});
    o.scalers = list_of<PnaOptions::Scaler>(
        c.text("scalers", ""),
        {"identity", "amplification", "attenuation", "linear", "inverse_linear"});
    return make_pna_conv(o);
  }
  return nullptr;
}

// Returns the layer of a case, or null.
std::unique_ptr<Conv> layer_of(const LayerCase& c) {
  if (c.kind() == "pyg/SAGEConv") {
    if (!c.knows({"in_channels", "out_channels", "aggr", "normalize", "project", "root_weight"}))
      return nullptr;
    SageOptions o;
    std::tie(o.in, o.in_target) = c.widths("in_channels");
    o.out = c.number("out_channels", 0);
    o.reduce = c.text("aggr", "mean") == "max"   ? Reduce::kMax
               : c.text("aggr", "mean") == "sum" ? Reduce::kSum
                                                 : Reduce::kMean;
    o.lstm = c.text("aggr", "mean") == "lstm";
    o.normalize = c.flag("normalize");
    o.project = c.flag("project");
    o.root_weight = c.flag("root_weight", true);
    return make_sage_conv(o);
  }
  if (c.kind() == "pyg/GCNConv") {
    if (!c.knows({"in_channels", "out_channels", "improved", "add_self_loops", "normalize"}))
      return nullptr;
    GcnOptions o;
    o.in = c.number("in_channels", 0);
    o.out = c.number("out_channels", 0);
    o.improved = c.flag("improved");
    o.normalize = c.flag("normalize", true);
    o.add_self_loops = c.flag("add_self_loops", o.normalize);
    return make_gcn_conv(o);
  }
  if (c.kind() == "dgl/GraphConv") {
    if (!c.knows({"in_feats", "out_feats", "norm", "allow_zero_in_degree"})) return nullptr;
    using Norm = DglGraphOptions::Norm;
    DglGraphOptions o;
    o.in = c.number("in_feats", 0);
    o.out = c.number("out_feats", 0);
    o.norm = std::map<std::string, Norm>{{"both", Norm::kBoth},
                                         {"right", Norm::kRight},
                                         {"left", Norm::kLeft},
                                         {"none", Norm::kNone}}
                 .at(c.text("norm", "both"));
    return make_dgl_graph_conv(o);
  }
  if (c.kind() == "pyg/GraphConv") {
    if (!c.knows({"in_channels", "out_channels", "aggr"})) return nullptr;
    GraphOptions o;
    std::tie(o.in, o.in_target) = c.widths("in_channels");
    o.out = c.number("out_channels", 0);
    o.reduce = c.text("aggr", "add") == "mean" ? Reduce::kMean : Reduce::kSum;
    return make_graph_conv(o);
  }
  if (c.layer == "GATConv" || c.layer == "GATv2Conv") {
    if (!c.knows({"in_channels", "out_channels", "heads", "concat", "edge_dim", "residual",
                  "add_self_loops", "share_weights", "in_feats", "out_feats", "num_heads",
                  "allow_zero_in_degree"}))
      return nullptr;
    GatOptions o;
    o.dgl = !c.pyg();
    std::tie(o.in, o.in_target) = c.widths(o.dgl ? "in_feats" : "in_channels");
    o.out = c.number(o.dgl ? "out_feats" : "out_channels", 0);
    o.heads = c.number(o.dgl ? "num_heads" : "heads", 1);
    o.v2 = c.layer == "GATv2Conv";
    o.concat = c.flag("concat", true);
    o.edge_dim = c.number("edge_dim", 0);
    o.residual = c.flag("residual");
    o.add_self_loops = c.flag("add_self_loops", true);
    o.share_weights = c.flag("share_weights");
    return make_gat_conv(o);
  }
  if (c.layer == "GINConv" || c.layer == "GINEConv") {
    if (!c.knows({"nn", "eps", "train_eps", "edge_dim", "apply_func", "aggregator_type", "init_eps",
                  "learn_eps"}))
      return nullptr;
    GinOptions o;
    o.widths = network(c.text(c.pyg() ? "nn" : "apply_func", ""));
    o.edges = c.layer == "GINEConv";
    o.edge_dim = c.number("edge_dim", 0);
    o.eps = std::stod(c.text(c.pyg() ? "eps" : "init_eps", "0"));
    o.train_eps = c.flag(c.pyg() ? "train_eps" : "learn_eps");
    o.keys = c.pyg() ? GinOptions::Keys::kSequential : GinOptions::Keys::kDgl;
    const std::string aggregator = c.text("aggregator_type", "sum");
    o.reduce = aggregator == "max"    ? Reduce::kMax
               : aggregator == "mean" ? Reduce::kMean
                                      : Reduce::kSum;
    o.last_of_tied = !c.pyg() && o.reduce == Reduce::kMax;
    return make_gin_conv(o);
  }
  return rarer_layer_of(c);
}

// Returns the model of one of DGL's cases, which users write as classes, or null.
std::unique_ptr<Model> dgl_model_of(const LayerCase& c) {
  ModelConfig config;
  config.framework = Framework::kDgl;
  config.input_dim = c.number("in_", 8);
  config.hidden_dim = c.number("hidden", 16);
  config.output_dim = c.number("classes", 5);
  if (c.layer == "Sage") {
    if (c.text("sizes", "") != "8,12,5") return nullptr;
    config.hidden_dim = 12;
  } else if (c.layer == "Gat") {
    config.architecture = Architecture::kGat;
    config.heads = static_cast<int32_t>(c.number("heads", 1));
    config.hidden_dim *= config.heads;
    config.activation = Activation::kElu;
  } else if (c.layer == "GinClassifier") {
    config.architecture = Architecture::kGin;
    config.mlp_layers = 1;
    config.readout = Readout::kSum;
  } else if (c.name == "real_sage_128_128_40_ddp") {
    config.input_dim = config.hidden_dim = 128;
    config.output_dim = 40;
  } else if (c.layer != "trajectory") {
    return nullptr;
  }
  return make_model(config);
}

// Returns the model of a case, or null.
std::unique_ptr<Model> model_of(const LayerCase& c) {
  if (!c.pyg()) return dgl_model_of(c);
  ModelConfig config;
  if (c.name == "real_gat_128_h4x32_40_ddp") {
    config.architecture = Architecture::kGat;
    config.input_dim = 128;
    config.hidden_dim = 128;
    config.output_dim = 40;
    config.num_layers = 3;
    config.heads = 4;
    return make_model(config);
  }
  const std::map<std::string, Architecture> architectures{{"GraphSAGE", Architecture::kSage},
                                                          {"GCN", Architecture::kGcn},
                                                          {"GAT", Architecture::kGat},
                                                          {"GIN", Architecture::kGin}};
  const auto found = architectures.find(c.layer);
  if (found == architectures.end() ||
      !c.knows({"in_channels", "hidden_channels", "num_layers", "out_channels", "heads", "v2",
                "norm", "act", "act_first", "jk", "aggr", "project"}))
    return nullptr;
  config.architecture = c.flag("v2") ? Architecture::kGatv2 : found->second;
  config.input_dim = c.number("in_channels", 0);
  config.hidden_dim = c.number("hidden_channels", 0);
  config.output_dim = c.number("out_channels", 0);
  config.num_layers = static_cast<int32_t>(c.number("num_layers", 0));
  config.heads = static_cast<int32_t>(c.number("heads", 1));
  config.act_first = c.flag("act_first");
  config.project = c.flag("project");
  config.dtype = c.f64 ? base::DType::kF64 : base::DType::kF32;
  if (c.text("aggr", "") == "max") config.aggregation = Aggregation::kMax;
  if (c.text("act", "") == "prelu") config.activation = Activation::kPrelu;
  if (c.text("norm", "") == "batch_norm") config.norm = Norm::kBatch;
  if (c.text("norm", "") == "layer_norm") config.norm = Norm::kLayerGraph;
  config.jumping = c.text("jk", "") == "cat"    ? Jumping::kCat
                   : c.text("jk", "") == "max"  ? Jumping::kMax
                   : c.text("jk", "") == "lstm" ? Jumping::kLstm
                                                : Jumping::kNone;
  return make_model(config);
}

// The input of a case, with edges sorted into a block; gradients reach the tensors in their stored
// form.
struct Inputs {
  explicit Inputs(const io::Npz& npz) {
    const bool pair = npz.has("x_src"), features = pair || npz.has("x");
    if (features) x = leaf(npz, pair ? "x_src" : "x");
    if (pair) x_target = leaf(npz, "x_dst");
    // Without features there are as many nodes as results.
    const int64_t num_sources = features ? x.size(0) : npz.get("out").rows();
    const int64_t num_targets = pair                 ? x_target.size(0)
                                : npz.has("num_dst") ? npz.get("num_dst").as<int64_t>()[0]
                                                     : num_sources;
    const base::Tensor edge_index = npz.get("edge_index");
    const auto ids = edge_index.as<int64_t>();
    const size_t count = ids.size() / 2;
    TestBlock::Edges edges;
    for (size_t e = 0; e < count; ++e) edges.emplace_back(ids[e], ids[count + e]);
    block = std::make_unique<TestBlock>(num_sources, num_targets, edges);
    std::vector<int64_t> sorted(count);
    std::iota(sorted.begin(), sorted.end(), 0);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](int64_t a, int64_t b) { return edges[a].second < edges[b].second; });
    order = to_torch(base::Tensor::copy_of<int64_t>(sorted));
    for (const char* weights : {"edge_weight", "norm"})
      if (npz.has(weights)) values.weight = leaf(npz, weights).flatten().index_select(0, order);
    if (npz.has("edge_type")) types = to_torch(npz.get("edge_type")).index_select(0, order);
    if (npz.has("edge_attr")) values.features = leaf(npz, "edge_attr").index_select(0, order);
  }

  at::Tensor leaf(const io::Npz& npz, const std::string& key) {
    leaves[key] = to_torch(npz.get(key)).set_requires_grad(true);
    return leaves[key];
  }

  at::Tensor x, x_target, order, types;
  EdgeValues values;
  std::map<std::string, at::Tensor> leaves;
  std::unique_ptr<TestBlock> block;
};

void compare(const LayerCase& c, const io::Npz& npz, const at::Tensor& out, const Inputs& inputs,
             const std::vector<NamedTensor>& parameters) {
  at::Tensor expected = to_torch(npz.get("out")), cotangent = to_torch(npz.get("cot"));
  // DGL keeps the heads separate.
  EXPECT_TRUE(near(out, expected.view(out.sizes()), c.output_tolerance()));
  (out * cotangent.view(out.sizes())).sum().backward();
  const double scale = largest_gradient(npz);
  for (const auto& [key, leaf] : inputs.leaves)
    EXPECT_TRUE(
        near(leaf.grad(), to_torch(npz.get("grad." + key)), c.gradient_tolerance(), 0.01 * scale))
        << key;
  expect_gradients(npz, parameters, c.gradient_tolerance());
}

std::vector<std::string> keys_of(const io::StateFile& state) {
  std::vector<std::string> keys;
  for (const auto& [key, tensor] : state.tensors) keys.push_back(key);
  return keys;
}

void run_layer(const LayerCase& c, Conv& layer) {
  const io::Npz npz = io::Npz::open(c.path(".npz"));
  ParameterList list(Init::kPyg);
  layer.declare(list);
  const ParameterSet parameters(list, c.f64 ? at::kDouble : at::kFloat, 0);
  std::vector<std::string> keys;
  for (const NamedTensor& item : parameters.state()) keys.push_back(item.key);
  for (const char* ending : {".pth", ".safetensors"}) {
    SCOPED_TRACE(ending);
    const io::StateFile state = std::string(ending) == ".pth"
                                    ? io::read_pth(c.path(ending))
                                    : io::read_safetensors(c.path(ending));
    if (std::string(ending) == ".pth") {
      EXPECT_EQ(keys_of(state), keys) << "order of the state dict";
    }
    ASSERT_EQ(state.tensors.size(), keys.size());
    {
      const c10::NoGradGuard no_grad;
      parameters.flat_gradients().zero_();
      for (const NamedTensor& item : parameters.state()) {
        ASSERT_TRUE(state.find(item.key)) << item.key;
        const at::Tensor stored = to_torch(*state.find(item.key));
        ASSERT_EQ(stored.sizes(), item.tensor.sizes()) << item.key;
        at::Tensor(item.tensor).copy_(stored);
      }
    }
    const Inputs inputs(npz);
    ConvInput in;
    in.x = inputs.x;
    in.x_target = inputs.x_target;
    in.edge_weight = inputs.values.weight;
    in.edge_attr = inputs.values.features;
    in.edge_type = inputs.types;
    Execution execution;
    execution.gradients = true;
    const sample::BlockView block = inputs.block->view();
    Finish finish;
    finish.relu = c.text("activation", "") == "relu";
    const at::Tensor out = layer.forward(in, {block, execution, finish, {}});
    compare(c, npz, out, inputs, parameters.named());
  }
}

void run_model(const LayerCase& c, Model& model) {
  std::vector<io::StateFile> states{io::read_pth(c.path(".pth"))};
  if (std::ifstream(c.path(".safetensors")))
    states.push_back(io::read_safetensors(c.path(".safetensors")));
  if (std::ifstream(c.path(".ddp.pth"))) states.push_back(io::read_pth(c.path(".ddp.pth")));
  if (c.layer == "state_dict") {
    for (const io::StateFile& state : states) {
      model.load_state(state);
      for (const auto& [key, tensor] : model.state().tensors) {
        const base::Tensor* stored = state.find(key);
        if (!stored) stored = state.find("module." + key);
        ASSERT_TRUE(stored) << key;
        EXPECT_TRUE(to_torch(tensor).equal(to_torch(*stored))) << key;
      }
    }
    return;
  }
  EXPECT_EQ(keys_of(model.state()), keys_of(states[0])) << "order of the state dict";
  const io::Npz npz = io::Npz::open(c.path(".npz"));
  for (const io::StateFile& state : states) {
    model.load_state(state);
    model.zero_gradients();
    const Inputs inputs(npz);
    const auto blocks = TestBlock::repeated(*inputs.block, model.config().num_layers);
    const std::vector<EdgeValues> edges(blocks.size(), inputs.values);
    ForwardArgs args;
    args.input.dense = inputs.x;
    args.blocks = blocks;
    args.edges = edges;
    args.training = c.training;
    args.gradients = true;
    compare(c, npz, model.forward(args), inputs, model.parameters());
    if (!c.training) continue;
    model.fold_batch_statistics(model.take_batch_statistics());
    for (const NamedTensor& buffer : model.buffers()) {
      if (!npz.has("after." + buffer.key)) continue;
      EXPECT_TRUE(
          near(buffer.tensor, to_torch(npz.get("after." + buffer.key)), c.output_tolerance()))
          << buffer.key;
    }
  }
}

// Returns the key of the case's class for a key of the model.
std::string name_in_case(const LayerCase& c, const std::string& key) {
  const std::map<std::string, std::string> first{{"Gat", "gat1"}, {"GinClassifier", "conv1"}};
  if (!first.contains(c.layer)) return key;
  io::StateFile one;
  one.tensors.emplace_back(key, base::Tensor());
  rename_layers(one, "layers", first.at(c.layer));
  return one.tensors[0].first;
}

// DGL's blocks, or the whole graph as one block for each layer.
struct DglBlocks {
  DglBlocks(const io::Npz& npz, int64_t num_nodes, int num_layers) {
    for (int i = 0; i < num_layers; ++i) {
      const std::string name = base::text("block", i);
      TestBlock::Edges edges;
      int64_t num_sources = num_nodes, num_targets = num_nodes;
      if (npz.has(name + ".num")) {
        const base::Tensor from = npz.get(name + ".src"), to = npz.get(name + ".dst"),
                           sizes = npz.get(name + ".num");
        for (int64_t e = 0; e < from.rows(); ++e)
          edges.emplace_back(from.as<int64_t>()[e], to.as<int64_t>()[e]);
        num_sources = sizes.as<int64_t>()[0];
        num_targets = sizes.as<int64_t>()[1];
      } else {
        const base::Tensor ids = npz.get("edge_index");
        const int64_t count = ids.shape()[1];
        for (int64_t e = 0; e < count; ++e)
          edges.emplace_back(ids.as<int64_t>()[e], ids.as<int64_t>()[count + e]);
      }
      blocks.emplace_back(num_sources, num_targets, edges);
    }
    for (const TestBlock& block : blocks) views.push_back(block.view());
  }
  std::vector<TestBlock> blocks;
  std::vector<sample::BlockView> views;
};

std::vector<int64_t> graph_ptr_of(const io::Npz& npz, int64_t num_rows, int64_t num_graphs);

void run_dgl_model(const LayerCase& c, Model& model) {
  std::vector<io::StateFile> states{io::read_pth(c.path(".pth")),
                                    io::read_safetensors(c.path(".safetensors"))};
  if (std::ifstream(c.path(".ddp.pth"))) states.push_back(io::read_pth(c.path(".ddp.pth")));
  std::vector<std::string> keys;
  for (const std::string& key : keys_of(model.state())) keys.push_back(name_in_case(c, key));
  EXPECT_EQ(keys, keys_of(states[0])) << "order of the state dict";
  const io::Npz npz = io::Npz::open(c.path(".npz"));
  std::vector<NamedTensor> parameters;
  for (const NamedTensor& item : model.parameters())
    parameters.push_back({name_in_case(c, item.key), item.tensor});
  const int64_t rows = npz.get("out").rows();
  for (const io::StateFile& state : states) {
    model.load_state(state);
    model.zero_gradients();
    const at::Tensor x = to_torch(npz.get("x")).set_requires_grad(true);
    const DglBlocks blocks(npz, x.size(0), model.config().num_layers);
    std::vector<int64_t> graph_ptr;
    if (npz.has("batch")) graph_ptr = graph_ptr_of(npz, x.size(0), rows);
    ForwardArgs args;
    args.input.dense = x;
    args.blocks = blocks.views;
    args.graph_ptr = graph_ptr;
    args.gradients = true;
    const at::Tensor out = model.forward(args);
    EXPECT_TRUE(near(out, to_torch(npz.get("out")), c.output_tolerance()));
    (out * to_torch(npz.get("cot"))).sum().backward();
    EXPECT_TRUE(near(x.grad(), to_torch(npz.get("grad.x")), c.gradient_tolerance(),
                     0.01 * largest_gradient(npz)));
    expect_gradients(npz, parameters, c.gradient_tolerance());
  }
}

// Runs twenty steps over the whole graph and compares losses, the last output and weights.
void run_trajectory(const LayerCase& c, Model& model) {
  const io::Npz npz = io::Npz::open(c.path(".npz"));
  const at::Tensor x = to_torch(npz.get("x")), losses = to_torch(npz.get("loss"));
  at::Tensor labels = to_torch(npz.get("y"));
  const base::Tensor mask = npz.get("mask");
  for (int64_t i = 0; i < labels.numel(); ++i)
    if (!mask.as<bool>()[i]) labels.mutable_data_ptr<int64_t>()[i] = -1;
  model.load_state(io::read_pth(c.path(".start.pth")));
  const DglBlocks blocks(npz, x.size(0), model.config().num_layers);
  ForwardArgs args;
  args.input.dense = x;
  args.blocks = blocks.views;
  args.training = true;
  at::Tensor weights = model.flat_parameters();
  PlainOptimizer optimizer(c.options, weights);
  for (int step = 0; step < 20; ++step) {
    model.zero_gradients();
    const LossSum loss = loss_sum(Loss::kCrossEntropy, model.forward(args), {labels});
    const at::Tensor mean = loss.sum / loss.weight;
    EXPECT_TRUE(near(mean, losses[step], 1e-5)) << "step " << step;
    mean.backward();
    optimizer.step(weights, model.flat_gradients());
  }
  args.training = false;
  EXPECT_TRUE(near(model.forward(args), to_torch(npz.get("out_final")), 1e-4));
  const io::StateFile last = io::read_safetensors(c.path(".final.safetensors"));
  for (const NamedTensor& parameter : model.parameters())
    EXPECT_TRUE(near(parameter.tensor, to_torch(*last.find(parameter.key)), 1e-4)) << parameter.key;
}

// Returns the readout of a case, or kNone.
Readout readout_of(const LayerCase& c) {
  const std::map<std::string, Readout> kinds{
      {"global_add_pool", Readout::kSum}, {"global_mean_pool", Readout::kMean},
      {"global_max_pool", Readout::kMax}, {"SumPooling", Readout::kSum},
      {"AvgPooling", Readout::kMean},     {"MaxPooling", Readout::kMax}};
  const auto found = kinds.find(c.layer);
  return found == kinds.end() ? Readout::kNone : found->second;
}

// Returns the bounds of a case's graphs, from the graph of each row; one graph if there is no such
// list.
std::vector<int64_t> graph_ptr_of(const io::Npz& npz, int64_t num_rows, int64_t num_graphs) {
  if (!npz.has("batch")) return {0, num_rows};
  std::vector<int64_t> graph_ptr(num_graphs + 1);
  const base::Tensor batch = npz.get("batch");
  for (const int64_t graph : batch.as<const int64_t>()) ++graph_ptr.at(graph + 1);
  std::partial_sum(graph_ptr.begin(), graph_ptr.end(), graph_ptr.begin());
  return graph_ptr;
}

void run_readout(const LayerCase& c, Readout kind) {
  const io::Npz npz = io::Npz::open(c.path(".npz"));
  const at::Tensor x = to_torch(npz.get("x")).set_requires_grad(true);
  const auto graph_ptr = graph_ptr_of(npz, x.size(0), npz.get("out").rows());
  Execution execution;
  execution.gradients = true;
  // Without a list of graphs PyG uses torch's maximum, which has a single winner too.
  const Ties ties = c.pyg() && npz.has("batch") ? Ties::kSplit : Ties::kFirst;
  const at::Tensor out = readout(x, graph_ptr, kind, ties, execution);
  EXPECT_TRUE(near(out, to_torch(npz.get("out")), c.output_tolerance()));
  (out * to_torch(npz.get("cot"))).sum().backward();
  EXPECT_TRUE(near(x.grad(), to_torch(npz.get("grad.x")), c.gradient_tolerance()));
}

// Returns the norm of a case, or kNone.
Norm norm_of(const LayerCase& c) {
  if (c.layer == "BatchNorm") return Norm::kBatch;
  if (c.layer == "GraphNorm") return Norm::kGraph;
  if (c.layer == "PairNorm") return c.flag("scale_individually") ? Norm::kPairRows : Norm::kPair;
  if (c.layer == "LayerNorm")
    return c.text("mode", "graph") == "node" ? Norm::kLayer : Norm::kLayerGraph;
  return Norm::kNone;
}

void run_norm(const LayerCase& c, Norm kind) {
  const io::Npz npz = io::Npz::open(c.path(".npz"));
  NormLayer layer(kind, c.number("in_channels", 0));
  ParameterList list(Init::kPyg);
  layer.declare(list);
  const ParameterSet parameters(list, c.f64 ? at::kDouble : at::kFloat, 0);
  if (!parameters.state().empty()) {
    const c10::NoGradGuard no_grad;
    const io::StateFile state = io::read_pth(c.path(".pth"));
    ASSERT_EQ(state.tensors.size(), parameters.state().size());
    for (const NamedTensor& item : parameters.state()) {
      ASSERT_TRUE(state.find(item.key)) << item.key;
      at::Tensor(item.tensor).copy_(to_torch(*state.find(item.key)));
    }
  }
  const at::Tensor x = to_torch(npz.get("x")).set_requires_grad(true);
  std::vector<int64_t> graph_ptr;
  if (npz.has("batch"))
    graph_ptr = graph_ptr_of(npz, x.size(0), npz.get("batch").as<const int64_t>().back() + 1);
  NormPass pass;
  pass.graphs = {graph_ptr};
  pass.execution.gradients = true;
  BatchStatistics statistics({&layer});
  if (c.training) pass.statistics = &statistics;
  statistics.begin_pass();
  at::Tensor out = x;
  layer.apply({&out, 1}, pass);
  statistics.end_pass();
  EXPECT_TRUE(near(out, to_torch(npz.get("out")), c.output_tolerance()));
  (out * to_torch(npz.get("cot"))).sum().backward();
  const double scale = largest_gradient(npz);
  EXPECT_TRUE(near(x.grad(), to_torch(npz.get("grad.x")), c.gradient_tolerance(), 0.01 * scale));
  expect_gradients(npz, parameters.named(), c.gradient_tolerance());
  if (!c.training) return;
  statistics.fold(statistics.take());
  for (const NamedTensor& buffer : parameters.buffers())
    EXPECT_TRUE(near(buffer.tensor, to_torch(npz.get("after." + buffer.key)), c.output_tolerance()))
        << buffer.key;
}

TEST(Reference, EveryCaseIsCoveredOrListed) {
  GNNMG_NEEDS_DATA("parity/pyg");
  std::set<std::string> unused = kNotCovered;
  int covered = 0, left = 0;
  for (const std::string framework : {"pyg", "dgl"})
    for (const LayerCase& c : read_cases(framework)) {
      SCOPED_TRACE(c.full_name());
      if (kElsewhere.contains(c.kind()) || kElsewhere.contains(c.full_name())) continue;
      const bool listed = kNotCovered.contains(c.kind()) || kNotCovered.contains(c.full_name());
      const std::unique_ptr<Conv> layer = layer_of(c);
      const std::unique_ptr<Model> model = layer ? nullptr : model_of(c);
      const Readout readout = readout_of(c);
      const Norm norm = norm_of(c);
      const bool runs = layer || model || readout != Readout::kNone || norm != Norm::kNone;
      EXPECT_NE(listed, runs) << "the list of what is not covered must be exact";
      try {
        if (layer) run_layer(c, *layer);
        if (model && c.layer == "trajectory")
          run_trajectory(c, *model);
        else if (model && !c.pyg() && c.layer != "state_dict")
          run_dgl_model(c, *model);
        else if (model)
          run_model(c, *model);
        if (readout != Readout::kNone) run_readout(c, readout);
        if (norm != Norm::kNone) run_norm(c, norm);
      } catch (const std::exception& e) {
        ADD_FAILURE() << e.what();
      }
      covered += runs;
      left += listed;
      unused.erase(c.kind());
      unused.erase(c.full_name());
    }
  for (const std::string& entry : unused) ADD_FAILURE() << entry << " is listed, and no case is it";
  std::cout << covered << " cases ran, " << left << " have no layer yet:";
  for (const std::string& entry : kNotCovered) std::cout << ' ' << entry;
  std::cout << '\n';
  EXPECT_EQ(left, 0);
  EXPECT_GE(covered, 160);
}

// The stored weights of a case under the keys of PyG 2.4, loaded into a model of one such layer,
// or, if nothing was renamed, into the layer. The output is that of the case.
TEST(Reference, WeightsOfOlderVersionsGiveTheSame) {
  GNNMG_NEEDS_DATA("parity/pyg");
  const std::string prefix = "gen24_", ending = ".pth";
  int64_t found = 0;
  for (const std::string& file : base::list_directory(test::data_path("parity/pyg"))) {
    if (!file.starts_with(prefix) || !file.ends_with(ending)) continue;
    SCOPED_TRACE(file);
    ++found;
    const std::string name =
        file.substr(prefix.size(), file.size() - prefix.size() - ending.size());
    const std::vector<LayerCase> all = read_cases("pyg");
    const auto of = std::ranges::find(all, name, &LayerCase::name);
    ASSERT_NE(of, all.end());
    ASSERT_EQ(of->layer, "GATConv");
    const io::StateFile older = io::read_pth(test::data_path("parity/pyg/" + file));
    const io::StateFile newer = io::read_pth(of->path(".pth"));
    const io::Npz npz = io::Npz::open(of->path(".npz"));
    const Inputs inputs(npz);
    at::Tensor out;
    if (of->widths("in_channels").second == 0) {
      EXPECT_NE(keys_of(older), keys_of(newer));
      ModelConfig config;
      config.architecture = Architecture::kLayers;
      config.input_dim = of->number("in_channels", 0);
      LayerConfig layer{LayerConfig::Kind::kConv, "conv", {}};
      layer.options.architecture = Architecture::kGat;
      layer.options.heads = static_cast<int32_t>(of->number("heads", 1));
      layer.options.output_dim = of->number("out_channels", 0) * layer.options.heads;
      config.layers = {layer};
      const auto model = make_model(config);
      io::StateFile state;
      for (const auto& [key, tensor] : older.tensors)
        state.tensors.emplace_back("conv." + key, tensor);
      model->load_state(state);
      for (const auto& [key, tensor] : model->state().tensors) {
        ASSERT_TRUE(newer.find(key.substr(5))) << key;
        EXPECT_EQ(tensor.shape(), newer.find(key.substr(5))->shape()) << key;
      }
      const auto blocks = TestBlock::repeated(*inputs.block, 1);
      ForwardArgs args;
      args.input.dense = inputs.x;
      args.blocks = blocks;
      out = model->forward(args);
    } else {
      EXPECT_EQ(keys_of(older), keys_of(newer));
      const auto layer = layer_of(*of);
      ParameterList list(Init::kPyg);
      layer->declare(list);
      const ParameterSet parameters(list, at::kFloat, 0);
      const c10::NoGradGuard no_grad;
      for (const NamedTensor& item : parameters.state())
        at::Tensor(item.tensor).copy_(to_torch(*older.find(item.key)));
      ConvInput in;
      in.x = inputs.x;
      in.x_target = inputs.x_target;
      const Execution execution;
      out = layer->forward(in, {inputs.block->view(), execution, {}, {}});
    }
    const at::Tensor expected = to_torch(npz.get("out"));
    EXPECT_TRUE(near(out, expected.view(out.sizes()), of->output_tolerance()));
  }
  EXPECT_EQ(found, 2);
}

}  // namespace
}  // namespace gnnmg::nn
