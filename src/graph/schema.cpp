#include "graph/schema.h"

#include <algorithm>

#include "base/error.h"

namespace gnnmg::graph {

using base::fail;
using base::Status;

Schema Schema::homogeneous() { return {{"node"}, {{0, 0, "edge"}}}; }

void Schema::check() const {
  if (node_types.empty()) fail(Status::kInvalidArgument, "schema has no node type, expected one");
  if (edge_types.empty()) fail(Status::kInvalidArgument, "schema has no edge type, expected one");
  for (size_t i = 0; i < node_types.size(); ++i) {
    if (node_types[i].empty())
      fail(Status::kInvalidArgument, "schema: node type ", i, " has an empty name");
    if (std::find(node_types.begin(), node_types.begin() + i, node_types[i]) !=
        node_types.begin() + i)
      fail(Status::kInvalidArgument, "schema: node type ", i, " repeats the name '", node_types[i],
           "'");
  }
  const auto num_node_types = static_cast<int64_t>(node_types.size());
  for (size_t i = 0; i < edge_types.size(); ++i) {
    const EdgeType& type = edge_types[i];
    if (type.name.empty())
      fail(Status::kInvalidArgument, "schema: edge type ", i, " has an empty name");
    for (int32_t end : {type.source, type.target})
      if (end < 0 || end >= num_node_types)
        fail(Status::kInvalidArgument, "schema: edge type ", i, " '", type.name, "' has ",
             end == type.source ? "source" : "target", " node type ", end,
             ", expected a type in [0, ", num_node_types, ")");
    if (std::find(edge_types.begin(), edge_types.begin() + i, type) != edge_types.begin() + i)
      fail(Status::kInvalidArgument, "schema: edge type ", i, " repeats '", node_types[type.source],
           " -", type.name, "-> ", node_types[type.target], "'");
  }
}

}  // namespace gnnmg::graph
