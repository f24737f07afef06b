#include "common.h"

#include <stdio.h>
#include <stdlib.h>

/* Not exit(), which two threads must not call at once. */
static void leave(void) {
  fflush(stdout);
  _Exit(1);
}

void check(gnnmg_status status, const char* call, const char* file, int line) {
  if (status >= 0) return;
  fprintf(stderr, "%s:%d: %s\n  %s: %s\n", file, line, call, gnnmg_status_name(status),
          gnnmg_last_error());
  leave();
}

void give_up(const char* text) {
  fprintf(stderr, "%s\n", text);
  leave();
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
