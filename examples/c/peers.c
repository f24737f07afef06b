/*
 * One model trained by several processes that name each other themselves, without a launcher:
 *   peers <host> <port> <processes> <number of this one> [<token file>]
 * Another address than this machine's own needs the token: 32 secret bytes in a file of mode 0600.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common.h"

int main(int argc, char** argv) {
  if (argc < 5) give_up("peers <host> <port> <processes> <number of this one> [<token file>]");
  gnnmg_context* context = open_context();

  /*! [join] */
  gnnmg_comm_config config;
  CHECK(gnnmg_comm_config_init(&config, sizeof config));
  config.port = atoi(argv[2]); /* address of process 0 */
  config.num_processes = atoi(argv[3]);
  config.process_rank = atoi(argv[4]);
  const char* token = argc > 5 ? argv[5] : NULL;
  gnnmg_comm* comm;
  gnnmg_status status;
  while ((status = gnnmg_comm_create(context, argv[1], NULL, token, &config, &comm, 1000)) ==
         GNNMG_PENDING)
    printf("waiting for the others\n");
  CHECK(status);
  /*! [join] */

  gnnmg_graph* graph;
  gnnmg_dataset* data = planted_data(context, 4000, &graph); /* the same on each */
  gnnmg_sampler* sampler;
  gnnmg_trainer* trainer;
  CHECK(gnnmg_sampler_create(graph, NULL, &sampler));
  gnnmg_model* model = small_model(context, data);
  /*! [train] */
  gnnmg_trainer_config training;
  CHECK(gnnmg_trainer_config_init(&training, sizeof training));
  training.num_epochs = 5;
  training.batch_size = 256;
  CHECK(gnnmg_trainer_create(model, data, sampler, comm, &training, &trainer));
  CHECK(gnnmg_trainer_run(trainer, NULL, NULL, NULL)); /* steps are shared by all */
  gnnmg_metrics metrics = {.struct_size = sizeof metrics};
  CHECK(gnnmg_trainer_evaluate(trainer, GNNMG_SPLIT_TEST, &metrics, -1)); /* equal on all */
  /*! [train] */
  printf("process %s of %s: test accuracy %.4f\n", argv[4], argv[3], metrics.accuracy);

  gnnmg_trainer_free(trainer);
  /*! [leave] */
  CHECK(gnnmg_comm_shutdown(comm, -1)); /* else the first to leave would abort the others */
  gnnmg_comm_free(comm);
  /*! [leave] */
  gnnmg_model_free(model);
  gnnmg_sampler_free(sampler);
  gnnmg_dataset_free(data);
  gnnmg_graph_free(graph);
  close_context(context);
  return metrics.accuracy > 0.5 ? 0 : 1;
}
