// Clusters of bounded size by label propagation (Raghavan, Albert, Kumara, 2007; with a bound on
// the size: Meyerhenke, Sanders, Schulz, "Partitioning complex networks via size-constrained
// clustering", 2014). Rows are read in order, from memory or from a mapped file; takes 16 bytes per
// node.
#pragma once

#include <cstdint>
#include <vector>

#include "partition/topology.h"
#include "partition/work.h"

namespace gnnmg::partition {

struct ClusterConfig {
  Load limit;          // limit of a cluster; a larger row is a cluster by itself
  int32_t passes = 5;  // fewer if a pass moves almost nothing
  uint64_t seed = 0;   // breaks ties between labels of equal weight
};

// Returns the label of each row, which is the number of one of the rows. A pass gives each row, in
// order, the label that most of its incoming edges come from and that has room. Finally rows
// without incoming edges join the first row that reads them.
std::vector<uint32_t> cluster(const CscRows& rows, const ClusterConfig& config, const Work& work);
std::vector<uint32_t> cluster(const SmallGraph& rows, const ClusterConfig& config,
                              const Work& work);

}  // namespace gnnmg::partition
