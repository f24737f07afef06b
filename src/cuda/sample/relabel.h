// Numbers for the nodes of a mini-batch, by first appearance in the order of its rows, whatever the
// order in which kernels find them.
//
// Nodes that are known stand in the table under their numbers, which are below `known`. Edge e of a
// hop inserts its source as position known + e, and the smallest position stays: the edge whose own
// it is found the node first. Those edges, counted in order by a scan, give the new numbers.
#pragma once

#include <cstdint>

#include "cuda/grid/portable.h"
#include "cuda/sample/hop.h"

namespace gnnmg::cuda {

// Seeds are the first nodes; item: a seed of `max_seeds` a mini-batch. The number of seeds is
// checked here, as are the seeds: `bad` keeps the first that is wrong.
struct TakeSeeds {
  KernelNodes nodes;
  KernelTables tables;
  const int32_t* num_seeds;
  Divisor by_seeds;
  uint64_t* bad;

  GNNMG_BOTH void operator()(int64_t i) const {
    const int64_t batch = by_seeds(i), place = i - batch * by_seeds.by;
    const auto seed = static_cast<uint32_t>(place), max_seeds = static_cast<uint32_t>(by_seeds.by);
    const int32_t asked = num_seeds[batch];
    const int32_t most = static_cast<int32_t>(least<int64_t>(max_seeds, nodes.seed_stride));
    const int32_t count = least(greatest(asked, 0), most);
    if (seed == 0) {
      nodes.end(batch, 0) = nodes.num_graph_nodes > 0 ? count : 0;
      if (count != asked) atomic_min(bad, IdTable::entry(static_cast<uint32_t>(batch), max_seeds));
    }
    if (static_cast<int32_t>(seed) >= count) return;
    const int64_t id = nodes.seeds[batch * nodes.seed_stride + seed];
    if (!nodes.valid(id)) {
      atomic_min(bad, IdTable::entry(static_cast<uint32_t>(batch), seed));
      nodes.ids[batch * nodes.stride + seed] = 0;
      return;
    }
    nodes.ids[batch * nodes.stride + seed] = id;
    tables.of(batch).insert(static_cast<uint32_t>(id), seed);
  }
};

// All nodes known before a hop into tables that are empty; item: a place of `stride` a mini-batch.
struct InsertKnown {
  KernelNodes nodes;
  Divisor by_stride;  // nodes.stride
  KernelTables tables;
  int32_t hop;

  GNNMG_BOTH void operator()(int64_t i) const {
    const int64_t batch = by_stride(i), row = i - batch * by_stride.by;
    if (row >= nodes.end(batch, hop)) return;
    const int64_t id = nodes.node(batch, row);
    if (id >= 0) tables.of(batch).insert(static_cast<uint32_t>(id), static_cast<uint32_t>(row));
  }
};

// The position under which each edge's source stands, to where its number will be, and whether the
// edge is the first of it; item: an edge of `edges` a mini-batch.
struct FindFirst {
  KernelNodes nodes;
  KernelTables tables;
  KernelStore store;
  Hop hop;
  const uint32_t* slots;
  int32_t* firsts;

  GNNMG_BOTH void operator()(int64_t i) const {
    const int64_t batch = hop.edges(i), place = i - batch * hop.edges.by;
    const auto edge = static_cast<int32_t>(place);
    int32_t is_first = 0;
    if (edge < hop.total(batch)) {
      const int32_t position =
          static_cast<int32_t>(IdTable::position_of(tables.of(batch).slots[slots[i]]));
      is_first = position == hop.last(nodes, batch) + edge;
      store.indices[batch * store.edge_stride + hop.base(nodes, store, batch) + edge] = position;
    }
    firsts[i] = is_first;
  }
};

// Numbers in the place of positions, new nodes to the list and, with `keep`, to the table, and the
// counts behind the hop; item: an edge of `edges` a mini-batch. `ranks`: first edges before each.
struct NumberSources {
  KernelNodes nodes;
  KernelTables tables;
  KernelStore store;
  Hop hop;
  const int32_t* ids;
  const uint32_t* slots;
  const int32_t* ranks;
  int32_t* num_edges;  // [mini-batch][layers]
  int32_t layer;
  bool keep;

  GNNMG_BOTH void operator()(int64_t i) const {
    const int64_t batch = hop.edges(i), place = i - batch * hop.edges.by;
    const auto edge = static_cast<int32_t>(place);
    const int64_t start = batch * hop.edges.by;
    const int32_t known = hop.last(nodes, batch);
    const int32_t base = hop.base(nodes, store, batch);
    const int32_t total = hop.total(batch);
    if (edge == 0) {
      nodes.end(batch, hop.hop + 1) = known + ranks[start + hop.edges.by] - ranks[start];
      num_edges[batch * (nodes.columns - 1) + layer] = base + total;
    }
    if (edge >= total) return;
    int32_t& index = store.indices[batch * store.edge_stride + base + edge];
    const int32_t position = index;
    if (position < known) return;  // a number already
    const int32_t number = known + ranks[start + (position - known)] - ranks[start];
    index = number;
    if (position != known + edge) return;
    nodes.ids[batch * nodes.stride + number] = ids[i];
    if (keep)
      tables.of(batch).slots[slots[i]] =
          IdTable::entry(static_cast<uint32_t>(ids[i]), static_cast<uint32_t>(number));
  }
};

}  // namespace gnnmg::cuda
