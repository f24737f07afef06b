/*
 * Serves all parts of a graph to trainers on other machines until its input ends, like the program
 * gnnmg-server.
 *   server [<folder of parts> [<address> [<token file> [<certificate> <key> <authority>]]]]
 * Without arguments it generates a graph, divides it into four parts, and trains in this process
 * with all data from the server.
 */
#include <gnnmg.h>
#include <gnnmg_util.h>
#include <stdio.h>

/* A trainer on any machine: it needs the addresses of the servers and no file of the graph. */
static void train_beside(gnnmg_context* context, int32_t port) {
  char addresses[64];
  snprintf(addresses, sizeof addresses, "127.0.0.1:%d", (int)port);
  /*! [served] */
  gnnmg_dataset* data;
  GNNMG_CHECK(
      gnnmg_dataset_open_served(context, addresses, NULL, NULL, "patience_ms=60000", &data, -1));
  /*! [served] */
  gnnmg_model* model;
  GNNMG_CHECK(gnnmg_model_create(context, data, NULL, "hidden_dim=32", &model));
  gnnmg_trainer* trainer;
  GNNMG_CHECK(gnnmg_trainer_create(model, data, NULL, NULL, NULL,
                                   "num_epochs=20 evaluation=sampled", &trainer));
  GNNMG_CHECK(gnnmg_trainer_run(trainer, NULL, NULL, NULL));
  gnnmg_metrics metrics = {.struct_size = sizeof metrics};
  GNNMG_CHECK(gnnmg_trainer_evaluate(trainer, GNNMG_PART_TEST, &metrics, NULL, -1));
  printf("test accuracy over the server %.3f\n", metrics.accuracy);
  gnnmg_trainer_free(trainer);
  gnnmg_model_free(model);
  gnnmg_dataset_free(data);
}

int main(int argc, char** argv) {
  const char* folder = argc > 1 ? argv[1] : "parts";
  const char* address = argc > 2 ? argv[2] : "127.0.0.1:0"; /* port 0: a free one */
  const char* token_file = argc > 3 ? argv[3] : NULL;
  gnnmg_context* context;
  GNNMG_CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  gnnmg_check_context(context);
  if (argc <= 1) {
    gnnmg_dataset* data;
    GNNMG_CHECK(gnnmg_dataset_generate(context, "planted", "num_nodes=2000", &data));
    const gnnmg_parts_config division = {.struct_size = sizeof division, .num_parts = 4};
    GNNMG_CHECK(gnnmg_dataset_save_parts(data, folder, NULL, 0, &division, "fanouts=none", -1));
    gnnmg_dataset_free(data);
  }

  /*! [create] */
  gnnmg_server* server;
  GNNMG_CHECK(
      gnnmg_server_create(context, folder, NULL, 0, address, token_file, NULL, &server, -1));
  /*! [create] */
  /*! [tls] */
  if (argc > 6) GNNMG_CHECK(gnnmg_server_set_tls(server, argv[4], argv[5], argv[6]));
  /*! [tls] */
  /*! [start] */
  GNNMG_CHECK(gnnmg_server_start(server));
  /*! [start] */

  /*! [info] */
  gnnmg_server_info info = {.struct_size = sizeof info};
  GNNMG_CHECK(gnnmg_server_get_info(server, &info));
  printf("serving %d of %d parts\n", (int)info.num_served, (int)info.num_parts);
  if (argc > 2) printf("at port %d\n", (int)info.port); /* else it is another each time */
  /*! [info] */
  fflush(stdout);
  if (argc <= 1)
    train_beside(context, info.port);
  else
    while (getchar() != EOF) continue;

  /*! [shutdown] */
  GNNMG_CHECK(gnnmg_server_shutdown(server, -1));
  GNNMG_CHECK(gnnmg_server_get_info(server, &info));
  printf("answered %lld questions\n", (long long)info.num_reads);
  gnnmg_server_free(server);
  /*! [shutdown] */
  gnnmg_log_print(context, GNNMG_LOG_WARNING, stderr);
  gnnmg_context_free(context);
  return 0;
}
