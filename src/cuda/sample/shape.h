// How much room the hops of a mini-batch need: bounded beforehand by the fan-outs, or measured.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "sample/sampler.h"

namespace gnnmg::cuda {

// Lengths of a mini-batch's share of an array, a multiple of a cache line of 4-byte elements.
inline int64_t padded(int64_t count) { return (std::max<int64_t>(count, 1) + 31) / 32 * 32; }

struct HopShape {
  int64_t rows = 1;                  // expanded, at most
  int64_t edges = 1;                 // drawn, at most
  int64_t targets = 1, sources = 1;  // known before it and behind it, at most
};

// A block that hops write to: of all hops with expansion "once", of one hop otherwise.
struct StoreShape {
  int64_t indptr_stride = 32;
  int64_t edge_stride = 32;
  int64_t max_targets = 1;
  int64_t max_sources = 1;
};

struct SampleShape {
  bool bounded = false;
  int64_t node_stride = 32;
  std::vector<HopShape> hops;
  std::vector<StoreShape> stores;  // by hop, or one for all
};

// What `config` needs for `max_batches` mini-batches of `max_seeds` seeds from a graph. Not bounded
// where a fan-out is -1 or a bound is beyond 31 bits: then with the room for the seeds alone.
inline SampleShape shape_of(const sample::NeighborConfig& config, int64_t num_nodes,
                            int64_t num_edges, int64_t max_seeds, int64_t max_batches) {
  const bool once = config.expansion == sample::Expansion::kOnce;
  const int64_t num_hops = static_cast<int64_t>(config.fanouts.size());
  const int64_t most = INT32_MAX / max_batches;
  SampleShape shape;
  shape.hops.resize(num_hops);
  shape.stores.resize(once ? 1 : num_hops);
  shape.bounded = true;
  int64_t nodes = max_seeds, rows = max_seeds, edges_of_all = 0;
  for (int64_t h = 0; h < num_hops && shape.bounded; ++h) {
    const int64_t fanout = config.fanouts[h];
    if (!once) rows = nodes;
    // A node is one row, but for repeated seeds; without replacement its edges are drawn once.
    int64_t edges = rows * std::max<int64_t>(fanout, 0);
    if (!config.replace)
      edges = std::min(edges, num_edges + max_seeds * std::max<int64_t>(fanout, 0));
    edges_of_all = once ? edges_of_all + edges : edges;
    const int64_t targets = nodes;
    nodes = std::min(nodes + edges, num_nodes + max_seeds);
    shape.hops[h] = {std::max<int64_t>(rows, 1), padded(edges), std::max<int64_t>(targets, 1),
                     std::max<int64_t>(nodes, 1)};
    StoreShape& store = shape.stores[once ? 0 : h];
    store.indptr_stride = padded(targets + 1);
    store.edge_stride = padded(edges_of_all);
    store.max_targets = std::max<int64_t>(targets, 1);
    store.max_sources = std::max<int64_t>(nodes, 1);
    shape.node_stride = padded(nodes);
    shape.bounded = fanout >= 0 && padded(edges_of_all) <= most && padded(edges) <= most &&
                    shape.node_stride <= most && nodes + padded(edges) <= INT32_MAX;
    rows = std::min(edges, num_nodes);
  }
  if (!shape.bounded) {
    shape.node_stride = padded(max_seeds);
    shape.hops.assign(num_hops, {});
    shape.stores.assign(shape.stores.size(), {});
  }
  return shape;
}

// The config as make_neighbor_sampler would refuse it, and the limits.
inline void check_config(const sample::NeighborConfig& config, int64_t max_seeds,
                         int64_t max_batches) {
  using base::fail;
  using base::Status;
  const int64_t hops = static_cast<int64_t>(config.fanouts.size());
  if (hops < 1 || hops > sample::kMaxHops)
    fail(Status::kInvalidArgument, hops, " fan-outs, expected 1 to ", sample::kMaxHops);
  for (int64_t h = 0; h < hops; ++h) {
    if (config.fanouts[h] < -1 || config.fanouts[h] > INT32_MAX)
      fail(Status::kInvalidArgument, "fan-out ", h, " is ", config.fanouts[h],
           ", expected -1 (all), 0 or up to ", INT32_MAX);
  }
  if (max_seeds < 1 || max_batches < 1)
    fail(Status::kInvalidArgument, "room for ", max_batches, " mini-batches of ", max_seeds,
         " seeds, expected 1 and more of both");
  if (padded(max_seeds) > INT32_MAX / max_batches)
    fail(Status::kRange, max_batches, " mini-batches of ", max_seeds,
         " seeds are 2147483648 and more; sample fewer mini-batches a call");
}

}  // namespace gnnmg::cuda
