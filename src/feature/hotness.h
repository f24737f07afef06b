// Hotness: how often mini-batches read the row of each node, estimated before training, so that the
// rows with the most reads can be cached. Three estimates: the number of edges, a formula, and
// counting. All arrays have one number per node; no result depends on the number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/memory.h"
#include "base/thread_pool.h"
#include "graph/csc.h"

namespace gnnmg::feature {

// Hotness by the number of edges that leave each node: how many targets may draw it.
std::vector<double> hotness_by_degree(const graph::Csc& csc, base::ThreadPool& pool);

// The fields of a sampler's configuration that decide which nodes it finds; as in
// sample::NeighborConfig.
struct SamplingLaw {
  int64_t batch_size = 1024;
  std::vector<int64_t> fanouts = {};  // hop next to the seeds first; -1: all, 0: none
  bool every_layer = false;           // each hop draws for all known nodes, not only for new ones
  bool replace = false;
};

// The probability that a node is in a mini-batch, hop by hop, without sampling. (Caching by the
// probability of a visit is known as pre-sampling, or by vertex inclusion probabilities; see
// GNNLab, EuroSys 2022, and SALIENT++, MLSys 2023. The recursion here covers both ways of
// expansion.)
//
// Let d(v) be the in-degree of v and f(h) the fan-out of hop h. v draws a given one of its edges
// with r(h, v) = min(f, d) / d, or 1 - (1 - 1/d)^f with replacement. Let q(h, v) be the probability
// that v is known after h hops, q(0, v) = batch size / seeds for seeds and 0 for others, and b(h,
// v) the probability that v has drawn a given edge by hop h, b(-1, v) = 0. Then
//   b(h, v) = b(h-1, v) + r(h, v) (q(h, v) - q(h-1, v))   if nodes are expanded once,
//   b(h, v) = b(h-1, v) + r(h, v) (q(h, v) - b(h-1, v))   if every layer draws for all,
//   q(h+1, u) = 1 - (1 - q(0, u)) * product over the edges u -> v of (1 - b(h, v)).
// The product assumes that events at different targets are independent; the sum of q is the
// expected number of rows of a mini-batch. Dependence makes that a little too large if edges go
// both ways, the more the fewer edges the nodes have.
//
// `csc` holds the edges in the direction of sampling and joins nodes of one type; `seeds` are
// distinct. Error(kRange) for a seed that is not a node, kInvalidArgument for a batch size below 1
// or a fan-out below -1.
std::vector<double> hotness_by_formula(const graph::Csc& csc, std::span<const int64_t> seeds,
                                       const SamplingLaw& law, base::ThreadPool& pool);

// The same result up to the last few bits, with one pass over the rows of `csc` per fan-out, on the
// calling thread only: for graphs whose reversed copy does not fit into memory. Takes 32 bytes per
// node. `check` is called every few thousand rows and may throw.
std::vector<double> hotness_by_rows(const graph::Csc& csc, std::span<const int64_t> seeds,
                                    const SamplingLaw& law, const std::function<void()>& check);

// The mean number of times that the mini-batches 0 .. num_batches-1 read each node: the share of
// them with the node, where a repeated seed counts each time. `nodes_of(batch, nodes)` writes the
// node list of a mini-batch to `nodes`; several threads call it at once, and its exceptions pass
// through. Error(kRange) for a node outside [0, num_nodes), kInvalidArgument for fewer than 1
// mini-batches.
using NodesOfBatch = std::function<void(int64_t batch, base::PageVector<int64_t>& nodes)>;
std::vector<double> hotness_by_counting(int64_t num_nodes, int64_t num_batches,
                                        const NodesOfBatch& nodes_of, base::ThreadPool& pool);

// Returns the `count` hottest nodes, hottest first, then by ascending id; all nodes if there are
// fewer.
std::vector<int64_t> hottest(std::span<const double> hotness, int64_t count);

}  // namespace gnnmg::feature
