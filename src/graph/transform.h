// Transforms of graphs. Each makes a new graph that shares the unchanged tensors; node tensors are
// kept. Edge tensors follow their edges: a reverse edge gets its forward edge's row, an added
// self-loop a row of zeros, and coalescing keeps the row of the first edge.
#pragma once

#include "base/thread_pool.h"
#include "graph/graph.h"

namespace gnnmg::graph {

// All take one edge type with equal source and target types; Error(kInvalidArgument) otherwise.

// Appends (v, u) for each (u, v) that is not a self-loop, in edge order; duplicates stay unless
// `coalesce`.
GraphRef add_reverse_edges(const Graph& graph, bool coalesce, base::ThreadPool& pool,
                           int32_t edge_type = 0);
// Reverse edges and coalescing.
GraphRef to_undirected(const Graph& graph, base::ThreadPool& pool, int32_t edge_type = 0);
// Keeps the first of equal edges, edges in CSC order with ascending sources.
GraphRef coalesce(const Graph& graph, base::ThreadPool& pool, int32_t edge_type = 0);
GraphRef remove_self_loops(const Graph& graph, base::ThreadPool& pool, int32_t edge_type = 0);
// Appends one loop to every node.
GraphRef add_self_loops(const Graph& graph, base::ThreadPool& pool, int32_t edge_type = 0);
// Appends one loop to every node without one.
GraphRef add_remaining_self_loops(const Graph& graph, base::ThreadPool& pool,
                                  int32_t edge_type = 0);
// (u, v) becomes (v, u); edges keep their order and their tensors.
GraphRef reverse_edges(const Graph& graph, base::ThreadPool& pool, int32_t edge_type = 0);
// The topology by source: per source node the targets of its outgoing edges, in the order of the
// edge ids.
Csc reversed(const Csc& csc, base::ThreadPool& pool);
// Keeps all nodes and removes all edges of all types.
GraphRef remove_edges(const Graph& graph);
// Divides every row of a node tensor, dense f32 or sparse, by its sum; rows whose sum is 0 are
// unchanged. Applies to every node type that has the tensor; Error(kNotFound) if none has.
GraphRef normalize_rows(const Graph& graph, std::string_view node_tensor, base::ThreadPool& pool);

}  // namespace gnnmg::graph
