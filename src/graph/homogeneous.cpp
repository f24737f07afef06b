#include "graph/homogeneous.h"

#include "base/error.h"

namespace gnnmg::graph {

void expect_homogeneous(const Graph& graph, std::string_view who) {
  if (!graph.homogeneous())
    base::fail(base::Status::kUnsupported, "the graph has ", graph.schema().node_types.size(),
               " node types and ", graph.schema().edge_types.size(), " edge types; ", who,
               " take graphs with one of each");
}

}  // namespace gnnmg::graph
