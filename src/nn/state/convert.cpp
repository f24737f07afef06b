// The conversion of a model: its layers in the order of its state, each by convert_layers.cpp.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "nn/config/choices.h"
#include "nn/config/option_check.h"
#include "nn/state/convert.h"
#include "nn/state/gin_class.h"

namespace gnnmg::nn {
namespace {

using base::fail;
using base::Status;
using base::Tensor;

// Returns the kind of a layer of GraphSAGE.
LayerKind sage_kind(const ModelConfig& c) {
  const Aggregation reduction = c.reduction();
  if (c.normalize) fail(Status::kUnsupported, "normalize of GraphSAGE has no counterpart in DGL");
  if (!c.reductions.empty())
    fail(Status::kUnsupported, "GraphSAGE with several reductions has no counterpart in DGL");
  if (c.edge_weights && reduction != Aggregation::kMean)
    fail(Status::kUnsupported,
         "SAGEConv with edge weights has a counterpart in PyG only if it takes the mean");
  if (c.edge_weights) return LayerKind::kGraphMean;
  if (reduction == Aggregation::kPool || (reduction == Aggregation::kMax && c.project))
    return LayerKind::kSagePool;
  if (reduction != Aggregation::kMean || c.project)
    fail(Status::kUnsupported, "GraphSAGE with this aggregation, ", word_of(reduction),
         c.project ? ", and project," : ",", " has no counterpart in ",
         c.framework == Framework::kDgl ? "PyG" : "DGL");
  return LayerKind::kSage;
}

// Returns the layer with these options. `last`: it computes the result of a model that a config
// describes; `reads_nodes`: it reads the nodes themselves.
ConvertedLayer layer_of(const ModelConfig& c, bool last, bool reads_nodes) {
  ConvertedLayer layer;
  const bool dgl = c.framework == Framework::kDgl;
  const Aggregation reduction = c.reduction();
  switch (c.architecture) {
    case Architecture::kSage:
      layer.kind = sage_kind(c);
      break;
    case Architecture::kGcn:
      if (c.degree_norm == DegreeNorm::kRight || c.degree_norm == DegreeNorm::kLeft)
        fail(Status::kUnsupported,
             "GraphConv that divides by one end's degree has no counterpart in PyG");
      layer.kind = LayerKind::kGcn;
      break;
    case Architecture::kEdge:
      if (reduction != Aggregation::kMax || (!dgl && c.mlp_layers > 1))
        fail(Status::kUnsupported,
             "EdgeConv of several linear layers, or with another reduction than the maximum, has "
             "no counterpart in DGL");
      if (c.inner_norm)
        fail(Status::kUnsupported, "EdgeConv with a norm inside has no counterpart in PyG");
      layer.kind = LayerKind::kEdge;
      break;
    case Architecture::kGat:
    case Architecture::kGatv2:
      layer.kind = c.architecture == Architecture::kGat ? LayerKind::kGat : LayerKind::kGatv2;
      if (c.residual && layer.kind == LayerKind::kGatv2)
        fail(Status::kUnsupported,
             "the residual of GATv2 has no counterpart in the other framework");
      if (c.share_weights)
        fail(Status::kUnsupported,
             "GATv2 with one linear map for both ends has no counterpart in the other framework");
      if (c.edge_weights)
        fail(Status::kUnsupported, "GATConv with edge weights has no counterpart in PyG");
      layer.heads = last && c.output_heads > 0 ? c.output_heads : c.heads;
      layer.concat = c.concat && !last;
      layer.residual = c.residual;
      break;
    case Architecture::kGin:
      if (c.norm != Norm::kNone || c.activation == Activation::kPrelu)
        fail(Status::kUnsupported,
             "norms and learned functions in GIN's networks have no counterpart in DGL");
      if (c.edge_weights)
        fail(Status::kUnsupported, "GINConv with edge weights has no counterpart in PyG");
      if (c.mlp_layers == 0)
        fail(Status::kUnsupported, "GINConv without a network has no counterpart in PyG");
      layer.kind = LayerKind::kGin;
      layer.mlp = true;
      break;
    case Architecture::kRelation:
      if (reads_nodes)
        fail(Status::kUnsupported,
             "R-GCN that reads the nodes themselves has no counterpart in DGL");
      if (c.inner_norm)
        fail(Status::kUnsupported, "RelGraphConv with a norm inside has no counterpart in PyG");
      if (reduction == Aggregation::kMax)
        fail(Status::kUnsupported, "R-GCN that takes the maximum has no counterpart in DGL");
      layer.kind = c.blocks > 0 ? LayerKind::kRelationBlocks : LayerKind::kRelation;
      layer.blocks = c.blocks;
      break;
    case Architecture::kGraphConv:
      if (reduction != Aggregation::kMean)
        fail(Status::kUnsupported, "GraphConv with this aggregation, ", word_of(reduction),
             ", has no counterpart in DGL");
      layer.kind = LayerKind::kGraphMean;
      break;
    default:
      fail(Status::kUnsupported, name_of(c.architecture),
           " has no counterpart in DGL that weights convert to");
  }
  return layer;
}

// A layer and the prefixes of its keys on both sides.
struct LayerScope {
  std::string from, to;
  ConvertedLayer layer;
};

std::vector<LayerScope> scopes_of(const ModelConfig& c, Framework from, Numbers numbers) {
  std::vector<LayerScope> scopes;
  const auto add = [&](std::string from_name, std::string to_name, int64_t width,
                       ConvertedLayer layer) {
    layer.width = width;
    layer.numbers = numbers;
    scopes.push_back({std::move(from_name) + ".", std::move(to_name) + ".", layer});
  };
  if (c.architecture == Architecture::kLayers) {
    for (const LayerConfig& layer : c.layers)
      if (layer.kind == LayerConfig::Kind::kConv)
        add(layer.name, layer.name, layer.options.output_dim,
            layer_of(layer.options, false, &layer == &c.layers[0] && c.input == Input::kNodes));
    return scopes;
  }
  const Framework to = from == Framework::kPyg ? Framework::kDgl : Framework::kPyg;
  const bool plain_end = c.skip == Skip::kNone && c.jumping == Jumping::kNone;
  for (int i = 0; i < c.num_layers; ++i) {
    const bool last = plain_end && c.output_dim > 0 && i == c.num_layers - 1;
    add(base::text(layer_list(from), ".", i), base::text(layer_list(to), ".", i),
        last ? c.output_dim : c.hidden_dim, layer_of(c, last, i == 0 && c.input == Input::kNodes));
  }
  return scopes;
}

// Returns the framework of the model's layers.
Framework framework_of(const ModelConfig& c) {
  if (c.architecture != Architecture::kLayers) return c.framework;
  std::optional<Framework> found;
  for (const LayerConfig& layer : c.layers) {
    if (layer.kind != LayerConfig::Kind::kConv) continue;
    if (found && *found != layer.options.framework)
      fail(Status::kUnsupported, "layer '", layer.name,
           "' is not of the same framework as those before it: the stack has no counterpart");
    found = layer.options.framework;
  }
  return found.value_or(c.framework);
}

// Applies `convert` to every layer and copies the other tensors, in the order of the state.
template <typename F>
io::StateFile converted(const ModelConfig& config, const io::StateFile& state, Framework from,
                        Numbers numbers, const F& convert) {
  const std::vector<LayerScope> scopes = scopes_of(config, from, numbers);
  std::vector<NamedTensors> layers(scopes.size());
  // An unchanged tensor, or null and the layer whose first tensor is here.
  std::vector<std::pair<const std::pair<std::string, Tensor>*, size_t>> order;
  for (const auto& entry : state.tensors) {
    // A norm named inside a convolution is a separate layer.
    const auto scope = std::ranges::find_if(scopes, [&](const LayerScope& s) {
      return entry.first.starts_with(s.from) && !entry.first.starts_with(s.from + "norm.");
    });
    const auto k = static_cast<size_t>(scope - scopes.begin());
    if (scope == scopes.end()) {
      order.emplace_back(&entry, k);
      continue;
    }
    if (layers[k].empty()) order.emplace_back(nullptr, k);
    layers[k].emplace_back(entry.first.substr(scope->from.size()), entry.second);
  }
  for (size_t k = 0; k < layers.size(); ++k)
    // The conversion reports the missing tensor.
    if (layers[k].empty()) order.emplace_back(nullptr, k);
  io::StateFile out;
  out.metadata = state.metadata;
  for (const auto& [entry, k] : order) {
    if (entry) {
      out.tensors.push_back(*entry);
      continue;
    }
    try {
      for (auto& [key, tensor] : convert(scopes[k].layer, layers[k]))
        out.tensors.emplace_back(scopes[k].to + key, std::move(tensor));
    } catch (const base::Error& error) {
      fail(error.status(), scopes[k].from.substr(0, scopes[k].from.size() - 1), ": ", error.what());
    }
  }
  return out;
}

}  // namespace

io::StateFile to_other_framework(const ModelConfig& config, const io::StateFile& own,
                                 Numbers numbers) {
  if (has_gin_class(config)) {
    if (numbers == Numbers::kKept)
      fail(Status::kUnsupported,
           "the class of DGL's GIN example has no biases, which an optimizer keeps something of");
    return to_gin_class(own);
  }
  return framework_of(config) == Framework::kPyg
             ? converted(config, own, Framework::kPyg, numbers, to_dgl)
             : converted(config, own, Framework::kDgl, numbers, to_pyg);
}

io::StateFile from_other_framework(const ModelConfig& config, const io::StateFile& other,
                                   Numbers numbers) {
  return framework_of(config) == Framework::kPyg
             ? converted(config, other, Framework::kDgl, numbers, to_pyg)
             : converted(config, other, Framework::kPyg, numbers, to_dgl);
}

}  // namespace gnnmg::nn
