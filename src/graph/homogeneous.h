// Who reads the types of number 0, whatever types the caller means, says so before it does.
#pragma once

#include <string_view>

#include "graph/graph.h"

namespace gnnmg::graph {

// Error(kUnsupported) unless the graph has one node type and one edge type; `who` is who takes only
// such graphs ("models").
void expect_homogeneous(const Graph& graph, std::string_view who);

}  // namespace gnnmg::graph
