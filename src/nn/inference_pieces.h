// Divides inference over a whole graph on a device into pieces, the same for all ranks and any
// number of them. There are few pieces, since each launches the same number of kernels, and none
// takes much memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nn/config.h"

namespace gnnmg::nn {

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
