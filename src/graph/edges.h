// Steps that transforms and generators share: edge lists in the caller's order, merging equal
// edges, and picking rows of tensors.
#pragma once

#include <cstdint>

#include "base/thread_pool.h"
#include "graph/graph.h"

namespace gnnmg::graph {

// Sorts the sources of each target and keeps one of equal edges; edge ids become the identity.
// `first` (may be null) gets, i64 [edges kept], the smallest old edge id of each.
Csc coalesced(const Csc& csc, base::Tensor* first, base::ThreadPool& pool);

// Row r of the result is row rows[r] of `column`, or zeros if that is -1. `rows` is i64 and in
// range.
Column pick_rows(const Column& column, const base::Tensor& rows, base::ThreadPool& pool);

}  // namespace gnnmg::graph
