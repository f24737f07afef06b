// Memory that a sampling thread keeps from mini-batch to mini-batch, and the relabeling that the
// built-in and the custom sampler share.
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

// Limits of a mini-batch; more is Error(kRange).
inline constexpr int64_t kMaxBatchNodes = int64_t{1} << 30;
inline constexpr int64_t kMaxBlockEdges = INT32_MAX;

struct Workspace::State {
  Picker picker;
  NarrowTable narrow;
  WideTable wide;
  base::PageVector<uint32_t> narrow_sources;  // sources of a chunk, before they are numbered
  base::PageVector<uint64_t> wide_sources;
  // For custom samplers.
  EdgeSink sink;
  base::PageVector<int64_t> distinct;   // targets of the request
  base::PageVector<int32_t> first_row;  // per row the first one of the same node
  base::PageVector<int32_t> rows;       // per edge added
  base::PageVector<int32_t> order;      // edges by row
  base::PageVector<int32_t> starts;     // first edge of each row in `order`

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

// Starts a sample: checks the seeds and numbers them as the first nodes. Returns true if a seed is
// repeated.
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

// Numbers `sources` in order and writes their positions in out.node_ids to `positions`. New nodes
// are appended to out.node_ids.
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

// Makes a block without targets. Its arrays exist even if they stay empty.
void clear(BlockStore& store);

// Fills the lists by source of a block with `num_sources` sources: a counting sort, so that each
// source's targets ascend.
void transpose(BlockStore& store, int64_t num_targets, int64_t num_sources);

// Makes a view of a store.
BlockView view_of(const BlockStore& store, int64_t num_targets, int64_t num_sources, bool edge_ids,
                  bool transposed);

// Error(kInvalidArgument) for a fan-out below -1 or above 2^31 - 1, for no fan-outs, or for more
// than kMaxHops.
void check_fanout(int64_t fanout, std::string_view what);
void check_fanouts(std::span<const int64_t> fanouts);

// Writes the ids of the edges at `places` of csc.indices.
void read_edge_ids(const graph::Csc& csc, std::span<const int64_t> places, int64_t* out);

// Error(kRange) for more edges in one layer than a block can hold.
void check_block_edges(int64_t num_edges);

// Describes the draws of neighbor samplers of this configuration in words.
std::string describe_neighbors(const NeighborConfig& config);

// Returns the parameters of a hop's draws.
inline HopDraw hop_draw(const NeighborConfig& config, const BatchKey& key, int hop,
                        int32_t edge_type) {
  return {hop_key(config, key, hop, edge_type), config.fanouts[hop], config.replace,
          config.draw != Draw::kUniform};
}

// Runs the hops of a neighbor sampler: numbers the seeds, calls expand(first, last, draw, store)
// once per hop, and makes the blocks. `expand` appends the rows of nodes first .. last - 1 of the
// node list to the store, and new sources to the node list (number_sources()).
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
  int64_t expanded = 0;  // rows of store 0, with expansion "once"
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
    // If layers share a store, the last one with lists has the lists of the others in its own.
    if (once ? hop == transposed - 1 : hop < transposed) transpose(store, known, out.num_nodes());
  }
  for (int hop = 0; hop < layers; ++hop) {
    const int layer = layers - 1 - hop;
    out.blocks[layer] = view_of(out.stores[once ? 0 : layer], out.hop_ends[hop],
                                out.hop_ends[hop + 1], config.edge_ids, hop < transposed);
  }
}

}  // namespace gnnmg::sample
