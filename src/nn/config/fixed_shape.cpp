#include "nn/config/fixed_shape.h"

#include "nn/config/layer_traits.h"

namespace gnnmg::nn {
namespace {

const char* of_norm(Norm norm) {
  if (norm == Norm::kBatch) return "batch norm takes statistics over all rows";
  if (over_graph(norm)) return "the norm takes statistics over all rows";
  return "";
}

const char* of_conv(const ModelConfig& c) {
  if (c.edge_dim > 0 || c.edge_weights || !c.edge_vocabulary.empty())
    return "edges carry weights or features";
  return traits_of(c.architecture).varies(c);
}

const char* of_row_layer(const LayerConfig& layer) {
  if (layer.kind == LayerConfig::Kind::kConv) return of_conv(layer.options);
  if (layer.kind == LayerConfig::Kind::kNorm) return of_norm(layer.options.norm);
  return layer.kind == LayerConfig::Kind::kReadout ? "readouts go over graphs" : "";
}

const char* reason(const ModelConfig& c) {
  if (!c.reads_features()) return "the model reads no features";
  if (!c.node_vocabulary.empty()) return "the numbers of categories are checked on the host";
  if (c.edge_dropout > 0 || c.node_dropout > 0) return "edges or nodes are dropped";
  if (c.readout != Readout::kNone) return "readouts go over graphs";
  if (c.architecture == Architecture::kLayers) {
    for (const LayerConfig& layer : c.layers)
      if (const char* why = of_row_layer(layer); *why) return why;
    return "";
  }
  if (c.jumping == Jumping::kLstm) return "a recurrent network joins the layers";
  if (const char* why = of_norm(c.norm); *why) return why;
  return of_conv(c);
}

}  // namespace

std::string why_not_of_one_shape(const ModelConfig& config) { return reason(config); }

}  // namespace gnnmg::nn
