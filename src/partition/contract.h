// From a graph and the clusters of its rows to the graph of the clusters.
#pragma once

#include <cstdint>
#include <vector>

#include "partition/topology.h"
#include "partition/work.h"

namespace gnnmg::partition {

struct ContractConfig {
  Load limit;  // what clusters without edges to others are packed together to
  // Pairs of joined clusters that are kept. Beyond it the lightest are dropped, so that memory is
  // bounded; the graph is then an approximation.
  int64_t max_pairs = int64_t{1} << 22;
};

// The weight of a pair of clusters is the number of edges between them, in either direction.
// `labels` are replaced by the rows' places in the new graph, from 0 without a gap.
SmallGraph contract(const CscRows& rows, const ContractConfig& config, const Work& work,
                    std::vector<uint32_t>& labels);
SmallGraph contract(const SmallGraph& rows, const ContractConfig& config, const Work& work,
                    std::vector<uint32_t>& labels);

}  // namespace gnnmg::partition
