#include "graph/weight_sums.h"

#include <limits>

namespace gnnmg::graph {

WeightSums sum_weights(const Csc& csc, int64_t row, int64_t node, std::span<const double> weights) {
  const int64_t first = static_cast<const int64_t*>(csc.indptr.data())[row];
  WeightSums sums{0, 0, std::numeric_limits<double>::quiet_NaN()};
  int64_t last = -1;
  for (size_t i = 0; i < weights.size(); ++i) {
    const int64_t e = first + static_cast<int64_t>(i);
    if (csc.source(e) != node) {
      sums.others += weights[i];
      continue;
    }
    sums.loops += weights[i];
    if (csc.edge_id(e) < last) continue;
    last = csc.edge_id(e);
    sums.last_loop = weights[i];
  }
  return sums;
}

}  // namespace gnnmg::graph
