// Hotness: how often mini-batches read the row of each node, told before training, so that the rows
// read most can lie where reading is cheapest. By three measures: the number of edges, a formula,
// and counting. All take and give arrays with one number a node; none depends on threads.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/memory.h"
#include "base/thread_pool.h"
#include "graph/csc.h"

namespace gnnmg::feature {

// The number of edges that leave each node: how many targets may draw it.
std::vector<double> hotness_by_degree(const graph::Csc& csc, base::ThreadPool& pool);

// What of a sampler decides which nodes it finds; fields as in sample::NeighborConfig.
struct SamplingLaw {
  int64_t batch_size = 1024;
  std::vector<int64_t> fanouts = {};  // nearest to the seeds first; -1: all, 0: none
  bool every_layer = false;  // each hop draws for all nodes known, not for those just found
  bool replace = false;
};

// The probability that a node is in a mini-batch, hop by hop, with nothing sampled. (Caching by how
// likely sampling visits a node is known as pre-sampling, or by vertex inclusion probabilities; see
// GNNLab, EuroSys 2022, and SALIENT++, MLSys 2023. The recursion here is stated for both ways of
// expansion.)
//
// With d(v) the in-degree of v and f(h) the fan-out of hop h, v draws a given one of its edges with
// r(h, v) = min(f, d) / d, or 1 - (1 - 1/d)^f with replacement. Let q(h, v) be the probability that
// v is known after h hops, q(0, v) = batch size / seeds for seeds and 0 for others, and b(h, v)
// that v has drawn a given edge by hop h, b(-1, v) = 0. Then
//   b(h, v) = b(h-1, v) + r(h, v) (q(h, v) - q(h-1, v))   where nodes are expanded once,
//   b(h, v) = b(h-1, v) + r(h, v) (q(h, v) - b(h-1, v))   where every layer draws for all,
//   q(h+1, u) = 1 - (1 - q(0, u)) * product over the edges u -> v of (1 - b(h, v)).
// The product takes what happens at different targets to be independent; the sum of q is the
// expected number of rows of a mini-batch. What is not independent makes it a little too large
// where edges go both ways, the more the fewer edges the nodes have.
//
// `csc` holds the edges in the direction of sampling and joins nodes of one type; `seeds` are
// distinct. Error(kRange) for a seed that is no node, kInvalidArgument for a batch size below 1 or
// a fan-out below -1.
std::vector<double> hotness_by_formula(const graph::Csc& csc, std::span<const int64_t> seeds,
                                       const SamplingLaw& law, base::ThreadPool& pool);

// The same, to the last few bits, in one pass over the rows of `csc` a fan-out and on the calling
// thread alone: for graphs of which no reversed copy fits into memory. Takes 32 bytes a node.
// `check` is called every few thousand rows and may throw.
std::vector<double> hotness_by_rows(const graph::Csc& csc, std::span<const int64_t> seeds,
                                    const SamplingLaw& law, const std::function<void()>& check);

// How many rows of a node the mini-batches 0 .. num_batches-1 read in the mean: the share that hold
// it, a repeated seed being read as often as it stands there. `nodes_of(batch, nodes)` puts the
// node list of one into `nodes`: a sampler's work. It is called by several threads at once, and
// what it throws goes through. Error(kRange) for a node outside [0, num_nodes), kInvalidArgument
// for fewer than 1 mini-batches.
using NodesOfBatch = std::function<void(int64_t batch, base::PageVector<int64_t>& nodes)>;
std::vector<double> hotness_by_counting(int64_t num_nodes, int64_t num_batches,
                                        const NodesOfBatch& nodes_of, base::ThreadPool& pool);

// The `count` hottest nodes, hottest first, of equal ones that with the lower id first; all where
// there are fewer.
std::vector<int64_t> hottest(std::span<const double> hotness, int64_t count);

}  // namespace gnnmg::feature
