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
  /* The process ends in the meantime, so any status is fine. */
  gnnmg_status status = gnnmg_comm_barrier(ends[0], -1);
  (void)status;
  return NULL;
}

/* Objects of a GPU. */
typedef struct {
  gnnmg_context* context;
  gnnmg_graph* graph;
  gnnmg_dataset* data;
  gnnmg_sampler* sampler;
  gnnmg_model* model;
  gnnmg_optimizer* optimizer;
  gnnmg_loader* loader;
  gnnmg_batch* batch;
  gnnmg_trainer* trainer;
  gnnmg_tensor* weights;
} gpu_world;
static gpu_world gpu;

static int32_t end_program(const gnnmg_epoch_info* epoch, void* user) {
  (void)epoch;
  (void)user;
  exit(CHOSEN);
}

static void make_gpu_world(gnnmg_context* context) {
  gpu.context = context;
  CHECK(gnnmg_graph_generate(context, "planted", "num_nodes=500", &gpu.graph));
  CHECK(gnnmg_dataset_create(gpu.graph, "x", "y", GNNMG_TASK_MULTICLASS, 0, &gpu.data));
  CHECK(gnnmg_dataset_add_random_split(gpu.data, "random", NULL));
  CHECK(gnnmg_sampler_create(gpu.graph, NULL, NULL, &gpu.sampler));
  CHECK(gnnmg_model_create(context, gpu.data, NULL, NULL, &gpu.model));
}

/* A trainer on all GPUs, for hours; on two or more the ranks wait for each other in each step. */
static void make_trainer(const char* settings) {
  gnnmg_trainer_config config = {.struct_size = sizeof config};
  config.device = GNNMG_DEVICE_CUDA;
  config.batch_size = 32;
  config.num_epochs = 1000000;
  CHECK(gnnmg_trainer_create(gpu.model, gpu.data, gpu.sampler, NULL, &config, settings,
                             &gpu.trainer));
}

/* Returns while the training runs. */
static void train_on_gpus(const char* settings) {
  const struct timespec pause = {0, 1000000};
  gnnmg_progress_info progress;
  make_trainer(settings);
  CHECK(gnnmg_trainer_start(gpu.trainer, NULL, NULL, NULL));
  do {
    nanosleep(&pause, NULL);
    progress.struct_size = sizeof progress;
    CHECK(gnnmg_trainer_progress(gpu.trainer, &progress));
  } while (progress.epoch == 0);
}

/* The loader's threads make mini-batches on the GPU in advance. */
static void load_on_gpu(void) {
  gnnmg_loader_config config = {.struct_size = sizeof config};
  config.device = GNNMG_DEVICE_CUDA;
  config.batch_size = 4;
  CHECK(gnnmg_loader_create(gpu.data, gpu.sampler, &config, "num_threads=2 prefetch=16",
                            &gpu.loader));
  CHECK(gnnmg_loader_next(gpu.loader, &gpu.batch, -1));
}

static void make_loop(void) {
  CHECK(gnnmg_model_set_device(gpu.model, GNNMG_DEVICE_CUDA, 0, 0));
  CHECK(gnnmg_optimizer_create(gpu.model, NULL, &gpu.optimizer));
  load_on_gpu();
}

/* A step of the caller's own loop; 0 if the program ends in the meantime. */
static int step_of_loop(void) {
  gnnmg_status status = GNNMG_OK;
  double loss;
  if (gpu.batch == NULL) status = gnnmg_loader_next(gpu.loader, &gpu.batch, -1);
  if (status == GNNMG_END) return 1;
  if (status == GNNMG_OK) status = gnnmg_model_forward(gpu.model, gpu.batch, NULL);
  if (status == GNNMG_OK) status = gnnmg_model_backward(gpu.model, GNNMG_LOSS_AUTO, &loss);
  if (status == GNNMG_OK) status = gnnmg_optimizer_step(gpu.optimizer);
  gnnmg_batch_free(gpu.batch);
  gpu.batch = NULL;
  if (status == GNNMG_ERR_CANCELLED || status == GNNMG_ERR_HANDLE) return 0;
  CHECK(status);
  return 1;
}

static void* run_loop(void* steps) {
  int count = 0;
  while (step_of_loop() == 1) {
    ++count;
    __atomic_store_n((int*)steps, count, __ATOMIC_RELEASE);
  }
  return NULL;
}

/* The exit handler of a host, registered early or late, like destructors of its static objects. */
static void free_all(void) {
  gnnmg_tensor_free(gpu.weights);
  gnnmg_batch_free(gpu.batch);
  gnnmg_loader_free(gpu.loader);
  gnnmg_optimizer_free(gpu.optimizer);
  gnnmg_trainer_free(gpu.trainer);
  gnnmg_model_free(gpu.model);
  gnnmg_sampler_free(gpu.sampler);
  gnnmg_dataset_free(gpu.data);
  gnnmg_graph_free(gpu.graph);
  gnnmg_context_free(gpu.context);
}

/* GPUs are already gone then, and everything else still exists. */
static void use_and_free_all(void) {
  int64_t nodes;
  gnnmg_batch* next;
  gnnmg_tensor* logits;
  if (gnnmg_graph_num_nodes(gpu.graph, 0, &nodes) != GNNMG_OK || nodes != 500 ||
      gnnmg_model_infer(gpu.model, gpu.batch, &logits) != GNNMG_ERR_CANCELLED ||
      gnnmg_loader_next(gpu.loader, &next, -1) != GNNMG_ERR_CANCELLED ||
      gnnmg_model_set_device(gpu.model, GNNMG_DEVICE_CPU, 0, 0) != GNNMG_ERR_CANCELLED) {
    fprintf(stderr, "after the end: %s\n", gnnmg_last_error());
    _Exit(1);
  }
  free_all();
}

