// The topology of one edge type in compressed sparse columns: per target node, the sources of its
// incoming edges.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "base/tensor.h"
#include "base/thread_pool.h"

namespace gnnmg::graph {

// Immutable. Index pointers are i64; sources are i32 if num_sources fits in 31 bits, else i64; edge
// ids likewise by the number of edges. Entry e of target t (indptr[t] <= e < indptr[t+1]) is the
// edge indices[e] -> t. The caller knows it as edge edge_ids[e], or as e if there are no edge ids.
struct Csc {
  int64_t num_sources = 0;
  int64_t num_targets = 0;
  base::Tensor indptr;    // i64 [num_targets + 1]
  base::Tensor indices;   // i32 or i64 [num_edges]
  base::Tensor edge_ids;  // i32 or i64 [num_edges], or undefined: identity

  int64_t num_edges() const { return indices.rows(); }
  bool wide() const { return indices.dtype() == base::DType::kI64; }
  int64_t in_degree(int64_t target) const {
    const int64_t* p = static_cast<const int64_t*>(indptr.data());
    return p[target + 1] - p[target];
  }
  int64_t source(int64_t e) const {
    return wide() ? static_cast<const int64_t*>(indices.data())[e]
                  : static_cast<const int32_t*>(indices.data())[e];
  }
  int64_t edge_id(int64_t e) const;
};

// Calls `f` with the sources as a typed span: visit_indices(csc, [&](auto sources) {...}).
template <typename F>
decltype(auto) visit_indices(const Csc& csc, F&& f) {
  if (csc.wide()) return f(std::span<const int64_t>(csc.indices.as<int64_t>()));
  return f(std::span<const int32_t>(csc.indices.as<int32_t>()));
}

// Builds the topology from edge lists (i32 or i64, equal length). Stable: edges into one target
// keep the caller's order; edge ids are made unless that order is already the CSC's. Parallel; the
// result does not depend on the number of threads. Error(kRange) names the array, the position, the
// id and the bound; kInvalidArgument for unequal lengths or types.
Csc csc_from_coo(const base::TensorView& sources, const base::TensorView& targets,
                 int64_t num_sources, int64_t num_targets, base::ThreadPool& pool);

// Rules for making a topology of a list. The last three need `edge_ids` to be false.
struct CscRules {
  bool edge_ids = true;     // make edge ids unless the order is already the topology's
  bool drop_loops = false;  // leave out self-loops
  bool reverses = false;    // add (v, u) for each (u, v) that is no loop; with `once`
  bool once = false;        // keep one of equal edges, sources ascending
};

// The same by other rules, of lists that end here: if nobody shares their memory, it is given back
// while they are read. Besides them it takes the result and 2 bytes an edge (4 beyond 2^26
// targets).
Csc csc_from_lists(base::Tensor sources, base::Tensor targets, int64_t num_sources,
                   int64_t num_targets, const CscRules& rules, base::ThreadPool& pool);
// Adds the reverses of a square topology by the rules {.edge_ids = false, .reverses, .once}.
Csc undirected(const Csc& csc, base::ThreadPool& pool);

// Builds the topology from index pointers and sources. Checks that the pointers start at 0, ascend
// and end at the length, and that ids are in range. Sources are narrowed if they fit in 31 bits,
// otherwise shared, not copied. `edge_ids` may be undefined; otherwise it must be a permutation of
// [0, E).
Csc csc_from_arrays(base::Tensor indptr, base::Tensor indices, base::Tensor edge_ids,
                    int64_t num_sources, base::ThreadPool& pool);

// Returns the edges in the caller's order (by edge id): two tensors [num_edges] of `type`, which is
// i64, or i32 if both numbers of nodes fit in 31 bits.
std::pair<base::Tensor, base::Tensor> coo_of(const Csc& csc, base::ThreadPool& pool,
                                             base::DType type = base::DType::kI64);

}  // namespace gnnmg::graph
