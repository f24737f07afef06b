/*
 * A training that may be interrupted: stopped in the middle of an epoch, saved, and continued by
 * another trainer, which gets the same weights, bit for bit, as an uninterrupted one.
 */
#include <stdio.h>
#include <string.h>

#include "common.h"

enum { EPOCHS = 4, RANKS = 2 };

typedef struct {
  gnnmg_context* context;
  gnnmg_dataset* data;
  gnnmg_sampler* sampler;
} world;

static gnnmg_trainer* make_trainer(const world* w) {
  gnnmg_model_config layers;
  gnnmg_model* model;
  CHECK(gnnmg_model_config_init(&layers, sizeof layers));
  layers.hidden_dim = 32;
  layers.dropout = 0.5;
  CHECK(gnnmg_model_create(w->context, w->data, &layers, &model));
  gnnmg_trainer_config training;
  gnnmg_trainer* trainer;
  CHECK(gnnmg_trainer_config_init(&training, sizeof training));
  training.num_ranks = RANKS;
  training.num_epochs = EPOCHS;
  training.batch_size = 128;
  CHECK(gnnmg_trainer_create(model, w->data, w->sampler, NULL, &training, &trainer));
  gnnmg_model_free(model); /* the trainer keeps it */
  return trainer;
}

/* All weights of a trainer's model; the tensor keeps them. */
static struct DLManagedTensorVersioned* weights_of(const gnnmg_trainer* trainer) {
  /*! [model] */
  gnnmg_model* model;
  CHECK(gnnmg_trainer_get_model(trainer, &model));
  struct DLManagedTensorVersioned* weights;
  CHECK(gnnmg_model_export_parameters(model, &weights));
  gnnmg_model_free(model); /* this handle to it, not the model */
  /*! [model] */
  return weights;
}

int main(void) {
  world w;
  gnnmg_graph* graph;
  w.context = open_context();
  w.data = planted_data(w.context, 4000, &graph);
  CHECK(gnnmg_sampler_create(graph, NULL, &w.sampler));

  gnnmg_trainer* straight = make_trainer(&w);
  CHECK(gnnmg_trainer_run(straight, NULL, NULL, NULL));

  /* The same in pieces: one epoch and three steps, one step at a time ... */
  gnnmg_trainer* first = make_trainer(&w);
  /*! [checkpoints] */
  gnnmg_checkpoint_config often;
  CHECK(gnnmg_checkpoint_config_init(&often, sizeof often));
  often.every_steps = 5;
  often.keep = 2;
  CHECK(gnnmg_trainer_set_checkpoints(first, "run", &often));
  /*! [checkpoints] */
  /*! [record] */
  CHECK(gnnmg_trainer_set_record(first, GNNMG_RECORD_JSON_LINES, "run.jsonl"));
  /*! [record] */
  /*! [steps] */
  gnnmg_progress_info at = {.struct_size = sizeof at};
  double loss;
  gnnmg_status status;
  while ((status = gnnmg_trainer_step(first, &loss, -1)) == GNNMG_OK) {
    CHECK(gnnmg_trainer_progress(first, &at));
    printf("epoch %lld step %lld of %lld: loss %.4f\n", (long long)at.epoch, (long long)at.step,
           (long long)at.num_steps, loss);
    if (at.epoch == 1 && at.step == 3) break; /* whenever the program likes */
  }
  CHECK(status); /* fails if the folder has another training's checkpoints */
  /*! [steps] */
  /*! [save] */
  CHECK(gnnmg_trainer_save(first, "pause", -1)); /* a folder, whole or not at all */
  /*! [save] */
  gnnmg_trainer_free(first);

  /* ... and the rest in another trainer, as in a process that was started later. */
  gnnmg_trainer* second = make_trainer(&w);
  /*! [load] */
  CHECK(gnnmg_trainer_load(second, "pause", -1)); /* or "run": the newest one that is whole */
  /*! [load] */
  /*! [stop] */
  CHECK(gnnmg_trainer_start(second, NULL, NULL, NULL));
  gnnmg_trainer_stop(second); /* a Ctrl-C handler would do this: all ranks end after one step */
  CHECK(gnnmg_trainer_wait(second, -1));
  CHECK(gnnmg_trainer_run(second, NULL, NULL, NULL)); /* continues the training */
  /*! [stop] */

  struct DLManagedTensorVersioned *wanted = weights_of(straight), *found = weights_of(second);
  int64_t count;
  const void *left = data_of(wanted, &count), *right = data_of(found, NULL);
  const int same = memcmp(left, right, (size_t)count * sizeof(float)) == 0;
  printf("%lld weights, %s\n", (long long)count, same ? "the same bits" : "which differ");

  gnnmg_tensor_free(wanted);
  gnnmg_tensor_free(found);
  gnnmg_trainer_free(straight);
  gnnmg_trainer_free(second);
  gnnmg_sampler_free(w.sampler);
  gnnmg_dataset_free(w.data);
  gnnmg_graph_free(graph);
  close_context(w.context);
  return same ? 0 : 1;
}
