// Parts of the graph of clusters, by multilevel partitioning: clusters of clusters, parts of the
// coarsest graph, and moves on the way back.
#pragma once

#include <cstdint>
#include <vector>

#include "partition/topology.h"
#include "partition/work.h"

namespace gnnmg::partition {

// Returns the part of each row. Parts stay within `goal` if the weights of single rows allow it. A
// pure function of its arguments.
std::vector<uint16_t> partition_small(const SmallGraph& graph, int32_t num_parts, const Load& goal,
                                      uint64_t seed, const Work& work);

}  // namespace gnnmg::partition
