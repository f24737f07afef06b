// Graphs: properties, tensors out, edges out.
#include <algorithm>
#include <iterator>

#include "capi/arguments.h"
#include "capi/context.h"
#include "capi/graph.h"
#include "capi/tensor.h"

namespace gnnmg::capi {
namespace {

const graph::Columns* columns_of(const std::vector<graph::Columns>& all, int32_t type) {
  return static_cast<size_t>(type) < all.size() ? &all[type] : nullptr;
}

// The tensor of that name; if there is none, the error lists the names that exist.
const graph::Column& find_column(const graph::Columns* columns, std::string_view name) {
  if (columns != nullptr)
    if (const auto found = columns->find(name); found != columns->end()) return found->second;
  std::string there;
  if (columns != nullptr)
    for (const auto& [key, column] : *columns) there += (there.empty() ? "" : ", ") + key;
  fail(Status::kNotFound, "there is no tensor '", name, "'; there ",
       there.empty() ? "are none" : "are: ", there);
}

const graph::Column& find_node_column(const Graph& graph, int32_t node_type,
                                      std::string_view name) {
  const graph::Elsewhere* elsewhere = graph.parts().elsewhere.get();
  if (elsewhere && elsewhere->column_width(name) >= 0)
    graph::expect_whole(graph.parts(), "a tensor of all nodes");
  return find_column(columns_of(graph.parts().node_columns, node_type), name);
}

// Number `index` of the names; false past the last.
bool name_at(const Graph& graph, const graph::Columns* columns, int64_t index, const char** name,
             const graph::Column** column) {
  check_listed(index, "index");
  if (columns == nullptr || index >= static_cast<int64_t>(columns->size())) return false;
  const auto entry = std::next(columns->begin(), index);
  *name = graph.keep_text(entry->first);
  *column = &entry->second;
  return true;
}

}  // namespace
}  // namespace gnnmg::capi

using namespace gnnmg::capi;
using gnnmg::base::CsrMatrix;
using gnnmg::base::Tensor;

