/*
 * Fine-tuning: a model of ten classes is trained and saved; a second one, for other data of five
 * classes, takes over all weights but those of its new head. Its first layer is frozen, its loss is
 * the program's own, and a callback sets the learning rate.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common.h"

enum { EPOCHS = 6, MOST_CLASSES = 16 };

/* Trains a model of ten classes, and saves its weights. */
static void pretrain(gnnmg_context* context) {
  gnnmg_graph* graph;
  gnnmg_dataset* data = planted_data(context, 4000, &graph);
  gnnmg_sampler* sampler;
  CHECK(gnnmg_sampler_create(graph, NULL, &sampler));
  gnnmg_model* model = small_model(context, data);
  gnnmg_trainer_config training;
  CHECK(gnnmg_trainer_config_init(&training, sizeof training));
  training.num_epochs = EPOCHS;
  training.batch_size = 256;
  training.optimizer = GNNMG_OPTIMIZER_RMSPROP;
  training.label_smoothing = 0.1;
  gnnmg_trainer* trainer;
  CHECK(gnnmg_trainer_create(model, data, sampler, NULL, &training, &trainer));
  CHECK(gnnmg_trainer_run(trainer, NULL, NULL, NULL));
  CHECK(gnnmg_model_save(model, "pretrained.pth", NULL, -1));
  gnnmg_trainer_free(trainer);
  gnnmg_model_free(model);
  gnnmg_sampler_free(sampler);
  gnnmg_dataset_free(data);
  gnnmg_graph_free(graph);
}

/* Other data, of five classes. */
static gnnmg_dataset* new_data(const gnnmg_context* context, gnnmg_graph** graph) {
  gnnmg_planted_partition_config planted;
  CHECK(gnnmg_planted_partition_config_init(&planted, sizeof planted));
  planted.num_nodes = 2000;
  planted.num_classes = 5;
  planted.num_features = 64;
  planted.seed = 1;
  CHECK(gnnmg_graph_create_planted_partition(context, &planted, graph));
  gnnmg_dataset* data;
  CHECK(gnnmg_dataset_create(*graph, "x", "y", GNNMG_TASK_MULTICLASS, 5, &data));
  CHECK(gnnmg_dataset_add_random_split(data, "random", NULL));
  return data;
}

/*! [loss] */
/* The focal loss with gamma 1, -(1 - p) log p: easy nodes count less. */
static int32_t focal(gnnmg_loss_batch* batch, void* user_data) {
  (void)user_data;
  const int64_t classes = batch->num_columns;
  for (int64_t i = 0; i < batch->num_rows; ++i) {
    const int64_t label = batch->classes[i];
    if (label < 0) continue;
    const float* row = (const float*)batch->logits + i * classes;
    float* gradient = (float*)batch->gradient + i * classes;
    double share[MOST_CLASSES], sum = 0;
    for (int64_t c = 0; c < classes; ++c) sum += share[c] = exp(row[c]);
    const double p = share[label] / sum;
    batch->loss -= batch->weights[i] * (1 - p) * log(p);
    for (int64_t c = 0; c < classes; ++c)
      gradient[c] = (float)(batch->weights[i] * (1 - p - p * log(p)) *
                            (share[c] / sum - (c == label ? 1 : 0)));
  }
  return 0;
}
/*! [loss] */

/*! [rate] */
static int32_t on_epoch(const gnnmg_epoch_info* epoch, void* trainer) {
  printf("epoch %lld  rate %.4f  loss %.4f\n", (long long)epoch->epoch + 1, epoch->learning_rate,
         epoch->train_loss);
  if (epoch->epoch + 1 == EPOCHS / 2) CHECK(gnnmg_trainer_set_learning_rate(trainer, 0.001));
  return 0;
}
/*! [rate] */

/* A copy of one tensor of the model. Returns the number of its values. */
static int64_t copy_of(const gnnmg_model* model, const char* key, float* values) {
  struct DLManagedTensorVersioned* tensor;
  CHECK(gnnmg_model_export_tensor(model, key, &tensor));
  int64_t count;
  const void* data = data_of(tensor, &count);
  memcpy(values, data, (size_t)count * sizeof *values);
  gnnmg_tensor_free(tensor);
  return count;
}

int main(void) {
  gnnmg_context* context = open_context();
  pretrain(context);
  gnnmg_graph* graph;
  gnnmg_dataset* data = new_data(context, &graph);
  gnnmg_sampler* sampler;
  CHECK(gnnmg_sampler_create(graph, NULL, &sampler));
  gnnmg_model* model = small_model(context, data);
  /*! [load] */
  gnnmg_model_file_config file;
  CHECK(gnnmg_model_file_config_init(&file, sizeof file));
  file.partial = 1; /* the log lists the tensors of the head, whose shapes differ */
  CHECK(gnnmg_model_load(model, "pretrained.pth", &file, -1));
  /*! [load] */
  /*! [freeze] */
  CHECK(gnnmg_model_set_trainable(model, "convs.0.*", 0));
  /*! [freeze] */
  static float before[32 * 64], after[32 * 64];
  const int64_t count = copy_of(model, "convs.0.lin_l.weight", before);

  gnnmg_trainer_config training;
  CHECK(gnnmg_trainer_config_init(&training, sizeof training));
  training.num_epochs = EPOCHS;
  training.batch_size = 256;
  training.device = GNNMG_DEVICE_CPU; /* a loss of the program's own */
  training.keep_best = 0;
  gnnmg_trainer* trainer;
  CHECK(gnnmg_trainer_create(model, data, sampler, NULL, &training, &trainer));
  /*! [set loss] */
  CHECK(gnnmg_trainer_set_loss(trainer, focal, NULL, NULL));
  /*! [set loss] */
  CHECK(gnnmg_trainer_run(trainer, on_epoch, trainer, NULL));
  gnnmg_metrics metrics = {.struct_size = sizeof metrics};
  CHECK(gnnmg_trainer_evaluate(trainer, GNNMG_SPLIT_TEST, &metrics, -1));
  copy_of(model, "convs.0.lin_l.weight", after);
  const int same = memcmp(before, after, (size_t)count * sizeof *before) == 0;
  printf("test accuracy %.4f, first layer unchanged: %d\n", metrics.accuracy, same);

  gnnmg_trainer_free(trainer);
  gnnmg_model_free(model);
  gnnmg_sampler_free(sampler);
  gnnmg_dataset_free(data);
  gnnmg_graph_free(graph);
  close_context(context);
  return same && metrics.accuracy > 0.5 ? 0 : 1;
}
