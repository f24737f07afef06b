// Numbers the nodes of a mini-batch by first appearance in the order of its rows, whatever the
// order in which kernels find them.
//
// Known nodes are in the table with their numbers, which are below `known`. Edge e of a hop inserts
// its source with position known + e, and the smallest position stays: the edge with that position
// is the first to reach the node. A scan over these edges in order gives the new numbers.
#pragma once

#include <cstdint>

#include "cuda/grid/portable.h"
#include "cuda/sample/hop.h"

namespace gnnmg::cuda {

// Makes the seeds the first nodes. Item: one of `max_seeds` seeds per mini-batch. Checks the number
// of seeds and the seeds: `bad` keeps the first wrong one.
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

// Inserts all nodes known before a hop into empty tables. Item: one of `stride` positions per
// mini-batch.
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

// Writes the position stored for each edge's source to the place of its number, and whether the
// edge is the source's first. Item: one of `edges` edges per mini-batch.
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

// Replaces positions by numbers, appends new nodes to the list and, with `keep`, to the table, and
// writes the counts after the hop. Item: one of `edges` edges per mini-batch. `ranks`: number of
// first edges before each edge.
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
    if (position < known) return;  // is a number already
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
