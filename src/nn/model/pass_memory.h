// Upper bounds for the device memory of a model's passes, known before the first pass: for each
// convolution, found by counting the allocations of its passes; tests compare them with real
// passes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nn/config/config.h"

namespace gnnmg::nn {

// Upper bounds for the block of one layer.
struct LayerBounds {
  int64_t targets = 0, sources = 0, edges = 0;
};

// Bytes that the training pass of a mini-batch takes in addition to its rows, blocks and the model,
// including the gradients of rows; layers from the input on, `num_graphs` 0 without a readout.
int64_t training_pass_bytes(const ModelConfig& config, std::span<const LayerBounds> bounds,
                            int64_t num_graphs);
// The same for a pass without gradients.
int64_t plain_pass_bytes(const ModelConfig& config, std::span<const LayerBounds> bounds,
                         int64_t num_graphs);

// The memory of inference over a whole graph: the rows of all nodes, of the features
// (`feature_bytes` each as given) and of two layers; and a range of nodes at a time. `chunk` counts
// targets and edges; its sources are all nodes, which are on the device in any case.
struct WholeBounds {
  int64_t num_nodes = 0, num_edges = 0;
  LayerBounds chunk;
  int64_t feature_bytes = 0;  // bytes per row
  bool sparse = false;        // sparse features are copied range by range
  int64_t row_entries = 0;    // number of entries in all sparse rows
};
int64_t inference_bytes(const ModelConfig& config, const WholeBounds& whole);

// Bytes of edge data and degrees of nodes, which are copied to the device once.
int64_t facts_bytes(const ModelConfig& config, int64_t num_nodes, int64_t num_edges);

// Inference over a whole graph on a device runs in pieces, the same for all ranks and any number of
// them. There are few pieces, since each launches the same number of kernels, and none takes much
// memory.

// Minimum number of pieces of a large graph, so that ranks have equal shares.
inline constexpr int64_t kPieces = 64;
// Memory of a piece in addition to the rows of all nodes, unless the piece is a single node.
inline constexpr int64_t kPieceBytes = int64_t{512} << 20;
// Bytes of results that are copied to the host at a time.
inline constexpr int64_t kGathered = int64_t{64} << 20;

// Returns the bounds of the pieces, from 0 to the number of nodes: of `chunk` nodes each, or of
// num_nodes / kPieces if that is more; fewer nodes if their edges would take more than kPieceBytes.
// `indptr` [num_nodes + 1]: first edge of each node.
std::vector<int64_t> inference_pieces(const ModelConfig& config, std::span<const int64_t> indptr,
                                      int64_t chunk);

}  // namespace gnnmg::nn
