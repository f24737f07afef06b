/* The interface as a C99 program uses it, compiled without extensions and with every warning. */
#include <gnnmg.h>
#include <stdio.h>
#include <string.h>

static int failures;
static void expect(int right, const char* what, int line) {
  if (right) return;
  printf("line %d: %s (last error: %s)\n", line, what, gnnmg_last_error());
  ++failures;
}
#define EXPECT(condition) expect((condition), #condition, __LINE__)

static int32_t count_epochs(const gnnmg_epoch_info* epoch, void* user_data) {
  int* count = user_data;
  *count += epoch->struct_size == sizeof *epoch;
  return 0;
}

int main(void) {
  gnnmg_context* context = NULL;
  gnnmg_graph* graph = NULL;
  gnnmg_dataset* data = NULL;
  gnnmg_sampler* sampler = NULL;
  gnnmg_model* model = NULL;
  gnnmg_trainer* trainer = NULL;
  gnnmg_trainer_config config = {.struct_size = sizeof config};
  gnnmg_metrics metrics = {0};
  int epochs = 0;

  EXPECT(gnnmg_version() == GNNMG_VERSION);
  EXPECT(GNNMG_VERSION ==
         GNNMG_VERSION_MAJOR * 10000 + GNNMG_VERSION_MINOR * 100 + GNNMG_VERSION_PATCH);
  EXPECT(strcmp(gnnmg_last_error(), "") == 0);
  EXPECT(gnnmg_context_create(GNNMG_VERSION, NULL, &context) == GNNMG_OK);
  EXPECT(gnnmg_graph_generate(context, "planted", "num_nodes=500", &graph) == GNNMG_OK);
  EXPECT(gnnmg_dataset_create(graph, "x", "y", GNNMG_TASK_MULTICLASS, 0, &data) == GNNMG_OK);
  EXPECT(gnnmg_dataset_add_random_split(data, "random", NULL) == GNNMG_OK);
  EXPECT(gnnmg_sampler_create(graph, NULL, NULL, &sampler) == GNNMG_OK);
  EXPECT(gnnmg_model_create(context, data, NULL, NULL, &model) == GNNMG_OK);
  config.num_epochs = 3;
  EXPECT(gnnmg_trainer_create(model, data, sampler, NULL, &config, NULL, &trainer) == GNNMG_OK);
  EXPECT(gnnmg_trainer_run(trainer, count_epochs, &epochs, NULL) == GNNMG_OK);
  EXPECT(epochs == 3);
  EXPECT(gnnmg_trainer_evaluate(trainer, GNNMG_PART_TEST, &metrics, NULL, -1) ==
         GNNMG_ERR_INVALID_ARGUMENT); /* struct_size was left at 0 */
  metrics.struct_size = sizeof metrics;
  EXPECT(gnnmg_trainer_evaluate(trainer, GNNMG_PART_TEST, &metrics, NULL, -1) == GNNMG_OK);
  EXPECT(metrics.count == 100);
  EXPECT(metrics.accuracy > 0.2);

  gnnmg_context_free(context);
  gnnmg_trainer_free(trainer);
  gnnmg_trainer_free(trainer); /* stale by now, and harmless */
  gnnmg_model_free(model);
  gnnmg_sampler_free(sampler);
  gnnmg_dataset_free(data);
  gnnmg_graph_free(graph);
  EXPECT(gnnmg_graph_num_nodes(graph, 0, &(int64_t){0}) == GNNMG_ERR_HANDLE);
  printf(failures ? "%d failures\n" : "all is well\n", failures);
  return failures != 0;
}
