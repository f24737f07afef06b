/*
 * Models that read edge data, compared with one that does not: GINE, R-GCN, a graph transformer and
 * PNA. A node's class depends on which type of edges brings more input, so a model needs the types
 * to predict it.
 */
#include <gnnmg.h>
#include <gnnmg_util.h>
#include <stdio.h>

enum { NODES = 1000, DEGREE = 7, EDGES = NODES * DEGREE };

static gnnmg_dataset* make_data(const gnnmg_context* context, gnnmg_graph** graph) {
  static int64_t sources[EDGES], targets[EDGES], kinds[EDGES], classes[NODES];
  static float features[NODES], rows[EDGES][2];
  uint64_t random = 1;
  for (int64_t i = 0; i < NODES; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    features[i] = (float)(0.5 + (double)(random >> 40) / (1 << 24)); /* uniform in 0.5 to 1.5 */
  }
  for (int64_t i = 0, e = 0; i < NODES; ++i) {
    double sum = 0;
    for (int k = 0; k < DEGREE; ++k, ++e) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      sources[e] = (int64_t)((random >> 33) % NODES);
      targets[e] = i;
      kinds[e] = (int64_t)(random >> 32 & 1);
      rows[e][kinds[e]] = 1;
      sum += kinds[e] ? features[sources[e]] : -features[sources[e]];
    }
    classes[i] = sum > 0;
  }
  /*! [edge tensors] */
  const int64_t columns[] = {NODES, 1}, labels[] = {NODES}, wide[] = {EDGES, 2}, one[] = {EDGES};
  GNNMG_CHECK(
      gnnmg_graph_create_from_coo(context, NODES, sources, targets, GNNMG_DTYPE_I64, EDGES, graph));
  GNNMG_CHECK(gnnmg_graph_set_node_tensor(*graph, 0, "x", features, GNNMG_DTYPE_F32, 2, columns));
  GNNMG_CHECK(gnnmg_graph_set_node_tensor(*graph, 0, "y", classes, GNNMG_DTYPE_I64, 1, labels));
  GNNMG_CHECK(gnnmg_graph_set_edge_tensor(*graph, 0, "edge_attr", rows, GNNMG_DTYPE_F32, 2, wide));
  GNNMG_CHECK(gnnmg_graph_set_edge_tensor(*graph, 0, "edge_type", kinds, GNNMG_DTYPE_I64, 1, one));
  /*! [edge tensors] */
  gnnmg_dataset* data;
  GNNMG_CHECK(gnnmg_dataset_create(*graph, "x", "y", GNNMG_TASK_MULTICLASS, 2, &data));
  GNNMG_CHECK(gnnmg_dataset_add_random_split(data, "random", NULL));
  return data;
}

static double train(const gnnmg_context* context, const gnnmg_dataset* data,
                    const gnnmg_sampler* sampler, gnnmg_architecture architecture) {
  /*! [model] */
  const gnnmg_model_config layers = {.struct_size = sizeof layers,
                                     .architecture = architecture,
                                     .num_layers = 1,
                                     .hidden_dim = 32};
  gnnmg_model* model; /* "last": a linear layer after the convolution */
  if (architecture == GNNMG_ARCHITECTURE_SAGE || architecture == GNNMG_ARCHITECTURE_RGCN)
    GNNMG_CHECK(gnnmg_model_create(context, data, &layers, "jumping=last aggregation=sum", &model));
  else /* edge_dim=-1: the edges' number of columns; R-GCN counts their types */
    GNNMG_CHECK(gnnmg_model_create(context, data, &layers, "jumping=last edge_dim=-1", &model));
  /*! [model] */
  gnnmg_trainer* trainer;
  GNNMG_CHECK(gnnmg_trainer_create(model, data, sampler, NULL, NULL,
                                   "num_epochs=15 evaluate_every=15 batch_size=64", &trainer));
  GNNMG_CHECK(gnnmg_trainer_run(trainer, NULL, NULL, NULL));
  gnnmg_metrics metrics = {.struct_size = sizeof metrics};
  GNNMG_CHECK(gnnmg_trainer_evaluate(trainer, GNNMG_PART_TEST, &metrics, NULL, -1));
  gnnmg_trainer_free(trainer);
  gnnmg_model_free(model);
  return metrics.accuracy;
}

int main(void) {
  static const struct {
    const char* name;
    gnnmg_architecture architecture;
  } kinds[] = {{"GraphSAGE", GNNMG_ARCHITECTURE_SAGE},
               {"GINE", GNNMG_ARCHITECTURE_GINE},
               {"R-GCN", GNNMG_ARCHITECTURE_RGCN},
               {"transformer", GNNMG_ARCHITECTURE_TRANSFORMER},
               {"PNA", GNNMG_ARCHITECTURE_PNA}};
  enum { KINDS = sizeof kinds / sizeof kinds[0] };
  gnnmg_context* context;
  gnnmg_graph* graph;
  gnnmg_sampler* sampler;
  GNNMG_CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  gnnmg_check_context(context);
  gnnmg_dataset* data = make_data(context, &graph);
  GNNMG_CHECK(gnnmg_sampler_create(graph, NULL, "fanouts=-1", &sampler));
  int seeing = 0;
  for (int k = 0; k < KINDS; ++k) {
    const double accuracy = train(context, data, sampler, kinds[k].architecture);
    printf("%-11s test accuracy %.4f\n", kinds[k].name, accuracy);
    seeing += accuracy > 0.75;
  }
  printf("%d of %d models see the edges\n", seeing, (int)KINDS);
  gnnmg_sampler_free(sampler);
  gnnmg_dataset_free(data);
  gnnmg_graph_free(graph);
  gnnmg_log_print(context, GNNMG_LOG_WARNING, stderr);
  gnnmg_context_free(context);
  return 0;
}
