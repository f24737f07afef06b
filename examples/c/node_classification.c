/*
 * Node classification from a folder or file, or, without an argument, on a generated graph:
 *   node_classification [<path>]
 */
/*! [whole program] */
#include <stdio.h>

#include "common.h"

static int32_t on_epoch(const gnnmg_epoch_info* epoch, void* user_data) {
  (void)user_data;
  printf("epoch %2lld  loss %.4f  validation accuracy %.4f%s\n", (long long)epoch->epoch + 1,
         epoch->train_loss, epoch->validation_accuracy, epoch->best ? " *" : "");
  return 0; /* anything else would end training */
}

int main(int argc, char** argv) {
  gnnmg_context* context;
  gnnmg_dataset* data;
  gnnmg_graph* graph;
  context = open_context();

  if (argc > 1) {
    /*! [open] */
    CHECK(gnnmg_dataset_open(context, argv[1], NULL, &data, -1));
    CHECK(gnnmg_dataset_get_graph(data, 0, &graph));
    /*! [open] */
  } else {
    gnnmg_planted_partition_config planted;
    CHECK(gnnmg_planted_partition_config_init(&planted, sizeof planted));
    planted.num_nodes = 5000;
    CHECK(gnnmg_graph_create_planted_partition(context, &planted, &graph));
    CHECK(gnnmg_dataset_create(graph, "x", "y", GNNMG_TASK_MULTICLASS, 0, &data));
    CHECK(gnnmg_dataset_add_random_split(data, "random", NULL));
  }

  /*! [sampler] */
  gnnmg_sampler_config sampling;
  CHECK(gnnmg_sampler_config_init(&sampling, sizeof sampling));
  sampling.num_fanouts = 2;
  sampling.fanouts[0] = 10; /* next to the seeds */
  sampling.fanouts[1] = 5;
  gnnmg_sampler* sampler;
  CHECK(gnnmg_sampler_create(graph, &sampling, &sampler));
  /*! [sampler] */

  /*! [model] */
  gnnmg_model_config layers;
  CHECK(gnnmg_model_config_init(&layers, sizeof layers));
  layers.architecture = GNNMG_MODEL_SAGE;
  layers.num_layers = 2;
  layers.hidden_dim = 64;
  layers.dropout = 0.5;
  gnnmg_model* model;
  CHECK(gnnmg_model_create(context, data, &layers, &model)); /* widths from the data */
  /*! [model] */

  /*! [train] */
  gnnmg_trainer_config training;
  CHECK(gnnmg_trainer_config_init(&training, sizeof training));
  training.num_ranks = 2; /* replicas that share each step */
  training.batch_size = 256;
  training.num_epochs = 8;
  gnnmg_trainer* trainer;
  CHECK(gnnmg_trainer_create(model, data, sampler, NULL, &training, &trainer));
  CHECK(gnnmg_trainer_run(trainer, on_epoch, NULL, NULL));
  /*! [train] */

  /*! [evaluate] */
  gnnmg_metrics metrics = {.struct_size = sizeof metrics};
  CHECK(gnnmg_trainer_evaluate(trainer, GNNMG_SPLIT_TEST, &metrics, -1));
  printf("test accuracy %.4f (%lld of %lld)\n", metrics.accuracy, (long long)metrics.correct,
         (long long)metrics.count);
  /*! [evaluate] */
  CHECK(gnnmg_model_save(model, "sage.safetensors", NULL, -1));

  gnnmg_trainer_free(trainer);
  gnnmg_model_free(model);
  gnnmg_sampler_free(sampler);
  gnnmg_graph_free(graph);
  gnnmg_dataset_free(data);
  close_context(context);
  return 0;
}
/*! [whole program] */
