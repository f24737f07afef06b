// One hop of all mini-batches: its rows, the number of picks of each, and the picks, which are
// inserted into the table that numbers them.
#pragma once

#include <cstdint>

#include "cuda/grid/divisor.h"
#include "cuda/grid/portable.h"
#include "cuda/sample/draw.h"

namespace gnnmg::cuda {

// The topology as kernels read it.
struct KernelCsc {
  int64_t num_nodes;
  const int64_t* indptr;
  const int32_t* indices;
  const void* edge_ids;  // null: identity
  bool wide_edge_ids;

  GNNMG_BOTH int64_t edge_id(int64_t place) const {
    if (edge_ids == nullptr) return place;
    return wide_edge_ids ? static_cast<const int64_t*>(edge_ids)[place]
                         : static_cast<const int32_t*>(edge_ids)[place];
  }
};

// The nodes of all mini-batches: those of mini-batch m begin at m * stride. Column h of hop_ends
// has the number of nodes known after hop h.
struct KernelNodes {
  const int64_t* seeds;
  int64_t seed_stride;
  int64_t num_graph_nodes;
  int64_t* ids;
  int64_t stride;
  int32_t* hop_ends;
  int32_t columns;

  GNNMG_BOTH int32_t& end(int64_t batch, int32_t hop) const {
    return hop_ends[batch * columns + hop];
  }
  GNNMG_BOTH bool valid(int64_t id) const { return id >= 0 && id < num_graph_nodes; }
  // Returns -1 for a seed that is not a node.
  GNNMG_BOTH int64_t node(int64_t batch, int64_t row) const {
    if (row >= end(batch, 0)) return ids[batch * stride + row];
    const int64_t seed = seeds[batch * seed_stride + row];
    return valid(seed) ? seed : -1;
  }
};

// The tables, one after another.
struct KernelTables {
  uint64_t* slots;
  uint32_t capacity;
  GNNMG_BOTH IdTable of(int64_t batch) const {
    return {slots + batch * int64_t{capacity}, capacity};
  }
};

// The block that a hop writes to: mini-batch m's arrays begin at m strides.
struct KernelStore {
  int32_t* indptr;
  int32_t* indices;
  int64_t* edge_ids;  // or null
  int64_t indptr_stride;
  int64_t edge_stride;
};

// One hop. Rows are those from node `end(first_hop)` on (from 0 if that is -1) up to end(hop); item
// i of a mini-batch's `rows` is row first + i.
struct Hop {
  int32_t hop;
  int32_t first_hop;
  Divisor rows;    // upper bound for one mini-batch
  Divisor edges;   // upper bound of the edges drawn in this hop for one mini-batch
  int32_t fanout;  // -1: all
  bool replace;
  const uint32_t* keys;  // [mini-batch][hops][2]
  const int32_t* sums;   // sums of the picks before each row, [mini-batches * rows + 1]

  GNNMG_BOTH int32_t first(const KernelNodes& nodes, int64_t batch) const {
    return first_hop < 0 ? 0 : nodes.end(batch, first_hop);
  }
  GNNMG_BOTH int32_t last(const KernelNodes& nodes, int64_t batch) const {
    return nodes.end(batch, hop);
  }
  // Number of edges that the block had before.
  GNNMG_BOTH int32_t base(const KernelNodes& nodes, const KernelStore& store, int64_t batch) const {
    return first_hop < 0 ? 0 : store.indptr[batch * store.indptr_stride + first(nodes, batch)];
  }
  GNNMG_BOTH int32_t total(int64_t batch) const {
    return sums[(batch + 1) * rows.by] - sums[batch * rows.by];
  }
  GNNMG_BOTH bool copies(uint32_t degree) const {
    return fanout < 0 || (!replace && degree <= static_cast<uint32_t>(fanout));
  }
  GNNMG_BOTH int32_t picks(uint32_t degree) const {
    if (copies(degree)) return static_cast<int32_t>(least<uint32_t>(degree, INT32_MAX));
    return degree > 0 ? fanout : 0;
  }
};

// For each row: the position of its first neighbor, the number of neighbors, and the number of
// picks. Item: a row. A row of more than 2^31 - 1 picks counts as that many.
struct CountPicks {
  static constexpr bool kWide = true;
  KernelCsc csc;
  KernelNodes nodes;
  Hop hop;
  int32_t* counts;
  int64_t* begins;
  uint32_t* degrees;

  GNNMG_BOTH void operator()(int64_t i) const {
    const int64_t batch = hop.rows(i), r = i - batch * hop.rows.by;
    const int64_t row = hop.first(nodes, batch) + r;
    int64_t begin = 0;
    uint32_t degree = 0;
    if (row < hop.last(nodes, batch)) {
      const int64_t node = nodes.node(batch, row);
      if (node >= 0) {
        begin = csc.indptr[node];
        degree = static_cast<uint32_t>(csc.indptr[node + 1] - begin);
      }
    }
    counts[i] = hop.picks(degree);
    begins[i] = begin;
    degrees[i] = degree;
  }
};

// For LABOR: the number of sources that rows keep if they do not keep all. Item: a row that
// CountPicks has processed.
struct CountKept {
  static constexpr bool kWide = true;
  KernelCsc csc;
  Hop hop;
  int32_t num_hops;
  const int64_t* begins;
  const uint32_t* degrees;
  int32_t* counts;

