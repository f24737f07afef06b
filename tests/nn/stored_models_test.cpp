// Models compared with small models of PyG and DGL: with edge data, with readouts, with categories,
// with every kind of norm. models.py and dgl_models.py write the cases in tests/data/models and
// dgl_models.
#include <ATen/TensorOperators.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <map>
#include <numeric>
#include <set>

#include "nn/model_world.h"
#include "nn/state/gin_class.h"
#include "support/data.h"

namespace gnnmg::nn {
namespace {

const std::map<std::string, Activation> kActivations{{"silu", Activation::kSilu},
                                                     {"sigmoid", Activation::kSigmoid},
                                                     {"gelu", Activation::kGelu},
                                                     {"tanh", Activation::kTanh},
                                                     {"leaky_relu", Activation::kLeakyRelu}};

void norm_config(const std::string& name, ModelConfig& c) {
  NormOptions& options = c.norm_options;
  if (name == "norm_batch") {
    c.architecture = Architecture::kGin;
    c.norm = Norm::kBatch;
    options.epsilon = 0.01;
    options.momentum = 0.3;
    options.affine = NormAffine::kOff;
    return;
  }
  if (name == "norm_cumulative") {
    c.norm = Norm::kBatch;
    options.momentum = -1;
    return;
  }
  c.norm = name == "norm_layer"      ? Norm::kLayerGraph
           : name == "norm_row"      ? Norm::kLayer
           : name == "norm_instance" ? Norm::kInstance
           : name == "norm_graph"    ? Norm::kGraph
                                     : Norm::kPair;
  options.epsilon = 0.1;
  if (name == "norm_layer") options.affine = NormAffine::kOff;
  if (name == "norm_instance") options.affine = NormAffine::kOn;
  if (name == "norm_pair") options.scale = -1;
}

ModelConfig pyg_config(const std::string& name) {
  ModelConfig c;
  c.input_dim = 6;
  c.hidden_dim = 8;
  c.output_dim = 4;
  c.dtype = base::DType::kF64;
  if (const auto act = kActivations.find(name.substr(name.find('_') + 1));
      act != kActivations.end())
    c.activation = act->second;
  if (name.starts_with("pna")) {
    c.architecture = Architecture::kPna;
    c.average_degree = c.average_log_degree = 1;  // the state has its own
  }
  if (name == "pna") {
    c.edge_dim = 3;
    c.norm = Norm::kBatch;
    c.jumping = Jumping::kCat;
  } else if (name == "pna_towers") {
    c.reductions = {PnaReduction::kSum, PnaReduction::kVariance};
    c.scalers = {PnaScaler::kLinear, PnaScaler::kInverseLinear};
    c.towers = 2;
    c.divide_input = true;
  } else if (name == "pna_layers") {
    c.towers = 2;
    c.pre_layers = 2;
    c.post_layers = 3;
    c.edge_dim = 3;
  } else if (name == "pna_train") {
    c.scalers = {PnaScaler::kLinear, PnaScaler::kAttenuation, PnaScaler::kInverseLinear};
    c.train_norm = true;
  } else if (name == "gat_residual" || name == "gat_hidden") {
    c.architecture = Architecture::kGat;
    c.heads = 2;
    c.residual = name == "gat_residual";
    if (name == "gat_hidden") c.output_dim = 0;
  } else if (name.find("_fill_") != std::string::npos) {
    c.architecture = name.starts_with("gat_") ? Architecture::kGat : Architecture::kGatv2;
    c.heads = 2;
    c.edge_dim = 3;
    c.loop_fill = name.ends_with("_add")   ? LoopFill::kSum
                  : name.ends_with("_max") ? LoopFill::kMax
                  : name.ends_with("_min") ? LoopFill::kMin
                                           : LoopFill::kConstant;
    if (c.loop_fill == LoopFill::kConstant) c.loop_value = 0.5;
  } else if (name.starts_with("sage_hidden")) {
    c.output_dim = 0;
    if (name == "sage_hidden_cat") c.jumping = Jumping::kCat;
  } else if (name == "sage_several") {
    c.reductions = {PnaReduction::kMean, PnaReduction::kMax, PnaReduction::kDeviation};
  } else if (name == "sage_several_project") {
    c.reductions = {PnaReduction::kSum, PnaReduction::kMin, PnaReduction::kVariance};
    c.project = true;
  } else if (name.starts_with("norm_")) {
    norm_config(name, c);
  } else if (name == "gat_edges" || name == "gatv2_edges") {
    c.architecture = name == "gat_edges" ? Architecture::kGat : Architecture::kGatv2;
    c.heads = 2;
    c.edge_dim = 3;
  } else if (name == "gat_output_heads") {
    c.architecture = Architecture::kGat;
    c.heads = 2;
    c.output_heads = 1;
  } else if (name == "gcn_weights" || name.starts_with("gcn_loops")) {
    c.architecture = Architecture::kGcn;
    c.edge_weights = true;
    c.improved = name != "gcn_loops";
  } else if (name.starts_with("gin_") || name.starts_with("gine") || name == "categories") {
    c.architecture = name.starts_with("gin_") ? Architecture::kGin : Architecture::kGine;
    c.edge_dim = c.architecture == Architecture::kGine ? 3 : 0;
    if (name.ends_with("_mean")) c.aggregation = Aggregation::kMean;
    if (name.ends_with("_max")) c.aggregation = Aggregation::kMax;
    if (name.starts_with("gin_graphs")) c.readout = Readout::kSum;
    if (name.starts_with("gin_graphs") || name.starts_with("gin_nodes")) {
      c.norm = name.ends_with("_layer")      ? Norm::kLayerGraph
               : name.ends_with("_graph")    ? Norm::kGraph
               : name.ends_with("_instance") ? Norm::kInstance
               : name.ends_with("_pair")     ? Norm::kPair
                                             : Norm::kBatch;
      if (c.norm == Norm::kPair) c.norm_options.scale = -1;
      c.act_first = name == "gin_nodes_layer";
    }
    if (name == "gine_plain") {
      c.input_dim = c.hidden_dim = 3;
      c.plain_edges = true;
    }
    if (name == "categories") {
      c.input_dim = 2;
      c.node_vocabulary = {5, 3};
      c.edge_vocabulary = {4, 2};
    }
  } else if (name.starts_with("edge_")) {
    c.architecture = Architecture::kEdge;
    if (name.starts_with("edge_graphs")) c.readout = Readout::kSum;
    c.norm = name.ends_with("_layer")      ? Norm::kLayerGraph
             : name.ends_with("_graph")    ? Norm::kGraph
             : name.ends_with("_instance") ? Norm::kInstance
             : name.ends_with("_batch")    ? Norm::kBatch
                                           : Norm::kNone;
    c.act_first = name == "edge_nodes_batch";
    if (name == "edge_nodes_batch") c.activation = Activation::kPrelu;
    if (name == "edge_nodes_elu") c.activation = Activation::kElu;
  } else if (name.starts_with("rgcn")) {
    c.architecture = Architecture::kRelation;
    c.relations = 3;
    c.bases = name == "rgcn_bases" ? 2 : 0;
    c.blocks = name == "rgcn_blocks" ? 2 : 0;
    if (c.blocks > 0) c.aggregation = Aggregation::kSum;
    if (name == "rgcn_max") c.aggregation = Aggregation::kMax;
    if (name == "rgcn_nodes") c.input = Input::kNodes;
    if (name == "rgcn_nodes") c.input_dim = 14;
  } else if (name == "transformer") {
    c.architecture = Architecture::kTransformer;
    c.heads = 2;
    c.beta = true;
    c.edge_dim = 3;
  } else if (name == "sage_lstm") {
    c.aggregation = Aggregation::kLstm;
    c.project = true;
  } else if (name.starts_with("graphconv")) {
    c.architecture = Architecture::kGraphConv;
    c.edge_weights = true;
    c.aggregation = name == "graphconv_max" ? Aggregation::kMax : Aggregation::kMean;
  } else if (name.starts_with("readout_")) {
    c.jumping = Jumping::kLast;
    c.readout = name == "readout_attention" ? Readout::kAttention
                : name == "readout_set2set" ? Readout::kSet2Set
                                            : Readout::kSort;
    if (c.readout == Readout::kSet2Set) c.readout_steps = 4;
    if (c.readout == Readout::kSort) c.sort_rows = 3;
  }
  return c;
}

// "gin_class" is a model of PyG's layers that loads the class's keys.
ModelConfig dgl_config(const std::string& name) {
  ModelConfig c;
  c.input_dim = 6;
  c.hidden_dim = 8;
  c.output_dim = 4;
  c.dtype = base::DType::kF64;
  if (name == "gin_class") {
    c.architecture = Architecture::kGin;
    c.norm = Norm::kBatch;
    c.jumping = Jumping::kScores;
    c.readout = Readout::kSum;
    return c;
  }
  c.framework = Framework::kDgl;
  c.edge_weights = name != "edge_norm";
  if (name.starts_with("sage_")) {
    c.aggregation = name == "sage_gcn"    ? Aggregation::kGcn
                    : name == "sage_pool" ? Aggregation::kPool
                    : name == "sage_lstm" ? Aggregation::kLstm
                                          : Aggregation::kMean;
  } else if (name.starts_with("gin_")) {
    c.architecture = Architecture::kGin;
    c.train_eps = true;
    c.aggregation = name == "gin_mean"  ? Aggregation::kMean
                    : name == "gin_max" ? Aggregation::kMax
                                        : Aggregation::kSum;
  } else {
    c.architecture = name == "rgcn_norm" ? Architecture::kRelation : Architecture::kEdge;
    c.inner_norm = true;
    if (name == "rgcn_norm") {
      c.relations = 3;
      c.bases = 2;
    }
  }
  return c;
}

std::set<std::string> names_in(const std::string& folder) {
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_path("data/" + folder)))
    found.insert(entry.path().stem().string());
  return found;
}

