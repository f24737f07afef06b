#include "nn/model/pass_memory.h"

#include <algorithm>

#include "nn/config/layer_traits.h"
#include "nn/config/option_check.h"
#include "nn/model/graph_facts.h"

namespace gnnmg::nn {
namespace {

struct PlannedLayer {
  const ModelConfig& options;
  int64_t in = 0, out = 0;
  LayerBounds bounds;
  bool gradient = true;  // true if the gradient of its input is wanted
};

int64_t reductions(const ModelConfig& o) {
  if (o.architecture == Architecture::kPna) return static_cast<int64_t>(o.pna_reductions().size());
  return std::max<int64_t>(static_cast<int64_t>(o.reductions.size()), 1);
}

int64_t most_heads(const ModelConfig& o) { return std::max(o.heads, o.output_heads); }

// Returns the columns of the rows that edges read.
int64_t width_read(const PlannedLayer& layer) {
  const ModelConfig& o = layer.options;
  if (attends(o.architecture)) return o.concat ? layer.out : layer.out * most_heads(o);
  if (o.architecture == Architecture::kPna) return (o.divide_input ? 1 : o.towers) * layer.in;
  return std::max(layer.in, layer.out);
}

// Returns the columns that are kept of the layer's input rows: Conv::ends(), or the rows.
int64_t width_of_ends(const PlannedLayer& layer) {
  const ModelConfig& o = layer.options;
  if (attends(o.architecture)) return 2 * (width_read(layer) + most_heads(o));
  return layer.out < layer.in ? std::max(layer.in, 2 * layer.out) : layer.in;
}

PassCost cost_of(const ModelConfig& o) {
  PassCost cost;
  traits_of(o.architecture).add_cost(o, cost);
  if (o.edge_weights) cost.edge += 8;
  return cost;
}

int64_t norm_numbers(Norm norm, int64_t rows, int64_t width) {
  return norm == Norm::kNone ? 0 : 6 * rows * width;
}

int64_t conv_numbers(const PlannedLayer& layer) {
  const ModelConfig& o = layer.options;
  const PassCost cost = cost_of(o);
  const LayerBounds& b = layer.bounds;
  const int64_t read = width_read(layer);
  int64_t numbers = b.targets * (cost.target_in * layer.in + cost.target_out * layer.out) +
                    b.sources * ((layer.gradient ? cost.source_in : cost.source_in - 2) * layer.in +
                                 cost.source_read * read) +
                    b.edges * (cost.edge + cost.edge_head * most_heads(o) + cost.edge_read * read);
  if (o.architecture == Architecture::kPna)
    numbers += b.targets * layer.in * o.towers * reductions(o) *
               (4 + 2 * static_cast<int64_t>(o.scalers.size()));
  if (o.edge_dim > 0) numbers += 2 * b.edges * o.edge_dim;
  return numbers;
}

// Returns the input and output of each layer, as the stack arranges them.
std::vector<PlannedLayer> layers_of(const ModelConfig& c, std::span<const LayerBounds> bounds) {
  std::vector<PlannedLayer> layers;
  int64_t width = c.skip == Skip::kResidual ? c.hidden_dim : c.first_width();
  if (c.architecture == Architecture::kLayers) {
    size_t block = 0;
    for (const LayerConfig& layer : c.layers) {
      if (layer.kind == LayerConfig::Kind::kConv)
        layers.push_back({layer.options, width, layer.options.output_width(), bounds[block]});
      if (layer.kind == LayerConfig::Kind::kConv)
        layers.back().gradient = block++ > 0 || c.input == Input::kEmbedding;
      if (layer.kind == LayerConfig::Kind::kConv || layer.kind == LayerConfig::Kind::kLinear)
        width = layer.options.output_width();
    }
    return layers;
  }
  for (size_t i = 0; i < bounds.size(); ++i) {
    const bool last =
        i + 1 == bounds.size() && c.skip == Skip::kNone && c.jumping == Jumping::kNone;
    const bool learned =
        c.input != Input::kFeatures || !c.node_vocabulary.empty() || c.skip == Skip::kResidual;
    layers.push_back(
        {c, width, last ? c.output_width() : c.hidden_dim, bounds[i], i > 0 || learned});
    width = c.hidden_dim;
  }
  return layers;
}

// Counts the elements between the convolutions, for a layer's targets.
int64_t between_numbers(const ModelConfig& c, const PlannedLayer& layer) {
  const int64_t rows = layer.bounds.targets * layer.out;
  int64_t numbers = norm_numbers(c.norm, layer.bounds.targets, layer.out);
  if (c.activation != Activation::kRelu && c.activation != Activation::kNone) numbers += 4 * rows;
  if (c.skip != Skip::kNone) numbers += 4 * rows;
  if (c.jumping == Jumping::kLstm)
    numbers += 24 * rows;
  else if (c.jumping != Jumping::kNone)
    numbers += 6 * rows;
  return numbers;
}

// Counts the elements of a user's own layers between convolutions, for the rows of all nodes at
// that place.
int64_t own_layers_numbers(const ModelConfig& c, std::span<const LayerBounds> bounds) {
  int64_t width = c.first_width(), numbers = 0;
  int64_t rows = bounds.front().sources;
  size_t block = 0;
  for (const LayerConfig& layer : c.layers) {
    if (layer.kind == LayerConfig::Kind::kConv || layer.kind == LayerConfig::Kind::kLinear)
      width = layer.options.output_width();
    if (layer.kind == LayerConfig::Kind::kConv)
      rows = bounds[block++].targets;
    else
      numbers += 6 * rows * width;
  }
  return numbers;
}

int64_t bytes_of(const ModelConfig& config, int64_t numbers) {
  // Bound for LibTorch's rounding and small tensors.
  constexpr int64_t kSmall = 256 << 10;
  const int64_t size = config.dtype == base::DType::kF64 ? 8 : 4;
  return numbers * size + kSmall;
}

// Counts the input of the first layer for the sources of all layers: converted to dense, dropped
// out, embedded.
int64_t input_numbers(const ModelConfig& c, const LayerBounds& first) {
  int64_t numbers = (c.input_dropout > 0 ? 2 : 1) * first.sources * c.first_width();
  if (c.skip == Skip::kResidual) numbers += 4 * first.sources * c.hidden_dim;
  if (!c.node_vocabulary.empty()) numbers += first.sources * (2 * c.input_dim + 2 * c.hidden_dim);
  if (c.edge_dropout > 0 || c.node_dropout > 0) numbers += 24 * first.edges + 8 * first.sources;
  if (c.jumping == Jumping::kScores) numbers += first.sources * c.first_width();
  return numbers;
}

int64_t readout_numbers(const ModelConfig& c, const LayerBounds& last, int64_t num_graphs) {
  if (c.readout == Readout::kNone) return 0;
  const int64_t width = c.jumping == Jumping::kCat ? c.hidden_dim * c.num_layers : c.hidden_dim;
  return 4 * last.targets * width + 8 * last.targets +
         num_graphs * (readout_width(c, width) + width) * (8 + 8 * c.readout_steps);
}

}  // namespace

int64_t training_pass_bytes(const ModelConfig& config, std::span<const LayerBounds> bounds,
                            int64_t num_graphs) {
  if (bounds.empty()) return 0;
  int64_t numbers = input_numbers(config, bounds.front());
  for (const PlannedLayer& layer : layers_of(config, bounds))
    numbers += conv_numbers(layer) + between_numbers(config, layer);
  if (config.architecture == Architecture::kLayers) numbers += own_layers_numbers(config, bounds);
  numbers += readout_numbers(config, bounds.back(), num_graphs);
  // The loss, its gradient, and the number of correct rows.
  const int64_t results = num_graphs > 0 ? num_graphs : bounds.back().targets;
  numbers += 12 * results * (config.output_width() + 4);
  return bytes_of(config, numbers);
}

int64_t plain_pass_bytes(const ModelConfig& config, std::span<const LayerBounds> bounds,
                         int64_t num_graphs) {
  if (bounds.empty()) return 0;
  // One layer at a time, in addition to its input and, for layers that combine all results, the
  // results so far.
  int64_t most = 0, kept = input_numbers(config, bounds.front());
  for (const PlannedLayer& layer : layers_of(config, bounds)) {
    most = std::max(most, conv_numbers(layer) + between_numbers(config, layer));
    if (config.jumping != Jumping::kNone || config.skip == Skip::kResidual)
      kept += layer.bounds.targets * layer.out;
  }
  if (config.architecture == Architecture::kLayers)
    most = std::max(most, own_layers_numbers(config, bounds));
  return bytes_of(config, kept + most + readout_numbers(config, bounds.back(), num_graphs));
}

int64_t inference_bytes(const ModelConfig& config, const WholeBounds& whole) {
  const std::vector<LayerBounds> chunks(static_cast<size_t>(config.num_layers), whole.chunk);
  const int64_t size = config.dtype == base::DType::kF64 ? 8 : 4;
  // Rows of all nodes: a layer's input, the rows that its edges read, and its results.
  int64_t most = 0;
  int64_t before = 0;
  for (const PlannedLayer& layer : layers_of(config, chunks)) {
    most = std::max(most, std::max(layer.in, layer.out) + layer.out + width_read(layer));
    most = std::max(most, before + width_of_ends(layer));
    before = width_of_ends(layer);
  }
  // The steps before the layers and after them.
  most = std::max(most, config.first_width() + config.hidden_dim);
  most = std::max(most, config.hidden_dim + config.output_width());
  for (const LayerConfig& layer : config.layers)
    most = std::max(most, 2 * layer.options.output_width());
  if (config.jumping != Jumping::kNone) most += config.hidden_dim * config.num_layers;
  if (config.skip == Skip::kResidual) most += 2 * config.hidden_dim;
  if (over_graph(config.norm)) most += 4 * config.hidden_dim;
  int64_t numbers = 0;
  for (const PlannedLayer& layer : layers_of(config, chunks))
    numbers = std::max(numbers, conv_numbers(layer) + between_numbers(config, layer));
  const int64_t features = whole.num_nodes * whole.feature_bytes;
  // The result's rows of the requested nodes, and their ids.
  const int64_t asked =
      std::min(whole.num_nodes * (config.output_width() * size + 8), 2 * kGathered);
  return bytes_of(config, whole.num_nodes * most + numbers) + features + asked +
         facts_bytes(config, whole.num_nodes, whole.num_edges) +
         (whole.sparse ? 16 * whole.row_entries : 0) + size * whole.num_nodes;
}

std::vector<int64_t> inference_pieces(const ModelConfig& config, std::span<const int64_t> indptr,
                                      int64_t chunk) {
  const auto num_nodes = static_cast<int64_t>(indptr.size()) - 1;
  const int64_t most = std::max(chunk, (num_nodes + kPieces - 1) / kPieces);
  constexpr int64_t kMany = 1 << 20;
  const auto bytes = [&](int64_t targets, int64_t edges) {
    return inference_bytes(config,
                           {.num_nodes = 0, .num_edges = 0, .chunk = {targets, targets, edges}}) -
           inference_bytes(config, {});
  };
  // Upper bound per target and per edge.
  const double target = static_cast<double>(bytes(kMany, 0)) / kMany;
  const double edge = static_cast<double>(bytes(0, kMany)) / kMany;
  std::vector<int64_t> bounds = {0};
  for (int64_t begin = 0; begin < num_nodes; begin = bounds.back()) {
    int64_t low = begin + 1, high = std::min(begin + most, num_nodes);
    while (low < high) {
      const int64_t end = low + (high - low + 1) / 2;
      const double taken = target * static_cast<double>(end - begin) +
                           edge * static_cast<double>(indptr[end] - indptr[begin]);
      if (taken <= static_cast<double>(kPieceBytes))
        low = end;
      else
        high = end - 1;
    }
    bounds.push_back(low);
  }
  return bounds;
}

int64_t facts_bytes(const ModelConfig& config, int64_t num_nodes, int64_t num_edges) {
  const EdgeNeeds needs = edge_needs(config);
  const int64_t size = config.dtype == base::DType::kF64 ? 8 : 4;
  const int64_t of_feature = needs.vocabulary.empty() ? size : 8;
  return num_edges * ((needs.weights ? size : 0) + needs.features * of_feature +
                      (needs.types > 0 ? 8 : 0)) +
         num_nodes * size * (needs.weights ? 4 : 1);
}

}  // namespace gnnmg::nn
