// Converts weights between PyG's layers and DGL's, if both compute the same: other names, other
// shapes, and in some cases a sum. Free of torch.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "io/state_file.h"
#include "nn/config/config.h"

namespace gnnmg::nn {

// Pairs of equivalent layers: PyG's, then DGL's.
enum class LayerKind {
  kSage,       // SAGEConv mean, SAGEConv mean
  kSagePool,   // SAGEConv max with project, SAGEConv pool
  kGraphMean,  // GraphConv mean, SAGEConv mean with edge weights
  kGcn,        // GCNConv, GraphConv both: equal on symmetric graphs where each node has one loop
  kGat,        // GATConv without added loops, GATConv
  kGatv2,      // GATv2Conv without added loops, GATv2Conv
  kGin,        // GINConv, GINConv
  kRelation,  // RGCNConv, RelGraphConv with edge weights 1 / degree; with sums without edge weights
  kRelationBlocks,  // the same with block-diagonal matrices
  kEdge,            // EdgeConv of one linear layer, EdgeConv
};

// The kind of tensors to convert: weights; any values of the same shapes; or an optimizer's state
// for each weight, which can only move: if weights are summed, repeated, negated or made,
// Error(kUnsupported); buffers may be missing.
enum class Numbers { kWeights, kShapes, kKept };

struct ConvertedLayer {
  LayerKind kind = LayerKind::kSage;
  // Attention: DGL keeps heads separate, PyG concatenates them or takes their mean.
  int64_t heads = 1;
  bool concat = true;
  bool residual = false;  // the other side's GATConv has a residual too
  bool mlp = false;       // GIN: PyG's keys are those of its model class, nn.lins.0, ...
  int64_t blocks = 0;     // number of blocks of a PyG layer with block-diagonal matrices
  int64_t width = 0;      // columns of that layer's rows
  Numbers numbers = Numbers::kWeights;
};

using NamedTensors = std::vector<std::pair<std::string, base::Tensor>>;

// Returns the tensors of one layer under the other side's keys, in its order. Unchanged tensors
// share memory. Error(kUnsupported) names a tensor without a counterpart, Error(kFormat) a tensor
// that is missing or whose shape does not match the others.
NamedTensors to_dgl(const ConvertedLayer& layer, const NamedTensors& pyg);
NamedTensors to_pyg(const ConvertedLayer& layer, const NamedTensors& dgl);

// Return the state of a model of this config in the other framework's form, and the reverse.
// Tensors outside of layers keep their names. Error(kUnsupported) names an option that the other
// framework lacks.
io::StateFile to_other_framework(const ModelConfig& config, const io::StateFile& own,
                                 Numbers numbers = Numbers::kWeights);
io::StateFile from_other_framework(const ModelConfig& config, const io::StateFile& other,
                                   Numbers numbers = Numbers::kWeights);

}  // namespace gnnmg::nn
