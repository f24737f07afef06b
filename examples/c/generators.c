/*
 * Graphs to measure on: four generators, and how uneven their degrees are. A graph is a pure
 * function of its settings and seed, on every machine.
 */
#include <gnnmg.h>
#include <gnnmg_util.h>
#include <stdio.h>

/* Prints mean and largest in-degree and returns the largest over the mean. */
static double show(const char* name, gnnmg_graph* graph) {
  int64_t num_nodes, num_edges, most = 0;
  GNNMG_CHECK(gnnmg_graph_num_nodes(graph, 0, &num_nodes));
  GNNMG_CHECK(gnnmg_graph_num_edges(graph, 0, &num_edges));
  for (int64_t v = 0; v < num_nodes; ++v) {
    int64_t degree;
    GNNMG_CHECK(gnnmg_graph_get_in_edges(graph, 0, v, NULL, NULL, 0, &degree));
    if (degree > most) most = degree;
  }
  gnnmg_graph_free(graph);
  const double mean = (double)num_edges / (double)num_nodes;
  printf("%-18s %6lld nodes, in-degree %5.1f on average, %5lld at most\n", name,
         (long long)num_nodes, mean, (long long)most);
  return (double)most / mean;
}

int main(void) {
  gnnmg_context* context;
  gnnmg_graph* graph;
  GNNMG_CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  gnnmg_check_context(context);

  /*! [planted partition] */
  /* Features alone do not determine the classes. */
  GNNMG_CHECK(gnnmg_graph_generate(context, "planted", "num_nodes=20000", &graph));
  /*! [planted partition] */
  const double even = show("planted partition", graph);

  /*! [log normal] */
  /* Degrees and communities as in a graph of products. */
  GNNMG_CHECK(gnnmg_graph_generate(context, "log_normal", "num_nodes=20000", &graph));
  /*! [log normal] */
  const double skewed = show("log-normal", graph);

  /*! [rmat] */
  /* Heavy-tailed, as Graph500 has it. */
  GNNMG_CHECK(gnnmg_graph_generate(context, "rmat", "scale=14 num_edges=262144", &graph));
  /*! [rmat] */
  const double heavy = show("R-MAT", graph);

  /*! [erdos renyi] */
  /* No structure at all. */
  GNNMG_CHECK(
      gnnmg_graph_generate(context, "erdos_renyi", "num_nodes=20000 num_edges=320000", &graph));
  /*! [erdos renyi] */
  const double flat = show("Erdos-Renyi", graph);

  gnnmg_log_print(context, GNNMG_LOG_WARNING, stderr);
  gnnmg_context_free(context);
  return even < 5 && flat < 5 && skewed > 10 && heavy > skewed / 10 ? 0 : 1;
}
