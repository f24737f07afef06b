/*
 * Serves all parts of a graph to trainers on other machines until its input ends, as the program
 * gnnmg-server does, in a program of one's own.
 *   server [<folder of parts> [<address> [<token file> [<certificate> <key> <authority>]]]]
 * Without arguments a graph is generated and divided into four parts.
 */
#include <stdio.h>

#include "common.h"

int main(int argc, char** argv) {
  const char* folder = argc > 1 ? argv[1] : "parts";
  const char* address = argc > 2 ? argv[2] : "127.0.0.1:0"; /* port 0: a free one */
  const char* token_file = argc > 3 ? argv[3] : NULL;
  gnnmg_context* context = open_context();
  if (argc <= 1) {
    gnnmg_dataset* data = planted_data(context, 2000, NULL);
    gnnmg_parts_config division = {.struct_size = sizeof division, .num_parts = 4};
    CHECK(gnnmg_dataset_save_parts(data, folder, NULL, 0, &division, "fanouts=none", -1));
    gnnmg_dataset_free(data);
  }

  /*! [create] */
  gnnmg_server* server;
  CHECK(gnnmg_server_create(context, folder, NULL, 0, address, token_file, NULL, &server, -1));
  /*! [create] */
  /*! [tls] */
  if (argc > 6) CHECK(gnnmg_server_set_tls(server, argv[4], argv[5], argv[6]));
  /*! [tls] */
  /*! [start] */
  CHECK(gnnmg_server_start(server));
  /*! [start] */

  /*! [info] */
  gnnmg_server_info info = {.struct_size = sizeof info};
  CHECK(gnnmg_server_get_info(server, &info));
  printf("serving %d of %d parts\n", (int)info.num_served, (int)info.num_parts);
  if (argc > 2) printf("at port %d\n", (int)info.port); /* else it is another each time */
  /*! [info] */
  fflush(stdout);
  while (getchar() != EOF) continue;

  /*! [shutdown] */
  CHECK(gnnmg_server_shutdown(server, -1));
  CHECK(gnnmg_server_get_info(server, &info));
  printf("answered %lld questions\n", (long long)info.num_reads);
  gnnmg_server_free(server);
  /*! [shutdown] */
  close_context(context);
  return 0;
}