extern "C" {

gnnmg_status gnnmg_graph_num_node_types(const gnnmg_graph* graph, int32_t* count) {
  return guard(outs(Out{count, "count"}), [&] {
    *count = static_cast<int32_t>(read<Graph>(graph, "graph")->parts().schema.node_types.size());
  });
}

gnnmg_status gnnmg_graph_num_edge_types(const gnnmg_graph* graph, int32_t* count) {
  return guard(outs(Out{count, "count"}), [&] {
    *count = static_cast<int32_t>(read<Graph>(graph, "graph")->parts().schema.edge_types.size());
  });
}

gnnmg_status gnnmg_graph_node_type_name(const gnnmg_graph* graph, int32_t node_type,
                                        const char** name) {
  return guard(outs(Out{name, "name"}), [&] {
    const auto g = read<Graph>(graph, "graph");
    check_node_type(g->parts(), node_type);
    *name = g->keep_text(g->parts().schema.node_types[node_type]);
  });
}

gnnmg_status gnnmg_graph_edge_type_name(const gnnmg_graph* graph, int32_t edge_type,
                                        int32_t* source_type, const char** name,
                                        int32_t* target_type) {
  return guard(
      outs(Out{source_type, "source_type"}, Out{name, "name"}, Out{target_type, "target_type"}),
      [&] {
        const auto g = read<Graph>(graph, "graph");
        check_edge_type(g->parts(), edge_type);
        const gnnmg::graph::EdgeType& type = g->parts().schema.edge_types[edge_type];
        *name = g->keep_text(type.name);
        *source_type = type.source;
        *target_type = type.target;
      });
}

gnnmg_status gnnmg_graph_num_nodes(const gnnmg_graph* graph, int32_t node_type, int64_t* count) {
  return guard(outs(Out{count, "count"}), [&] {
    const auto g = read<Graph>(graph, "graph");
    check_node_type(g->parts(), node_type);
    *count = g->parts().num_nodes[node_type];
  });
}

gnnmg_status gnnmg_graph_num_edges(const gnnmg_graph* graph, int32_t edge_type, int64_t* count) {
  return guard(outs(Out{count, "count"}), [&] {
    const auto g = read<Graph>(graph, "graph");
    check_edge_type(g->parts(), edge_type);
    const auto* elsewhere = g->parts().elsewhere.get();
    *count = elsewhere ? elsewhere->num_edges() : g->parts().topology[edge_type].num_edges();
  });
}

gnnmg_status gnnmg_graph_node_tensor_name(const gnnmg_graph* graph, int32_t node_type,
                                          int64_t index, const char** name, int32_t* sparse) {
  return guard(outs(Out{name, "name"}, Out{sparse, "sparse"}), [&]() -> gnnmg_status {
    const auto g = read<Graph>(graph, "graph");
    check_node_type(g->parts(), node_type);
    const gnnmg::graph::Column* column = nullptr;
    if (!name_at(*g, columns_of(g->parts().node_columns, node_type), index, name, &column))
      return GNNMG_END;
    *sparse = std::holds_alternative<CsrMatrix>(*column);
    return GNNMG_OK;
  });
}

gnnmg_status gnnmg_graph_edge_tensor_name(const gnnmg_graph* graph, int32_t edge_type,
                                          int64_t index, const char** name) {
  return guard(outs(Out{name, "name"}), [&]() -> gnnmg_status {
    const auto g = read<Graph>(graph, "graph");
    check_edge_type(g->parts(), edge_type);
    const gnnmg::graph::Column* column = nullptr;
    return name_at(*g, columns_of(g->parts().edge_columns, edge_type), index, name, &column)
               ? GNNMG_OK
               : GNNMG_END;
  });
}

gnnmg_status gnnmg_graph_export_node_tensor(const gnnmg_graph* graph, int32_t node_type,
                                            const char* name, gnnmg_tensor** tensor) {
  return guard(outs(Out{tensor, "tensor"}), [&] {
    const auto g = read<Graph>(graph, "graph");
    check_node_type(g->parts(), node_type);
    const gnnmg::graph::Column& column = find_node_column(*g, node_type, read_name(name, "name"));
    const Tensor* dense = std::get_if<Tensor>(&column);
    if (dense == nullptr)
      fail(Status::kUnsupported, "the tensor '", name,
           "' is sparse; gnnmg_graph_export_node_csr() yields it");
    *tensor = export_tensor(*dense, true).release();
  });
}

gnnmg_status gnnmg_graph_export_node_csr(const gnnmg_graph* graph, int32_t node_type,
                                         const char* name, int64_t* num_columns,
                                         gnnmg_tensor** indptr, gnnmg_tensor** indices,
                                         gnnmg_tensor** values) {
  return guard(outs(Out{num_columns, "num_columns"}, Out{indptr, "indptr"}, Out{indices, "indices"},
                    Out{values, "values"}),
               [&] {
                 const auto g = read<Graph>(graph, "graph");
                 check_node_type(g->parts(), node_type);
                 const gnnmg::graph::Column& column =
                     find_node_column(*g, node_type, read_name(name, "name"));
                 const CsrMatrix* matrix = std::get_if<CsrMatrix>(&column);
                 if (matrix == nullptr)
                   fail(Status::kUnsupported, "the tensor '", name,
                        "' is dense; gnnmg_graph_export_node_tensor() yields it");
                 Export pointers = export_tensor(matrix->indptr, true);
                 Export columns = export_tensor(matrix->indices, true);
                 Export entries = export_tensor(matrix->values, true);
                 *num_columns = matrix->num_cols;
                 *indptr = pointers.release();
                 *indices = columns.release();
                 *values = entries.release();
               });
}

gnnmg_status gnnmg_graph_export_edge_tensor(const gnnmg_graph* graph, int32_t edge_type,
                                            const char* name, gnnmg_tensor** tensor) {
  return guard(outs(Out{tensor, "tensor"}), [&] {
    const auto g = read<Graph>(graph, "graph");
    check_edge_type(g->parts(), edge_type);
    const gnnmg::graph::Column& column =
        find_column(columns_of(g->parts().edge_columns, edge_type), read_name(name, "name"));
    const Tensor* dense = std::get_if<Tensor>(&column);
    if (dense == nullptr) fail(Status::kUnsupported, "the tensor '", name, "' is sparse");
    *tensor = export_tensor(*dense, true).release();
  });
}

gnnmg_status gnnmg_graph_export_coo(const gnnmg_graph* graph, int32_t edge_type,
                                    gnnmg_tensor** sources, gnnmg_tensor** targets) {
  return guard(outs(Out{sources, "sources"}, Out{targets, "targets"}), [&] {
    const auto g = read<Graph>(graph, "graph");
    const auto [from, to] = gnnmg::graph::coo_of(edges_of(g->parts(), edge_type), g->context->pool);
    Export first = export_tensor(from, false);
    Export second = export_tensor(to, false);
    *sources = first.release();
    *targets = second.release();
  });
}

gnnmg_status gnnmg_graph_export_csc(const gnnmg_graph* graph, int32_t edge_type,
                                    gnnmg_tensor** indptr, gnnmg_tensor** indices,
                                    gnnmg_tensor** edge_ids) {
  return guard(outs(Out{indptr, "indptr"}, Out{indices, "indices"}, Out{edge_ids, "edge_ids"}),
               [&] {
                 const auto g = read<Graph>(graph, "graph");
                 const gnnmg::graph::Csc& csc = edges_of(g->parts(), edge_type);
                 Export pointers = export_tensor(csc.indptr, true);
                 Export sources = export_tensor(csc.indices, true);
                 Export ids = csc.edge_ids.defined() ? export_tensor(csc.edge_ids, true) : Export{};
                 *indptr = pointers.release();
                 *indices = sources.release();
                 *edge_ids = ids.release();
               });
}

gnnmg_status gnnmg_graph_get_in_edges(const gnnmg_graph* graph, int32_t edge_type, int64_t target,
                                      int64_t* sources, int64_t* edge_ids, int64_t capacity,
                                      int64_t* needed) {
  return guard(outs(Out{needed, "needed"}), [&] {
    const auto g = read<Graph>(graph, "graph");
    const gnnmg::graph::Csc& csc = edges_of(g->parts(), edge_type);
    if (target < 0 || target >= csc.num_targets)
      fail(Status::kNotFound, "target is ", target, ", expected a node in [0, ", csc.num_targets,
           ")");
    check_least(capacity, 0, "capacity");
    if (sources == nullptr && capacity > 0)
      fail(Status::kInvalidArgument, "argument 'sources' is NULL");
    const int64_t begin = csc.indptr.as<const int64_t>()[target];
    const int64_t degree = csc.in_degree(target);
    for (int64_t i = 0; i < std::min(degree, capacity); ++i) {
      sources[i] = csc.source(begin + i);
      if (edge_ids != nullptr) edge_ids[i] = csc.edge_id(begin + i);
    }
    *needed = degree;
  });
}

}  // extern "C"