io::StateFile stored_state(const io::Npz& npz) {
  io::StateFile state;
  for (const std::string& key : npz.keys())
    if (key.starts_with("state.")) state.tensors.emplace_back(key.substr(6), npz.get(key));
  return state;
}

std::vector<std::string> keys_of(const io::StateFile& state) {
  std::vector<std::string> keys;
  for (const auto& [key, tensor] : state.tensors) keys.push_back(key);
  return keys;
}

// Runs a training pass on the stored inputs and compares its output, gradients and buffers.
void run_stored(const io::Npz& npz, Model& model, const std::vector<NamedTensor>& parameters) {
  // The block orders edges by target.
  const base::Tensor ends = npz.get("edge_index");
  const int64_t edges = ends.shape().dims[1], nodes = npz.get("x").rows();
  std::vector<int64_t> order(edges);
  for (int64_t e = 0; e < edges; ++e) order[e] = e;
  const int64_t* targets = ends.as<int64_t>().data() + edges;
  std::ranges::stable_sort(order, [&](int64_t a, int64_t b) { return targets[a] < targets[b]; });
  TestBlock::Edges pairs;
  for (int64_t e = 0; e < edges; ++e) pairs.emplace_back(ends.as<int64_t>()[e], targets[e]);
  const TestBlock block(nodes, nodes, pairs);
  const auto blocks = TestBlock::repeated(block, 2);
  const at::Tensor places = at::tensor(order);
  const auto of_edges = [&](const char* key) {
    return to_torch(npz.get(key)).index_select(0, places);
  };
  EdgeValues values;
  if (model.config().edge_weights) values.weight = of_edges("edge_weight");
  if (model.config().edge_dim > 0) values.features = of_edges("edge_attr");
  values.type = of_edges("edge_type");
  const std::vector<EdgeValues> carried(2, values);

  ForwardArgs args;
  args.input.dense = to_torch(npz.get("x"));
  args.blocks = blocks;
  std::vector<int64_t> ids(nodes);
  std::iota(ids.begin(), ids.end(), int64_t{0});
  args.node_ids = ids;
  args.edges = carried;
  args.training = true;
  base::Tensor graph_ptr;
  if (npz.has("graph_ptr")) {
    graph_ptr = npz.get("graph_ptr");
    args.graph_ptr = graph_ptr.as<const int64_t>();
  }
  const at::Tensor out = model.forward(args);
  EXPECT_TRUE(near(out, to_torch(npz.get("out")), 1e-12));
  (out * to_torch(npz.get("cot"))).sum().backward();
  expect_gradients(npz, parameters, 1e-11);
  model.fold_batch_statistics(model.take_batch_statistics());
}

