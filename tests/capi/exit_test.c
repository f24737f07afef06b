/*
 * Ends the program with handles alive and threads at work, in the way that its argument says; the
 * exit code must be the one that the program chose.
 */
#define _POSIX_C_SOURCE 200809L
#include <gnnmg.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CHOSEN = 7 };

#define CHECK(call)                                           \
  do {                                                        \
    if ((call) < 0) {                                         \
      fprintf(stderr, "%s: %s\n", #call, gnnmg_last_error()); \
      exit(1);                                                \
    }                                                         \
  } while (0)

static gnnmg_comm* ends[2];

static void* wait_for_nobody(void* unused) {
  (void)unused;
  /* The answer does not matter: the process ends meanwhile. */
  gnnmg_status status = gnnmg_comm_barrier(ends[0], -1);
  (void)status;
  return NULL;
}

/* Two GPUs' ranks, which wait for each other in every step; on the way when it returns. */
static void train_on_gpus(gnnmg_context* context, gnnmg_capture capture) {
  const struct timespec pause = {0, 1000000};
  gnnmg_planted_partition_config planted;
  gnnmg_trainer_config config;
  gnnmg_progress_info progress;
  gnnmg_graph* graph;
  gnnmg_dataset* data;
  gnnmg_sampler* sampler;
  gnnmg_model* model;
  gnnmg_trainer* trainer;
  CHECK(gnnmg_planted_partition_config_init(&planted, sizeof planted));
  planted.num_nodes = 500;
  CHECK(gnnmg_graph_create_planted_partition(context, &planted, &graph));
  CHECK(gnnmg_dataset_create(graph, "x", "y", GNNMG_TASK_MULTICLASS, planted.num_classes, &data));
  CHECK(gnnmg_dataset_add_random_split(data, "random", NULL));
  CHECK(gnnmg_sampler_create(graph, NULL, &sampler));
  CHECK(gnnmg_model_create(context, data, NULL, &model));
  CHECK(gnnmg_trainer_config_init(&config, sizeof config));
  config.device = GNNMG_DEVICE_CUDA;
  config.num_ranks = 2;
  config.capture = capture;
  config.batch_size = 32;
  config.num_epochs = 1000000;
  CHECK(gnnmg_trainer_create(model, data, sampler, NULL, &config, &trainer));
  CHECK(gnnmg_trainer_start(trainer, NULL, NULL, NULL));
  do {
    nanosleep(&pause, NULL);
    progress.struct_size = sizeof progress;
    CHECK(gnnmg_trainer_progress(trainer, &progress));
  } while (progress.epoch == 0);
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  gnnmg_context* context;
  gnnmg_graph* graph;
  gnnmg_dataset* data;
  gnnmg_sampler* sampler;
  gnnmg_model* model;
  CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  CHECK(gnnmg_graph_create_planted_partition(context, NULL, &graph));
  CHECK(gnnmg_dataset_create(graph, "x", "y", GNNMG_TASK_NONE, 0, &data));
  CHECK(gnnmg_dataset_add_random_split(data, "random", NULL));
  CHECK(gnnmg_sampler_create(graph, NULL, &sampler));
  CHECK(gnnmg_model_create(context, data, NULL, &model));
  if (strcmp(how, "loading") == 0) {
    gnnmg_loader* loader;
    gnnmg_batch* batch;
    CHECK(gnnmg_loader_create(data, sampler, NULL, &loader));
    CHECK(gnnmg_loader_next(loader, &batch, -1));
  } else if (strcmp(how, "training") == 0) {
    gnnmg_trainer* trainer;
    gnnmg_trainer_config config;
    CHECK(gnnmg_trainer_config_init(&config, sizeof config));
    config.num_ranks = 2;
    config.num_epochs = 1000000;
    CHECK(gnnmg_trainer_create(model, data, sampler, NULL, &config, &trainer));
    CHECK(gnnmg_trainer_start(trainer, NULL, NULL, NULL));
    CHECK(gnnmg_trainer_wait(trainer, 200));
  } else if (strcmp(how, "freed") == 0) { /* a moment ago: the trainer still ends */
    gnnmg_trainer* trainer;
    CHECK(gnnmg_trainer_create(model, data, sampler, NULL, NULL, &trainer));
    CHECK(gnnmg_trainer_start(trainer, NULL, NULL, NULL));
    gnnmg_trainer_free(trainer);
  } else if (strcmp(how, "collective") == 0) {
    pthread_t thread;
    CHECK(gnnmg_comm_create_group(context, 2, NULL, ends));
    if (pthread_create(&thread, NULL, wait_for_nobody, NULL) != 0) return 1;
    CHECK(gnnmg_context_lend(context, 100));
  } else if (strcmp(how, "unpadded") == 0) {
    train_on_gpus(context, GNNMG_CAPTURE_UNPADDED);
  } else if (strcmp(how, "eager") == 0) {
    train_on_gpus(context, GNNMG_CAPTURE_OFF);
  } else if (strcmp(how, "captured") == 0) {
    train_on_gpus(context, GNNMG_CAPTURE_ON);
  } else if (strcmp(how, "pending") == 0) {
    struct DLManagedTensorVersioned* rows;
    CHECK(gnnmg_model_embed(model, data, &rows, 0));
  } else if (strcmp(how, "idle") != 0) {
    return 1;
  }
  return CHOSEN;
}
