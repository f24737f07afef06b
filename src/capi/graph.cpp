// Graphs: making, building up, freeing. Reading is in graph_read.cpp, transforms in graph_make.cpp,
// generators in generators.cpp.
#include "capi/graph.h"

#include <optional>

#include "capi/arguments.h"
#include "capi/context.h"
#include "capi/tensor.h"
#include "data/arrays.h"

namespace gnnmg::capi {
namespace {

using base::DType;
using base::Tensor;
using base::TensorView;

// Index pointers over more nodes than the topology takes (graph/csc.cpp) fit no memory.
void check_num_nodes(int64_t num_nodes) {
  constexpr int64_t kMost = int64_t{1} << 42;
  check_least(num_nodes, 0, "num_nodes");
  if (num_nodes > kMost)
    fail(Status::kInvalidArgument, "num_nodes is ", num_nodes, ", expected at most ", kMost);
}

graph::Csc no_edges(int64_t num_sources, int64_t num_targets, base::ThreadPool& pool) {
  const Tensor none = Tensor::empty(DType::kI32, {0});
  return graph::csc_from_coo(none.view(), none.view(), num_sources, num_targets, pool);
}

// The parts as a graph; null while there are no node types. While there are no edge types the nodes
// are checked with a type made for that, and the result is null too.
graph::GraphRef make(const graph::GraphParts& parts, base::ThreadPool& pool) {
  if (parts.schema.node_types.empty()) return nullptr;
  if (!parts.schema.edge_types.empty()) return graph::Graph::create(parts);
  graph::GraphParts completed = parts;
  completed.schema.edge_types.push_back({0, 0, "edge"});
  completed.topology.push_back(no_edges(parts.num_nodes[0], parts.num_nodes[0], pool));
  graph::Graph::create(std::move(completed));
  return nullptr;
}

graph::GraphParts empty_parts() {
  graph::GraphParts parts;
  parts.schema = {};
  return parts;
}

}  // namespace

Graph::Graph(std::shared_ptr<Context> owner)
    : Object(kKind, owner, owner->queue), parts_(empty_parts()) {}

Graph::Graph(std::shared_ptr<Context> owner, graph::GraphRef made)
    : Object(kKind, owner, owner->queue),
      parts_(made->parts()),
      made_(std::move(made)),
      taken_(true) {}

graph::GraphRef Graph::made() const {
  if (made_ == nullptr)
    fail(Status::kInvalidArgument, "the graph has ", parts_.schema.node_types.size(),
         " node types and ", parts_.schema.edge_types.size(),
         " edge types, expected at least one of each");
  return made_;
}

void Graph::change(const std::function<void(graph::GraphParts&)>& change) {
  if (taken_.load(std::memory_order_acquire))
    fail(Status::kInvalidArgument,
         "the graph is complete: a sampler, a data set or another graph was made from it, or it "
         "came out of one; it cannot be changed any more");
  graph::GraphParts next = parts_;
  change(next);
  graph::GraphRef made = make(next, context->pool);
  parts_ = std::move(next);
  made_ = std::move(made);
}

gnnmg_graph* new_open_graph(const std::shared_ptr<Context>& context, const graph::GraphRef& made) {
  auto graph = std::make_shared<Graph>(context);
  graph->change([&](graph::GraphParts& parts) { parts = made->parts(); });
  return new_handle<gnnmg_graph>(std::move(graph));
}

void check_node_type(const graph::GraphParts& parts, int32_t node_type) {
  const size_t count = parts.schema.node_types.size();
  if (node_type < 0 || static_cast<size_t>(node_type) >= count)
    fail(Status::kNotFound, "node type ", node_type, " does not exist, the graph has ", count);
}

void check_edge_type(const graph::GraphParts& parts, int32_t edge_type) {
  const size_t count = parts.schema.edge_types.size();
  if (edge_type < 0 || static_cast<size_t>(edge_type) >= count)
    fail(Status::kNotFound, "edge type ", edge_type, " does not exist, the graph has ", count);
}

namespace {
void check_batch_type(const char* kind, int32_t type, int32_t own) {
  if (type != 0 && type != own)
    fail(Status::kNotFound, kind, " type ", type, " does not exist, mini-batches have 1",
         own == 0 ? "" : base::text(", type ", own));
}
}  // namespace

void BatchTypes::check_node(int32_t node_type) const { check_batch_type("node", node_type, node); }
void BatchTypes::check_edge(int32_t edge_type) const { check_batch_type("edge", edge_type, edge); }

const graph::Csc& edges_of(const graph::GraphParts& parts, int32_t edge_type) {
  check_edge_type(parts, edge_type);
  graph::expect_whole(parts, "a list of edges");
  return parts.topology[edge_type];
}

namespace {

TensorView id_view(const void* ids, gnnmg_dtype dtype, int64_t count, const char* name) {
  if (dtype != GNNMG_DTYPE_I64 && dtype != GNNMG_DTYPE_I32)
    fail(Status::kInvalidArgument, "dtype is ", dtype,
         ", expected GNNMG_DTYPE_I64 or GNNMG_DTYPE_I32");
  if (dtype == GNNMG_DTYPE_I64)
    read_list(static_cast<const int64_t*>(ids), count, name);
  else
    read_list(static_cast<const int32_t*>(ids), count, name);
  return {const_cast<void*>(ids), dtype_of(dtype), {count}};
}

void set_coo(Graph& graph, int32_t edge_type, const TensorView& sources,
             const TensorView& targets) {
  graph.change([&](graph::GraphParts& parts) {
    check_edge_type(parts, edge_type);
    const graph::EdgeType& type = parts.schema.edge_types[edge_type];
    parts.topology[edge_type] =
        graph::csc_from_coo(sources, targets, parts.num_nodes[type.source],
                            parts.num_nodes[type.target], graph.context->pool);
  });
}

void set_csc(Graph& graph, int32_t edge_type, Tensor indptr, Tensor indices, Tensor edge_ids) {
  graph.change([&](graph::GraphParts& parts) {
    check_edge_type(parts, edge_type);
    const graph::EdgeType& type = parts.schema.edge_types[edge_type];
    const int64_t entries = parts.num_nodes[type.target] + 1;
    if (indptr.dtype() != DType::kI64 || indptr.shape() != base::Shape{entries})
      fail(Status::kInvalidArgument, "indptr is ", base::dtype_name(indptr.dtype()), " ",
           indptr.shape().to_string(), ", expected i64 [", entries, "], the targets plus 1");
    parts.topology[edge_type] =
        graph::csc_from_arrays(std::move(indptr), std::move(indices), std::move(edge_ids),
                               parts.num_nodes[type.source], graph.context->pool);
  });
}

void set_column(Graph& graph, int32_t type, const char* name, graph::Column column, bool edges) {
  const std::string key(read_new_name(name, "name"));
  if (const auto* dense = std::get_if<Tensor>(&column))
    data::check_bools(dense->view(), base::text("tensor '", key, "'"));
  graph.change([&](graph::GraphParts& parts) {
    edges ? check_edge_type(parts, type) : check_node_type(parts, type);
    auto& columns = edges ? parts.edge_columns : parts.node_columns;
    columns.resize(edges ? parts.schema.edge_types.size() : parts.schema.node_types.size());
    columns[type].insert_or_assign(key, std::move(column));
  });
}

// The tensor to keep, which has a row for each node or edge; the rows are counted before they are
// read.
Tensor kept_rows(const Graph& graph, int32_t type, bool edges, const Import& imported) {
  const graph::GraphParts& parts = graph.parts();
  edges ? check_edge_type(parts, type) : check_node_type(parts, type);
  const base::Shape& shape = imported.tensor().shape();
  const int64_t expected = edges ? parts.topology[type].num_edges() : parts.num_nodes[type];
  if (shape.num_dims == 0 || shape[0] != expected)
    fail(Status::kInvalidArgument, "argument 'tensor' is ", shape.to_string(), ", expected ",
         expected, " rows, the number of ", edges ? "edges" : "nodes");
  return imported.kept();
}

std::shared_ptr<Graph> new_homogeneous(const gnnmg_context* context, int64_t num_nodes) {
  const auto c = find<Context>(context, "context");
  check_num_nodes(num_nodes);
  auto graph = std::make_shared<Graph>(c);
  graph->change([&](graph::GraphParts& parts) {
    parts.schema = graph::Schema::homogeneous();
    parts.num_nodes = {num_nodes};
    parts.topology = {no_edges(num_nodes, num_nodes, c->pool)};
  });
  return graph;
}

base::CsrMatrix csr_of(const Graph& graph, int32_t node_type, int64_t num_columns, Tensor indptr,
                       Tensor indices, Tensor values) {
  check_node_type(graph.parts(), node_type);
  base::CsrMatrix matrix;
  matrix.num_rows = graph.parts().num_nodes[node_type];
  matrix.num_cols = num_columns;
  matrix.indptr = std::move(indptr);
  matrix.indices = std::move(indices);
  matrix.values = std::move(values);
  return matrix;
}

}  // namespace
}  // namespace gnnmg::capi

