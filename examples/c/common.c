#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gnnmg_context* opened; /* set by open_context() until the context is closed */

/* Not exit(), which two threads must not call at once. */
static void leave(void) {
  print_warnings(opened);
  fflush(stdout);
  _Exit(1);
}

void check(gnnmg_status status, const char* call, const char* file, int line) {
  if (status >= 0) return;
  const char* slash = strrchr(file, '/'); /* compilers are given the builder's path */
  fprintf(stderr, "%s: %s\n  %s:%d: %s\n", gnnmg_status_name(status), gnnmg_last_error(),
          slash ? slash + 1 : file, line, call);
  leave();
}

void give_up(const char* text) {
  fprintf(stderr, "%s\n", text);
  leave();
}

gnnmg_context* open_context(void) {
  gnnmg_context* context;
  CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  return opened = context;
}

void print_warnings(gnnmg_context* context) {
  gnnmg_log_info info = {.struct_size = sizeof info};
  char* text = NULL;
  size_t capacity = 0, needed = 0;
  fflush(stdout); /* prints the program's own output first */
  while (context && gnnmg_log_next(context, &info, text, capacity, &needed) == GNNMG_OK) {
    if (needed > capacity) { /* the message is still in the queue */
      free(text);
      text = malloc(capacity = needed);
      if (text == NULL) return;
    } else if (info.level >= GNNMG_LOG_WARNING) {
      fprintf(stderr, "warning: %s\n", text);
    }
  }
  free(text);
}

void close_context(gnnmg_context* context) {
  print_warnings(context);
  opened = NULL;
  gnnmg_context_free(context);
}

const void* data_of(const struct DLManagedTensorVersioned* tensor, int64_t* num_elements) {
  gnnmg_tensor_info info = {.struct_size = sizeof info};
  CHECK(gnnmg_tensor_get_info(tensor, &info));
  if (num_elements != NULL) *num_elements = info.num_elements;
  return info.data;
}

gnnmg_dataset* planted_data(const gnnmg_context* context, int64_t num_nodes, gnnmg_graph** graph) {
  gnnmg_planted_partition_config config;
  CHECK(gnnmg_planted_partition_config_init(&config, sizeof config));
  config.num_nodes = num_nodes;
  gnnmg_graph* made;
  CHECK(gnnmg_graph_create_planted_partition(context, &config, &made));
  gnnmg_dataset* data;
  CHECK(gnnmg_dataset_create(made, "x", "y", GNNMG_TASK_MULTICLASS, config.num_classes, &data));
  CHECK(gnnmg_dataset_add_random_split(data, "random", NULL));
  if (graph == NULL)
    gnnmg_graph_free(made); /* the data set keeps it */
  else
    *graph = made;
  return data;
}

gnnmg_model* small_model(const gnnmg_context* context, const gnnmg_dataset* data) {
  gnnmg_model_config config;
  CHECK(gnnmg_model_config_init(&config, sizeof config));
  config.hidden_dim = 32;
  gnnmg_model* model;
  CHECK(gnnmg_model_create(context, data, &config, &model));
  return model;
}

gnnmg_metrics train_small_model(const gnnmg_context* context, const gnnmg_dataset* data,
                                const gnnmg_sampler* sampler, int64_t num_epochs) {
  gnnmg_model* model = small_model(context, data);
  gnnmg_trainer_config config;
  CHECK(gnnmg_trainer_config_init(&config, sizeof config));
  config.num_epochs = num_epochs;
  config.batch_size = 256;
  config.keep_best = 0;
  gnnmg_trainer* trainer;
  CHECK(gnnmg_trainer_create(model, data, sampler, NULL, &config, &trainer));
  CHECK(gnnmg_trainer_run(trainer, NULL, NULL, NULL));
  gnnmg_metrics metrics = {.struct_size = sizeof metrics};
  CHECK(gnnmg_trainer_evaluate(trainer, GNNMG_SPLIT_TEST, &metrics, -1));
  gnnmg_trainer_free(trainer);
  gnnmg_model_free(model);
  return metrics;
}
