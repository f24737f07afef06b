#include "capi/model_config.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <numeric>
#include <tuple>

#include "capi/settings.h"
#include "capi/tensor.h"
#include "data/edge_tensors.h"
#include "feature/store.h"
#include "nn/config/setting_list.h"
#include "nn/model/graph_facts.h"

namespace gnnmg::capi {

#define GNNMG_KIND(constant, word, end, ...) \
  static_assert(static_cast<int32_t>(nn::Architecture::constant) == GNNMG_ARCHITECTURE_##end);
GNNMG_LAYER_KINDS(GNNMG_KIND)
#undef GNNMG_KIND
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
static_assert(static_cast<int32_t>(nn::Norm::kNone) == GNNMG_NORM_NONE &&
              static_cast<int32_t>(nn::Norm::kBatch) == GNNMG_NORM_BATCH &&
              static_cast<int32_t>(nn::Norm::kLayer) == GNNMG_NORM_LAYER &&
              static_cast<int32_t>(nn::Norm::kLayerGraph) == GNNMG_NORM_LAYER_GRAPH &&
              static_cast<int32_t>(nn::Norm::kGraph) == GNNMG_NORM_GRAPH &&
              static_cast<int32_t>(nn::Norm::kInstance) == GNNMG_NORM_INSTANCE &&
              static_cast<int32_t>(nn::Norm::kPair) == GNNMG_NORM_PAIR &&
              static_cast<int32_t>(nn::Norm::kPairRows) == GNNMG_NORM_PAIR_ROWS);

namespace {

// Ranges of the settings whose special values the list does not have.
constexpr std::pair<std::string_view, const char*> kRanges[] = {
    {"input_dim", "0 to 16777216; of nodes to 2147483647"},
    {"output_dim", "-1 to 16777216"},
    {"edge_dim", "-1 to 16777216"},
    {"norm_scale", "above 0, or -1"},
    {"norm_epsilon", "above 0"},
    {"average_degree", "0 or more"},
    {"average_log_degree", "0 or more"},
    {"norm_momentum", "above 0 to 1, or -1"},
};

// Called while the table is made.
const char* values_of(std::string_view name, const nn::Range& range) {
  static std::deque<std::string> texts;
  for (const auto& [setting, text] : kRanges)
    if (setting == name) return text;
  const std::string& text =
      texts.emplace_back(range_text(range.low, false, range.high, range.open));
  return text.empty() ? nullptr : text.c_str();
}

using Rows = std::vector<SettingRow<nn::ModelConfig>>;

// `Fields`: the struct that has some of them.
template <typename Fields>
Rows make_rows() {  // NOLINT(readability-function-size): a statement for each setting
  using namespace nn::setting_list;
  Rows list;
#define GNNMG_ROW(name, member, in_file, range, pyg, dgl, help)      \
  list.push_back(GNNMG_SETTING_AS(                                   \
      nn::ModelConfig, #name, member, values_of(#name, range), help, \
      requires(Fields f) { f.name; }));
  GNNMG_MODEL_SETTINGS(GNNMG_ROW)
#undef GNNMG_ROW
  return list;
}

const Rows& model_rows() {
  static const Rows rows = make_rows<gnnmg_model_config>();
  return rows;
}

constexpr SettingRow<nn::NormOptions> kNormRows[] = {
    GNNMG_SETTING(nn::NormOptions, scale, "above 0, or -1",
                  "Pair norms: length of the rows. -1: the number of columns."),
    GNNMG_SETTING(nn::NormOptions, epsilon, "above 0", "Number that is added below the root."),
    GNNMG_SETTING(nn::NormOptions, momentum, "above 0 to 1, or -1",
                  "Batch norm: weight of new statistics in the running ones. -1: plain mean "
                  "over all."),
    GNNMG_SETTING(nn::NormOptions, affine, nullptr,
                  "Batch, layer and instance norms: a learned weight and bias per column at the "
                  "end. default: on for batch and layer norms, off for instance norm."),
};

// NOLINTBEGIN(readability-function-size): statements for each setting
template <typename Fields>
void take_fields(const Fields& in, nn::ModelConfig& config, FieldNames& given) {
#define GNNMG_TAKE(name, member, ...) \
  if constexpr (requires { in.name; }) take_field(in.name, #name, config.member, given);
  GNNMG_MODEL_SETTINGS(GNNMG_TAKE)
#undef GNNMG_TAKE
}

template <typename Fields>
void give_fields(const nn::ModelConfig& config, Fields& out) {
#define GNNMG_GIVE(name, member, ...) \
  if constexpr (requires { out.name; }) out.name = static_cast<decltype(out.name)>(config.member);
  GNNMG_MODEL_SETTINGS(GNNMG_GIVE)
#undef GNNMG_GIVE
}
// NOLINTEND(readability-function-size)

// Above the widest no weight matrix could be made; it keeps products of widths from overflowing.
void check_widths(const nn::ModelConfig& config, const FieldNames& given) {
  constexpr int64_t kWidest = int64_t{1} << 24;
  const int64_t most_input =
      config.reads_features() ? kWidest : std::numeric_limits<int32_t>::max();
  for (const auto& [value, least, most, name] :
       {std::tuple(config.input_dim, int64_t{0}, most_input, "input_dim"),
        std::tuple(config.hidden_dim, int64_t{1}, kWidest, "hidden_dim"),
        std::tuple(config.output_dim, int64_t{-1}, kWidest, "output_dim")})
    if (value < least || value > most)
      fail(Status::kInvalidArgument,
           std::ranges::find(given, std::string_view(name)) == given.end() ? "model settings: "
                                                                           : "config.",
           name, " is ", value, ", expected ", least, " to ", most);
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

// The layers of a custom stack determine these, and the settings of the whole would be without
// effect.
void check_no_layers(const nn::ModelConfig& config, std::span<const Word> words,
                     const FieldNames& fields) {
  const auto refuse = [&](std::string_view name, const char* prefix) {
    const bool learned_rows = config.input == nn::Input::kEmbedding;
    if (name == "num_layers" || name == "output_dim" || name == "readout" ||
        (name == "hidden_dim" && !learned_rows))
      fail(Status::kInvalidArgument, prefix, name,
           " has an effect only without architecture=layers",
           name == "hidden_dim" ? ", or with input=embedding" : "",
           ": the added layers determine it; leave it out");
  };
  for (const Word& word : words) refuse(word.name, "model settings: ");
  for (const std::string_view name : fields) refuse(name, "config.");
}

}  // namespace

gnnmg_model_config fields_of(const nn::ModelConfig& config) {
  gnnmg_model_config fields{};
  fields.struct_size = sizeof fields;
  give_fields(config, fields);
  if (config.output_dim == 0) fields.output_dim = -1;
  return fields;
}

nn::ModelConfig model_config(const gnnmg_model_config* config, const char* settings,
                             bool of_layer) {
  nn::ModelConfig made;
  FieldNames given;
  take_fields(read_config(config), made, given);
  std::vector<Word> words = split_words("model", settings);
  apply_words<nn::ModelConfig>(words, model_rows(), made, given);
  if (made.architecture == nn::Architecture::kLayers && !of_layer)
    check_no_layers(made, words, given);
  check_widths(made, given);
  return made;
}

nn::NormOptions norm_options(const char* settings) {
  nn::NormOptions options;
  std::vector<Word> words = split_words("norm", settings);
  apply_words<nn::NormOptions>(words, kNormRows, options);
  return options;
}

std::vector<SettingFacts> model_settings() {
  return list_settings<nn::ModelConfig>(model_rows(), {});
}
std::vector<SettingFacts> norm_settings() { return list_settings<nn::NormOptions>(kNormRows, {}); }

void complete_config(nn::ModelConfig& config, const data::Dataset* dataset) {
  using nn::Architecture;
  const bool known = dataset != nullptr;
  const auto need = [&](bool found, const char* setting, const char* what) {
    if (!found)
      fail(Status::kInvalidArgument, setting,
           " is to be the data set's, and there is no data set with ", what, " to take it from");
  };
  if (config.edge_dim == -1 ||
      (config.edge_dim == 0 && config.architecture == Architecture::kGine)) {
    config.edge_dim = known ? count_edge_columns(*dataset->graph) : 0;
    need(config.edge_dim > 0, "edge_dim", "edge features, 'edge_attr', 'x' or 'feat',");
  }
  if (config.architecture == Architecture::kRelation && config.relations == 0) {
    if (known && dataset->graph->elsewhere())
      fail(Status::kInvalidArgument,
           "num_relations is 0, and parts of a graph do not tell how many types of edges "
           "there are; set it");
    config.relations = known ? count_types(*dataset->graph) : 0;
    need(config.relations > 0, "num_relations",
         "types of edges, 'edge_type', 'type' or 'edge_label',");
  }
  if (config.architecture == Architecture::kPna &&
      (config.average_degree == 0 || config.average_log_degree == 0)) {
    need(known && dataset->graph->num_edges() > 0, "average_degree", "edges");
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
