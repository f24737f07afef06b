// Weights between PyG's layers and DGL's, where both compute the same: other names, other shapes,
// and here and there a sum. Free of torch.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "io/state_file.h"
#include "nn/config.h"

namespace gnnmg::nn {

// Pairs of layers that convert: PyG's, then DGL's.
enum class LayerKind {
  kSage,       // SAGEConv mean, SAGEConv mean
  kSagePool,   // SAGEConv max with project, SAGEConv pool
  kGraphMean,  // GraphConv mean, SAGEConv mean with edge weights
  kGcn,        // GCNConv, GraphConv both: equal on symmetric graphs where each node has one loop
  kGat,        // GATConv without added loops, GATConv
  kGatv2,      // GATv2Conv without added loops, GATv2Conv
  kGin,        // GINConv, GINConv
  kRelation,   // RGCNConv, RelGraphConv with edge weights 1 / degree, or with sums neither
  kRelationBlocks,  // the same with block-diagonal matrices
  kEdge,            // EdgeConv of one linear layer, EdgeConv
};

// What the tensors that are converted hold: weights, whatever has their shapes, or what an
// optimizer keeps of each of them, which only moves with them: where weights are summed, repeated,
// negated or made, Error(kUnsupported); buffers may be missing.
enum class Numbers { kWeights, kShapes, kKept };

struct ConvertedLayer {
  LayerKind kind = LayerKind::kSage;
  // Attention: DGL keeps heads apart, PyG puts them beside each other or takes their mean.
  int64_t heads = 1;
  bool concat = true;
  bool residual = false;  // of a GATConv that has one on the other side too
  bool mlp = false;       // GIN: PyG's keys are those of its model class, nn.lins.0, ...
  int64_t blocks = 0;     // of a PyG layer made of block-diagonal matrices
  int64_t width = 0;      // of such a layer's rows
  Numbers numbers = Numbers::kWeights;
};

using NamedTensors = std::vector<std::pair<std::string, base::Tensor>>;

// The tensors of one layer under the other side's keys, in its order. Tensors that stay as they are
// share memory. Error(kUnsupported) naming what has no counterpart, Error(kFormat) naming a tensor
// that is missing or has another shape than the rest asks for.
NamedTensors to_dgl(const ConvertedLayer& layer, const NamedTensors& pyg);
NamedTensors to_pyg(const ConvertedLayer& layer, const NamedTensors& dgl);

// The state of a model of this config as the other framework has it, and the reverse. What is no
// layer keeps its name. Error(kUnsupported) naming the option that the other framework lacks.
io::StateFile to_other_framework(const ModelConfig& config, const io::StateFile& own,
                                 Numbers numbers = Numbers::kWeights);
io::StateFile from_other_framework(const ModelConfig& config, const io::StateFile& other,
                                   Numbers numbers = Numbers::kWeights);

}  // namespace gnnmg::nn