static void end_on_gpus(const char* how, gnnmg_context* context) {
  double loss;
  make_gpu_world(context);
  if (strcmp(how, "unpadded") == 0) {
    train_on_gpus("capture=unpadded");
  } else if (strcmp(how, "eager") == 0) {
    train_on_gpus("capture=off");
  } else if (strcmp(how, "captured") == 0) {
    train_on_gpus("capture=on");
  } else if (strcmp(how, "stepped") == 0) { /* idle, except that loaders work in advance */
    make_trainer("capture=off");
    CHECK(gnnmg_trainer_step(gpu.trainer, &loss, -1));
  } else if (strcmp(how, "gpu freed") == 0) {
    train_on_gpus(NULL);
    gnnmg_trainer_free(gpu.trainer);
  } else if (strcmp(how, "callback") == 0) {
    make_trainer(NULL);
    CHECK(gnnmg_trainer_run(gpu.trainer, end_program, NULL, NULL));
  } else if (strcmp(how, "gpu loading") == 0) {
    load_on_gpu();
  } else if (strcmp(how, "loop") == 0) { /* ends between forward and backward */
    make_loop();
    CHECK(gnnmg_model_forward(gpu.model, gpu.batch, NULL));
  } else if (strcmp(how, "loop of a thread") == 0) {
    static int steps = 0;
    const struct timespec pause = {0, 1000000};
    pthread_t thread;
    make_loop();
    if (pthread_create(&thread, NULL, run_loop, &steps) != 0) exit(1);
    while (__atomic_load_n(&steps, __ATOMIC_ACQUIRE) < 3) nanosleep(&pause, NULL);
  } else if (strcmp(how, "embedding") == 0) {
    gnnmg_tensor* rows;
    CHECK(gnnmg_model_set_device(gpu.model, GNNMG_DEVICE_CUDA, 0, 0));
    CHECK(gnnmg_model_embed(gpu.model, gpu.data, 0, NULL, &rows, 0));
  } else if (strcmp(how, "early") == 0 || strcmp(how, "late") == 0) {
    make_loop();
    CHECK(gnnmg_model_export_parameters(gpu.model, &gpu.weights));
    if (strcmp(how, "late") == 0) atexit(free_all);
  } else if (strcmp(how, "early trainer") == 0 || strcmp(how, "late trainer") == 0) {
    train_on_gpus(NULL);
    if (strcmp(how, "late trainer") == 0) atexit(free_all);
  } else {
    exit(1);
  }
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  gnnmg_context* context;
  gnnmg_graph* graph;
  gnnmg_dataset* data;
  gnnmg_sampler* sampler;
  gnnmg_model* model;
  if (strcmp(how, "early") == 0) atexit(use_and_free_all); /* precedes the first use */
  if (strcmp(how, "early trainer") == 0) atexit(free_all);
  CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  CHECK(gnnmg_graph_generate(context, "planted", NULL, &graph));
  CHECK(gnnmg_dataset_create(graph, "x", "y", GNNMG_TASK_NONE, 0, &data));
  CHECK(gnnmg_dataset_add_random_split(data, "random", NULL));
  CHECK(gnnmg_sampler_create(graph, NULL, NULL, &sampler));
  CHECK(gnnmg_model_create(context, data, NULL, NULL, &model));
  if (strcmp(how, "loading") == 0) {
    gnnmg_loader* loader;
    gnnmg_batch* batch;
    CHECK(gnnmg_loader_create(data, sampler, NULL, NULL, &loader));
    CHECK(gnnmg_loader_next(loader, &batch, -1));
  } else if (strcmp(how, "training") == 0) {
    gnnmg_trainer* trainer;
    gnnmg_trainer_config config = {.struct_size = sizeof config};
    config.num_ranks = 2;
    config.num_epochs = 1000000;
    CHECK(gnnmg_trainer_create(model, data, sampler, NULL, &config, NULL, &trainer));
    CHECK(gnnmg_trainer_start(trainer, NULL, NULL, NULL));
    CHECK(gnnmg_trainer_wait(trainer, 200));
  } else if (strcmp(how, "freed") == 0) { /* a moment ago: the trainer still ends */
    gnnmg_trainer* trainer;
    CHECK(gnnmg_trainer_create(model, data, sampler, NULL, NULL, NULL, &trainer));
    CHECK(gnnmg_trainer_start(trainer, NULL, NULL, NULL));
    gnnmg_trainer_free(trainer);
  } else if (strcmp(how, "collective") == 0) {
    pthread_t thread;
    CHECK(gnnmg_comm_create_group(context, 2, NULL, ends));
    if (pthread_create(&thread, NULL, wait_for_nobody, NULL) != 0) return 1;
    CHECK(gnnmg_context_lend(context, 100));
  } else if (strcmp(how, "pending") == 0) {
    gnnmg_tensor* rows;
    CHECK(gnnmg_model_embed(model, data, 0, NULL, &rows, 0));
  } else if (strcmp(how, "idle") != 0) {
    end_on_gpus(how, context);
  }
  return CHOSEN;
}
