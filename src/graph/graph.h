// A graph: schema, topology per edge type, named tensors on node and edge types. Immutable and
// shared by all its users.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/tensor.h"
#include "graph/csc.h"
#include "graph/elsewhere.h"
#include "graph/schema.h"

namespace gnnmg::graph {

// A named tensor on nodes or edges: dense [rows, ...] or sparse rows.
using Column = std::variant<base::Tensor, base::CsrMatrix>;
int64_t column_rows(const Column& column);
using Columns = std::map<std::string, Column, std::less<>>;

// The parts that a graph is made from. Edge tensors have one row per edge in the caller's order
// (edge id).
struct GraphParts {
  Schema schema = Schema::homogeneous();
  std::vector<int64_t> num_nodes;     // per node type
  std::vector<Csc> topology;          // per edge type
  std::vector<Columns> node_columns;  // per node type; may be shorter
  std::vector<Columns> edge_columns;  // per edge type; may be shorter
  // Set if this process holds only some parts of the graph: replaces all topology, which is empty
  // then, and the columns that are not listed above. Otherwise null.
  std::shared_ptr<const Elsewhere> elsewhere = {};
};

// Error(kUnsupported) if parts of the graph are elsewhere. `who` names the operation that needs the
// whole graph ("the transform").
void expect_whole(const GraphParts& parts, std::string_view who);

class Graph {
 public:
  // Checks that the parts agree. Error(kInvalidArgument) names the type, the tensor, the expected
  // and the found value.
  static std::shared_ptr<const Graph> create(GraphParts parts);

  const Schema& schema() const { return parts_.schema; }
  bool homogeneous() const { return parts_.schema.is_homogeneous(); }
  int64_t num_nodes(int32_t node_type = 0) const { return parts_.num_nodes[node_type]; }
  int64_t num_edges(int32_t edge_type = 0) const {
    return elsewhere() ? elsewhere()->num_edges() : parts_.topology[edge_type].num_edges();
  }
  // Error(kUnsupported) if the topology is elsewhere.
  const Csc& csc(int32_t edge_type = 0) const {
    if (elsewhere()) expect_whole(parts_, "what is asked for");
    return parts_.topology[edge_type];
  }
  // Null if the whole graph is here.
  const Elsewhere* elsewhere() const { return parts_.elsewhere.get(); }
  const Columns& node_columns(int32_t node_type = 0) const {
    return parts_.node_columns[node_type];
  }
  const Columns& edge_columns(int32_t edge_type = 0) const {
    return parts_.edge_columns[edge_type];
  }
  // Null if absent.
  const Column* node_column(std::string_view name, int32_t node_type = 0) const;
  const Column* edge_column(std::string_view name, int32_t edge_type = 0) const;
  const GraphParts& parts() const { return parts_; }

 private:
  explicit Graph(GraphParts parts) : parts_(std::move(parts)) {}
  GraphParts parts_;
};

using GraphRef = std::shared_ptr<const Graph>;

}  // namespace gnnmg::graph