using namespace gnnmg::capi;

extern "C" {

gnnmg_status gnnmg_graph_create(const gnnmg_context* context, gnnmg_graph** graph) {
  return guard(outs(Out{graph, "graph"}), [&] {
    *graph = new_handle<gnnmg_graph>(std::make_shared<Graph>(find<Context>(context, "context")));
  });
}

gnnmg_status gnnmg_graph_create_from_coo(const gnnmg_context* context, int64_t num_nodes,
                                         const void* sources, const void* targets,
                                         gnnmg_dtype dtype, int64_t num_edges,
                                         gnnmg_graph** graph) {
  return guard(outs(Out{graph, "graph"}), [&] {
    const auto made = new_homogeneous(context, num_nodes);
    const TensorView from = id_view(sources, dtype, num_edges, "sources");
    set_coo(*made, 0, from, id_view(targets, dtype, num_edges, "targets"));
    *graph = new_handle<gnnmg_graph>(made);
  });
}

void gnnmg_graph_free(gnnmg_graph* graph) { free_handle(graph, Kind::kGraph); }

gnnmg_status gnnmg_graph_add_node_type(gnnmg_graph* graph, const char* name, int64_t num_nodes,
                                       int32_t* node_type) {
  if (node_type != nullptr) *node_type = 0;
  return guard([&] {
    const auto g = hold<Graph>(graph, "graph");
    const std::string type(read_new_name(name, "name"));
    check_num_nodes(num_nodes);
    g->change([&](gnnmg::graph::GraphParts& parts) {
      parts.schema.node_types.push_back(type);
      parts.num_nodes.push_back(num_nodes);
    });
    if (node_type != nullptr)
      *node_type = static_cast<int32_t>(g->parts().schema.node_types.size()) - 1;
  });
}

gnnmg_status gnnmg_graph_add_edge_type(gnnmg_graph* graph, int32_t source_type, const char* name,
                                       int32_t target_type, int32_t* edge_type) {
  if (edge_type != nullptr) *edge_type = 0;
  return guard([&] {
    const auto g = hold<Graph>(graph, "graph");
    const std::string type(read_new_name(name, "name"));
    g->change([&](gnnmg::graph::GraphParts& parts) {
      check_node_type(parts, source_type);
      check_node_type(parts, target_type);
      parts.schema.edge_types.push_back({source_type, target_type, type});
      parts.topology.push_back(
          no_edges(parts.num_nodes[source_type], parts.num_nodes[target_type], g->context->pool));
    });
    if (edge_type != nullptr)
      *edge_type = static_cast<int32_t>(g->parts().schema.edge_types.size()) - 1;
  });
}

gnnmg_status gnnmg_graph_import_coo(gnnmg_graph* graph, int32_t edge_type, gnnmg_tensor* sources,
                                    gnnmg_tensor* targets) {
  return guard([&] {
    const auto g = hold<Graph>(graph, "graph");
    Import from(sources, "sources", g->queue), to(targets, "targets", g->queue);
    set_coo(*g, edge_type, from.tensor().view(), to.tensor().view());
    from.accept();
    to.accept();
  });
}

gnnmg_status gnnmg_graph_import_csc(gnnmg_graph* graph, int32_t edge_type, gnnmg_tensor* indptr,
                                    gnnmg_tensor* indices, gnnmg_tensor* edge_ids) {
  return guard([&] {
    const auto g = hold<Graph>(graph, "graph");
    Import pointers(indptr, "indptr", g->queue), sources(indices, "indices", g->queue);
    std::optional<Import> ids;
    if (edge_ids != nullptr) ids.emplace(edge_ids, "edge_ids", g->queue);
    set_csc(*g, edge_type, pointers.kept(), sources.kept(), ids ? ids->kept() : Tensor{});
    pointers.accept();
    sources.accept();
    if (ids) ids->accept();
  });
}

gnnmg_status gnnmg_graph_import_node_tensor(gnnmg_graph* graph, int32_t node_type, const char* name,
                                            gnnmg_tensor* tensor) {
  return guard([&] {
    const auto g = hold<Graph>(graph, "graph");
    Import imported(tensor, "tensor", g->queue);
    set_column(*g, node_type, name, kept_rows(*g, node_type, false, imported), false);
    imported.accept();
  });
}

gnnmg_status gnnmg_graph_import_node_csr(gnnmg_graph* graph, int32_t node_type, const char* name,
                                         int64_t num_columns, gnnmg_tensor* indptr,
                                         gnnmg_tensor* indices, gnnmg_tensor* values) {
  return guard([&] {
    const auto g = hold<Graph>(graph, "graph");
    Import pointers(indptr, "indptr", g->queue), columns(indices, "indices", g->queue);
    Import entries(values, "values", g->queue);
    set_column(*g, node_type, name,
               csr_of(*g, node_type, num_columns, pointers.kept(), columns.kept(), entries.kept()),
               false);
    pointers.accept();
    columns.accept();
    entries.accept();
  });
}

gnnmg_status gnnmg_graph_import_edge_tensor(gnnmg_graph* graph, int32_t edge_type, const char* name,
                                            gnnmg_tensor* tensor) {
  return guard([&] {
    const auto g = hold<Graph>(graph, "graph");
    Import imported(tensor, "tensor", g->queue);
    set_column(*g, edge_type, name, kept_rows(*g, edge_type, true, imported), true);
    imported.accept();
  });
}

}  // extern "C"
