/*
 * Fine-tuning: a model of ten classes is trained and saved; a second one, for other data of five
 * classes, takes over all weights but those of its new head. Its first layer is frozen, its loss is
 * the program's own, and a callback sets the learning rate.
 */
#include <gnnmg.h>
#include <gnnmg_util.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { EPOCHS = 6, MOST_CLASSES = 16 };

/* Trains a model of ten classes, and saves its weights. */
static void pretrain(gnnmg_context* context) {
  gnnmg_dataset* data;
  GNNMG_CHECK(gnnmg_dataset_generate(context, "planted", "num_nodes=4000", &data));
  gnnmg_model* model;
  GNNMG_CHECK(gnnmg_model_create(context, data, NULL, "hidden_dim=32", &model));
  const gnnmg_trainer_config training = {.struct_size = sizeof training,
                                         .num_epochs = EPOCHS,
                                         .batch_size = 256,
                                         .optimizer = GNNMG_OPTIMIZER_RMSPROP};
  gnnmg_trainer* trainer;
  GNNMG_CHECK(
      gnnmg_trainer_create(model, data, NULL, NULL, &training, "label_smoothing=0.1", &trainer));
  GNNMG_CHECK(gnnmg_trainer_run(trainer, NULL, NULL, NULL));
  GNNMG_CHECK(gnnmg_model_save(model, "pretrained.pth", NULL, -1));
  gnnmg_trainer_free(trainer);
  gnnmg_model_free(model);
  gnnmg_dataset_free(data);
}

/* Other data, of five classes. */
static gnnmg_dataset* new_data(const gnnmg_context* context) {
  gnnmg_graph* graph;
  GNNMG_CHECK(gnnmg_graph_generate(context, "planted",
                                   "num_nodes=2000 num_classes=5 num_features=64 seed=1", &graph));
  gnnmg_dataset* data;
  GNNMG_CHECK(gnnmg_dataset_create(graph, "x", "y", GNNMG_TASK_MULTICLASS, 5, &data));
  GNNMG_CHECK(gnnmg_dataset_add_random_split(data, "random", NULL));
  gnnmg_graph_free(graph); /* the data set keeps it */
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
    double share[MOST_CLASSES] = {0};
    gnnmg_softmax_f32(row, classes, share);
    const double p = share[label];
    batch->loss -= batch->weights[i] * (1 - p) * log(p);
    for (int64_t c = 0; c < classes; ++c)
      gradient[c] =
          (float)(batch->weights[i] * (1 - p - p * log(p)) * (share[c] - (c == label ? 1 : 0)));
  }
  return 0;
}
/*! [loss] */

/*! [rate] */
static int32_t on_epoch(const gnnmg_epoch_info* epoch, void* trainer) {
  printf("epoch %lld  rate %.4f  loss %.4f\n", (long long)epoch->epoch + 1, epoch->learning_rate,
         epoch->train_loss);
  if (epoch->epoch + 1 == EPOCHS / 2) GNNMG_CHECK(gnnmg_trainer_set_learning_rate(trainer, 0.001));
  return 0;
}
/*! [rate] */

/* A copy of one tensor of the model. Returns the number of its values. */
static int64_t copy_of(const gnnmg_model* model, const char* key, float* values) {
  gnnmg_tensor* tensor;
  GNNMG_CHECK(gnnmg_model_export_tensor(model, key, &tensor));
  int64_t count;
  const float* data = gnnmg_tensor_data_f32(tensor, &count);
  memcpy(values, data, (size_t)count * sizeof *values);
  gnnmg_tensor_free(tensor);
  return count;
}

int main(void) {
  gnnmg_context* context;
  GNNMG_CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  gnnmg_check_context(context);
  pretrain(context);
  gnnmg_dataset* data = new_data(context);
  gnnmg_model* model;
  GNNMG_CHECK(gnnmg_model_create(context, data, NULL, "hidden_dim=32", &model));
  /*! [load] */
  /* Tensors of other shapes keep their values, those of the head here; the log lists them. */
  GNNMG_CHECK(gnnmg_model_load(model, "pretrained.pth", "partial=1", -1));
  /*! [load] */
  /*! [freeze] */
  GNNMG_CHECK(gnnmg_model_set_trainable(model, "convs.0.*", 0));
  /*! [freeze] */
  static float before[32 * 64], after[32 * 64];
  const int64_t count = copy_of(model, "convs.0.lin_l.weight", before);

  const gnnmg_trainer_config training = {.struct_size = sizeof training,
                                         .num_epochs = EPOCHS,
                                         .batch_size = 256,
                                         .device = GNNMG_DEVICE_CPU}; /* the own loss needs it */
  gnnmg_trainer* trainer;
  GNNMG_CHECK(gnnmg_trainer_create(model, data, NULL, NULL, &training, "keep_best=0", &trainer));
  /*! [set loss] */
  GNNMG_CHECK(gnnmg_trainer_set_loss(trainer, focal, NULL, NULL));
  /*! [set loss] */
  GNNMG_CHECK(gnnmg_trainer_run(trainer, on_epoch, trainer, NULL));
  gnnmg_metrics metrics = {.struct_size = sizeof metrics};
  GNNMG_CHECK(gnnmg_trainer_evaluate(trainer, GNNMG_PART_TEST, &metrics, NULL, -1));
  copy_of(model, "convs.0.lin_l.weight", after);
  const int same = memcmp(before, after, (size_t)count * sizeof *before) == 0;
  printf("test accuracy %.4f, first layer unchanged: %d\n", metrics.accuracy, same);

  gnnmg_trainer_free(trainer);
  gnnmg_model_free(model);
  gnnmg_dataset_free(data);
  gnnmg_log_print(context, GNNMG_LOG_WARNING, stderr);
  gnnmg_context_free(context);
  return same && metrics.accuracy > 0.5 ? 0 : 1;
}
