// From gnnmg_model_config to the library's own, and what it leaves to the data set.
#include "capi/model_config.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "capi/arguments.h"
#include "capi/tensor.h"
#include "data/edge_tensors.h"
#include "feature/store.h"
#include "nn/graph_facts.h"

namespace gnnmg::capi {

const gnnmg_model_config kModelDefaults = [] {
  const nn::ModelConfig d;
  gnnmg_model_config config{};
  config.struct_size = sizeof config;
  config.architecture = GNNMG_MODEL_SAGE;
  config.hidden_dim = d.hidden_dim;
  config.num_layers = d.num_layers;
  config.aggregation = static_cast<int32_t>(d.aggregation);
  config.activation = static_cast<int32_t>(d.activation);
  config.norm = static_cast<int32_t>(d.norm);
  config.skip = static_cast<int32_t>(d.skip);
  config.weight_init = static_cast<int32_t>(d.init);
  config.bias = d.bias;
  config.root_weight = d.root_weight;
  config.normalize = d.normalize;
  config.project = d.project;
  config.act_first = d.act_first;
  config.dtype = dtype_code(d.dtype);
  config.dropout = d.dropout;
  config.input_dropout = d.input_dropout;
  config.seed = d.seed;
  config.jumping = static_cast<int32_t>(d.jumping);
  config.heads = d.heads;
  config.concat = d.concat;
  config.self_loops = d.self_loops;
  config.residual = d.residual;
  config.block_degrees = d.block_degrees;
  config.train_eps = d.train_eps;
  config.negative_slope = d.slope;
  config.eps = d.eps;
  config.readout = static_cast<int32_t>(d.readout);
  config.output_dropout = d.output_dropout;
  config.norm_scale = d.norm_options.scale;
  config.framework = static_cast<int32_t>(d.framework);
  config.mlp_layers = d.mlp_layers;
  config.towers = d.towers;
  config.readout_steps = d.readout_steps;
  config.sort_rows = d.sort_rows;
  config.input = static_cast<int32_t>(d.input);
  config.edge_dropout = d.edge_dropout;
  config.node_dropout = d.node_dropout;
  config.pre_layers = d.pre_layers;
  config.post_layers = d.post_layers;
  config.degree_norm = static_cast<int32_t>(d.degree_norm);
  config.share_weights = d.share_weights;
  config.loop_fill = static_cast<int32_t>(d.loop_fill);
  config.norm_epsilon = d.norm_options.epsilon;
  config.norm_momentum = d.norm_options.momentum;
  return config;
}();

static_assert(static_cast<int32_t>(nn::Input::kFeatures) == GNNMG_INPUT_FEATURES &&
              static_cast<int32_t>(nn::Input::kEmbedding) == GNNMG_INPUT_EMBEDDING &&
              static_cast<int32_t>(nn::Input::kNodes) == GNNMG_INPUT_NODES);

static_assert(static_cast<int32_t>(nn::Architecture::kSage) == GNNMG_MODEL_SAGE &&
              static_cast<int32_t>(nn::Architecture::kGcn) == GNNMG_MODEL_GCN &&
              static_cast<int32_t>(nn::Architecture::kGat) == GNNMG_MODEL_GAT &&
              static_cast<int32_t>(nn::Architecture::kGatv2) == GNNMG_MODEL_GATV2 &&
              static_cast<int32_t>(nn::Architecture::kGin) == GNNMG_MODEL_GIN &&
              static_cast<int32_t>(nn::Architecture::kGine) == GNNMG_MODEL_GINE &&
              static_cast<int32_t>(nn::Architecture::kRelation) == GNNMG_MODEL_RGCN &&
              static_cast<int32_t>(nn::Architecture::kTransformer) == GNNMG_MODEL_TRANSFORMER &&
              static_cast<int32_t>(nn::Architecture::kPna) == GNNMG_MODEL_PNA &&
              static_cast<int32_t>(nn::Architecture::kGraphConv) == GNNMG_MODEL_GRAPHCONV &&
              static_cast<int32_t>(nn::Architecture::kLayers) == GNNMG_MODEL_LAYERS &&
              static_cast<int32_t>(nn::Architecture::kEdge) == GNNMG_MODEL_EDGE);
static_assert(static_cast<int32_t>(nn::DegreeNorm::kBoth) == GNNMG_DEGREE_NORM_BOTH &&
              static_cast<int32_t>(nn::DegreeNorm::kRight) == GNNMG_DEGREE_NORM_RIGHT &&
              static_cast<int32_t>(nn::DegreeNorm::kLeft) == GNNMG_DEGREE_NORM_LEFT &&
              static_cast<int32_t>(nn::DegreeNorm::kNone) == GNNMG_DEGREE_NORM_NONE);
static_assert(static_cast<int32_t>(nn::PnaReduction::kMean) == GNNMG_PNA_REDUCTION_MEAN &&
              static_cast<int32_t>(nn::PnaReduction::kMin) == GNNMG_PNA_REDUCTION_MIN &&
              static_cast<int32_t>(nn::PnaReduction::kMax) == GNNMG_PNA_REDUCTION_MAX &&
              static_cast<int32_t>(nn::PnaReduction::kSum) == GNNMG_PNA_REDUCTION_SUM &&
              static_cast<int32_t>(nn::PnaReduction::kVariance) == GNNMG_PNA_REDUCTION_VARIANCE &&
              static_cast<int32_t>(nn::PnaReduction::kDeviation) == GNNMG_PNA_REDUCTION_DEVIATION &&
              static_cast<int32_t>(nn::PnaScaler::kIdentity) == GNNMG_PNA_SCALER_IDENTITY &&
              static_cast<int32_t>(nn::PnaScaler::kAmplification) ==
                  GNNMG_PNA_SCALER_AMPLIFICATION &&
              static_cast<int32_t>(nn::PnaScaler::kAttenuation) == GNNMG_PNA_SCALER_ATTENUATION &&
              static_cast<int32_t>(nn::PnaScaler::kLinear) == GNNMG_PNA_SCALER_LINEAR &&
              static_cast<int32_t>(nn::PnaScaler::kInverseLinear) ==
                  GNNMG_PNA_SCALER_INVERSE_LINEAR);
static_assert(static_cast<int32_t>(nn::Jumping::kNone) == GNNMG_JUMPING_NONE &&
              static_cast<int32_t>(nn::Jumping::kLast) == GNNMG_JUMPING_LAST &&
              static_cast<int32_t>(nn::Jumping::kCat) == GNNMG_JUMPING_CAT &&
              static_cast<int32_t>(nn::Jumping::kMax) == GNNMG_JUMPING_MAX &&
              static_cast<int32_t>(nn::Jumping::kLstm) == GNNMG_JUMPING_LSTM &&
              static_cast<int32_t>(nn::Jumping::kScores) == GNNMG_JUMPING_SCORES);
static_assert(static_cast<int32_t>(nn::Readout::kNone) == GNNMG_READOUT_NONE &&
              static_cast<int32_t>(nn::Readout::kSum) == GNNMG_READOUT_SUM &&
              static_cast<int32_t>(nn::Readout::kMean) == GNNMG_READOUT_MEAN &&
              static_cast<int32_t>(nn::Readout::kMax) == GNNMG_READOUT_MAX &&
              static_cast<int32_t>(nn::Readout::kAttention) == GNNMG_READOUT_ATTENTION &&
              static_cast<int32_t>(nn::Readout::kSet2Set) == GNNMG_READOUT_SET2SET &&
              static_cast<int32_t>(nn::Readout::kSort) == GNNMG_READOUT_SORT);
static_assert(static_cast<int32_t>(nn::Aggregation::kDefault) == GNNMG_AGGREGATION_DEFAULT &&
              static_cast<int32_t>(nn::Aggregation::kMean) == GNNMG_AGGREGATION_MEAN &&
              static_cast<int32_t>(nn::Aggregation::kMax) == GNNMG_AGGREGATION_MAX &&
              static_cast<int32_t>(nn::Aggregation::kSum) == GNNMG_AGGREGATION_SUM &&
              static_cast<int32_t>(nn::Aggregation::kPool) == GNNMG_AGGREGATION_POOL &&
              static_cast<int32_t>(nn::Aggregation::kLstm) == GNNMG_AGGREGATION_LSTM &&
              static_cast<int32_t>(nn::Aggregation::kGcn) == GNNMG_AGGREGATION_GCN);
static_assert(static_cast<int32_t>(nn::Framework::kPyg) == GNNMG_FRAMEWORK_PYG &&
              static_cast<int32_t>(nn::Framework::kDgl) == GNNMG_FRAMEWORK_DGL);
static_assert(static_cast<int32_t>(nn::Activation::kRelu) == GNNMG_ACTIVATION_RELU &&
              static_cast<int32_t>(nn::Activation::kNone) == GNNMG_ACTIVATION_NONE &&
              static_cast<int32_t>(nn::Activation::kElu) == GNNMG_ACTIVATION_ELU &&
              static_cast<int32_t>(nn::Activation::kLeakyRelu) == GNNMG_ACTIVATION_LEAKY_RELU &&
              static_cast<int32_t>(nn::Activation::kGelu) == GNNMG_ACTIVATION_GELU &&
              static_cast<int32_t>(nn::Activation::kTanh) == GNNMG_ACTIVATION_TANH &&
              static_cast<int32_t>(nn::Activation::kPrelu) == GNNMG_ACTIVATION_PRELU &&
              static_cast<int32_t>(nn::Activation::kSilu) == GNNMG_ACTIVATION_SILU &&
              static_cast<int32_t>(nn::Activation::kSigmoid) == GNNMG_ACTIVATION_SIGMOID);
static_assert(static_cast<int32_t>(nn::NormAffine::kOn) == GNNMG_NORM_AFFINE_ON &&
              static_cast<int32_t>(nn::NormAffine::kOff) == GNNMG_NORM_AFFINE_OFF);
static_assert(static_cast<int32_t>(nn::LoopFill::kMean) == GNNMG_LOOP_FILL_MEAN &&
              static_cast<int32_t>(nn::LoopFill::kSum) == GNNMG_LOOP_FILL_SUM &&
              static_cast<int32_t>(nn::LoopFill::kMax) == GNNMG_LOOP_FILL_MAX &&
              static_cast<int32_t>(nn::LoopFill::kMin) == GNNMG_LOOP_FILL_MIN &&
              static_cast<int32_t>(nn::LoopFill::kConstant) == GNNMG_LOOP_FILL_CONSTANT);
static_assert(static_cast<int32_t>(nn::Norm::kNone) == GNNMG_NORM_NONE &&
              static_cast<int32_t>(nn::Norm::kBatch) == GNNMG_NORM_BATCH &&
              static_cast<int32_t>(nn::Norm::kLayer) == GNNMG_NORM_LAYER &&
              static_cast<int32_t>(nn::Norm::kLayerGraph) == GNNMG_NORM_LAYER_GRAPH &&
              static_cast<int32_t>(nn::Norm::kGraph) == GNNMG_NORM_GRAPH &&
              static_cast<int32_t>(nn::Norm::kInstance) == GNNMG_NORM_INSTANCE &&
              static_cast<int32_t>(nn::Norm::kPair) == GNNMG_NORM_PAIR &&
              static_cast<int32_t>(nn::Norm::kPairRows) == GNNMG_NORM_PAIR_ROWS);
static_assert(static_cast<int32_t>(nn::Skip::kNone) == GNNMG_SKIP_NONE &&
              static_cast<int32_t>(nn::Skip::kLinear) == GNNMG_SKIP_LINEAR &&
              static_cast<int32_t>(nn::Skip::kResidual) == GNNMG_SKIP_RESIDUAL);
static_assert(static_cast<int32_t>(nn::Init::kPyg) == GNNMG_WEIGHT_INIT_PYG &&
              static_cast<int32_t>(nn::Init::kGlorot) == GNNMG_WEIGHT_INIT_GLOROT &&
              static_cast<int32_t>(nn::Init::kDgl) == GNNMG_WEIGHT_INIT_DGL);

namespace {

// The numbers up to the first 0, behind which all are 0; `out` stays where there is none.
template <size_t kLength, typename T>
void read_array(const int32_t (&values)[kLength], const char* name, std::vector<T>& out) {
  const int32_t* end = std::find(values, values + kLength, 0);
  for (const int32_t* other = end; other != values + kLength; ++other)
    if (*other != 0)
      fail(Status::kInvalidArgument, name, "[", other - values, "] is ", *other,
           ", behind a 0, which ends the list");
  if (end == values) return;
  out.clear();
  for (const int32_t* value = values; value != end; ++value) out.push_back(static_cast<T>(*value));
}

// Largest type of an edge and one more.
int64_t count_types(const graph::Graph& graph) {
  const graph::Column* column = nn::edge_column(graph, data::kEdgeTypeNames);
  const auto* types = column ? std::get_if<base::Tensor>(column) : nullptr;
  if (!types) return 0;
  const auto store = feature::make_store(*column);
  if (base::is_floating(store->dtype()) || store->num_cols() != 1) return 0;
  std::vector<int64_t> ids(store->num_rows());
  std::iota(ids.begin(), ids.end(), int64_t{0});
  const base::Tensor values = base::Tensor::empty(store->dtype(), {store->num_rows(), 1});
  store->gather(ids, static_cast<uint8_t*>(values.data()), nullptr);
  const int64_t size = base::dtype_size(values.dtype());
  int64_t most = -1;
  for (int64_t e = 0; e < store->num_rows(); ++e) {
    const uint8_t* at = static_cast<const uint8_t*>(values.data()) + e * size;
    int64_t type = *at;
    if (size == 4) type = *reinterpret_cast<const int32_t*>(at);
    if (size == 8) type = *reinterpret_cast<const int64_t*>(at);
    most = std::max(most, type);
  }
  return most + 1;
}

int64_t count_edge_columns(const graph::Graph& graph) {
  if (const graph::Elsewhere* rows = graph.elsewhere()) {
    for (const std::string_view name : data::kEdgeFeatureNames)
      for (const graph::EdgeColumn& column : rows->edge_columns())
        if (column.name == name) return column.num_cols;
    return 0;
  }
  const graph::Column* column = nn::edge_column(graph, data::kEdgeFeatureNames);
  const auto* features = column ? std::get_if<base::Tensor>(column) : nullptr;
  return features ? features->shape().row_elements() : 0;
}

void average_degrees(const graph::Csc& csc, nn::ModelConfig& config) {
  double sum = 0, logs = 0;
  for (int64_t t = 0; t < csc.num_targets; ++t) {
    const auto degree = static_cast<double>(csc.in_degree(t));
    sum += degree;
    logs += std::log(degree + 1);
  }
  const auto nodes = static_cast<double>(std::max<int64_t>(csc.num_targets, 1));
  if (config.average_degree == 0) config.average_degree = sum / nodes;
  if (config.average_log_degree == 0) config.average_log_degree = logs / nodes;
}

}  // namespace

nn::NormOptions norm_options(double scale, double epsilon, double momentum,
                             gnnmg_norm_affine affine) {
  const nn::NormOptions d;
  const auto or_default = [](double value, double standard) {
    return value == 0 ? standard : value;
  };
  return {.scale = or_default(scale, d.scale),
          .epsilon = or_default(epsilon, d.epsilon),
          .momentum = or_default(momentum, d.momentum),
          .affine = static_cast<nn::NormAffine>(affine)};
}

nn::ModelConfig model_config(const gnnmg_model_config& in) {
  GNNMG_CHECK_CONSTANT(in.architecture, GNNMG_MODEL_SAGE, GNNMG_MODEL_EDGE, "config.architecture");
  GNNMG_CHECK_CONSTANT(in.degree_norm, GNNMG_DEGREE_NORM_BOTH, GNNMG_DEGREE_NORM_NONE,
                       "config.degree_norm");
  check_flag(in.share_weights, "config.share_weights");
  GNNMG_CHECK_CONSTANT(in.aggregation, GNNMG_AGGREGATION_DEFAULT, GNNMG_AGGREGATION_GCN,
                       "config.aggregation");
  GNNMG_CHECK_CONSTANT(in.framework, GNNMG_FRAMEWORK_PYG, GNNMG_FRAMEWORK_DGL, "config.framework");
  GNNMG_CHECK_CONSTANT(in.activation, GNNMG_ACTIVATION_RELU, GNNMG_ACTIVATION_SIGMOID,
                       "config.activation");
  GNNMG_CHECK_CONSTANT(in.norm, GNNMG_NORM_NONE, GNNMG_NORM_PAIR_ROWS, "config.norm");
  GNNMG_CHECK_CONSTANT(in.skip, GNNMG_SKIP_NONE, GNNMG_SKIP_RESIDUAL, "config.skip");
  GNNMG_CHECK_CONSTANT(in.weight_init, GNNMG_WEIGHT_INIT_PYG, GNNMG_WEIGHT_INIT_DGL,
                       "config.weight_init");
  GNNMG_CHECK_CONSTANT(in.dtype, GNNMG_DTYPE_F32, GNNMG_DTYPE_F64, "config.dtype");
  check_flag(in.bias, "config.bias");
  check_flag(in.root_weight, "config.root_weight");
  check_flag(in.normalize, "config.normalize");
  check_flag(in.project, "config.project");
  check_flag(in.act_first, "config.act_first");
  GNNMG_CHECK_CONSTANT(in.jumping, GNNMG_JUMPING_NONE, GNNMG_JUMPING_SCORES, "config.jumping");
  GNNMG_CHECK_CONSTANT(in.readout, GNNMG_READOUT_NONE, GNNMG_READOUT_SORT, "config.readout");
  check_flag(in.concat, "config.concat");
  check_flag(in.self_loops, "config.self_loops");
  check_flag(in.residual, "config.residual");
  check_flag(in.block_degrees, "config.block_degrees");
  check_flag(in.train_eps, "config.train_eps");
  if (in.reserved != 0)
    fail(Status::kInvalidArgument, "config.reserved is ", in.reserved, ", expected 0");
  if (in.reserved2 != 0)
    fail(Status::kInvalidArgument, "config.reserved2 is ", in.reserved2, ", expected 0");
  if (in.reserved3 != 0)
    fail(Status::kInvalidArgument, "config.reserved3 is ", in.reserved3, ", expected 0");
  if (in.reserved4 != 0)
    fail(Status::kInvalidArgument, "config.reserved4 is ", in.reserved4, ", expected 0");
  GNNMG_CHECK_CONSTANT(in.input, GNNMG_INPUT_FEATURES, GNNMG_INPUT_NODES, "config.input");
  check_flag(in.edge_weights, "config.edge_weights");
  check_flag(in.improved, "config.improved");
  check_flag(in.beta, "config.beta");
  check_flag(in.divide_input, "config.divide_input");
  GNNMG_CHECK_CONSTANT(in.loop_fill, GNNMG_LOOP_FILL_MEAN, GNNMG_LOOP_FILL_CONSTANT,
                       "config.loop_fill");
  GNNMG_CHECK_CONSTANT(in.norm_affine, GNNMG_NORM_AFFINE_DEFAULT, GNNMG_NORM_AFFINE_OFF,
                       "config.norm_affine");
  check_flag(in.plain_edges, "config.plain_edges");
  check_flag(in.inner_norm, "config.inner_norm");
  check_flag(in.train_norm, "config.train_norm");
  // Above this no weight matrix could be made; it keeps products of widths from overflowing.
  constexpr int64_t kWidest = int64_t{1} << 24;
  const int64_t most_input =
      in.input == GNNMG_INPUT_FEATURES ? kWidest : std::numeric_limits<int32_t>::max();
  for (const auto& [value, least, most, name] :
       {std::tuple(in.input_dim, int64_t{0}, most_input, "config.input_dim"),
        std::tuple(in.hidden_dim, int64_t{0}, kWidest, "config.hidden_dim"),
        std::tuple(in.output_dim, int64_t{-1}, kWidest, "config.output_dim")})
    if (value < least || value > most)
      fail(Status::kInvalidArgument, name, " is ", value, ", expected ", least, " to ", most);
  nn::ModelConfig config;
  config.architecture = static_cast<nn::Architecture>(in.architecture);
  config.jumping = static_cast<nn::Jumping>(in.jumping);
  config.heads = in.heads == 0 ? 1 : in.heads;
  config.output_heads = in.output_heads;
  config.concat = in.concat;
  config.self_loops = in.self_loops;
  config.residual = in.residual;
  config.block_degrees = in.block_degrees;
  config.train_eps = in.train_eps;
  config.slope = in.negative_slope;
  config.eps = in.eps;
  config.readout = static_cast<nn::Readout>(in.readout);
  config.output_dropout = in.output_dropout;
  config.norm_options =
      norm_options(in.norm_scale, in.norm_epsilon, in.norm_momentum, in.norm_affine);
  config.loop_fill = static_cast<nn::LoopFill>(in.loop_fill);
  config.loop_value = in.loop_value;
  config.plain_edges = in.plain_edges;
  config.inner_norm = in.inner_norm;
  config.train_norm = in.train_norm;
  config.framework = static_cast<nn::Framework>(in.framework);
  // -1: none, and below that what no model has.
  config.mlp_layers = in.mlp_layers == 0 ? 2 : in.mlp_layers == -1 ? 0 : in.mlp_layers;
  config.edge_dim = in.edge_dim;
  config.relations = in.num_relations;
  config.bases = in.num_bases;
  config.blocks = in.num_blocks;
  config.edge_weights = in.edge_weights;
  config.improved = in.improved;
  config.beta = in.beta;
  config.input = static_cast<nn::Input>(in.input);
  config.degree_norm = static_cast<nn::DegreeNorm>(in.degree_norm);
  config.share_weights = in.share_weights;
  config.edge_dropout = in.edge_dropout;
  config.node_dropout = in.node_dropout;
  config.pre_layers = in.pre_layers == 0 ? 1 : in.pre_layers;
  config.post_layers = in.post_layers == 0 ? 1 : in.post_layers;
  config.towers = in.towers == 0 ? 1 : in.towers;
  config.divide_input = in.divide_input;
  config.readout_steps = in.readout_steps == 0 ? 3 : in.readout_steps;
  config.sort_rows = in.sort_rows == 0 ? 30 : in.sort_rows;
  config.average_degree = in.average_degree;
  config.average_log_degree = in.average_log_degree;
  for (const int32_t reduction : in.reductions)
    if (reduction != 0)
      GNNMG_CHECK_CONSTANT(reduction, GNNMG_PNA_REDUCTION_MEAN, GNNMG_PNA_REDUCTION_DEVIATION,
                           "config.reductions");
  for (const int32_t scaler : in.scalers)
    if (scaler != 0)
      GNNMG_CHECK_CONSTANT(scaler, GNNMG_PNA_SCALER_IDENTITY, GNNMG_PNA_SCALER_INVERSE_LINEAR,
                           "config.scalers");
  read_array(in.reductions, "config.reductions", config.reductions);
  read_array(in.scalers, "config.scalers", config.scalers);
  read_array(in.node_vocabulary, "config.node_vocabulary", config.node_vocabulary);
  read_array(in.edge_vocabulary, "config.edge_vocabulary", config.edge_vocabulary);
  config.input_dim = in.input_dim;
  config.hidden_dim = in.hidden_dim;
  config.output_dim = in.output_dim;
  config.num_layers = in.num_layers;
  config.aggregation = static_cast<nn::Aggregation>(in.aggregation);
  config.activation = static_cast<nn::Activation>(in.activation);
  config.norm = static_cast<nn::Norm>(in.norm);
  config.skip = static_cast<nn::Skip>(in.skip);
  config.init = static_cast<nn::Init>(in.weight_init);
  config.bias = in.bias;
  config.root_weight = in.root_weight;
  config.normalize = in.normalize;
  config.project = in.project;
  config.act_first = in.act_first;
  config.dropout = in.dropout;
  config.input_dropout = in.input_dropout;
  config.dtype = dtype_of(in.dtype);
  config.seed = in.seed;
  return config;
}

void complete_config(nn::ModelConfig& config, const data::Dataset* dataset) {
  using nn::Architecture;
  const bool known = dataset != nullptr;
  const auto need = [&](bool found, const char* field, const char* what) {
    if (!found)
      fail(Status::kInvalidArgument, field,
           " is to be the data set's, and there is no data set with ", what, " to take it from");
  };
  if (config.edge_dim == -1 ||
      (config.edge_dim == 0 && config.architecture == Architecture::kGine)) {
    config.edge_dim = known ? count_edge_columns(*dataset->graph) : 0;
    need(config.edge_dim > 0, "config.edge_dim", "edge features, 'edge_attr', 'x' or 'feat',");
  }
  if (config.architecture == Architecture::kRelation && config.relations == 0) {
    if (known && dataset->graph->elsewhere())
      fail(Status::kInvalidArgument,
           "config.num_relations is 0, and parts of a graph do not tell how many types of edges "
           "there are; set it");
    config.relations = known ? count_types(*dataset->graph) : 0;
    need(config.relations > 0, "config.num_relations",
         "types of edges, 'edge_type', 'type' or 'edge_label',");
  }
  if (config.architecture == Architecture::kPna &&
      (config.average_degree == 0 || config.average_log_degree == 0)) {
    need(known && dataset->graph->num_edges() > 0, "config.average_degree", "edges");
    average_degrees(dataset->graph->csc(), config);
  }
}

// A width that the config leaves to the data set.
void complete_width(int64_t& width, int64_t from_data, const char* field, const char* what) {
  if (width == 0) width = from_data;
  if (width == 0)
    fail(Status::kInvalidArgument, field,
         " is 0, to be taken from a data set, and there is none with ", what);
}

}  // namespace gnnmg::capi
