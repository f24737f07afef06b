/*
 * Graphs to measure on: four generators, and how uneven their degrees are. A graph is a pure
 * function of its settings and seed, on every machine.
 */
#include <stdio.h>

#include "common.h"

/* Prints mean and largest in-degree and returns the largest over the mean. */
static double show(const char* name, gnnmg_graph* graph) {
  int64_t num_nodes, num_edges, most = 0;
  CHECK(gnnmg_graph_num_nodes(graph, 0, &num_nodes));
  CHECK(gnnmg_graph_num_edges(graph, 0, &num_edges));
  for (int64_t v = 0; v < num_nodes; ++v) {
    int64_t degree;
    CHECK(gnnmg_graph_get_in_edges(graph, 0, v, NULL, NULL, 0, &degree));
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
  context = open_context();

  /*! [planted partition] */
  gnnmg_planted_partition_config planted; /* features alone do not determine the classes */
  CHECK(gnnmg_planted_partition_config_init(&planted, sizeof planted));
  planted.num_nodes = 20000;
  CHECK(gnnmg_graph_create_planted_partition(context, &planted, &graph));
  /*! [planted partition] */
  const double even = show("planted partition", graph);

  /*! [log normal] */
  gnnmg_log_normal_config products; /* degrees and communities as in a graph of products */
  CHECK(gnnmg_log_normal_config_init(&products, sizeof products));
  products.num_nodes = 20000;
  CHECK(gnnmg_graph_create_log_normal(context, &products, &graph));
  /*! [log normal] */
  const double skewed = show("log-normal", graph);

  /*! [rmat] */
  gnnmg_rmat_config rmat; /* heavy-tailed, as Graph500 has it */
  CHECK(gnnmg_rmat_config_init(&rmat, sizeof rmat));
  rmat.scale = 14;
  rmat.num_edges = 16 << 14;
  CHECK(gnnmg_graph_create_rmat(context, &rmat, &graph));
  /*! [rmat] */
  const double heavy = show("R-MAT", graph);

  /*! [erdos renyi] */
  gnnmg_erdos_renyi_config uniform; /* no structure at all */
  CHECK(gnnmg_erdos_renyi_config_init(&uniform, sizeof uniform));
  uniform.num_nodes = 20000;
  uniform.num_edges = 320000;
  CHECK(gnnmg_graph_create_erdos_renyi(context, &uniform, &graph));
  /*! [erdos renyi] */
  const double flat = show("Erdos-Renyi", graph);

  close_context(context);
  return even < 5 && flat < 5 && skewed > 10 && heavy > skewed / 10 ? 0 : 1;
}
