// Improves the parts of a small graph by moving its rows.
#pragma once

#include <cstdint>
#include <vector>

#include "partition/topology.h"
#include "partition/work.h"

namespace gnnmg::partition {

// The parts of a small graph's rows, with the load of each part.
struct Parts {
  std::vector<uint16_t> of;  // part of each row
  std::vector<Load> loads;   // load of each part

  Parts(const SmallGraph& graph, std::vector<uint16_t> parts, int32_t num_parts)
      : of(std::move(parts)), loads(num_parts) {
    for (int64_t v = 0; v < graph.size(); ++v) loads[of[v]] += graph.weight(v);
  }
  void move(int64_t v, uint16_t to, const Load& row) {
    loads[of[v]] -= row;
    loads[to] += row;
    of[v] = to;
  }
  // Returns the sum of the parts' excesses over `goal`, relative to `goal`; 0 if no part exceeds
  // it.
  double excess(const Load& goal) const;
};

// Returns the weight of the edges between parts.
int64_t cut_of(const SmallGraph& graph, const std::vector<uint16_t>& parts);

// Moves rows out of parts that exceed `goal` into parts with room, the cheapest moves first, until
// no part exceeds it or no row fits.
void rebalance(const SmallGraph& graph, const Load& goal, uint64_t seed, Parts& parts);

// Passes of Fiduccia and Mattheyses ("A linear-time heuristic for improving network partitions",
// DAC 1982) between any number of parts. The best move comes first, even if it makes the cut
// larger; each row moves once; at the end of a pass the moves after the best state are undone. Ends
// when a pass finds nothing better. No part exceeds `goal`.
void improve(const SmallGraph& graph, const Load& goal, uint64_t seed, const Work& work,
             Parts& parts);

}  // namespace gnnmg::partition
