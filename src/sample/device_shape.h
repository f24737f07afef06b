// The room that the hops of a mini-batch need on a GPU: bounded in advance by the fan-outs, or
// measured.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "sample/sampler.h"

namespace gnnmg::sample {

// Lengths of a mini-batch's share of an array, a multiple of a cache line of 4-byte elements.
inline int64_t padded(int64_t count) { return (std::max<int64_t>(count, 1) + 31) / 32 * 32; }

struct HopShape {
  int64_t rows = 1;   // upper bound of the expanded rows
  int64_t edges = 1;  // upper bound of the drawn edges
  // Upper bounds for the hop's layer.
  int64_t max_targets = 1, max_sources = 1, max_edges = 1;
};

// A block that hops write to: one for all hops with expansion "once", otherwise one per hop.
struct StoreShape {
  int64_t indptr_stride = 32;
  int64_t edge_stride = 32;
  int64_t max_targets = 1;
  int64_t max_sources = 1;
};

struct SampleShape {
  int32_t num_bounded = 0;  // number of hops, from the seeds on; later hops are measured
  int64_t node_stride = 32;
  std::vector<HopShape> hops;
  std::vector<StoreShape> stores;  // one per hop, or one for all hops
};

// Computes the shape that `config` needs for `max_batches` mini-batches of `max_seeds` seeds from a
// graph, up to the first hop whose fan-out is no bound or whose bound exceeds 31 bits.
inline SampleShape shape_of(const NeighborConfig& config, int64_t num_nodes, int64_t num_edges,
                            int64_t max_seeds, int64_t max_batches) {
  const bool once = config.expansion == Expansion::kOnce;
  const int64_t num_hops = static_cast<int64_t>(config.fanouts.size());
  const int64_t most = INT32_MAX / max_batches;
  SampleShape shape;
  shape.node_stride = padded(max_seeds);
  shape.hops.resize(num_hops);
  shape.stores.resize(once ? 1 : num_hops);
  int64_t nodes = max_seeds, rows = max_seeds, edges_of_all = 0;
  for (int64_t h = 0; h < num_hops; ++h) {
    const int64_t fanout = config.fanouts[h];
    if (!config.bounds(static_cast<size_t>(h))) break;
    if (!once) rows = nodes;
    // Each node is one row, except for repeated seeds; without replacement each of its edges is
    // drawn once.
    int64_t edges = rows * fanout;
    if (!config.replace) edges = std::min(edges, num_edges + max_seeds * fanout);
    edges_of_all = once ? edges_of_all + edges : edges;
    const int64_t targets = nodes;
    nodes = std::min(nodes + edges, num_nodes + max_seeds);
    if (padded(edges_of_all) > most || padded(edges) > most || padded(nodes) > most ||
        nodes + padded(edges) > INT32_MAX)
      break;
    ++shape.num_bounded;
    shape.hops[h] = {std::max<int64_t>(rows, 1), padded(edges), std::max<int64_t>(targets, 1),
                     std::max<int64_t>(nodes, 1), padded(edges_of_all)};
    StoreShape& store = shape.stores[once ? 0 : h];
    store.indptr_stride = padded(targets + 1);
    store.edge_stride = padded(edges_of_all);
    store.max_targets = std::max<int64_t>(targets, 1);
    store.max_sources = std::max<int64_t>(nodes, 1);
    shape.node_stride = padded(nodes);
    rows = std::min(edges, num_nodes);
  }
  return shape;
}

// Returns the shape of a layer in a shared block, as if the block were its own.
inline StoreShape part_of(const HopShape& hop) {
  return {padded(hop.max_targets + 1), hop.max_edges, hop.max_targets, hop.max_sources};
}

// The part of a store that has lists by source, its first rows: the whole store, or, if layers
// share it, the part of those layers that need such lists.
inline StoreShape listed_of(const NeighborConfig& config, const SampleShape& shape, int64_t store) {
  const int hops = config.num_transposed();
  const bool all = config.expansion == Expansion::kEveryLayer || hops < 1 || config.transpose_input;
  return all || hops > shape.num_bounded ? shape.stores[store] : part_of(shape.hops[hops - 1]);
}
// True if the store has lists by source.
inline bool has_lists(const NeighborConfig& config, int64_t store) {
  return config.num_transposed() > (config.expansion == Expansion::kOnce ? 0 : store);
}

// Bytes that a GPU's sampler of such a shape takes before its first call, all hops bounded. The
// scratch for scans and sorts, which the first call takes, is smaller than the edges of the last
// hop. `pad`: with padded mini-batches, after the first call.
inline int64_t sampler_bytes(const NeighborConfig& config, const SampleShape& shape,
                             int64_t max_seeds, int64_t max_batches, bool pad = false) {
  const auto num_hops = static_cast<int64_t>(shape.hops.size());
  int64_t rows = 1, edges = 1, drawn = 0;  // maxima over the hops
  for (int64_t h = 0; h < num_hops; ++h) {
    rows = std::max(rows, shape.hops[h].rows);
    edges = std::max(edges, shape.hops[h].edges);
    if (config.draw == Draw::kUniform && !config.replace && config.fanouts[h] > 32)
      drawn = std::max(drawn, shape.hops[h].edges);
  }
  const int64_t slots = shape.node_stride + shape.node_stride / 2;
  int64_t a_batch = 8 * (shape.node_stride + slots + 1 + max_seeds) +
                    4 * (num_hops + 1 + num_hops + 1 + 2 * num_hops) + rows * (4 + 4 + 8 + 4) +
                    edges * (4 * 4) + 16 * drawn;
  const int64_t fixed = 8 + 4 + 4;  // the bad seed, and one more sum of rows and of edges
  int64_t sources = 0, turned = 0;
  const auto add = [&](const StoreShape& store, const StoreShape* listed) {
    a_batch += 4 * (store.indptr_stride + store.edge_stride);
    if (config.edge_ids) a_batch += 8 * store.edge_stride;
    if (!listed) return;
    a_batch += 4 * (padded(listed->max_sources + 1) + store.edge_stride);
    sources = std::max(sources, listed->max_sources);
    turned = std::max(turned, listed->edge_stride);
  };
  for (int64_t s = 0; s < static_cast<int64_t>(shape.stores.size()); ++s) {
    const StoreShape listed = listed_of(config, shape, s);
    add(shape.stores[s], has_lists(config, s) ? &listed : nullptr);
  }
  if (pad && config.expansion == Expansion::kOnce)
    for (int64_t h = 0; h + 1 < num_hops; ++h) {
      const StoreShape part = part_of(shape.hops[h]);
      add(part, config.transpose ? &part : nullptr);
    }
  a_batch += 4 * (4 * turned + 2 * sources);
  return max_batches * a_batch + fixed + (config.num_transposed() > 0 ? 4 : 0);
}

}  // namespace gnnmg::sample
