// What a sampling thread keeps from mini-batch to mini-batch, and the relabelling that the built-in
// and the custom sampler share.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
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

// Error(kInvalidArgument) for a fan-out below -1 or beyond 2^31 - 1, none, or more than kMaxHops.
void check_fanout(int64_t fanout, std::string_view what);
void check_fanouts(std::span<const int64_t> fanouts);

// The ids of the edges at `places` of csc.indices.
void read_edge_ids(const graph::Csc& csc, std::span<const int64_t> places, int64_t* out);

// Error(kRange) for more edges in one layer than a block may hold.
void check_block_edges(int64_t num_edges);

// How neighbor samplers of this configuration draw, in words.
std::string describe_neighbors(const NeighborConfig& config);

// What a hop draws.
inline HopDraw hop_draw(const NeighborConfig& config, const BatchKey& key, int hop,
                        int32_t edge_type) {
  return {hop_key(config, key, hop, edge_type), config.fanouts[hop], config.replace,
          config.draw != Draw::kUniform};
}

// The hops of a neighbor sampler: numbers the seeds, calls expand(first, last, draw, store) once a
// hop, and makes the blocks. `expand` appends the rows of nodes first .. last - 1 of the node list
// to the store, and to the node list the sources that are not in it yet (number_sources()).
template <typename Table, typename Expand>
void sample_hops(std::span<const int64_t> seeds, int64_t num_nodes, const BatchKey& key,
                 const NeighborConfig& config, int32_t edge_type, Workspace::State& state,
                 Sample& out, Expand expand) {
  const int layers = static_cast<int>(config.fanouts.size());
  const bool once = config.expansion == Expansion::kOnce;
  begin_sample(seeds, num_nodes, state.table<Table>(), out);
  out.hop_ends.resize(layers + 1);
  out.hop_ends[0] = out.num_seeds;
  out.blocks.resize(layers);
  out.stores.resize(once ? 1 : layers);

  const int transposed = config.num_transposed();
  int64_t expanded = 0;  // rows that store 0 has, expansion once
  for (int hop = 0; hop < layers; ++hop) {
    // Layers count from the input, hops from the seeds.
    BlockStore& store = out.stores[once ? 0 : layers - 1 - hop];
    if (hop == 0 || !once) {
      clear(store);
      expanded = 0;
    }
    const int64_t known = out.num_nodes();
    expand(expanded, known, hop_draw(config, key, hop, edge_type), store);
    expanded = known;
    out.hop_ends[hop + 1] = out.num_nodes();
    // Of those who share a store, the last one that has lists has the others' in its own.
    if (once ? hop == transposed - 1 : hop < transposed) transpose(store, known, out.num_nodes());
  }
  for (int hop = 0; hop < layers; ++hop) {
    const int layer = layers - 1 - hop;
    out.blocks[layer] = view_of(out.stores[once ? 0 : layer], out.hop_ends[hop],
                                out.hop_ends[hop + 1], config.edge_ids, hop < transposed);
  }
}

}  // namespace gnnmg::sample
