// Parts for the nodes of a graph.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/csc.h"
#include "partition/load.h"
#include "partition/work.h"

namespace gnnmg::partition {

enum class Method : int32_t {
  kCluster = 0,  // clusters, parts of the graph of clusters, moves
  kMetis = 1,    // METIS on the whole graph
  kRange = 2,    // equal ranges of ids
  kHash = 3,     // by a hash of id and seed
};

struct Config {
  int32_t num_parts = 2;
  Method method = Method::kCluster;
  uint64_t seed = 0;
  int32_t passes = 5;         // of clustering, at most
  int32_t refine_passes = 4;  // at most
  Slack slack;
  int64_t memory_limit = 0;  // bytes beside the graph; 0: as much as the method likes
};

// The part of each node. `csc` joins nodes of one type; `train` are the training ids. By kCluster
// and kMetis parts keep the slack, plus one row. The same for any number of threads.
// Error(kInvalidArgument) naming the setting that is out of range, kUnsupported for 2^32 nodes or
// more, kNoMemory naming what the method needs where memory_limit is less, kCancelled; for kMetis
// what partition_by_metis throws.
std::vector<uint16_t> assign_parts(const graph::Csc& csc, std::span<const int64_t> train,
                                   const Config& config, const Work& work);

// Bytes that assign_parts takes beside the graph, at most; by kMetis about.
int64_t memory_needed(int64_t num_nodes, int64_t num_edges, Method method);

}  // namespace gnnmg::partition
