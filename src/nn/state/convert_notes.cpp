#include "nn/state/convert_notes.h"

#include "base/error.h"
#include "nn/config/option_check.h"

namespace gnnmg::nn {
namespace {

constexpr const char* kSymmetric = "results are equal on symmetric graphs without edge weights";

void append(std::string& note, std::string_view more) {
  note += base::text(note.empty() ? "" : "; ", more);
}

// PyG's layers add a loop to every node, DGL's never do.
std::string loops(const ModelConfig& c, bool reading) {
  if (c.framework == Framework::kDgl)
    return reading ? "PyG's layer adds a loop at every node unless its add_self_loops is off: the "
                     "graph has to hold those that it added"
                   : "PyG's layer has to be made with add_self_loops off";
  if (!c.self_loops) return "";
  return reading ? "DGL's layer adds no loops: set self_loops to 0"
                 : "DGL's layer adds no loops: the graph there has to hold one at every node";
}

std::string note_of(const ModelConfig& c, bool reading) {
  const bool dgl = c.framework == Framework::kDgl;
  std::string note;
  switch (c.architecture) {
    case Architecture::kGcn:
      if (c.degree_norm != DegreeNorm::kNone) {
        note = loops(c, reading);
        append(note, kSymmetric);
      } else if (dgl) {
        note = reading ? "a DGL layer without a norm is a PyG layer whose normalize is off"
                       : "PyG's layer has to be made with normalize off";
      }
      return note;
    case Architecture::kGat:
      return loops(c, reading);
    case Architecture::kGatv2:
      note = loops(c, reading);
      if (c.bias && (dgl ? reading : !reading && !c.self_loops))  // converts from PyG's form
        append(note, "nodes without an incoming edge have PyG's bias and not DGL's");
      return note;
    case Architecture::kRelation:
      if (!dgl && c.aggregation == Aggregation::kSum) return "";
      if (!dgl)
        return reading ? "DGL's layer adds its messages up: set aggregation to the sum, unless its "
                         "edges weighed 1 / (edges of the type into the node)"
                       : "DGL's layer adds its messages up: edges have to weigh 1 / (edges of the "
                         "type into the node) there";
      if (c.edge_weights) return "";
      return reading
                 ? "PyG's layer takes the mean a type unless its aggr is add: for a mean, edges "
                   "have to weigh 1 / (edges of the type into the node)"
                 : "PyG's layer has to be made with aggr add";
    default:
      return "";
  }
}

}  // namespace

std::vector<std::string> conversion_notes(const ModelConfig& config, bool reading) {
  std::vector<std::string> notes;
  const auto add = [&](const ModelConfig& c, const std::string& name) {
    const std::string note = note_of(c, reading);
    if (!note.empty())
      notes.push_back(base::text("weights converted between PyG's ", name_of(c.architecture),
                                 " and DGL's", name, ": ", note));
  };
  if (config.architecture != Architecture::kLayers) add(config, "");
  for (const LayerConfig& layer : config.layers)
    if (layer.kind == LayerConfig::Kind::kConv)
      add(layer.options, base::text(", layer '", layer.name, "'"));
  return notes;
}

}  // namespace gnnmg::nn
