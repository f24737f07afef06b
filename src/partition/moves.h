// Better parts of a small graph by moving its rows.
#pragma once

#include <cstdint>
#include <vector>

#include "partition/topology.h"
#include "partition/work.h"

namespace gnnmg::partition {

// Parts of a small graph's rows, with what each part holds.
struct Parts {
  std::vector<uint16_t> of;  // a part a row
  std::vector<Load> loads;   // a part each

  Parts(const SmallGraph& graph, std::vector<uint16_t> parts, int32_t num_parts)
      : of(std::move(parts)), loads(num_parts) {
    for (int64_t v = 0; v < graph.size(); ++v) loads[of[v]] += graph.weight(v);
  }
  void move(int64_t v, uint16_t to, const Load& row) {
    loads[of[v]] -= row;
    loads[to] += row;
    of[v] = to;
  }
  // By how much parts are beyond `goal`, as a share of it, in sum; 0: none is.
  double excess(const Load& goal) const;
};

// The weight of edges between parts.
int64_t cut_of(const SmallGraph& graph, const std::vector<uint16_t>& parts);

// Moves rows out of parts beyond `goal` into parts with room, those that cost least first, until
// none is beyond it or no row fits.
void rebalance(const SmallGraph& graph, const Load& goal, uint64_t seed, Parts& parts);

// Passes of Fiduccia and Mattheyses ("A linear-time heuristic for improving network partitions",
// DAC 1982) between any number of parts: the best move first, also one that makes the cut larger,
// each row once; at the end of a pass the moves after the best state are taken back. Until a pass
// finds nothing better. No part goes beyond `goal`.
void improve(const SmallGraph& graph, const Load& goal, uint64_t seed, const Work& work,
             Parts& parts);

}  // namespace gnnmg::partition
