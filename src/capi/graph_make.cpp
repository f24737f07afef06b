// Graphs out of graphs, and generated ones.
#include "capi/arguments.h"
#include "capi/context.h"
#include "capi/graph.h"
#include "graph/generate.h"
#include "graph/transform.h"

namespace gnnmg::capi {
namespace {

// The defaults are those of the generators themselves.
const gnnmg_planted_partition_config kPlantedDefaults = [] {
  const graph::PlantedPartitionConfig d;
  gnnmg_planted_partition_config config{};
  config.struct_size = sizeof config;
  config.num_classes = d.num_classes;
  config.num_nodes = d.num_nodes;
  config.mean_degree = d.mean_degree;
  config.intra_probability = d.intra_probability;
  config.centre_scale = d.centre_scale;
  config.noise = d.noise;
  config.label_noise = d.label_noise;
  config.seed = d.seed;
  config.num_features = d.num_features;
  return config;
}();

const gnnmg_log_normal_config kLogNormalDefaults = [] {
  const graph::LogNormalConfig d;
  gnnmg_log_normal_config config{};
  config.struct_size = sizeof config;
  config.num_features = d.num_features;
  config.num_classes = d.num_classes;
  config.num_nodes = d.num_nodes;
  config.mean_degree = d.mean_degree;
  config.sigma = d.sigma;
  config.zipf = d.zipf;
  config.homophily = d.homophily;
  config.centre_scale = d.centre_scale;
  config.label_noise = d.label_noise;
  config.seed = d.seed;
  return config;
}();

const gnnmg_rmat_config kRmatDefaults = [] {
  const graph::RmatConfig d;
  gnnmg_rmat_config config{};
  config.struct_size = sizeof config;
  config.scale = d.scale;
  config.num_edges = d.num_edges;
  config.a = d.a;
  config.b = d.b;
  config.c = d.c;
  config.seed = d.seed;
  return config;
}();

const gnnmg_erdos_renyi_config kErdosRenyiDefaults = [] {
  const graph::ErdosRenyiConfig d;
  gnnmg_erdos_renyi_config config{};
  config.struct_size = sizeof config;
  config.num_nodes = d.num_nodes;
  config.num_edges = d.num_edges;
  config.seed = d.seed;
  return config;
}();

// A generated graph may still get tensors of the caller's.
gnnmg_graph* new_open_graph(const std::shared_ptr<Context>& context, const graph::GraphRef& made) {
  auto graph = std::make_shared<Graph>(context);
  graph->change([&](graph::GraphParts& parts) { parts = made->parts(); });
  return new_handle<gnnmg_graph>(std::move(graph));
}

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

gnnmg_status gnnmg_planted_partition_config_init(gnnmg_planted_partition_config* config,
                                                 size_t struct_size) {
  return init_config(config, struct_size, kPlantedDefaults);
}

gnnmg_status gnnmg_graph_create_planted_partition(const gnnmg_context* context,
                                                  const gnnmg_planted_partition_config* config,
                                                  gnnmg_graph** graph) {
  return guard(outs(Out{graph, "graph"}), [&] {
    const auto c = find<Context>(context, "context");
    const gnnmg_planted_partition_config in = read_config(config, kPlantedDefaults);
    gnnmg::graph::PlantedPartitionConfig settings;
    settings.num_nodes = in.num_nodes;
    settings.num_classes = in.num_classes;
    settings.mean_degree = in.mean_degree;
    settings.intra_probability = in.intra_probability;
    settings.num_features = in.num_features;
    settings.centre_scale = in.centre_scale;
    settings.noise = in.noise;
    settings.label_noise = in.label_noise;
    settings.seed = in.seed;
    *graph = new_open_graph(c, gnnmg::graph::planted_partition(settings, c->pool));
  });
}

gnnmg_status gnnmg_log_normal_config_init(gnnmg_log_normal_config* config, size_t struct_size) {
  return init_config(config, struct_size, kLogNormalDefaults);
}

gnnmg_status gnnmg_graph_create_log_normal(const gnnmg_context* context,
                                           const gnnmg_log_normal_config* config,
                                           gnnmg_graph** graph) {
  return guard(outs(Out{graph, "graph"}), [&] {
    const auto c = find<Context>(context, "context");
    const gnnmg_log_normal_config in = read_config(config, kLogNormalDefaults);
    gnnmg::graph::LogNormalConfig settings;
    settings.num_nodes = in.num_nodes;
    settings.mean_degree = in.mean_degree;
    settings.sigma = in.sigma;
    settings.num_features = in.num_features;
    settings.num_classes = in.num_classes;
    settings.zipf = in.zipf;
    settings.homophily = in.homophily;
    settings.centre_scale = in.centre_scale;
    settings.label_noise = in.label_noise;
    settings.seed = in.seed;
    *graph = new_open_graph(c, gnnmg::graph::log_normal(settings, c->pool));
  });
}

gnnmg_status gnnmg_rmat_config_init(gnnmg_rmat_config* config, size_t struct_size) {
  return init_config(config, struct_size, kRmatDefaults);
}

gnnmg_status gnnmg_graph_create_rmat(const gnnmg_context* context, const gnnmg_rmat_config* config,
                                     gnnmg_graph** graph) {
  return guard(outs(Out{graph, "graph"}), [&] {
    const auto c = find<Context>(context, "context");
    const gnnmg_rmat_config in = read_config(config, kRmatDefaults);
    gnnmg::graph::RmatConfig settings;
    settings.scale = in.scale;
    settings.num_edges = in.num_edges;
    settings.a = in.a;
    settings.b = in.b;
    settings.c = in.c;
    settings.seed = in.seed;
    *graph = new_open_graph(c, gnnmg::graph::rmat(settings, c->pool));
  });
}

gnnmg_status gnnmg_erdos_renyi_config_init(gnnmg_erdos_renyi_config* config, size_t struct_size) {
  return init_config(config, struct_size, kErdosRenyiDefaults);
}

gnnmg_status gnnmg_graph_create_erdos_renyi(const gnnmg_context* context,
                                            const gnnmg_erdos_renyi_config* config,
                                            gnnmg_graph** graph) {
  return guard(outs(Out{graph, "graph"}), [&] {
    const auto c = find<Context>(context, "context");
    const gnnmg_erdos_renyi_config in = read_config(config, kErdosRenyiDefaults);
    gnnmg::graph::ErdosRenyiConfig settings;
    settings.num_nodes = in.num_nodes;
    settings.num_edges = in.num_edges;
    settings.seed = in.seed;
    *graph = new_open_graph(c, gnnmg::graph::erdos_renyi(settings, c->pool));
  });
}

}  // extern "C"
