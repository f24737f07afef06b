// What a sampling thread keeps from mini-batch to mini-batch, and the relabelling that the built-in
// and the custom sampler share.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/memory.h"
#include "sample/id_table.h"
#include "sample/picker.h"
#include "sample/sampler.h"

namespace gnnmg::sample {

// What a mini-batch may hold; more is Error(kRange).
inline constexpr int64_t kMaxBatchNodes = int64_t{1} << 30;
inline constexpr int64_t kMaxBlockEdges = INT32_MAX;

struct Workspace::State {
  Picker picker;
  NarrowTable narrow;
  WideTable wide;
  base::PageVector<uint32_t> narrow_sources;  // sources of a chunk, before they are numbered
  base::PageVector<uint64_t> wide_sources;
  // Custom samplers.
  EdgeSink sink;
  base::PageVector<int64_t> distinct;   // targets handed out
  base::PageVector<int32_t> first_row;  // per row the first one of the same node
  base::PageVector<int32_t> rows;       // per edge added
  base::PageVector<int32_t> order;      // edges by row
  base::PageVector<int32_t> starts;     // where a row's edges begin in `order`

  template <typename Table>
  Table& table() {
    if constexpr (std::is_same_v<Table, NarrowTable>)
      return narrow;
    else
      return wide;
  }
  template <typename Table>
  auto& sources() {
    if constexpr (std::is_same_v<Table, NarrowTable>)
      return narrow_sources;
    else
      return wide_sources;
  }
};

// Starts a sample: checks the seeds, makes them the first nodes and numbers them. Returns whether a
// seed is repeated.
template <typename Table>
bool begin_sample(std::span<const int64_t> seeds, int64_t num_nodes, Table& table, Sample& out) {
  const int64_t count = static_cast<int64_t>(seeds.size());
  if (count > kMaxBatchNodes)
    base::fail(base::Status::kRange, "a mini-batch of ", count, " seeds, expected at most ",
               kMaxBatchNodes);
  for (int64_t i = 0; i < count; ++i) {
    if (seeds[i] < 0 || seeds[i] >= num_nodes)
      base::fail(base::Status::kRange, "seed ", i, " is node ", seeds[i], ", expected 0 to ",
                 num_nodes - 1);
  }
  out.num_seeds = count;
  out.graph_ptr.clear();
  out.node_ids.resize_discard(count);
  table.begin();
  table.reserve(count, {});
  bool repeated = false;
  for (int64_t i = 0; i < count; ++i) {
    out.node_ids[i] = seeds[i];
    repeated |= table.put(static_cast<typename Table::Key>(seeds[i]), static_cast<uint32_t>(i)) !=
                static_cast<uint32_t>(i);
  }
  return repeated;
}

// Numbers `sources` in order: writes their positions in out.node_ids, to which new nodes are
// appended, to `positions`.
template <typename Table>
void number_sources(std::span<const typename Table::Key> sources, Table& table, Sample& out,
                    int32_t* positions) {
  int64_t known = out.node_ids.size();
  const int64_t most = known + static_cast<int64_t>(sources.size());
  if (most > kMaxBatchNodes)
    base::fail(base::Status::kRange, "a mini-batch would hold up to ", most,
               " nodes, expected at most ", kMaxBatchNodes);
  table.reserve(most, out.node_ids.span());
  out.node_ids.resize_keep(most);
  int64_t* nodes = out.node_ids.data();
  for (const typename Table::Key source : sources) {
    const uint32_t next = static_cast<uint32_t>(known);
    const uint32_t position = table.put(source, next);
    *positions++ = static_cast<int32_t>(position);
    nodes[known] = static_cast<int64_t>(source);
    known += position == next;
  }
  out.node_ids.resize_keep(known);
}

// Makes an empty block of no targets, with arrays that are there even if they stay empty.
void clear(BlockStore& store);

// Fills the lists by source of a block with `num_sources` sources: a counting sort, so that each
// source's targets ascend.
void transpose(BlockStore& store, int64_t num_targets, int64_t num_sources);

// What a view says of a store.
BlockView view_of(const BlockStore& store, int64_t num_targets, int64_t num_sources, bool edge_ids,
                  bool transposed);

}  // namespace gnnmg::sample
