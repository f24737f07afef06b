// Sums of the weights of the edges into a node, from which GCN with edge weights takes its degrees.
// One function for a whole graph and for parts of it, so that both have the same bits.
#pragma once

#include <cstdint>
#include <span>

#include "graph/csc.h"

namespace gnnmg::graph {

// Sums are in f64, in the order of the edges.
struct WeightSums {
  double others, loops;  // sums over edges from other nodes, and from the node itself
  double last_loop;      // the weight of the loop with the highest edge id; NaN without loops
};

// Returns the sums of row `row`, whose target is node `node`. `weights`: of the row's edges.
WeightSums sum_weights(const Csc& csc, int64_t row, int64_t node, std::span<const double> weights);

}  // namespace gnnmg::graph