class PygModel : public testing::TestWithParam<std::string> {};

TEST_P(PygModel, OutputAndGradients) {
  const io::Npz npz =
      io::Npz::open(test::source_path(base::text("data/models/", GetParam(), ".npz")));
  const auto model = make_model(pyg_config(GetParam()));
  const io::StateFile state = stored_state(npz);
  EXPECT_EQ(keys_of(model->state()), keys_of(state)) << "the state dict's order is PyG's";
  model->load_state(state);
  run_stored(npz, *model, model->parameters());
  for (const NamedTensor& buffer : model->buffers())
    if (const std::string key = "after." + buffer.key; npz.has(key)) {
      EXPECT_TRUE(near(buffer.tensor, to_torch(npz.get(key)), 1e-12)) << key;
    }
}

INSTANTIATE_TEST_SUITE_P(Small, PygModel, testing::ValuesIn(names_in("models")),
                         [](const auto& info) { return info.param; });

class DglModel : public testing::TestWithParam<std::string> {};

TEST_P(DglModel, OutputGradientsAndBuffers) {
  const io::Npz npz =
      io::Npz::open(test::source_path(base::text("data/dgl_models/", GetParam(), ".npz")));
  const auto model = make_model(dgl_config(GetParam()));
  const io::StateFile state = stored_state(npz);
  EXPECT_EQ(keys_of(model->state()), keys_of(state)) << "the state dict's order is DGL's";
  model->load_state(state);
  run_stored(npz, *model, model->parameters());
  for (const NamedTensor& buffer : model->buffers())
    EXPECT_TRUE(near(buffer.tensor, to_torch(npz.get("after." + buffer.key)), 1e-12)) << buffer.key;
}

