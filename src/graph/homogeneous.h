// A check for code that handles one node type and one edge type, whatever types the caller has.
#pragma once

#include <string_view>

#include "graph/graph.h"

namespace gnnmg::graph {

// Error(kUnsupported) unless the graph has one node type and one edge type. `who` names the code
// that needs that ("models").
void expect_homogeneous(const Graph& graph, std::string_view who);

}  // namespace gnnmg::graph
