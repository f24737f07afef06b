/*
 * Several yes-or-no questions about each node, some without an answer, and the metrics of such a
 * task on every part of the split. Training ends early, and keeps the epoch with the best ROC-AUC.
 */
#include <gnnmg.h>
#include <gnnmg_util.h>
#include <math.h>
#include <stdio.h>

enum { NODES = 2500, QUESTIONS = 3 };

static int32_t on_epoch(const gnnmg_epoch_info* epoch, void* user_data) {
  *(int64_t*)user_data = epoch->epoch + 1;
  printf("epoch %2lld  loss %.4f  validation ROC-AUC %.4f%s\n", (long long)epoch->epoch + 1,
         epoch->train_loss, epoch->validation->roc_auc, epoch->best ? " *" : "");
  return 0;
}

int main(void) {
  gnnmg_context* context;
  gnnmg_graph* graph;
  GNNMG_CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  gnnmg_check_context(context);
  GNNMG_CHECK(gnnmg_graph_generate(context, "planted", "num_nodes=2500", &graph));

  /* Is the class below 5? even? 7? One node in five has no answer to the last. */
  gnnmg_tensor* y;
  GNNMG_CHECK(gnnmg_graph_export_node_tensor(graph, 0, "y", &y));
  const int64_t* class = gnnmg_tensor_data_i64(y, NULL);
  static float answers[NODES][QUESTIONS];
  for (int v = 0; v < NODES; ++v) {
    answers[v][0] = class[v] < 5;
    answers[v][1] = class[v] % 2 == 0;
    answers[v][2] = v % 5 == 3 ? NAN : class[v] == 7;
  }
  gnnmg_tensor_free(y);
  /*! [labels] */
  const int64_t shape[] = {NODES, QUESTIONS};
  GNNMG_CHECK(gnnmg_graph_set_node_tensor(graph, 0, "answers", answers, GNNMG_DTYPE_F32, 2, shape));
  gnnmg_dataset* data;
  GNNMG_CHECK(gnnmg_dataset_create(graph, "x", "answers", GNNMG_TASK_BINARY, 0, &data));
  GNNMG_CHECK(gnnmg_dataset_add_random_split(data, "random", NULL));
  /*! [labels] */

  gnnmg_model* model;
  GNNMG_CHECK(gnnmg_model_create(context, data, NULL, "hidden_dim=32", &model));
  /*! [early stop] */
  const gnnmg_trainer_config training = {.struct_size = sizeof training,
                                         .num_epochs = 40,
                                         .batch_size = 256,
                                         .early_stop_patience = 2}; /* validations */
  gnnmg_trainer* trainer;
  GNNMG_CHECK(
      gnnmg_trainer_create(model, data, NULL, NULL, &training, "best_by=roc_auc", &trainer));
  int64_t epochs = 0;
  GNNMG_CHECK(gnnmg_trainer_run(trainer, on_epoch, &epochs, NULL)); /* the best weights stay */
  /*! [early stop] */

  /*! [metrics] */
  gnnmg_metrics metrics = {.struct_size = sizeof metrics};
  const char* const names[] = {"train", "validation", "test"};
  for (gnnmg_part part = GNNMG_PART_TRAIN; part <= GNNMG_PART_TEST; ++part) {
    GNNMG_CHECK(gnnmg_trainer_evaluate(trainer, part, &metrics, NULL, -1));
    printf("%-10s  %lld answers, accuracy %.4f, ROC-AUC %.4f, average precision %.4f, F1 %.4f\n",
           names[part], (long long)metrics.count, metrics.accuracy, metrics.roc_auc,
           metrics.average_precision, metrics.f1_macro);
  }
  /*! [metrics] */

  gnnmg_trainer_free(trainer);
  gnnmg_model_free(model);
  gnnmg_dataset_free(data);
  gnnmg_graph_free(graph);
  gnnmg_log_print(context, GNNMG_LOG_WARNING, stderr);
  gnnmg_context_free(context);
  return metrics.roc_auc > 0.75 && epochs < training.num_epochs ? 0 : 1;
}
