#include "nn/model_world.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>

namespace gnnmg::nn {

namespace {

// A column of `width` numbers per edge.
template <typename T, typename F>
base::Tensor edge_tensor(base::DType dtype, int64_t edges, int64_t width, const F& value) {
  base::Tensor made = base::Tensor::empty(dtype, {edges, width});
  for (int64_t i = 0; i < edges * width; ++i) made.as<T>()[i] = static_cast<T>(value(i));
  return made;
}

}  // namespace

graph::GraphRef make_graph() {
  base::ThreadPool pool(1);
  TestBlock::Edges edges;
  std::vector<bool> looped(kNodes);
  for (const auto& [source, target] : random_edges(kNodes - 1, kNodes - 1, 300, 17)) {
    if (source == target && looped[source]) continue;
    looped[source] = looped[source] || source == target;
    edges.emplace_back(source, target);
  }
  const int64_t count = static_cast<int64_t>(edges.size());
  base::Tensor sources = base::Tensor::empty(base::DType::kI64, {count});
  base::Tensor targets = base::Tensor::empty(base::DType::kI64, {count});
  for (int64_t e = 0; e < count; ++e) {
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
  columns.emplace("c", edge_tensor<int64_t>(base::DType::kI64, kNodes, 2, [](int64_t i) {
                    return i % 2 ? i / 2 * 5 % 3 : i / 2 % 4;
                  }));
  parts.node_columns.push_back(std::move(columns));
  const at::Tensor rows = random_tensor({count, kEdgeColumns}, at::kFloat, 6);
  graph::Columns carried;
  carried.emplace("edge_attr",
                  edge_tensor<float>(base::DType::kF32, count, kEdgeColumns,
                                     [&](int64_t i) { return rows.const_data_ptr<float>()[i]; }));
  carried.emplace("edge_weight", edge_tensor<float>(base::DType::kF32, count, 1, [](int64_t e) {
                    return 0.25 + static_cast<double>(e * 7 % 11) / 8;
                  }));
  carried.emplace("edge_type", edge_tensor<int32_t>(base::DType::kI32, count, 1,
                                                    [](int64_t e) { return e * e % kTypes; }));
  parts.edge_columns.push_back(std::move(carried));
  return graph::Graph::create(std::move(parts));
}

namespace {

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

}  // namespace

Batch sample_batch(const graph::GraphRef& graph, std::vector<int64_t> fanouts,
                   const std::vector<int64_t>& seeds, sample::Expansion expansion, uint64_t seed) {
  sample::NeighborConfig config;
  config.fanouts = std::move(fanouts);
  config.expansion = expansion;
  config.transpose = config.edge_ids = true;
  const auto sampler = sample::make_neighbor_sampler(graph, config);
  sample::Workspace workspace;
  Batch batch;
  batch.graph = graph;
  sampler->sample(seeds, {seed}, workspace, batch.sample, {});
  const at::Tensor ids = at::from_blob(batch.sample.node_ids.data(), {batch.sample.num_nodes()},
                                       at::TensorOptions(at::kLong));
  batch.dense = to_torch(std::get<base::Tensor>(*graph->node_column("x"))).index_select(0, ids);
  batch.codes = to_torch(std::get<base::Tensor>(*graph->node_column("c"))).index_select(0, ids);
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

at::Tensor infer(Model& model, const graph::Graph& graph, const char* features, int64_t grain) {
  const auto inference = model.inference(graph, graph.node_column(features), nullptr);
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

namespace {

// Kinds that read edge data.
void add_edge_configs(std::vector<ModelConfig>& all) {
  ModelConfig config = small_config();
  // Some biases are initially 0, where ReLU has no derivative.
  config.activation = Activation::kElu;
  const ModelConfig plain = config;
  for (const Architecture architecture :
       {Architecture::kGine, Architecture::kGat, Architecture::kGatv2, Architecture::kTransformer,
        Architecture::kPna}) {
    config = plain;
    config.architecture = architecture;
    config.edge_dim = kEdgeColumns;
    const bool attention =
        architecture != Architecture::kGine && architecture != Architecture::kPna;
    const bool gat = attention && architecture != Architecture::kTransformer;
    const bool pna = architecture == Architecture::kPna;
    config.heads = attention ? 3 : 1;
    if (pna) {
      config.average_degree = 4.5;
      config.average_log_degree = 1.5;
      config.towers = 2;
    }
    config.beta = architecture == Architecture::kTransformer;
    all.push_back(config);
    config.self_loops = !gat;
    config.concat = !attention;
    config.divide_input = pna;
    config.norm = Norm::kBatch;
    config.jumping = Jumping::kCat;
    all.push_back(config);
    config.jumping = Jumping::kNone;
    config.skip = Skip::kResidual;
    if (architecture == Architecture::kGine) {
      for (const Aggregation aggregation : {Aggregation::kMean, Aggregation::kMax}) {
        config.aggregation = aggregation;
        all.push_back(config);
      }
      continue;
    }
    config.edge_dim = 0;
    if (pna) {
      config.reductions = {PnaReduction::kSum, PnaReduction::kVariance};
      config.scalers = {PnaScaler::kLinear, PnaScaler::kInverseLinear};
    }
    config.beta = false;
    config.root_weight = architecture != Architecture::kTransformer;
    all.push_back(config);
  }
  for (const Framework framework : {Framework::kPyg, Framework::kDgl}) {
    config = plain;
    config.framework = framework;
    config.architecture = Architecture::kRelation;
    config.relations = kTypes;
    all.push_back(config);
    config.bases = 2;
    config.edge_weights = framework == Framework::kDgl;
    all.push_back(config);
    config.bases = 0;
    config.blocks = 2;
    config.aggregation = Aggregation::kSum;
    config.skip = Skip::kLinear;
    all.push_back(config);
    config = plain;
    config.framework = framework;
    config.edge_weights = true;
    config.architecture = Architecture::kGcn;
    all.push_back(config);
    config.architecture = framework == Framework::kDgl ? Architecture::kGat : Architecture::kGcn;
    config.self_loops = false;
    config.heads = framework == Framework::kDgl ? 2 : 1;
    config.norm = Norm::kLayer;
    all.push_back(config);
  }
  config = plain;
  config.architecture = Architecture::kGcn;
  config.edge_weights = config.improved = true;
  all.push_back(config);
  config = plain;
  config.architecture = Architecture::kGraphConv;
  for (const Aggregation aggregation : {Aggregation::kMean, Aggregation::kSum, Aggregation::kMax}) {
    config.aggregation = aggregation;
    for (const bool weights : {false, true}) {
      config.edge_weights = weights;
      all.push_back(config);
    }
  }
}

LayerConfig layer(LayerConfig::Kind kind, const std::string& name,
                  const std::function<void(ModelConfig&)>& fill) {
  LayerConfig made{kind, name, {}};
  fill(made.options);
  return made;
}

// Stacks of listed layers: norms over all rows at the beginning, in the middle and at the end,
// convolutions of different kinds, and a linear layer first.
void add_stacks(std::vector<ModelConfig>& all) {
  using Kind = LayerConfig::Kind;
  ModelConfig config = small_config();
  config.architecture = Architecture::kLayers;
  const auto conv = [&](const char* name, Architecture architecture, int64_t out) {
    config.layers.push_back(layer(Kind::kConv, name, [&](ModelConfig& c) {
      c.architecture = architecture;
      c.output_dim = out;
      c.heads = architecture == Architecture::kGatv2 ? 2 : 1;
      c.edge_dim = architecture == Architecture::kGatv2 ? kEdgeColumns : 0;
      c.edge_weights = architecture == Architecture::kGcn;
      c.relations = architecture == Architecture::kRelation ? kTypes : 0;
      c.dropout = architecture == Architecture::kGatv2 ? 0.2 : 0;
    }));
  };
  const auto norm = [&](const char* name, Norm kind) {
    config.layers.push_back(layer(Kind::kNorm, name, [&](ModelConfig& c) { c.norm = kind; }));
  };
  const auto linear = [&](const char* name, int64_t out) {
    config.layers.push_back(
        layer(Kind::kLinear, name, [&](ModelConfig& c) { c.output_dim = out; }));
  };
  const auto activation = [&](const char* name, Activation kind) {
    config.layers.push_back(
        layer(Kind::kActivation, name, [&](ModelConfig& c) { c.activation = kind; }));
  };
  const auto dropout = [&] {
    config.layers.push_back(layer(Kind::kDropout, "", [&](ModelConfig& c) { c.dropout = 0.3; }));
  };
  conv("conv1", Architecture::kSage, 12);
  activation("", Activation::kElu);
  dropout();
  conv("conv2", Architecture::kGatv2, 8);
  norm("norm", Norm::kBatch);
  activation("act", Activation::kPrelu);
  conv("conv3", Architecture::kGcn, 6);
  linear("out", 4);
  all.push_back(config);
  config.layers.clear();
  linear("in", 7);
  norm("first", Norm::kLayerGraph);
  conv("conv.0", Architecture::kRelation, 9);
  norm("", Norm::kInstance);
  norm("", Norm::kPair);
  activation("", Activation::kTanh);
  conv("conv.1", Architecture::kGcn, 4);
  norm("last", Norm::kGraph);
  all.push_back(config);
  config.layers.clear();
  norm("whole", Norm::kGraph);
  conv("only", Architecture::kGin, 5);
  all.push_back(config);
}

// Models without features, by config and layer by layer, and PNA's deeper networks; edges and nodes
// dropped in training.
void add_input_configs(std::vector<ModelConfig>& all) {
  using Kind = LayerConfig::Kind;
  ModelConfig config = small_config();
  config.activation = Activation::kElu;
  config.edge_dropout = 0.3;
  config.node_dropout = 0.1;
  all.push_back(config);
  config.input = Input::kEmbedding;
  config.input_dim = kNodes;
  all.push_back(config);
  config.skip = Skip::kResidual;
  config.architecture = Architecture::kGat;
  config.heads = 2;
  config.edge_dim = kEdgeColumns;
  all.push_back(config);
  config = small_config();
  config.activation = Activation::kElu;
  config.input = Input::kNodes;
  config.input_dim = kNodes;
  config.architecture = Architecture::kRelation;
  config.relations = kTypes;
  all.push_back(config);
  config.bases = 2;
  config.aggregation = Aggregation::kSum;
  config.jumping = Jumping::kCat;
  config.edge_dropout = 0.2;
  all.push_back(config);
  config.root_weight = config.bias = false;
  config.num_layers = 1;
  config.jumping = Jumping::kNone;
  all.push_back(config);
  config = small_config();
  config.architecture = Architecture::kPna;
  config.activation = Activation::kElu;
  config.average_degree = 4.5;
  config.average_log_degree = 1.5;
  config.towers = 2;
  config.pre_layers = 3;
  config.post_layers = 2;
  all.push_back(config);
  config = small_config();
  config.architecture = Architecture::kEdge;
  config.aggregation = Aggregation::kSum;
  all.push_back(config);
  for (const Norm norm : {Norm::kBatch, Norm::kLayer}) {
    config.norm = norm;
    config.activation = norm == Norm::kBatch ? Activation::kTanh : Activation::kElu;
    config.mlp_layers = norm == Norm::kBatch ? 3 : 2;
    all.push_back(config);
  }
  for (const Norm norm : {Norm::kLayerGraph, Norm::kGraph, Norm::kInstance, Norm::kPair}) {
    config.norm = norm;
    config.mlp_layers = norm == Norm::kGraph ? 3 : 2;
    all.push_back(config);
  }
  config.mlp_layers = 2;
  config.framework = Framework::kDgl;
  config.aggregation = Aggregation::kMax;
  config.norm = Norm::kLayer;
  config.activation = Activation::kElu;
  all.push_back(config);
  config = small_config();
  config.activation = Activation::kElu;
  config.architecture = Architecture::kGatv2;
  config.share_weights = true;
  all.push_back(config);
  config = small_config();
  config.activation = Activation::kElu;
  config.architecture = Architecture::kGcn;
  config.self_loops = false;
  config.degree_norm = DegreeNorm::kNone;
  all.push_back(config);
  config.framework = Framework::kDgl;
  config.degree_norm = DegreeNorm::kRight;
  all.push_back(config);

  config = small_config();
  config.architecture = Architecture::kLayers;
  config.input_dim = kNodes;
  const auto conv = [&](const char* name, Architecture architecture, int64_t out) {
    config.layers.push_back(layer(Kind::kConv, name, [&](ModelConfig& c) {
      c.architecture = architecture;
      c.output_dim = out;
      c.relations = architecture == Architecture::kRelation ? kTypes : 0;
    }));
  };
  config.input = Input::kEmbedding;
  config.hidden_dim = 5;
  config.node_dropout = 0.1;
  config.layers.push_back(
      layer(Kind::kNorm, "first", [](ModelConfig& c) { c.norm = Norm::kBatch; }));
  conv("conv1", Architecture::kSage, 6);
  all.push_back(config);
  config.layers.clear();
  config.input = Input::kNodes;
  conv("conv1", Architecture::kRelation, 7);
  config.layers.push_back(
      layer(Kind::kActivation, "", [](ModelConfig& c) { c.activation = Activation::kElu; }));
  conv("conv2", Architecture::kRelation, 4);
  all.push_back(config);
}

// Options of one kind of layer, of norms, and of models without an output width.
void add_option_configs(std::vector<ModelConfig>& all) {
  ModelConfig plain = small_config();
  plain.activation = Activation::kElu;
  ModelConfig config = plain;
  for (const LoopFill fill :
       {LoopFill::kSum, LoopFill::kMax, LoopFill::kMin, LoopFill::kConstant}) {
    config.architecture = fill == LoopFill::kMax ? Architecture::kGatv2 : Architecture::kGat;
    config.edge_dim = kEdgeColumns;
    config.heads = 3;
    config.loop_fill = fill;
    config.loop_value = fill == LoopFill::kConstant ? 0.5 : 0;
    config.output_dim = fill == LoopFill::kMin ? 0 : 4;
    all.push_back(config);
  }
  config = plain;
  config.architecture = Architecture::kGine;
  config.input = Input::kEmbedding;
  config.input_dim = kNodes;
  config.hidden_dim = config.edge_dim = kEdgeColumns;
  config.plain_edges = true;
  all.push_back(config);
  config = plain;
  config.reductions = {PnaReduction::kMax, PnaReduction::kMean, PnaReduction::kDeviation};
  config.activation = Activation::kSilu;
  all.push_back(config);
  config.project = config.normalize = true;
  config.skip = Skip::kLinear;
  config.activation = Activation::kSigmoid;
  all.push_back(config);
  config = plain;
  config.architecture = Architecture::kPna;
  config.average_degree = 4.5;
  config.average_log_degree = 1.5;
  config.scalers = {PnaScaler::kLinear, PnaScaler::kAttenuation};
  config.train_norm = true;
  all.push_back(config);

  config = plain;
  config.framework = Framework::kDgl;
  config.edge_weights = true;
  for (const Aggregation aggregation :
       {Aggregation::kMean, Aggregation::kPool, Aggregation::kLstm, Aggregation::kGcn}) {
    config.aggregation = aggregation;
    all.push_back(config);
  }
  config.architecture = Architecture::kGin;
  for (const Aggregation aggregation : {Aggregation::kMean, Aggregation::kMax, Aggregation::kSum}) {
    config.aggregation = aggregation;
    all.push_back(config);
  }
  config.aggregation = Aggregation::kDefault;
  config.architecture = Architecture::kRelation;
  config.relations = kTypes;
  config.inner_norm = true;
  all.push_back(config);
  config.relations = 0;
  config.edge_weights = false;
  config.architecture = Architecture::kEdge;
  all.push_back(config);
  config = plain;
  config.architecture = Architecture::kRelation;
  config.relations = kTypes;
  config.aggregation = Aggregation::kMax;
  all.push_back(config);
  config = plain;
  config.architecture = Architecture::kGin;
  config.framework = Framework::kDgl;
  config.mlp_layers = 0;
  config.train_eps = true;
  config.eps = 0.3;  // 0 would tie the maximum of neighboring nodes
  config.hidden_dim = config.output_dim = kFeatures;
  for (const Aggregation aggregation : {Aggregation::kMean, Aggregation::kMax, Aggregation::kSum}) {
    config.aggregation = aggregation;
    all.push_back(config);
  }
  config = plain;
  config.architecture = Architecture::kGatv2;
  config.heads = 3;
  config.output_heads = 2;
  all.push_back(config);

  for (const Norm norm : {Norm::kBatch, Norm::kLayer, Norm::kLayerGraph, Norm::kInstance}) {
    config = plain;
    config.norm = norm;
    config.norm_options.epsilon = 0.1;
    config.norm_options.affine = norm == Norm::kInstance ? NormAffine::kOn : NormAffine::kOff;
    if (norm == Norm::kBatch) config.norm_options.momentum = 0.4;
    all.push_back(config);
  }
}

}  // namespace

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
  config.aggregation = Aggregation::kLstm;
  all.push_back(config);
  config.project = config.normalize = true;
  config.skip = Skip::kLinear;
  all.push_back(config);
  // Also inside GIN's networks, which have one or two norms.
  config = small_config();
  config.architecture = Architecture::kGin;
  config.activation = Activation::kElu;
  for (const Norm norm :
       {Norm::kLayerGraph, Norm::kGraph, Norm::kInstance, Norm::kPair, Norm::kPairRows}) {
    config.norm = norm;
    config.mlp_layers = norm == Norm::kGraph ? 3 : 2;
    config.skip = norm == Norm::kInstance ? Skip::kLinear
                  : norm == Norm::kPair   ? Skip::kResidual
                                          : Skip::kNone;
    config.act_first = norm == Norm::kPairRows;
    config.hidden_dim = norm == Norm::kPair ? 8 : 12;
    all.push_back(config);
  }
  config = small_config();
  config.framework = Framework::kDgl;
  for (const Aggregation aggregation :
       {Aggregation::kMean, Aggregation::kPool, Aggregation::kLstm, Aggregation::kGcn}) {
    config.aggregation = aggregation;
    all.push_back(config);
  }
  config.aggregation = Aggregation::kDefault;
  for (const Architecture architecture :
       {Architecture::kGcn, Architecture::kGat, Architecture::kGatv2, Architecture::kGin}) {
    config.architecture = architecture;
    config.heads =
        architecture == Architecture::kGat || architecture == Architecture::kGatv2 ? 3 : 1;
    config.residual = config.heads == 3;
    config.mlp_layers = architecture == Architecture::kGin ? 3 : 2;
    config.activation = Activation::kElu;  // biases are initially 0, where ReLU has no derivative
    all.push_back(config);
  }
  for (const Framework framework : {Framework::kPyg, Framework::kDgl})
    for (const Aggregation aggregation : {Aggregation::kMean, Aggregation::kMax}) {
      config.framework = framework;
      config.aggregation = aggregation;
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
    const bool gin = architecture == Architecture::kGin;
    if (attention) config.heads = 3;
    config.eps = gin ? 0.2 : 0;
    all.push_back(config);
    config.skip = Skip::kLinear;
    config.norm = Norm::kBatch;
    config.activation = Activation::kElu;
    config.self_loops = gin;
    config.train_eps = gin;
    all.push_back(config);
    config.skip = Skip::kResidual;
    config.norm = Norm::kLayer;
    config.residual = attention;
    config.concat = !attention;
    all.push_back(config);
    config = small_config();
    config.architecture = architecture;
    config.hidden_dim = 8;  // wider than its input, narrower than the features
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
  add_edge_configs(all);
  add_stacks(all);
  add_input_configs(all);
  add_option_configs(all);
  return all;
}

std::string describe(const ModelConfig& c) {
  return base::text("architecture ", static_cast<int>(c.architecture), " framework ",
                    static_cast<int>(c.framework), " jumping ", static_cast<int>(c.jumping),
                    " skip ", static_cast<int>(c.skip), " aggregation ",
                    static_cast<int>(c.aggregation), " norm ", static_cast<int>(c.norm),
                    " normalize ", c.normalize, " project ", c.project, " root ", c.root_weight,
                    " activation ", static_cast<int>(c.activation), " layers ", c.num_layers,
                    " edge_dim ", c.edge_dim, " weights ", c.edge_weights, " bases ", c.bases,
                    " blocks ", c.blocks, " of its own ", c.layers.size());
}

base::Status status_of(const std::function<void()>& f, std::string* text) {
  try {
    f();
  } catch (const base::Error& e) {
    if (text) *text = e.what();
    return e.status();
  }
  return base::Status::kOk;
}

}  // namespace gnnmg::nn
