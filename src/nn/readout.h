// Readouts: one row a graph from the rows of its nodes. Apart from aggregations over edges because
// the nodes of a graph lie side by side.
#pragma once

#include <span>

#include "nn/config.h"
#include "nn/functions.h"

namespace gnnmg::nn {

// The graphs of a batch: graph g has the nodes graph_ptr[g] .. graph_ptr[g + 1] - 1.
// Error(kInvalidArgument) unless these are runs of all `num_nodes` nodes, in order.
void check_graph_ptr(std::span<const int64_t> graph_ptr, int64_t num_nodes);

// What of the gradient of a maximum a tied row gets: an even share, or the first row all of it.
enum class Ties { kSplit, kFirst };

// [num_graphs, F]: sum, mean or maximum of the rows of each graph; 0 where it has none. `graph_ptr`
// is read during the call.
at::Tensor readout(const at::Tensor& x, std::span<const int64_t> graph_ptr, Readout kind, Ties ties,
                   const Execution& execution);

// [num_nodes, F]: the row of each node's graph.
at::Tensor spread(const at::Tensor& rows, std::span<const int64_t> graph_ptr,
                  const Execution& execution);

}  // namespace gnnmg::nn
