/*
 * A rare class, one node in ten: without weights a model seldom predicts it, so classes are
 * weighted. Uncertain labels can have lower weights too, and a mini-batch exports the weight of
 * each of its labels.
 */
#include <gnnmg.h>
#include <gnnmg_util.h>
#include <stdio.h>

enum { NODES = 4000, CLASSES = 2, SEEDS = 8 };

/* Trains a new model on the current split, and measures it. */
static gnnmg_metrics train(const gnnmg_context* context, const gnnmg_dataset* data) {
  gnnmg_model* model;
  GNNMG_CHECK(gnnmg_model_create(context, data, NULL, "hidden_dim=32", &model));
  gnnmg_trainer* trainer;
  GNNMG_CHECK(gnnmg_trainer_create(model, data, NULL, NULL, NULL,
                                   "num_epochs=6 batch_size=256 keep_best=0", &trainer));
  GNNMG_CHECK(gnnmg_trainer_run(trainer, NULL, NULL, NULL));
  gnnmg_metrics metrics = {.struct_size = sizeof metrics};
  GNNMG_CHECK(gnnmg_trainer_evaluate(trainer, GNNMG_PART_TEST, &metrics, NULL, -1));
  gnnmg_trainer_free(trainer);
  gnnmg_model_free(model);
  return metrics;
}

int main(void) {
  gnnmg_context* context;
  gnnmg_graph* graph;
  gnnmg_dataset* data;
  gnnmg_sampler* sampler;
  GNNMG_CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  gnnmg_check_context(context);
  GNNMG_CHECK(
      gnnmg_graph_generate(context, "planted", "num_nodes=4000 intra_probability=0.35", &graph));
  gnnmg_tensor* y;
  GNNMG_CHECK(gnnmg_graph_export_node_tensor(graph, 0, "y", &y));
  const int64_t* community = gnnmg_tensor_data_i64(y, NULL);
  static int64_t rare[NODES];
  for (int v = 0; v < NODES; ++v) rare[v] = community[v] == 0;
  gnnmg_tensor_free(y);
  const int64_t shape[] = {NODES};
  GNNMG_CHECK(gnnmg_graph_set_node_tensor(graph, 0, "rare", rare, GNNMG_DTYPE_I64, 1, shape));
  GNNMG_CHECK(gnnmg_dataset_create(graph, "x", "rare", GNNMG_TASK_MULTICLASS, CLASSES, &data));
  GNNMG_CHECK(gnnmg_dataset_add_random_split(data, "random", NULL));
  GNNMG_CHECK(gnnmg_sampler_create(graph, NULL, NULL, &sampler));

  const gnnmg_metrics plain = train(context, data);
  /*! [balance] */
  /* Counts the training part of the current split. */
  GNNMG_CHECK(gnnmg_dataset_balance_classes(data));
  gnnmg_tensor* of_classes;
  GNNMG_CHECK(gnnmg_dataset_export_class_weights(data, &of_classes));
  const double* weights = gnnmg_tensor_data_f64(of_classes, NULL);
  printf("a node of the rare class counts %.2f, another one %.2f\n", weights[1], weights[0]);
  gnnmg_tensor_free(of_classes);
  /*! [balance] */
  const gnnmg_metrics balanced = train(context, data);
  printf("every node counts 1:  accuracy %.3f, F1 of both classes %.3f\n", plain.accuracy,
         plain.f1_macro);
  printf("every class the same: accuracy %.3f, F1 of both classes %.3f\n", balanced.accuracy,
         balanced.f1_macro);

  /*! [weights] */
  const double of_class[CLASSES] = {1, 3}; /* milder, by hand */
  GNNMG_CHECK(gnnmg_dataset_set_class_weights(data, of_class, CLASSES));
  static float trust[NODES]; /* the second half was labeled by a machine */
  for (int v = 0; v < NODES; ++v) trust[v] = v < NODES / 2 ? 1 : 0.5f;
  gnnmg_tensor* of_nodes;
  GNNMG_CHECK(gnnmg_tensor_create(trust, GNNMG_DTYPE_F32, 1, shape, NULL, NULL, &of_nodes));
  GNNMG_CHECK(gnnmg_dataset_set_sample_weights(data, of_nodes)); /* copied */
  gnnmg_tensor_free(of_nodes);
  /*! [weights] */

  /*! [batch] */
  int64_t seeds[SEEDS];
  for (int i = 0; i < SEEDS; ++i) seeds[i] = i * 511;
  gnnmg_batch* batch;
  GNNMG_CHECK(gnnmg_sampler_sample(sampler, data, seeds, SEEDS, NULL, 1, 0, 0, &batch, -1));
  gnnmg_tensor *of_seeds, *of_all;
  GNNMG_CHECK(gnnmg_batch_export_weights(batch, &of_seeds)); /* factors for a custom loss */
  GNNMG_CHECK(gnnmg_dataset_export_sample_weights(data, &of_all));
  /*! [batch] */
  const double* counts = gnnmg_tensor_data_f64(of_seeds, NULL);
  const double* own = gnnmg_tensor_data_f64(of_all, NULL);
  int wrong = 0;
  for (int i = 0; i < SEEDS; ++i) {
    printf("node %lld counts %.1f\n", (long long)seeds[i], counts[i]);
    wrong += counts[i] != of_class[rare[seeds[i]]] * own[seeds[i]];
  }
  gnnmg_tensor_free(of_seeds);
  gnnmg_tensor_free(of_all);

  gnnmg_batch_free(batch);
  gnnmg_sampler_free(sampler);
  gnnmg_dataset_free(data);
  gnnmg_graph_free(graph);
  gnnmg_log_print(context, GNNMG_LOG_WARNING, stderr);
  gnnmg_context_free(context);
  return wrong == 0 && balanced.f1_macro > plain.f1_macro ? 0 : 1;
}
