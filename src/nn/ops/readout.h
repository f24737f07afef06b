// Readouts: one row per graph from the rows of its nodes. Separate from aggregations over edges
// because the nodes of a graph are contiguous.
#pragma once

#include <span>

#include "nn/config/config.h"
#include "nn/ops/functions.h"

namespace gnnmg::nn {

// The graphs of a batch: graph g has the nodes graph_ptr[g] .. graph_ptr[g + 1] - 1.
// Error(kInvalidArgument) unless these runs cover all `num_nodes` nodes in order.
void check_graph_ptr(std::span<const int64_t> graph_ptr, int64_t num_nodes);

// The gradient of a maximum for tied rows: even shares, or all for the first row.
enum class Ties { kSplit, kFirst };

// Returns [num_graphs, F]: sum, mean or maximum of the rows of each graph; 0 for an empty graph.
// `graph_ptr` is read during the call.
at::Tensor readout(const at::Tensor& x, std::span<const int64_t> graph_ptr, Readout kind, Ties ties,
                   const Execution& execution);

// Returns [num_nodes, F]: the row of each node's graph.
at::Tensor spread(const at::Tensor& rows, std::span<const int64_t> graph_ptr,
                  const Execution& execution);

}  // namespace gnnmg::nn
