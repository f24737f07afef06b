// How inference over a whole graph on a device is cut, the same for all ranks and whatever their
// number: into few pieces, since each is as many starts of kernels, none of which takes much
// memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nn/config.h"

namespace gnnmg::nn {

// Of a graph of many nodes there are as many pieces at least, so that ranks have equal shares.
inline constexpr int64_t kPieces = 64;
// What a piece takes beside the rows of all nodes, unless it is of a single node.
inline constexpr int64_t kPieceBytes = int64_t{512} << 20;
// Bytes of results that are brought to the host at a time.
inline constexpr int64_t kGathered = int64_t{64} << 20;

// The bounds of the pieces, 0 first and the number of nodes last: of `chunk` nodes each, or of
// num_nodes / kPieces where that is more, and of fewer where these have so many edges that they
// would take more than kPieceBytes. `indptr` [num_nodes + 1]: where the edges of each node begin.
std::vector<int64_t> inference_pieces(const ModelConfig& config, std::span<const int64_t> indptr,
                                      int64_t chunk);

}  // namespace gnnmg::nn
