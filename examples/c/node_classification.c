/*
 * Node classification from a folder or file, or, without an argument, on a generated graph:
 *   node_classification [<path>]
 */
/*! [whole program] */
#include <gnnmg.h>
#include <gnnmg_util.h>
#include <stdio.h>

static int32_t on_epoch(const gnnmg_epoch_info* epoch, void* user_data) {
  (void)user_data;
  printf("epoch %2lld  loss %.4f  validation accuracy %.4f%s\n", (long long)epoch->epoch + 1,
         epoch->train_loss, epoch->validation->accuracy, epoch->best ? " *" : "");
  return 0; /* anything else would end training */
}

int main(int argc, char** argv) {
  gnnmg_context* context;
  GNNMG_CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  gnnmg_check_context(context);

  /*! [open] */
  gnnmg_dataset* data;
  if (argc > 1)
    GNNMG_CHECK(gnnmg_dataset_open(context, argv[1], NULL, &data, -1));
  else
    GNNMG_CHECK(gnnmg_dataset_generate(context, "planted", "num_nodes=5000", &data));
  /*! [open] */

  /*! [sampler] */
  gnnmg_graph* graph;
  GNNMG_CHECK(gnnmg_dataset_get_graph(data, 0, &graph));
  const gnnmg_sampler_config sampling = {.struct_size = sizeof sampling,
                                         .num_fanouts = 2,
                                         .fanouts = {10, 5}}; /* 10 next to the seeds */
  gnnmg_sampler* sampler;
  GNNMG_CHECK(gnnmg_sampler_create(graph, &sampling, NULL, &sampler));
  /*! [sampler] */

  /*! [model] */
  const gnnmg_model_config layers = {.struct_size = sizeof layers,
                                     .architecture = GNNMG_ARCHITECTURE_SAGE,
                                     .num_layers = 2,
                                     .hidden_dim = 64,
                                     .dropout = 0.5};
  gnnmg_model* model; /* widths from the data */
  GNNMG_CHECK(gnnmg_model_create(context, data, &layers, NULL, &model));
  /*! [model] */

  /*! [train] */
  const gnnmg_trainer_config training = {.struct_size = sizeof training,
                                         .num_ranks = 2, /* replicas that share each step */
                                         .batch_size = 256,
                                         .num_epochs = 8};
  gnnmg_trainer* trainer;
  GNNMG_CHECK(gnnmg_trainer_create(model, data, sampler, NULL, &training, NULL, &trainer));
  GNNMG_CHECK(gnnmg_trainer_run(trainer, on_epoch, NULL, NULL));
  /*! [train] */

  /*! [evaluate] */
  gnnmg_metrics metrics = {.struct_size = sizeof metrics};
  GNNMG_CHECK(gnnmg_trainer_evaluate(trainer, GNNMG_PART_TEST, &metrics, NULL, -1));
  printf("test accuracy %.4f (%lld of %lld)\n", metrics.accuracy, (long long)metrics.correct,
         (long long)metrics.count);
  /*! [evaluate] */
  GNNMG_CHECK(gnnmg_model_save(model, "sage.safetensors", NULL, -1));

  gnnmg_log_print(context, GNNMG_LOG_WARNING, stderr);
  gnnmg_context_close(context); /* frees all that was made from it */
  return 0;
}
/*! [whole program] */
