/*
 * Divides a data set into parts, for graphs that are too large for one machine: prints the cut, the
 * balance of the parts, and the rows that a mini-batch of each part would read from the others.
 *   partition [<data set> [<new folder> [<parts>]]]       generates a graph without arguments
 * After an interruption run the program again with the same arguments to continue.
 */
#include <gnnmg.h>
#include <gnnmg_util.h>
#include <stdio.h>
#include <stdlib.h>

static void print_log(gnnmg_context* context) {
  char text[512];
  size_t needed;
  gnnmg_log_info info = {.struct_size = sizeof info};
  while (gnnmg_log_next(context, &info, text, sizeof text, &needed) == GNNMG_OK)
    printf("  %s\n", text);
}

int main(int argc, char** argv) {
  const char* folder = argc > 2 ? argv[2] : "parts";
  gnnmg_context* context;
  GNNMG_CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  gnnmg_check_context(context);
  gnnmg_dataset* data;
  if (argc > 1)
    GNNMG_CHECK(gnnmg_dataset_open(context, argv[1], NULL, &data, -1));
  else
    GNNMG_CHECK(gnnmg_dataset_generate(context, "planted", "num_nodes=5000", &data));

  /*! [save] */
  const gnnmg_parts_config config = {.struct_size = sizeof config,
                                     .num_parts = argc > 3 ? atoi(argv[3]) : 4};
  const char* settings = "fanouts=15,10,5 batch_size=256"; /* the planned training has these */
  gnnmg_status status;
  while ((status = gnnmg_dataset_save_parts(data, folder, NULL, 0, &config, settings, 500)) ==
         GNNMG_PENDING)
    print_log(context); /* prints each step */
  GNNMG_CHECK(status);
  /*! [save] */
  print_log(context);

  /*! [facts] */
  gnnmg_dataset* whole; /* all parts in one process: the same data set as before */
  GNNMG_CHECK(gnnmg_dataset_open(context, folder, NULL, &whole, -1));
  gnnmg_parts_info all = {.struct_size = sizeof all};
  GNNMG_CHECK(gnnmg_dataset_get_parts_info(whole, &all));
  printf("%d parts, %.1f %% of %lld edges cut\n", (int)all.num_parts, 100 * all.cut,
         (long long)all.num_edges);
  printf("largest part / mean: nodes %.3f, edges %.3f, training ids %.3f\n", all.node_balance,
         all.edge_balance, all.train_balance);
  /*! [facts] */

  /*! [part] */
  int64_t cache_rows = all.num_nodes / 5;
  gnnmg_part_info part = {.struct_size = sizeof part};
  for (int32_t p = 0;
       (status = gnnmg_dataset_get_part_info(whole, p, cache_rows, &part)) == GNNMG_OK; ++p) {
    printf("part %d: %lld nodes, %lld edges, %lld training ids", (int)p, (long long)part.num_nodes,
           (long long)part.num_edges, (long long)part.num_train);
    if (part.hotness)
      printf(
          "; a mini-batch reads %.0f rows, %.0f of other parts, a cache of %lld rows has %.0f %%",
          part.batch_rows, part.remote_rows, (long long)cache_rows, 100 * part.hit_rate);
    printf("\n");
  }
  if (status != GNNMG_END) GNNMG_CHECK(status);
  /*! [part] */

  /*! [book] */
  gnnmg_tensor* book;
  GNNMG_CHECK(gnnmg_dataset_export_book(whole, &book));
  int64_t num_nodes;
  const int32_t* part_of = gnnmg_tensor_data_i32(book, &num_nodes);
  printf("node 0 is in part %d, node %lld in part %d\n", (int)part_of[0],
         (long long)(num_nodes - 1), (int)part_of[num_nodes - 1]);
  gnnmg_tensor_free(book);
  /*! [book] */

  /*! [share] */
  const gnnmg_served_config asking = {.struct_size = sizeof asking,
                                      .cache_bytes = 64 << 20}; /* keeps rows of other parts */
  gnnmg_dataset* share; /* trains as `whole` does; without a job it has all parts */
  GNNMG_CHECK(gnnmg_dataset_open_parts(context, NULL, folder, &asking, &share, -1));
  GNNMG_CHECK(gnnmg_dataset_get_parts_info(share, &all));
  if (all.own_parts != all.num_parts) printf("parts are missing\n");
  /*! [share] */

  gnnmg_dataset_free(share);
  gnnmg_dataset_free(whole);
  gnnmg_dataset_free(data);
  gnnmg_context_free(context);
  return 0;
}
