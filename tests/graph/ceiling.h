// The best accuracy that is possible on a generated graph: belief propagation with the generator's
// own likelihoods. An oracle for tests and benchmarks, not for training: it uses the class centers
// and all probabilities.
#pragma once

#include <vector>

#include "graph/generate.h"

namespace gnnmg::graph {

// Entry h is the share of nodes whose visible label is predicted correctly from the features of
// nodes up to h hops away, for h = 0 .. hops. Exact if neighborhoods are trees. `graph` must have
// been generated from `config`.
std::vector<double> ceiling(const PlantedPartitionConfig& config, const Graph& graph, int hops,
                            base::ThreadPool& pool);
// The same along in-edges.
std::vector<double> ceiling(const LogNormalConfig& config, const Graph& graph, int hops,
                            base::ThreadPool& pool);

}  // namespace gnnmg::graph
