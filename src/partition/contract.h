// Makes the graph of clusters from a graph and the clusters of its rows.
#pragma once

#include <cstdint>
#include <vector>

#include "partition/topology.h"
#include "partition/work.h"

namespace gnnmg::partition {

struct ContractConfig {
  Load limit;  // limit for merging clusters without edges to others
  // The number of pairs of joined clusters that are kept. Beyond it the lightest are dropped, so
  // that memory is bounded; the graph is then an approximation.
  int64_t max_pairs = int64_t{1} << 22;
};

// The weight of a pair of clusters is the number of edges between them, in either direction.
// Replaces `labels` by the rows' clusters in the new graph, numbered from 0 without gaps.
SmallGraph contract(const CscRows& rows, const ContractConfig& config, const Work& work,
                    std::vector<uint32_t>& labels);
SmallGraph contract(const SmallGraph& rows, const ContractConfig& config, const Work& work,
                    std::vector<uint32_t>& labels);

}  // namespace gnnmg::partition
