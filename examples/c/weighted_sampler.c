/*
 * Importance sampling with a custom sampler: a node's neighbors are drawn in proportion to the
 * weights of their edges. The program lends two more threads to the library, which calls the
 * sampler on these.
 */
#include <gnnmg.h>
#include <gnnmg_util.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { LAYERS = 2, FANOUT = 5, MOST = 1024, LENT = 2 };

typedef struct {
  const gnnmg_graph* graph;
  const float* weights; /* edge weights by id */
} importance;

/* The next number in [0, 1) of a stream that key and node determine. */
static double draw(uint64_t* state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u; /* splitmix64 */
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

/*! [callback] */
static int32_t sample_layer(const gnnmg_layer_info* layer, const int64_t* targets,
                            int64_t num_targets, gnnmg_sink* sink, void* user_data) {
  const importance* self = user_data;
  int64_t sources[MOST], ids[MOST], degree;
  for (int64_t t = 0; t < num_targets; ++t) {
    gnnmg_status status =
        gnnmg_graph_get_in_edges(self->graph, 0, targets[t], sources, ids, MOST, &degree);
    if (status != GNNMG_OK || degree > MOST) return 1;
    double total = 0;
    for (int64_t e = 0; e < degree; ++e) total += self->weights[ids[e]];
    uint64_t stream = layer->key ^ ((uint64_t)targets[t] << 20); /* the same on any thread */
    for (int drawn = 0; drawn < FANOUT && drawn < degree; ++drawn) {
      double left = draw(&stream) * total;
      int64_t e = 0;
      while (e + 1 < degree && left >= self->weights[ids[e]]) left -= self->weights[ids[e++]];
      if (gnnmg_sink_add_edges(sink, &sources[e], &targets[t], &ids[e], 1) != GNNMG_OK) return 1;
    }
  }
  return 0;
}
/*! [callback] */

/*! [lend] */
static void* lend(void* context) {
  /* Runs callbacks of the library on this thread until the handle is freed. */
  const gnnmg_status status = gnnmg_context_lend(context, -1);
  return status == GNNMG_END || status == GNNMG_ERR_HANDLE ? NULL : context;
}
/*! [lend] */

int main(void) {
  gnnmg_context* context;
  gnnmg_graph* graph;
  gnnmg_sampler* sampler;
  gnnmg_model* model;
  gnnmg_trainer* trainer;
  GNNMG_CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  gnnmg_check_context(context);
  gnnmg_dataset* data;
  GNNMG_CHECK(gnnmg_dataset_generate(context, "planted", "num_nodes=2000", &data));
  GNNMG_CHECK(gnnmg_dataset_get_graph(data, 0, &graph));

  /* An edge counts twice when its ends are of one class, as a hint that real data might have. */
  gnnmg_tensor *from, *to, *y;
  int64_t num_edges;
  GNNMG_CHECK(gnnmg_graph_export_coo(graph, 0, &from, &to));
  GNNMG_CHECK(gnnmg_graph_export_node_tensor(graph, 0, "y", &y));
  const int64_t* sources = gnnmg_tensor_data_i64(from, &num_edges);
  const int64_t* targets = gnnmg_tensor_data_i64(to, NULL);
  const int64_t* classes = gnnmg_tensor_data_i64(y, NULL);
  float* weights = malloc((size_t)num_edges * sizeof *weights);
  if (weights == NULL) abort();
  for (int64_t e = 0; e < num_edges; ++e)
    weights[e] = classes[sources[e]] == classes[targets[e]] ? 2 : 1;
  gnnmg_tensor_free(from);
  gnnmg_tensor_free(to);
  gnnmg_tensor_free(y);

  importance self = {graph, weights};
  GNNMG_CHECK(gnnmg_sampler_create_custom(graph, NULL, NULL, sample_layer, &self, NULL, &sampler));
  GNNMG_CHECK(gnnmg_model_create(context, data, NULL, NULL, &model));
  GNNMG_CHECK(gnnmg_trainer_create(model, data, sampler, NULL, NULL, "num_epochs=3 batch_size=128",
                                   &trainer));

  pthread_t threads[LENT];
  for (int i = 0; i < LENT; ++i)
    if (pthread_create(&threads[i], NULL, lend, context) != 0) abort(); /* no thread */
  GNNMG_CHECK(gnnmg_trainer_run(trainer, NULL, NULL, NULL));
  gnnmg_log_print(context, GNNMG_LOG_WARNING, stderr);
  gnnmg_context_free(context); /* ends the lending; objects made from the context live on */
  int failed = 0;
  for (int i = 0; i < LENT; ++i) {
    void* result;
    pthread_join(threads[i], &result);
    failed |= result != NULL;
  }
  gnnmg_metrics metrics = {.struct_size = sizeof metrics};
  GNNMG_CHECK(gnnmg_trainer_evaluate(trainer, GNNMG_PART_TEST, &metrics, NULL, -1));
  printf("test accuracy %.4f\n", metrics.accuracy);

  gnnmg_trainer_free(trainer);
  gnnmg_model_free(model);
  gnnmg_sampler_free(sampler);
  gnnmg_dataset_free(data);
  gnnmg_graph_free(graph);
  free(weights);
  return !failed && metrics.accuracy > 0.4 ? 0 : 1;
}
