/*
 * A training that may be interrupted: stopped in the middle of an epoch, saved, and continued by
 * another trainer, which gets the same weights, bit for bit, as an uninterrupted one.
 */
#include <gnnmg.h>
#include <gnnmg_util.h>
#include <stdio.h>
#include <string.h>

enum { EPOCHS = 4, RANKS = 2 };

typedef struct {
  gnnmg_context* context;
  gnnmg_dataset* data;
} world;

static gnnmg_trainer* make_trainer(const world* w) {
  gnnmg_model* model;
  const gnnmg_model_config layers = {
      .struct_size = sizeof layers, .hidden_dim = 32, .dropout = 0.5};
  GNNMG_CHECK(gnnmg_model_create(w->context, w->data, &layers, NULL, &model));
  gnnmg_trainer* trainer;
  const gnnmg_trainer_config training = {
      .struct_size = sizeof training, .num_ranks = RANKS, .num_epochs = EPOCHS, .batch_size = 128};
  GNNMG_CHECK(gnnmg_trainer_create(model, w->data, NULL, NULL, &training, NULL, &trainer));
  gnnmg_model_free(model); /* the trainer keeps it */
  return trainer;
}

/* All weights of a trainer's model; the tensor keeps them. */
static gnnmg_tensor* weights_of(const gnnmg_trainer* trainer) {
  /*! [model] */
  gnnmg_model* model;
  GNNMG_CHECK(gnnmg_trainer_get_model(trainer, &model));
  gnnmg_tensor* weights;
  GNNMG_CHECK(gnnmg_model_export_parameters(model, &weights));
  gnnmg_model_free(model); /* this handle to it, not the model */
  /*! [model] */
  return weights;
}

int main(void) {
  world w;
  GNNMG_CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &w.context));
  gnnmg_check_context(w.context);
  GNNMG_CHECK(gnnmg_dataset_generate(w.context, "planted", "num_nodes=4000", &w.data));

  gnnmg_trainer* straight = make_trainer(&w);
  GNNMG_CHECK(gnnmg_trainer_run(straight, NULL, NULL, NULL));

  /* The same in pieces: one epoch and three steps, one step at a time ... */
  gnnmg_trainer* first = make_trainer(&w);
  /*! [checkpoints] */
  const gnnmg_checkpoint_config often = {.struct_size = sizeof often, .every_steps = 5, .keep = 2};
  GNNMG_CHECK(gnnmg_trainer_set_checkpoints(first, "run", &often));
  /*! [checkpoints] */
  /*! [record] */
  GNNMG_CHECK(gnnmg_trainer_set_record(first, GNNMG_RECORD_JSON_LINES, "run.jsonl"));
  /*! [record] */
  /*! [steps] */
  gnnmg_progress_info at = {.struct_size = sizeof at};
  double loss;
  gnnmg_status status;
  while ((status = gnnmg_trainer_step(first, &loss, -1)) == GNNMG_OK) {
    GNNMG_CHECK(gnnmg_trainer_progress(first, &at));
    printf("epoch %lld step %lld of %lld: loss %.4f\n", (long long)at.epoch, (long long)at.step,
           (long long)at.num_steps, loss);
    if (at.epoch == 1 && at.step == 3) break; /* whenever the program likes */
  }
  GNNMG_CHECK(status); /* fails if the folder has another training's checkpoints */
  /*! [steps] */
  /*! [save] */
  GNNMG_CHECK(gnnmg_trainer_save(first, "pause", -1)); /* a folder, whole or not at all */
  /*! [save] */
  gnnmg_trainer_free(first);

  /* ... and the rest in another trainer, as in a process that was started later. */
  gnnmg_trainer* second = make_trainer(&w);
  /*! [load] */
  GNNMG_CHECK(gnnmg_trainer_load(second, "pause", -1)); /* or "run": the newest one that is whole */
  /*! [load] */
  /*! [stop] */
  GNNMG_CHECK(gnnmg_trainer_start(second, NULL, NULL, NULL));
  gnnmg_trainer_stop(second); /* a Ctrl-C handler would do this: all ranks end after one step */
  GNNMG_CHECK(gnnmg_trainer_wait(second, -1));
  GNNMG_CHECK(gnnmg_trainer_run(second, NULL, NULL, NULL)); /* continues the training */
  /*! [stop] */

  gnnmg_tensor *wanted = weights_of(straight), *found = weights_of(second);
  int64_t count;
  const float* left = gnnmg_tensor_data_f32(wanted, &count);
  const float* right = gnnmg_tensor_data_f32(found, NULL);
  const int same = memcmp(left, right, (size_t)count * sizeof *left) == 0;
  printf("%lld weights, %s\n", (long long)count, same ? "the same bits" : "which differ");

  gnnmg_tensor_free(wanted);
  gnnmg_tensor_free(found);
  gnnmg_trainer_free(straight);
  gnnmg_trainer_free(second);
  gnnmg_dataset_free(w.data);
  gnnmg_log_print(w.context, GNNMG_LOG_WARNING, stderr);
  gnnmg_context_free(w.context);
  return same ? 0 : 1;
}
