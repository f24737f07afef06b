// The object of a graph's handle: parts that may grow until another object takes the graph.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "capi/object.h"
#include "gnnmg.h"
#include "graph/graph.h"

namespace gnnmg::capi {

class Graph : public Object {
 public:
  static constexpr Kind kKind = Kind::kGraph;
  explicit Graph(std::shared_ptr<Context> owner);
  // A graph that is complete: it cannot be changed.
  Graph(std::shared_ptr<Context> owner, graph::GraphRef made);

  const graph::GraphParts& parts() const { return parts_; }
  // The present graph, for another object. Error(kInvalidArgument) for a graph without node or edge
  // types. With a reader's share.
  graph::GraphRef made() const;
  // Another object has it: from here on the graph never changes. With the same share, and only once
  // the object is there: a call that fails leaves the graph as it was.
  void freeze() const noexcept { taken_.store(true, std::memory_order_release); }
  // Changes a copy of the parts, checks it, and puts it in place. With a hold.
  void change(const std::function<void(graph::GraphParts&)>& change);

 private:
  graph::GraphParts parts_;
  graph::GraphRef made_;  // made of the present parts; null while types are missing
  mutable std::atomic<bool> taken_{false};
};

// A handle of a graph that may still get tensors of the caller.
gnnmg_graph* new_open_graph(const std::shared_ptr<Context>& context, const graph::GraphRef& made);

// Node and edge types by index; Error(kNotFound).
void check_node_type(const graph::GraphParts& parts, int32_t node_type);
void check_edge_type(const graph::GraphParts& parts, int32_t edge_type);
// Types of the nodes and edges of mini-batches.
struct BatchTypes {
  int32_t node = 0, edge = 0;
  // Error(kNotFound) for an index that is neither 0 nor that of the mini-batches.
  void check_node(int32_t node_type) const;
  void check_edge(int32_t edge_type) const;
};
// The edges of a type that there is. Error(kUnsupported) where parts of them are elsewhere.
const graph::Csc& edges_of(const graph::GraphParts& parts, int32_t edge_type);

}  // namespace gnnmg::capi
