// A block's edges by source: a stable sort by source of edges that are in order by target, so that
// each source's targets ascend.
#pragma once

#include <bit>
#include <cstdint>

#include "cuda/grid/buffer.h"
#include "cuda/grid/divisor.h"
#include "cuda/grid/portable.h"
#include "cuda/sample/hop.h"

namespace gnnmg::cuda {

// The block to transpose. Its targets are the first end(target_hop) nodes, its sources the first
// end(target_hop + 1).
struct TransposedBlock {
  KernelNodes nodes;
  KernelStore store;
  int32_t target_hop;
  Divisor max_sources;  // bound for a mini-batch
  Divisor max_targets;
  Divisor max_edges;  // at most the store's edge_stride
  int32_t* out_indptr;
  int64_t out_indptr_stride;
  int32_t* out_targets;  // uses the strides of the store's edges

  GNNMG_BOTH int32_t num_targets(int64_t batch) const { return nodes.end(batch, target_hop); }
  GNNMG_BOTH int32_t num_edges(int64_t batch) const {
    return store.indptr[batch * store.indptr_stride + num_targets(batch)];
  }
};

// Writes source and target of each edge, and each source's number of edges. Item: one of
// `max_targets` rows per mini-batch.
struct ListTargets {
  TransposedBlock block;
  uint32_t* sources;
  int32_t* targets;
  int32_t* counts;

  template <typename Tile>
  GNNMG_BOTH void operator()(const Tile& tile, int64_t i) const {
    const int64_t batch = block.max_targets(i), row = i - batch * block.max_targets.by;
    if (row >= block.num_targets(batch)) return;
    const int32_t* indptr = block.store.indptr + batch * block.store.indptr_stride;
    const int32_t* indices = block.store.indices + batch * block.store.edge_stride;
    const int64_t start = batch * block.max_edges.by;
    tile.each_of(indptr[row], indptr[row + 1], [&](int64_t edge) {
      const int64_t source = batch * block.max_sources.by + indices[edge];
      sources[start + edge] = static_cast<uint32_t>(source);
      targets[start + edge] = static_cast<int32_t>(row);
      atomic_add(counts + source, 1);
    });
  }
};

// `starts`: number of edges of all earlier sources. Item: one of `max_sources` + 1 sources per
// mini-batch.
struct WriteStarts {
  TransposedBlock block;
  Divisor max_starts;  // max_sources + 1
  const int32_t* starts;

  GNNMG_BOTH void operator()(int64_t i) const {
    const int64_t batch = max_starts(i), source = i - batch * max_starts.by;
    if (source > block.nodes.end(batch, block.target_hop + 1)) return;
    const int64_t first = batch * block.max_sources.by;
    block.out_indptr[batch * block.out_indptr_stride + source] =
        starts[first + source] - starts[first];
  }
};

// Item: one of `max_edges` edges per mini-batch.
struct WriteTargets {
  TransposedBlock block;
  const int32_t* starts;
  const int32_t* sorted;

  GNNMG_BOTH void operator()(int64_t i) const {
    const int64_t batch = block.max_edges(i), edge = i - batch * block.max_edges.by;
    if (edge < block.num_edges(batch))
      block.out_targets[batch * block.store.edge_stride + edge] =
          sorted[starts[batch * block.max_sources.by] + edge];
  }
};

// Scratch of the sort.
struct TransposeBuffers {
  explicit TransposeBuffers(Memory& memory)
      : sources(memory),
        sorted_sources(memory),
        targets(memory),
        sorted_targets(memory),
        counts(memory),
        starts(memory) {}
  void reserve(int64_t edges, int64_t num_sources) {
    sources.reserve(edges, "sources of edges");
    sorted_sources.reserve(edges, "sorted sources of edges");
    targets.reserve(edges, "targets of edges");
    sorted_targets.reserve(edges, "sorted targets of edges");
    counts.reserve(num_sources, "edges of sources");
    starts.reserve(num_sources + 1, "starts of sources");
  }
  int64_t bytes() const {
    return (sources.capacity() + sorted_sources.capacity() + targets.capacity() +
            sorted_targets.capacity() + counts.capacity() + starts.capacity()) *
           4;
  }
  Buffer<uint32_t> sources, sorted_sources;
  Buffer<int32_t> targets, sorted_targets, counts, starts;
};

// The numbers of edges and of sources, over all mini-batches, must fit 31 bits.
template <typename Queue>
void transpose(Queue& queue, const TransposedBlock& block, int64_t num_batches,
               TransposeBuffers& buffers) {
  const int64_t edges = num_batches * block.max_edges.by;
  const int64_t sources = num_batches * block.max_sources.by;
  buffers.reserve(edges, sources);
  // Positions without an edge sort to the end: all ones in the lowest bits.
  queue.fill(buffers.sources.data(), 0xFF, edges * 4);
  queue.fill(buffers.targets.data(), 0, edges * 4);
  queue.fill(buffers.counts.data(), 0, sources * 4);
  queue.template tiles<8>(
      num_batches * block.max_targets.by,
      ListTargets{block, buffers.sources.data(), buffers.targets.data(), buffers.counts.data()});
  queue.scan(buffers.counts.data(), buffers.starts.data(), sources);
  queue.sort(buffers.sources.data(), buffers.sorted_sources.data(), buffers.targets.data(),
             buffers.sorted_targets.data(), edges,
             static_cast<int>(std::bit_width(static_cast<uint64_t>(sources))));
  queue.each(sources + num_batches,
             WriteStarts{block, Divisor(block.max_sources.by + 1), buffers.starts.data()});
  queue.each(edges, WriteTargets{block, buffers.starts.data(), buffers.sorted_targets.data()});
}

}  // namespace gnnmg::cuda
