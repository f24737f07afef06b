// Graphs out of graphs.
#include "capi/arguments.h"
#include "capi/context.h"
#include "capi/graph.h"
#include "graph/transform.h"

namespace gnnmg::capi {
namespace {

graph::GraphRef transformed_graph(const graph::Graph& graph, gnnmg_transform transform,
                                  int32_t edge_type, base::ThreadPool& pool) {
  switch (transform) {
    case GNNMG_TRANSFORM_ADD_REVERSE_EDGES:
      return graph::add_reverse_edges(graph, false, pool, edge_type);
    case GNNMG_TRANSFORM_TO_UNDIRECTED:
      return graph::to_undirected(graph, pool, edge_type);
    case GNNMG_TRANSFORM_COALESCE:
      return graph::coalesce(graph, pool, edge_type);
    case GNNMG_TRANSFORM_REMOVE_SELF_LOOPS:
      return graph::remove_self_loops(graph, pool, edge_type);
    case GNNMG_TRANSFORM_ADD_SELF_LOOPS:
      return graph::add_self_loops(graph, pool, edge_type);
    case GNNMG_TRANSFORM_ADD_REMAINING_SELF_LOOPS:
      return graph::add_remaining_self_loops(graph, pool, edge_type);
    case GNNMG_TRANSFORM_REVERSE_EDGES:
      return graph::reverse_edges(graph, pool, edge_type);
    default:
      return graph::remove_edges(graph);
  }
}

}  // namespace
}  // namespace gnnmg::capi

using namespace gnnmg::capi;

extern "C" {

gnnmg_status gnnmg_graph_create_transformed(const gnnmg_graph* graph, gnnmg_transform transform,
                                            int32_t edge_type, gnnmg_graph** transformed) {
  return guard(outs(Out{transformed, "transformed"}), [&] {
    const auto g = read<Graph>(graph, "graph");
    GNNMG_CHECK_CONSTANT(transform, GNNMG_TRANSFORM_ADD_REVERSE_EDGES,
                         GNNMG_TRANSFORM_REVERSE_EDGES, "transform");
    if (transform != GNNMG_TRANSFORM_REMOVE_EDGES) check_edge_type(g->parts(), edge_type);
    *transformed = new_open_graph(
        g->context, transformed_graph(*g->made(), transform, edge_type, g->context->pool));
    g->freeze();
  });
}

gnnmg_status gnnmg_graph_create_normalized(const gnnmg_graph* graph, const char* name,
                                           gnnmg_graph** normalized) {
  return guard(outs(Out{normalized, "normalized"}), [&] {
    const auto g = read<Graph>(graph, "graph");
    *normalized = new_open_graph(
        g->context,
        gnnmg::graph::normalize_rows(*g->made(), read_name(name, "name"), g->context->pool));
    g->freeze();
  });
}

}  // extern "C"
