// What lies beyond the true counts of mini-batches, made harmless for kernels that run over the
// bounds: lists without entries, and 0 where an id, a source or a target would stand.
#pragma once

#include <cstdint>

#include "cuda/grid/divisor.h"
#include "cuda/sample/hop.h"

namespace gnnmg::cuda {

// Item: a place of `stride` a mini-batch.
struct PadNodes {
  KernelNodes nodes;
  Divisor stride;

  GNNMG_BOTH void operator()(int64_t i) const {
    const int64_t batch = stride(i), row = i - batch * stride.by;
    if (row >= nodes.end(batch, nodes.columns - 1)) nodes.ids[i] = 0;
  }
};

// Sources and ids behind the edges of the targets end(hop). Item: an edge of `stride` a mini-batch.
struct PadEdges {
  KernelNodes nodes;
  int32_t hop;
  KernelStore store;
  Divisor stride;

  GNNMG_BOTH void operator()(int64_t i) const {
    const int64_t batch = stride(i), edge = i - batch * stride.by;
    if (edge < store.indptr[batch * store.indptr_stride + nodes.end(batch, hop)]) return;
    store.indices[i] = 0;
    if (store.edge_ids != nullptr) store.edge_ids[i] = 0;
  }
};
// The same of lists by source.
struct PadTargets {
  KernelNodes nodes;
  int32_t hop;
  KernelStore store;
  Divisor stride;
  int32_t* out_targets;

  GNNMG_BOTH void operator()(int64_t i) const {
    const int64_t batch = stride(i), edge = i - batch * stride.by;
    if (edge >= store.indptr[batch * store.indptr_stride + nodes.end(batch, hop)])
      out_targets[i] = 0;
  }
};

// Pointers of a list of nodes, those behind end(hop) the last one again; `from` may be `to`. Item:
// a pointer of `places` a mini-batch.
struct PadPointers {
  KernelNodes nodes;
  int32_t hop;
  Divisor places;
  const int32_t* from;
  int64_t from_stride;
  int32_t* to;
  int64_t to_stride;

  GNNMG_BOTH void operator()(int64_t i) const {
    const int64_t batch = places(i), place = i - batch * places.by;
    const int64_t last = nodes.end(batch, hop);
    if (from != to || place > last)
      to[batch * to_stride + place] = from[batch * from_stride + least(place, last)];
  }
};

}  // namespace gnnmg::cuda
