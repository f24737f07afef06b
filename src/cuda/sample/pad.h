// Fills arrays beyond the true counts of mini-batches with values that are harmless for kernels
// that run over the bounds: lists without entries, and 0 for ids, sources and targets.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cuda/sample/transpose.h"

namespace gnnmg::cuda {

// Item: one of `stride` positions per mini-batch.
struct PadNodes {
  KernelNodes nodes;
  Divisor stride;

  GNNMG_BOTH void operator()(int64_t i) const {
    const int64_t batch = stride(i), row = i - batch * stride.by;
    if (row >= nodes.end(batch, nodes.columns - 1)) nodes.ids[i] = 0;
  }
};

// Item: one of `most` positions per mini-batch, as many as the longest array of the block has.
struct PadBlock {
  TransposedBlock block;  // has no lists by source if `out_indptr` is null
  Divisor most;

  GNNMG_BOTH void operator()(int64_t i) const {
    const KernelStore& store = block.store;
    const int64_t batch = most(i), place = i - batch * most.by;
    const int64_t num_targets = block.num_targets(batch);
    const int32_t num_edges = block.num_edges(batch);
    if (place > num_targets && place < store.indptr_stride)
      store.indptr[batch * store.indptr_stride + place] = num_edges;
    if (place >= num_edges && place < store.edge_stride) {
      const int64_t edge = batch * store.edge_stride + place;
      store.indices[edge] = 0;
      if (store.edge_ids) store.edge_ids[edge] = 0;
      if (block.out_targets) block.out_targets[edge] = 0;
    }
    if (!block.out_indptr) return;
    const int64_t num_sources = block.nodes.end(batch, block.target_hop + 1);
    if (place > num_sources && place < block.out_indptr_stride)
      block.out_indptr[batch * block.out_indptr_stride + place] = num_edges;
  }
};

// Copies one of the layers that share a block to a block of its own: its targets are those of
// `own`, the first of the shared block. Item: one of `most` positions per mini-batch, as many as
// the longest array of `own` has; PadBlock fills the rest.
struct PartBlock {
  static constexpr int kLeastBlocks = 6;  // nvcc spills for more
  KernelStore shared;
  TransposedBlock own;
  Divisor most;

  GNNMG_BOTH void operator()(int64_t i) const {
    const KernelStore& to = own.store;
    const int64_t batch = most(i), place = i - batch * most.by;
    const int32_t* starts = shared.indptr + batch * shared.indptr_stride;
    const int32_t num_targets = own.num_targets(batch), num_edges = starts[num_targets];
    if (place <= num_targets) to.indptr[batch * to.indptr_stride + place] = starts[place];
    if (place >= num_edges) return;
    const int64_t edge = batch * to.edge_stride + place, from = batch * shared.edge_stride + place;
    to.indices[edge] = shared.indices[from];
    if (to.edge_ids) to.edge_ids[edge] = shared.edge_ids[from];
  }
};

template <typename Queue>
void part_block(Queue& queue, const KernelStore& shared, const TransposedBlock& own,
                int64_t num_batches) {
  const int64_t most = std::max(own.store.indptr_stride, own.store.edge_stride);
  queue.each(num_batches * most, PartBlock{shared, own, Divisor(most)});
}

template <typename Queue>
void pad_block(Queue& queue, const TransposedBlock& block, int64_t num_batches) {
  const int64_t most =
      std::max({block.store.indptr_stride, block.store.edge_stride, block.out_indptr_stride});
  queue.each(num_batches * most, PadBlock{block, Divisor(most)});
}

}  // namespace gnnmg::cuda