  template <typename Tile>
  GNNMG_BOTH void operator()(const Tile& tile, int64_t i) const {
    const uint32_t degree = degrees[i];
    if (hop.copies(degree)) return;
    const int64_t batch = hop.rows(i);
    const LaborRow row(hop.keys + (batch * num_hops + hop.hop) * 2,
                       static_cast<uint32_t>(hop.fanout), degree);
    const int32_t* const sources = csc.indices + begins[i];
    const auto kept = tile.template make<int64_t>([&](int lane) {
      int64_t count = 0;
      for (int64_t place = lane; place < degree; place += Tile::kLanes)
        count += row.keeps(sources[place]);
      return count;
    });
    const int64_t sum = tile.sum(kept);
    tile.each([&](int lane) {
      if (lane == 0) counts[i] = static_cast<int32_t>(least<int64_t>(sum, INT32_MAX));
    });
  }
};

// The picks of each mini-batch, if they have no bound. Item: 32 rows of one mini-batch. `totals`
// are initially 0.
struct AddTotals {
  const int32_t* counts;
  uint32_t rows;
  Divisor parts;  // parts of a mini-batch
  uint64_t* totals;

  template <typename Tile>
  GNNMG_BOTH void operator()(const Tile& tile, int64_t item) const {
    const int64_t batch = parts(item), part = item - batch * parts.by;
    const int64_t begin = part * Tile::kLanes;
    const auto values = tile.template make<int64_t>([&](int lane) {
      return begin + lane < rows ? int64_t{counts[batch * rows + begin + lane]} : int64_t{0};
    });
    const int64_t sum = tile.sum(values);
    tile.each([&](int lane) {
      if (lane == 0 && sum > 0) atomic_add(totals + batch, static_cast<uint64_t>(sum));
    });
  }
};

// The algorithm for the picks of a row that does not take all neighbors.
enum class Picks {
  kFew,   // fan-outs up to the tile's lanes
  kMany,  // larger ones, drawn with `seen`, two free slots per edge
  kKept,  // LABOR
};

// Draws the picks of all rows. Item: a row. Writes sources to `ids` by position in the hop, and
// their slots in the table to `slots`.
template <Picks kPicks>
struct DrawPicks {
  static constexpr bool kWide = true;
  KernelCsc csc;
  KernelNodes nodes;
  KernelTables tables;
  KernelStore store;
  Hop hop;
  int32_t num_hops;
  const int64_t* begins;
  const uint32_t* degrees;
  int32_t* ids;
  uint32_t* slots;
  uint64_t* seen;

  template <typename Tile>
  GNNMG_BOTH void operator()(const Tile& tile, int64_t i) const {
    const int64_t batch = hop.rows(i), r = i - batch * hop.rows.by;
    const int32_t known = hop.last(nodes, batch);
    const int64_t row = hop.first(nodes, batch) + r;
    int32_t* const indptr = store.indptr + batch * store.indptr_stride;
    const int32_t base = hop.base(nodes, store, batch);
    if (hop.first_hop < 0 && r == 0) {
      tile.each([&](int lane) {
        if (lane == 0) indptr[0] = 0;
      });
    }
    if (row >= known) return;
    const int32_t local = hop.sums[i] - hop.sums[batch * hop.rows.by];
    const int32_t count = hop.sums[i + 1] - hop.sums[i];
    tile.each([&](int lane) {
      if (lane == 0) indptr[row + 1] = base + local + count;
    });
    if (count == 0) return;

    const IdTable table = tables.of(batch);
    const int64_t begin = begins[i];
    const int64_t in_hop = batch * hop.edges.by + local;
    const int64_t in_store = batch * store.edge_stride + base + local;
    const auto put = [&](int64_t slot, uint32_t pick) {
      const int64_t place = begin + pick;
      const int32_t id = csc.indices[place];
      ids[in_hop + slot] = id;
      slots[in_hop + slot] =
          table.insert(static_cast<uint32_t>(id), static_cast<uint32_t>(known + local + slot));
      if (store.edge_ids != nullptr) store.edge_ids[in_store + slot] = csc.edge_id(place);
    };
    const uint32_t degree = degrees[i];
    if (hop.copies(degree)) {
      tile.each_of(0, count, [&](int64_t slot) { put(slot, static_cast<uint32_t>(slot)); });
      return;
    }
    const uint32_t* key = hop.keys + (batch * num_hops + hop.hop) * 2;
    if constexpr (kPicks == Picks::kKept) {
      kept_picks(tile, LaborRow(key, static_cast<uint32_t>(hop.fanout), degree),
                 csc.indices + begin, degree, put);
      return;
    }
    const RowDraws draws{{key[0], key[1]},
                         static_cast<uint32_t>(nodes.node(batch, row)),
                         degree,
                         static_cast<uint32_t>(hop.fanout)};
    if (hop.replace) {
      tile.each_of(0, count,
                   [&](int64_t slot) { put(slot, draws.pick(static_cast<uint32_t>(slot))); });
    } else if constexpr (kPicks == Picks::kMany) {
      const IdTable mine{seen + 2 * in_hop, 2 * static_cast<uint32_t>(count)};
      many_distinct_picks(tile, draws, mine, put);
    } else {
      const auto picks = distinct_picks(tile, draws);
      tile.each([&](int lane) {
        if (lane < count) put(lane, picks[lane]);
      });
    }
  }
};

}  // namespace gnnmg::cuda
