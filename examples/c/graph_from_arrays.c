/*
 * A graph from arrays: two rings of eight nodes whose features contain little information about the
 * ring, and a model that learns the ring of a node. Prints the accuracy on nodes that were not in
 * the training part.
 */
#include <gnnmg.h>
#include <gnnmg_util.h>
#include <stdio.h>

enum { RING = 8, NODES = 2 * RING, EDGES = 2 * NODES, FEATURES = 2 };

int main(void) {
  int64_t sources[EDGES], targets[EDGES], labels[NODES];
  float features[NODES][FEATURES];
  int64_t train[] = {0, 1, 8, 9}, validation[] = {2, 10}, test[] = {3, 4, 5, 6, 7, 11, 12, 13};
  const int64_t shape[] = {NODES, FEATURES}, rows[] = {NODES};

  /* Each node is joined to the next one of its ring, in both directions. */
  for (int64_t v = 0; v < NODES; ++v) {
    const int64_t next = v / RING * RING + (v + 1) % RING;
    sources[2 * v] = targets[2 * v + 1] = v;
    targets[2 * v] = sources[2 * v + 1] = next;
    labels[v] = v / RING;
    /* A node looks wrong itself half of the time; its neighbors give it away. */
    features[v][0] = (float)((v + labels[v]) % 2);
    features[v][1] = (float)(labels[v] == 1 && v % 2 == 0);
  }

  gnnmg_context* context;
  GNNMG_CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  gnnmg_check_context(context);

  /*! [graph from edges] */
  gnnmg_graph* graph;
  GNNMG_CHECK(gnnmg_graph_create_from_coo(context, NODES, sources, targets, GNNMG_DTYPE_I64, EDGES,
                                          &graph));
  GNNMG_CHECK(gnnmg_graph_set_node_tensor(graph, 0, "x", features, GNNMG_DTYPE_F32, 2, shape));
  GNNMG_CHECK(gnnmg_graph_set_node_tensor(graph, 0, "y", labels, GNNMG_DTYPE_I64, 1, rows));
  /*! [graph from edges] */

  /*! [data set] */
  gnnmg_dataset* data;
  GNNMG_CHECK(gnnmg_dataset_create(graph, "x", "y", GNNMG_TASK_MULTICLASS, 2, &data));
  GNNMG_CHECK(gnnmg_dataset_add_split(data, "mine", train, 4, validation, 2, test, 8));
  /*! [data set] */

  gnnmg_sampler* sampler; /* two hops, all neighbors */
  GNNMG_CHECK(gnnmg_sampler_create(graph, NULL, "fanouts=-1,-1", &sampler));

  gnnmg_model* model;
  GNNMG_CHECK(gnnmg_model_create(context, data, NULL, "hidden_dim=16", &model));

  gnnmg_trainer* trainer;
  GNNMG_CHECK(gnnmg_trainer_create(model, data, sampler, NULL, NULL, "num_epochs=60", &trainer));
  GNNMG_CHECK(gnnmg_trainer_run(trainer, NULL, NULL, NULL));

  gnnmg_metrics metrics = {.struct_size = sizeof metrics};
  GNNMG_CHECK(gnnmg_trainer_evaluate(trainer, GNNMG_PART_TEST, &metrics, NULL, -1));
  printf("%lld of %lld nodes are in the ring that the model says\n", (long long)metrics.correct,
         (long long)metrics.count);

  gnnmg_log_print(context, GNNMG_LOG_WARNING, stderr);
  /*! [free] */
  /* Any order is allowed: objects live as long as they are needed. */
  gnnmg_context_free(context);
  gnnmg_graph_free(graph);
  gnnmg_dataset_free(data);
  gnnmg_sampler_free(sampler);
  gnnmg_model_free(model);
  gnnmg_trainer_free(trainer);
  /*! [free] */
  return metrics.correct == metrics.count ? 0 : 1;
}
