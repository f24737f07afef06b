/*
 * Usual transforms of a graph before training: edges in both directions, no repeats, a self-loop on
 * each node, rows of features that sum to 1. Every step makes a new graph that shares the unchanged
 * parts.
 */
#include <gnnmg.h>
#include <gnnmg_util.h>
#include <math.h>
#include <stdio.h>

enum { NODES = 5, EDGES = 6 };

static int64_t show(const char* title, const gnnmg_graph* graph) {
  /*! [edges] */
  gnnmg_tensor *sources, *targets;
  GNNMG_CHECK(gnnmg_graph_export_coo(graph, 0, &sources, &targets));
  int64_t num_edges;
  const int64_t* from = gnnmg_tensor_data_i64(sources, &num_edges);
  const int64_t* to = gnnmg_tensor_data_i64(targets, NULL);
  printf("%s:", title);
  for (int64_t e = 0; e < num_edges; ++e) printf(" %d>%d", (int)from[e], (int)to[e]);
  printf("\n");
  gnnmg_tensor_free(sources);
  gnnmg_tensor_free(targets);
  /*! [edges] */
  return num_edges;
}

int main(void) {
  /* A repeated edge and a self-loop, as crawled data has them; compressed by target. */
  const int64_t indptr[NODES + 1] = {0, 2, 3, 5, 6, 6};
  const int64_t sources[EDGES] = {1, 1, 1, 0, 3, 4};
  const float counts[NODES][2] = {{1, 3}, {0, 0}, {2, 2}, {5, 0}, {1, 4}};
  const int64_t shape[] = {NODES, 2};
  gnnmg_context* context;
  GNNMG_CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  gnnmg_check_context(context);
  /*! [from columns] */
  gnnmg_graph* graph;
  GNNMG_CHECK(gnnmg_graph_create(context, &graph));
  GNNMG_CHECK(gnnmg_graph_add_node_type(graph, "node", NODES, NULL));
  GNNMG_CHECK(gnnmg_graph_add_edge_type(graph, 0, "edge", 0, NULL));
  GNNMG_CHECK(gnnmg_graph_set_csc(graph, 0, indptr, sources, NULL, GNNMG_DTYPE_I64, EDGES));
  /*! [from columns] */
  GNNMG_CHECK(gnnmg_graph_set_node_tensor(graph, 0, "x", counts, GNNMG_DTYPE_F32, 2, shape));
  const int64_t given = show("as given", graph);

  /*! [transform] */
  const gnnmg_transform steps[] = {GNNMG_TRANSFORM_REMOVE_SELF_LOOPS, GNNMG_TRANSFORM_TO_UNDIRECTED,
                                   GNNMG_TRANSFORM_ADD_REMAINING_SELF_LOOPS};
  for (int i = 0; i < 3; ++i) {
    gnnmg_graph* changed;
    GNNMG_CHECK(gnnmg_graph_create_transformed(graph, steps[i], 0, &changed));
    gnnmg_graph_free(graph);
    graph = changed;
  }
  /*! [transform] */
  const int64_t made = show("for training", graph);

  /*! [normalize] */
  gnnmg_graph* normalized;
  GNNMG_CHECK(gnnmg_graph_create_normalized(graph, "x", &normalized));
  /*! [normalize] */
  gnnmg_tensor *x, *starts, *from, *ids;
  GNNMG_CHECK(gnnmg_graph_export_node_tensor(normalized, 0, "x", &x));
  const float* rows = gnnmg_tensor_data_f32(x, NULL);
  int sums = 1;
  for (int v = 0; v < NODES; ++v) {
    const float sum = rows[2 * v] + rows[2 * v + 1];
    sums &= v == 1 ? sum == 0 : fabsf(sum - 1) < 1e-6f; /* a row of zeros stays */
  }
  gnnmg_tensor_free(x);

  /*! [columns] */
  GNNMG_CHECK(gnnmg_graph_export_csc(normalized, 0, &starts, &from, &ids));
  /* The edges into v are start[v] to start[v+1] - 1. */
  const int64_t* start = gnnmg_tensor_data_i64(starts, NULL);
  for (int v = 0; v < NODES; ++v)
    printf("node %d has %lld incoming edges\n", v, (long long)(start[v + 1] - start[v]));
  gnnmg_tensor_free(starts);
  gnnmg_tensor_free(from);
  gnnmg_tensor_free(ids); /* NULL when entry e is edge e */
  /*! [columns] */

  gnnmg_graph_free(normalized);
  gnnmg_graph_free(graph);
  gnnmg_log_print(context, GNNMG_LOG_WARNING, stderr);
  gnnmg_context_free(context);
  return given == EDGES && made == 2 * 4 + NODES && sums ? 0 : 1;
}
