// Conversion between gnnmg_model_config and the library's own, and the values left to the data set.
#include "capi/model_config.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "capi/setting_fields.h"
#include "capi/tensor.h"
#include "data/edge_tensors.h"
#include "feature/store.h"
#include "nn/graph_facts.h"
#include "nn/setting_list.h"

namespace gnnmg::capi {

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

using capi::put_field, capi::take_field;

// Lists of numbers, in both directions.
template <typename T, size_t kLength>
void put_field(const std::vector<T>& list, int32_t (&field)[kLength]) {
  for (size_t i = 0; i < std::min(list.size(), kLength); ++i) put_field(list[i], field[i]);
}

// The numbers up to the first 0, after which all are 0; `list` stays if there are none.
template <typename T, size_t kLength>
void take_field(const int32_t (&field)[kLength], const char* name, std::vector<T>& list) {
  const int32_t* const begin = field;
  const int32_t* const end = std::find(begin, begin + kLength, 0);
  for (const int32_t* other = end; other != begin + kLength; ++other)
    if (*other != 0)
      fail(Status::kInvalidArgument, "config.", name, "[", other - begin, "] is ", *other,
           ", after a 0, which ends the list");
  if (end == begin) return;
  list.assign(static_cast<size_t>(end - begin), T{});
  for (size_t i = 0; i < list.size(); ++i) take_field(field[i], name, list[i]);
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

gnnmg_model_config fields_of(const nn::ModelConfig& config) {
  gnnmg_model_config fields{};
  fields.struct_size = sizeof fields;
  nn::visit_fields(fields, config, [](const nn::Setting&, auto& field, const auto& value) {
    put_field(value, field);
  });
  if (config.mlp_layers == 0) fields.mlp_layers = -1;
  if (config.scalers == nn::ModelConfig().scalers) std::ranges::fill(fields.scalers, 0);
  return fields;
}

const gnnmg_model_config kModelDefaults = fields_of({});

nn::ModelConfig model_config(const gnnmg_model_config& in) {
  for (const auto& [value, name] :
       {std::pair(in.reserved, "reserved"), std::pair(in.reserved2, "reserved2"),
        std::pair(in.reserved3, "reserved3"), std::pair(in.reserved4, "reserved4")})
    if (value != 0) fail(Status::kInvalidArgument, "config.", name, " is ", value, ", expected 0");
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
  nn::visit_fields(in, config, [](const nn::Setting& setting, const auto& field, auto& value) {
    take_field(field, setting.name, value);
  });
  const nn::ModelConfig d;
  const auto default_for_0 = [](auto& value, const auto& standard) {
    if (value == 0) value = standard;
  };
  default_for_0(config.heads, d.heads);
  default_for_0(config.pre_layers, d.pre_layers);
  default_for_0(config.post_layers, d.post_layers);
  default_for_0(config.towers, d.towers);
  default_for_0(config.readout_steps, d.readout_steps);
  default_for_0(config.sort_rows, d.sort_rows);
  config.norm_options =
      norm_options(in.norm_scale, in.norm_epsilon, in.norm_momentum, in.norm_affine);
  // -1: none; below that no model has such a number.
  config.mlp_layers = in.mlp_layers == 0 ? d.mlp_layers : in.mlp_layers == -1 ? 0 : in.mlp_layers;
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
         " is 0, to be taken from a data set, and there is none with ", what,
         "; set it, or pass a data set that has them");
}

}  // namespace gnnmg::capi
