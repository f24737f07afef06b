// Small graphs for the tests of sampling, and an independent implementation of the sampler that
// follows its definition.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "sample/sampler.h"

namespace gnnmg::test {

// A graph of `num_nodes` nodes with degrees from 0 to those of hubs: about one node in ten is
// isolated, and node 0 has `hub` in-neighbors. Sources may repeat. Edges are in random order, so
// edge ids are not the identity.
graph::GraphRef skewed_graph(int64_t num_nodes, int64_t hub, uint64_t seed);

// Makes a graph from CSC arrays.
graph::GraphRef graph_of(const std::vector<int64_t>& indptr, const std::vector<int32_t>& sources);

// The picks of draw.h's definition for one row.
std::vector<int64_t> reference_picks(base::Key key, int64_t node, int64_t degree, int64_t fanout,
                                     bool replace);

// The expected result of a sampler.
struct ReferenceBlock {
  std::vector<int64_t> indptr, indices, edge_ids;
  int64_t num_targets = 0, num_sources = 0;
};
struct ReferenceSample {
  std::vector<int64_t> nodes, hop_ends;
  std::vector<ReferenceBlock> blocks;
};
ReferenceSample reference_sample(const graph::Csc& csc, const sample::NeighborConfig& config,
                                 std::span<const int64_t> seeds, const sample::BatchKey& key);

// Fails the running test if the two differ, or if a list by source is not the transpose of its
// block.
void expect_equal(const sample::Sample& found, const ReferenceSample& expected,
                  const sample::NeighborConfig& config);

}  // namespace gnnmg::test
