// Names of node and edge types. A homogeneous graph has one of each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gnnmg::graph {

struct EdgeType {
  int32_t source = 0;  // index of a node type
  int32_t target = 0;
  std::string name;
  bool operator==(const EdgeType&) const = default;
};

struct Schema {
  std::vector<std::string> node_types;
  std::vector<EdgeType> edge_types;

  // One node type "node", one edge type "edge".
  static Schema homogeneous();
  bool is_homogeneous() const { return node_types.size() == 1 && edge_types.size() == 1; }
  // Error(kInvalidArgument): no types, empty or repeated names, an edge type between node types
  // that do not exist.
  void check() const;
  bool operator==(const Schema&) const = default;
};

}  // namespace gnnmg::graph
