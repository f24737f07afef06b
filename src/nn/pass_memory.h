// How much memory passes of a model take on a device, before there is one: bounds for each
// convolution, found by counting what its passes take and held against passes in tests.
#pragma once

#include <cstdint>
#include <span>

#include "nn/config.h"

namespace gnnmg::nn {

// Of the block of one layer, at most.
struct LayerBounds {
  int64_t targets = 0, sources = 0, edges = 0;
};

// Bytes that the training pass of a mini-batch takes beside its rows, blocks and the model itself,
// gradients of rows included; layers from the input on, `num_graphs` 0 without a readout.
int64_t training_pass_bytes(const ModelConfig& config, std::span<const LayerBounds> layers,
                            int64_t num_graphs);
// The same of a pass without gradients.
int64_t plain_pass_bytes(const ModelConfig& config, std::span<const LayerBounds> layers,
                         int64_t num_graphs);

// What inference over a whole graph takes: rows of all nodes, of the features, `feature_bytes` each
// as they are given, and of two layers; and a range of nodes at a time. Of `chunk` targets and
// edges are counted; its sources are all nodes, which lie there anyway.
struct WholeBounds {
  int64_t num_nodes = 0, num_edges = 0;
  LayerBounds chunk;
  int64_t feature_bytes = 0;  // of a row
  bool sparse = false;        // such features come range by range
  int64_t row_entries = 0;    // of sparse rows: in all of them
};
int64_t inference_bytes(const ModelConfig& config, const WholeBounds& whole);

// What edges carry, and degrees of nodes, which are copied there once.
int64_t facts_bytes(const ModelConfig& config, int64_t num_nodes, int64_t num_edges);

}  // namespace gnnmg::nn