// All but the class of the GIN example, whose own test is below.
std::set<std::string> names_of_layers() {
  std::set<std::string> names = names_in("dgl_models");
  names.erase("gin_class");
  return names;
}
INSTANTIATE_TEST_SUITE_P(Small, DglModel, testing::ValuesIn(names_of_layers()),
                         [](const auto& info) { return info.param; });

TEST(StoredModels, AllAreThere) {
  EXPECT_EQ(names_in("models").size(), 69);
  EXPECT_EQ(names_in("dgl_models").size(), 10);
}

// The class of DGL's GIN example: its weights give its results here, and are saved under its keys,
// with the biases that it lacks in the means of the norms after them.
TEST(GinClass, IsReadAndWritten) {
  const io::Npz npz = io::Npz::open(test::source_path("data/dgl_models/gin_class.npz"));
  const io::StateFile given = stored_state(npz);
  const auto model = make_model(dgl_config("gin_class"));
  model->load_state(given);
  std::vector<NamedTensor> parameters;
  for (const NamedTensor& item : model->parameters()) {
    io::StateFile one = model->state();
    std::erase_if(one.tensors, [&](const auto& entry) { return entry.first != item.key; });
    if (item.key.find(".nn.lins.") != std::string::npos && item.key.ends_with(".bias")) continue;
    parameters.push_back({to_gin_class(one).tensors.at(0).first, item.tensor});
  }
  ASSERT_EQ(parameters.size(), 18);
  run_stored(npz, *model, parameters);
  const io::StateFile back = model->state_of_other_framework();
  EXPECT_EQ(keys_of(back), keys_of(given)) << "the state dict's order is that of the class";
  for (const auto& [key, tensor] : back.tensors)
    EXPECT_TRUE(near(to_torch(tensor),
                     to_torch(npz.get((npz.has("after." + key) ? "after." : "state.") + key)),
                     1e-12))
        << key;

  // A model with biases gives the same results as its saved form.
  for (const NamedTensor& item : model->parameters())
    if (item.key.ends_with(".bias")) at::Tensor(item.tensor).detach().add_(0.25);
  const auto twin = make_model(dgl_config("gin_class"));
  twin->load_state_of_other_framework(model->state_of_other_framework());
  const at::Tensor x = to_torch(npz.get("x"));
  const TestBlock block(14, 14, {{0, 1}, {2, 1}, {3, 4}, {6, 7}, {9, 8}, {12, 11}, {13, 11}});
  const auto blocks = TestBlock::repeated(block, 2);
  const std::vector<int64_t> graph_ptr{0, 5, 10, 14};
  ForwardArgs args;
  args.input.dense = x;
  args.blocks = blocks;
  args.graph_ptr = graph_ptr;
  EXPECT_TRUE(near(twin->forward(args), model->forward(args), 1e-12));

  // The keys of older versions of the example.
  io::StateFile older = given;
  for (auto& [key, tensor] : older.tensors) {
    if (const size_t at = key.find("apply_func."); at != std::string::npos) {
      key.insert(at + 11, "mlp.");
      if (const size_t norm = key.find("mlp.batch_norm."); norm != std::string::npos)
        key.replace(norm, 15, "mlp.batch_norms.0.");
    }
    if (key.starts_with("linear_prediction")) key.insert(6, "s");
  }
  const auto other = make_model(dgl_config("gin_class"));
  other->load_state(older);
  twin->load_state(given);
  EXPECT_TRUE(other->flat_parameters().equal(twin->flat_parameters()));
  // Some versions have another norm.
  older.tensors.emplace_back("ginlayers.0.apply_func.bn.weight",
                             base::Tensor::zeros(base::DType::kF64, {8}));
  std::string text;
  EXPECT_EQ(status_of([&] { other->load_state(older); }, &text), base::Status::kUnsupported);
  EXPECT_THAT(text, testing::HasSubstr("ginlayers.0.apply_func.bn.weight is a norm after"));
  EXPECT_TRUE(other->flat_parameters().equal(twin->flat_parameters()));

  // A different model has no such keys.
  ModelConfig c = dgl_config("gin_class");
  c.jumping = Jumping::kLast;
  EXPECT_EQ(status_of([&] { make_model(c)->state_of_other_framework(); }),
            base::Status::kUnsupported);
  EXPECT_EQ(status_of([&] { make_model(c)->load_state(given); }), base::Status::kFormat);
}

}  // namespace
}  // namespace gnnmg::nn
