/*
 * A rare class, one node in ten: without weights a model seldom predicts it, so classes are
 * weighted. Uncertain labels can have lower weights too, and a mini-batch exports the weight of
 * each of its labels.
 */
#include <stdio.h>

#include "common.h"

enum { NODES = 4000, CLASSES = 2, SEEDS = 8, EPOCHS = 6 };

int main(void) {
  gnnmg_context* context;
  gnnmg_graph* graph;
  gnnmg_dataset* data;
  gnnmg_sampler* sampler;
  context = open_context();
  gnnmg_planted_partition_config planted;
  CHECK(gnnmg_planted_partition_config_init(&planted, sizeof planted));
  planted.num_nodes = NODES;
  planted.intra_probability = 0.35;
  CHECK(gnnmg_graph_create_planted_partition(context, &planted, &graph));
  struct DLManagedTensorVersioned* y;
  CHECK(gnnmg_graph_export_node_tensor(graph, 0, "y", &y));
  const int64_t* community = data_of(y, NULL);
  static int64_t rare[NODES];
  for (int v = 0; v < NODES; ++v) rare[v] = community[v] == 0;
  gnnmg_tensor_free(y);
  const int64_t shape[] = {NODES};
  CHECK(gnnmg_graph_set_node_tensor(graph, 0, "rare", rare, GNNMG_DTYPE_I64, 1, shape));
  CHECK(gnnmg_dataset_create(graph, "x", "rare", GNNMG_TASK_MULTICLASS, CLASSES, &data));
  CHECK(gnnmg_dataset_add_random_split(data, "random", NULL));
  CHECK(gnnmg_sampler_create(graph, NULL, &sampler));

  const gnnmg_metrics plain = train_small_model(context, data, sampler, EPOCHS);
  /*! [balance] */
  CHECK(gnnmg_dataset_balance_classes(data)); /* counts the training part of the current split */
  struct DLManagedTensorVersioned* of_classes;
  CHECK(gnnmg_dataset_export_class_weights(data, &of_classes));
  const double* weights = data_of(of_classes, NULL);
  printf("a node of the rare class counts %.2f, another one %.2f\n", weights[1], weights[0]);
  gnnmg_tensor_free(of_classes);
  /*! [balance] */
  const gnnmg_metrics balanced = train_small_model(context, data, sampler, EPOCHS);
  printf("every node counts 1:  accuracy %.3f, F1 of both classes %.3f\n", plain.accuracy,
         plain.f1_macro);
  printf("every class the same: accuracy %.3f, F1 of both classes %.3f\n", balanced.accuracy,
         balanced.f1_macro);

  /*! [weights] */
  const double of_class[CLASSES] = {1, 3}; /* milder, by hand */
  CHECK(gnnmg_dataset_set_class_weights(data, of_class, CLASSES));
  static float trust[NODES]; /* the second half was labeled by a machine */
  for (int v = 0; v < NODES; ++v) trust[v] = v < NODES / 2 ? 1 : 0.5f;
  struct DLManagedTensorVersioned* of_nodes;
  CHECK(gnnmg_tensor_create(trust, GNNMG_DTYPE_F32, 1, shape, NULL, NULL, &of_nodes));
  CHECK(gnnmg_dataset_set_sample_weights(data, of_nodes)); /* copied */
  gnnmg_tensor_free(of_nodes);
  /*! [weights] */

  /*! [batch] */
  int64_t seeds[SEEDS];
  for (int i = 0; i < SEEDS; ++i) seeds[i] = i * 511;
  gnnmg_batch* batch;
  CHECK(gnnmg_sampler_sample(sampler, data, seeds, SEEDS, 1, 0, 0, &batch, -1));
  struct DLManagedTensorVersioned *of_seeds, *of_all;
  CHECK(gnnmg_batch_export_weights(batch, &of_seeds)); /* factors for a custom loss */
  CHECK(gnnmg_dataset_export_sample_weights(data, &of_all));
  /*! [batch] */
  const double *counts = data_of(of_seeds, NULL), *own = data_of(of_all, NULL);
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
  close_context(context);
  return wrong == 0 && balanced.f1_macro > plain.f1_macro ? 0 : 1;
}
