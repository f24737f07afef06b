/*
 * One model trained by several processes that name each other themselves, without a launcher:
 *   peers <host> <port> <processes> <number of this one> [<token file>]
 * Another address than this machine's own needs the token: 32 secret bytes in a file of mode 0600.
 */
#include <gnnmg.h>
#include <gnnmg_util.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  if (argc < 5) {
    fprintf(stderr, "peers <host> <port> <processes> <number of this one> [<token file>]\n");
    return 1;
  }
  gnnmg_context* context;
  GNNMG_CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  gnnmg_check_context(context);

  /*! [join] */
  const gnnmg_comm_config config = {.struct_size = sizeof config,
                                    .port = atoi(argv[2]), /* process 0 listens there */
                                    .num_processes = atoi(argv[3]),
                                    .process_rank = atoi(argv[4])};
  const char* token = argc > 5 ? argv[5] : NULL;
  gnnmg_comm* comm;
  gnnmg_status status;
  while ((status = gnnmg_comm_create(context, argv[1], NULL, token, &config, &comm, 1000)) ==
         GNNMG_PENDING)
    printf("waiting for the others\n");
  GNNMG_CHECK(status);
  /*! [join] */

  gnnmg_dataset* data; /* the same on each */
  GNNMG_CHECK(gnnmg_dataset_generate(context, "planted", "num_nodes=4000", &data));
  gnnmg_model* model;
  GNNMG_CHECK(gnnmg_model_create(context, data, NULL, "hidden_dim=32", &model));
  /*! [train] */
  gnnmg_trainer* trainer;
  GNNMG_CHECK(
      gnnmg_trainer_create(model, data, NULL, comm, NULL, "num_epochs=5 batch_size=256", &trainer));
  GNNMG_CHECK(gnnmg_trainer_run(trainer, NULL, NULL, NULL)); /* steps are shared by all */
  gnnmg_metrics metrics = {.struct_size = sizeof metrics};
  GNNMG_CHECK(
      gnnmg_trainer_evaluate(trainer, GNNMG_PART_TEST, &metrics, NULL, -1)); /* equal on all */
  /*! [train] */
  printf("process %s of %s: test accuracy %.4f\n", argv[4], argv[3], metrics.accuracy);

  gnnmg_trainer_free(trainer);
  /*! [leave] */
  GNNMG_CHECK(gnnmg_comm_shutdown(comm, -1)); /* else the first to leave would abort the others */
  gnnmg_comm_free(comm);
  /*! [leave] */
  gnnmg_model_free(model);
  gnnmg_dataset_free(data);
  gnnmg_log_print(context, GNNMG_LOG_WARNING, stderr);
  gnnmg_context_free(context);
  return metrics.accuracy > 0.5 ? 0 : 1;
}
