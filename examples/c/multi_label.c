/*
 * Several yes-or-no questions about each node, some without an answer, and the metrics of such a
 * task on every part of the split. Training ends early, and keeps the epoch with the best ROC-AUC.
 */
#include <math.h>
#include <stdio.h>

#include "common.h"

enum { NODES = 2500, QUESTIONS = 3 };

static int32_t on_epoch(const gnnmg_epoch_info* epoch, void* user_data) {
  *(int64_t*)user_data = epoch->epoch + 1;
  printf("epoch %2lld  loss %.4f  validation ROC-AUC %.4f%s\n", (long long)epoch->epoch + 1,
         epoch->train_loss, epoch->validation_roc_auc, epoch->best ? " *" : "");
  return 0;
}

int main(void) {
  gnnmg_context* context;
  gnnmg_graph* graph;
  context = open_context();
  gnnmg_planted_partition_config planted;
  CHECK(gnnmg_planted_partition_config_init(&planted, sizeof planted));
  planted.num_nodes = NODES;
  CHECK(gnnmg_graph_create_planted_partition(context, &planted, &graph));

  /* Is the class below 5? even? 7? One node in five has no answer to the last. */
  struct DLManagedTensorVersioned* y;
  CHECK(gnnmg_graph_export_node_tensor(graph, 0, "y", &y));
  const int64_t* class = data_of(y, NULL);
  static float answers[NODES][QUESTIONS];
  for (int v = 0; v < NODES; ++v) {
    answers[v][0] = class[v] < 5;
    answers[v][1] = class[v] % 2 == 0;
    answers[v][2] = v % 5 == 3 ? NAN : class[v] == 7;
  }
  gnnmg_tensor_free(y);
  /*! [labels] */
  const int64_t shape[] = {NODES, QUESTIONS};
  CHECK(gnnmg_graph_set_node_tensor(graph, 0, "answers", answers, GNNMG_DTYPE_F32, 2, shape));
  gnnmg_dataset* data;
  CHECK(gnnmg_dataset_create(graph, "x", "answers", GNNMG_TASK_BINARY, 0, &data));
  CHECK(gnnmg_dataset_add_random_split(data, "random", NULL));
  /*! [labels] */

  gnnmg_sampler* sampler;
  CHECK(gnnmg_sampler_create(graph, NULL, &sampler));
  gnnmg_model* model = small_model(context, data);
  /*! [early stop] */
  gnnmg_trainer_config training;
  CHECK(gnnmg_trainer_config_init(&training, sizeof training));
  training.num_epochs = 40;
  training.batch_size = 256;
  training.best_by = GNNMG_METRIC_ROC_AUC;
  training.early_stop_patience = 2; /* validations without getting better */
  gnnmg_trainer* trainer;
  CHECK(gnnmg_trainer_create(model, data, sampler, NULL, &training, &trainer));
  int64_t epochs = 0;
  CHECK(gnnmg_trainer_run(trainer, on_epoch, &epochs, NULL)); /* the best weights stay */
  /*! [early stop] */

  /*! [metrics] */
  gnnmg_metrics metrics = {.struct_size = sizeof metrics};
  const char* const names[] = {"train", "validation", "test"};
  for (gnnmg_split part = GNNMG_SPLIT_TRAIN; part <= GNNMG_SPLIT_TEST; ++part) {
    CHECK(gnnmg_trainer_evaluate(trainer, part, &metrics, -1));
    printf("%-10s  %lld answers, accuracy %.4f, ROC-AUC %.4f, average precision %.4f, F1 %.4f\n",
           names[part - 1], (long long)metrics.count, metrics.accuracy, metrics.roc_auc,
           metrics.average_precision, metrics.f1_macro);
  }
  /*! [metrics] */

  gnnmg_trainer_free(trainer);
  gnnmg_model_free(model);
  gnnmg_sampler_free(sampler);
  gnnmg_dataset_free(data);
  gnnmg_graph_free(graph);
  close_context(context);
  return metrics.roc_auc > 0.75 && epochs < training.num_epochs ? 0 : 1;
}
