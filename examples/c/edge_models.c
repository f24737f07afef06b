/*
 * Models that read edge data, compared with one that does not: GINE, R-GCN, a graph transformer and
 * PNA. A node's class depends on which type of edges brings more input, so a model needs the types
 * to predict it.
 */
#include <stdio.h>

#include "common.h"

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
  CHECK(
      gnnmg_graph_create_from_coo(context, NODES, sources, targets, GNNMG_DTYPE_I64, EDGES, graph));
  CHECK(gnnmg_graph_set_node_tensor(*graph, 0, "x", features, GNNMG_DTYPE_F32, 2, columns));
  CHECK(gnnmg_graph_set_node_tensor(*graph, 0, "y", classes, GNNMG_DTYPE_I64, 1, labels));
  CHECK(gnnmg_graph_set_edge_tensor(*graph, 0, "edge_attr", rows, GNNMG_DTYPE_F32, 2, wide));
  CHECK(gnnmg_graph_set_edge_tensor(*graph, 0, "edge_type", kinds, GNNMG_DTYPE_I64, 1, one));
  /*! [edge tensors] */
  gnnmg_dataset* data;
  CHECK(gnnmg_dataset_create(*graph, "x", "y", GNNMG_TASK_MULTICLASS, 2, &data));
  CHECK(gnnmg_dataset_add_random_split(data, "random", NULL));
  return data;
}

static double train(const gnnmg_context* context, const gnnmg_dataset* data,
                    const gnnmg_sampler* sampler, gnnmg_architecture architecture) {
  /*! [model] */
  gnnmg_model_config layers;
  CHECK(gnnmg_model_config_init(&layers, sizeof layers));
  layers.architecture = architecture;
  layers.num_layers = 1;
  layers.hidden_dim = 32;
  if (architecture == GNNMG_MODEL_SAGE || architecture == GNNMG_MODEL_RGCN)
    layers.aggregation = GNNMG_AGGREGATION_SUM; /* GINE's is the sum already */
  layers.jumping = GNNMG_JUMPING_LAST;          /* a linear layer after the convolution */
  if (architecture != GNNMG_MODEL_RGCN && architecture != GNNMG_MODEL_SAGE)
    layers.edge_dim = -1; /* the edges' number of columns; R-GCN counts their types */
  gnnmg_model* model;
  CHECK(gnnmg_model_create(context, data, &layers, &model));
  /*! [model] */
  gnnmg_trainer_config training;
  CHECK(gnnmg_trainer_config_init(&training, sizeof training));
  training.num_epochs = 15;
  training.evaluate_every = 15;
  training.batch_size = 64;
  training.learning_rate = 0.01;
  gnnmg_trainer* trainer;
  CHECK(gnnmg_trainer_create(model, data, sampler, NULL, &training, &trainer));
  CHECK(gnnmg_trainer_run(trainer, NULL, NULL, NULL));
  gnnmg_metrics metrics = {.struct_size = sizeof metrics};
  CHECK(gnnmg_trainer_evaluate(trainer, GNNMG_SPLIT_TEST, &metrics, -1));
  gnnmg_trainer_free(trainer);
  gnnmg_model_free(model);
  return metrics.accuracy;
}

int main(void) {
  static const struct {
    const char* name;
    gnnmg_architecture architecture;
  } kinds[] = {{"GraphSAGE", GNNMG_MODEL_SAGE},
               {"GINE", GNNMG_MODEL_GINE},
               {"R-GCN", GNNMG_MODEL_RGCN},
               {"transformer", GNNMG_MODEL_TRANSFORMER},
               {"PNA", GNNMG_MODEL_PNA}};
  enum { KINDS = sizeof kinds / sizeof kinds[0] };
  gnnmg_context* context;
  gnnmg_graph* graph;
  gnnmg_sampler* sampler;
  gnnmg_sampler_config sampling;
  context = open_context();
  gnnmg_dataset* data = make_data(context, &graph);
  CHECK(gnnmg_sampler_config_init(&sampling, sizeof sampling));
  sampling.num_fanouts = 1;
  sampling.fanouts[0] = -1;
  CHECK(gnnmg_sampler_create(graph, &sampling, &sampler));
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
  close_context(context);
  return 0;
}
