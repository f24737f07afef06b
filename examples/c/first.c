/* GraphSAGE on the nodes of a data set, or else of a generated graph: first [<folder or file>] */
#include <gnnmg.h>
#include <gnnmg_util.h>
#include <stdio.h>

int main(int argc, char** argv) {
  gnnmg_context* context;
  GNNMG_CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  gnnmg_check_context(context);
  gnnmg_dataset* data;
  if (argc > 1) /* Planetoid, OGB, .npz, edge lists, ... */
    GNNMG_CHECK(gnnmg_dataset_open(context, argv[1], NULL, &data, -1));
  else
    GNNMG_CHECK(gnnmg_dataset_generate(context, "planted", "num_nodes=2000", &data));

  gnnmg_model_config layers = {.struct_size = sizeof layers, .hidden_dim = 64, .dropout = 0.5};
  gnnmg_model* model; /* GraphSAGE, two layers, widths from the data */
  GNNMG_CHECK(gnnmg_model_create(context, data, &layers, NULL, &model));

  gnnmg_trainer* trainer; /* two ranks share each step; each node draws 10 neighbors a layer */
  GNNMG_CHECK(gnnmg_trainer_create(model, data, NULL, NULL, NULL,
                                   "num_ranks=2 batch_size=64 num_epochs=30", &trainer));
  GNNMG_CHECK(gnnmg_trainer_run(trainer, NULL, NULL, NULL));

  gnnmg_metrics test = {.struct_size = sizeof test};
  GNNMG_CHECK(gnnmg_trainer_evaluate(trainer, GNNMG_PART_TEST, &test, NULL, -1));
  printf("test accuracy %.3f on %lld nodes\n", test.accuracy, (long long)test.count);
  GNNMG_CHECK(gnnmg_model_save(model, "sage.safetensors", NULL, -1)); /* PyG's keys; or .pth */

  gnnmg_log_print(context, GNNMG_LOG_WARNING, stderr);
  gnnmg_context_close(context); /* frees all that was made from it */
  return 0;
}
