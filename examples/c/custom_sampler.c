/*
 * A custom sampler: the callback chooses a node's fan-out by its layer and the library draws. Two
 * ranks train with it.
 */
#include <gnnmg.h>
#include <gnnmg_util.h>
#include <stdio.h>

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
  GNNMG_CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  gnnmg_check_context(context);
  GNNMG_CHECK(gnnmg_dataset_generate(context, "planted", "num_nodes=5000", &data));
  GNNMG_CHECK(gnnmg_dataset_get_graph(data, 0, &graph));

  /*! [create] */
  wishes wish = {graph, {8, 4}}; /* must live as long as the sampler is used */
  const gnnmg_sampler_config config = {.struct_size = sizeof config, .num_fanouts = LAYERS};
  gnnmg_sampler* sampler;
  GNNMG_CHECK(
      gnnmg_sampler_create_custom(graph, &config, NULL, sample_layer, &wish, NULL, &sampler));
  /*! [create] */

  const gnnmg_model_config layers = {
      .struct_size = sizeof layers, .num_layers = LAYERS, .hidden_dim = 64};
  gnnmg_model* model;
  GNNMG_CHECK(gnnmg_model_create(context, data, &layers, NULL, &model));
  const gnnmg_trainer_config training = {
      .struct_size = sizeof training, .num_ranks = 2, .batch_size = 256, .num_epochs = 5};
  gnnmg_trainer* trainer;
  GNNMG_CHECK(gnnmg_trainer_create(model, data, sampler, NULL, &training, NULL, &trainer));
  /* The callback runs on this thread, while it waits here; gnnmg_context_lend() lends more. */
  GNNMG_CHECK(gnnmg_trainer_run(trainer, NULL, NULL, NULL));

  gnnmg_metrics metrics = {.struct_size = sizeof metrics};
  GNNMG_CHECK(gnnmg_trainer_evaluate(trainer, GNNMG_PART_TEST, &metrics, NULL, -1));
  printf("test accuracy %.4f\n", metrics.accuracy);

  gnnmg_trainer_free(trainer);
  gnnmg_model_free(model);
  gnnmg_sampler_free(sampler);
  gnnmg_dataset_free(data);
  gnnmg_graph_free(graph);
  gnnmg_log_print(context, GNNMG_LOG_WARNING, stderr);
  gnnmg_context_free(context);
  return metrics.accuracy > 0.5 ? 0 : 1;
}
