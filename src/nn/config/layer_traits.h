// The parts of a kind of layer that a config needs: its checks, defaults, memory and the data that
// it reads. Free of torch; nn/conv has the layers themselves.
#pragma once

#include "nn/config/config.h"
#include "nn/config/layer_list.h"

namespace gnnmg::nn {

// Number of elements that a convolution allocates in training: for each target and column of its
// input or result, for each source and column of its input or of the rows that edges read, and for
// each edge.
struct PassCost {
  int64_t target_in = 4, target_out = 5;
  int64_t source_in = 2, source_read = 0;
  int64_t edge = 0;       // per edge
  int64_t edge_head = 0;  // per edge and head
  int64_t edge_read = 0;  // per edge and column of the rows that edges read
};

struct LayerTraits {
  // Error(kInvalidArgument) for settings that contradict each other.
  void (*check)(const ModelConfig& config) = [](const ModelConfig&) {};
  // Adds the memory that a training pass allocates beyond the least.
  void (*add_cost)(const ModelConfig& config, PassCost& cost) = [](const ModelConfig&, PassCost&) {
  };
  // Tells why the kernels of a pass depend on more than the counts of nodes and edges
  // (fixed_shape.h); empty if they do not.
  const char* (*varies)(const ModelConfig& config) = [](const ModelConfig&) {
    return "layers of this kind read lists of edges on the host";
  };
  // The default of `aggregation`.
  Aggregation pyg_reduction = Aggregation::kMean, dgl_reduction = Aggregation::kMean;
  bool edge_features = false;                     // PyG's layer reads them
  bool pyg_weights = false, dgl_weights = false;  // the layer reads edge weights
};

const LayerTraits& traits_of(Architecture architecture);

}  // namespace gnnmg::nn
