// Clusters of bounded size by label propagation (Raghavan, Albert, Kumara, 2007; with a bound on
// the size: Meyerhenke, Sanders, Schulz, "Partitioning complex networks via size-constrained
// clustering", 2014). Here the rows are read in their order, from memory or from a mapped file, and
// 16 bytes a node are kept.
#pragma once

#include <cstdint>
#include <vector>

#include "partition/topology.h"
#include "partition/work.h"

namespace gnnmg::partition {

struct ClusterConfig {
  Load limit;          // what a cluster may hold; a row that is larger is one of its own
  int32_t passes = 5;  // fewer where a pass moves next to nothing
  uint64_t seed = 0;   // decides between labels of equal weight
};

// The label of each row: the number of one of the rows. One pass gives each row, in order, the
// label that most of its edges lead from and that has room. At last rows without edges of their own
// join the first row that reads them.
std::vector<uint32_t> cluster(const CscRows& rows, const ClusterConfig& config, const Work& work);
std::vector<uint32_t> cluster(const SmallGraph& rows, const ClusterConfig& config,
                              const Work& work);

}  // namespace gnnmg::partition
