// Assigns the nodes of a graph to parts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/csc.h"
#include "partition/load.h"
#include "partition/work.h"

namespace gnnmg::partition {

enum class Method : int32_t {
  kCluster = 0,  // clusters, parts of the graph of clusters, then moves
  kMetis = 1,    // METIS on the whole graph
  kRange = 2,    // equal ranges of ids
  kHash = 3,     // hash of id and seed
};

struct Config {
  int32_t num_parts = 2;
  Method method = Method::kCluster;
  uint64_t seed = 0;
  int32_t passes = 5;         // upper bound for passes of clustering
  int32_t refine_passes = 4;  // upper bound
  Slack slack;
  int64_t memory_limit = 0;  // bytes in addition to the graph; 0: no limit
};

// Returns the part of each node. `csc` joins nodes of one type; `train` are the training ids. With
// kCluster and kMetis parts stay within the slack plus one row. The result does not depend on the
// number of threads. Error(kInvalidArgument) names a setting that is out of range, kUnsupported for
// 2^32 nodes or more, kNoMemory names the memory that the method needs if memory_limit is less,
// kCancelled; with kMetis also the errors of partition_by_metis().
std::vector<uint16_t> assign_parts(const graph::Csc& csc, std::span<const int64_t> train,
                                   const Config& config, const Work& work);

// Upper bound for the bytes that assign_parts() takes in addition to the graph; an estimate for
// kMetis.
int64_t memory_needed(int64_t num_nodes, int64_t num_edges, Method method);

}  // namespace gnnmg::partition
