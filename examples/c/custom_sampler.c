/*
 * A custom sampler: the callback chooses a node's fan-out by its layer and the library draws. Two
 * ranks train with it.
 */
#include <stdio.h>

#include "common.h"

enum { LAYERS = 2 };

typedef struct {
  const gnnmg_graph* graph;
  int64_t fanouts[LAYERS];
} wishes;

/*! [callback] */
static int32_t sample_layer(const gnnmg_layer_info* layer, const int64_t* targets,
                            int64_t num_targets, gnnmg_sink* sink, void* user_data) {
  const wishes* wish = user_data;
  /* gnnmg_sink_add_edges() would add edges of any other choice. */
  return gnnmg_graph_sample_neighbors(wish->graph, 0, targets, num_targets,
                                      wish->fanouts[layer->layer], 0, layer->key, sink);
}
/*! [callback] */

int main(void) {
  gnnmg_context* context;
  gnnmg_graph* graph;
  gnnmg_dataset* data;
  context = open_context();
  gnnmg_planted_partition_config planted;
  CHECK(gnnmg_planted_partition_config_init(&planted, sizeof planted));
  planted.num_nodes = 5000;
  CHECK(gnnmg_graph_create_planted_partition(context, &planted, &graph));
  CHECK(gnnmg_dataset_create(graph, "x", "y", GNNMG_TASK_MULTICLASS, 0, &data));
  CHECK(gnnmg_dataset_add_random_split(data, "random", NULL));

  /*! [create] */
  wishes wish = {graph, {8, 4}}; /* must live as long as the sampler is used */
  gnnmg_sampler_config config;
  CHECK(gnnmg_sampler_config_init(&config, sizeof config));
  config.num_fanouts = LAYERS;
  gnnmg_sampler* sampler;
  CHECK(gnnmg_sampler_create_custom(graph, &config, sample_layer, &wish, NULL, &sampler));
  /*! [create] */

  gnnmg_model_config layers;
  CHECK(gnnmg_model_config_init(&layers, sizeof layers));
  layers.num_layers = LAYERS;
  layers.hidden_dim = 64;
  gnnmg_model* model;
  CHECK(gnnmg_model_create(context, data, &layers, &model));
  gnnmg_trainer_config training;
  CHECK(gnnmg_trainer_config_init(&training, sizeof training));
  training.num_ranks = 2;
  training.batch_size = 256;
  training.num_epochs = 5;
  gnnmg_trainer* trainer;
  CHECK(gnnmg_trainer_create(model, data, sampler, NULL, &training, &trainer));
  /* The callback runs on this thread, while it waits here; gnnmg_context_lend() lends more. */
  CHECK(gnnmg_trainer_run(trainer, NULL, NULL, NULL));

  gnnmg_metrics metrics = {.struct_size = sizeof metrics};
  CHECK(gnnmg_trainer_evaluate(trainer, GNNMG_SPLIT_TEST, &metrics, -1));
  printf("test accuracy %.4f\n", metrics.accuracy);

  gnnmg_trainer_free(trainer);
  gnnmg_model_free(model);
  gnnmg_sampler_free(sampler);
  gnnmg_dataset_free(data);
  gnnmg_graph_free(graph);
  close_context(context);
  return metrics.accuracy > 0.5 ? 0 : 1;
}
