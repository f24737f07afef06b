/* GraphSAGE on the nodes of a data set, or else of a generated graph: first [<folder or file>] */
#include <gnnmg.h>
#include <stdio.h>
#include <stdlib.h>

static void check(gnnmg_status status) {
  if (status >= 0) return;
  fprintf(stderr, "%s\n", gnnmg_last_error());
  exit(1);
}

int main(int argc, char** argv) {
  gnnmg_context* context;
  check(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  gnnmg_graph* graph;
  gnnmg_dataset* data;
  if (argc > 1) { /* Planetoid, OGB, .npz, edge lists, ... */
    check(gnnmg_dataset_open(context, argv[1], NULL, &data, -1));
    check(gnnmg_dataset_get_graph(data, 0, &graph));
  } else {
    gnnmg_planted_partition_config planted;
    check(gnnmg_planted_partition_config_init(&planted, sizeof planted));
    planted.num_nodes = 2000;
    check(gnnmg_graph_create_planted_partition(context, &planted, &graph));
    check(gnnmg_dataset_create(graph, "x", "y", GNNMG_TASK_MULTICLASS, 0, &data));
    check(gnnmg_dataset_add_random_split(data, "random", NULL));
  }
  gnnmg_sampler* sampler; /* 10 and 10 neighbors */
  check(gnnmg_sampler_create(graph, NULL, &sampler));

  gnnmg_model_config layers;
  check(gnnmg_model_config_init(&layers, sizeof layers));
  layers.hidden_dim = 64;
  layers.dropout = 0.5;
  gnnmg_model* model; /* GraphSAGE, widths from the data */
  check(gnnmg_model_create(context, data, &layers, &model));

  gnnmg_trainer_config training;
  check(gnnmg_trainer_config_init(&training, sizeof training));
  training.num_ranks = 2; /* replicas that share each step */
  training.batch_size = 64;
  training.num_epochs = 30;
  gnnmg_trainer* trainer;
  check(gnnmg_trainer_create(model, data, sampler, NULL, &training, &trainer));
  check(gnnmg_trainer_run(trainer, NULL, NULL, NULL));

  gnnmg_metrics test = {.struct_size = sizeof test};
  check(gnnmg_trainer_evaluate(trainer, GNNMG_SPLIT_TEST, &test, -1));
  printf("test accuracy %.3f on %lld nodes\n", test.accuracy, (long long)test.count);
  check(gnnmg_model_save(model, "sage.safetensors", NULL, -1)); /* PyG's keys; or .pth */

  fflush(stdout);
  char text[512]; /* the library's warnings */
  size_t needed;
  gnnmg_log_info said = {.struct_size = sizeof said};
  while (gnnmg_log_next(context, &said, text, sizeof text, &needed) == GNNMG_OK &&
         needed <= sizeof text)
    if (said.level >= GNNMG_LOG_WARNING) fprintf(stderr, "warning: %s\n", text);
  gnnmg_trainer_free(trainer); /* any order works */
  gnnmg_model_free(model);
  gnnmg_sampler_free(sampler);
  gnnmg_graph_free(graph);
  gnnmg_dataset_free(data);
  gnnmg_context_free(context);
  return 0;
}
