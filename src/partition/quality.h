// Measures the quality of parts: their loads and their cut.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "partition/topology.h"
#include "partition/work.h"

namespace gnnmg::partition {

struct Quality {
  std::vector<Load> loads;         // load of each part
  std::vector<int64_t> cut_edges;  // edges into each part from other parts
  int64_t total_cut = 0;
  double cut = 0;  // share of all edges; 0 without edges
  // The largest part divided by the mean part; 1 if the mean is 0.
  double node_balance = 1, edge_balance = 1, train_balance = 1;
};

// Makes one pass over the edges.
Quality quality_of(const CscRows& rows, std::span<const uint16_t> parts, int32_t num_parts,
                   const Work& work);

}  // namespace gnnmg::partition
