/*
 * A data set from a text with an edge a line: opened with settings, read, written in the library's
 * own format, and opened again from there, which is the fast way from then on.
 *   edge_list [<text> [<new folder>]]       without arguments a small text is made
 */
#include <stdio.h>

#include "common.h"

/* Seven people by their account numbers, as an export of a database has them. */
static const char* small_text(void) {
  FILE* file = fopen("follows.csv", "w");
  if (file == NULL) give_up("follows.csv cannot be written");
  fputs("who;whom;since\n", file);
  fputs("9000017;123;2019\n123;4410;2020\n4410;9000017;2020\n55;123;2021\n", file);
  fputs("86;55;2022\n7;86;2023\n31;7;2023\n31;123;2024\n", file);
  if (fclose(file) != 0) give_up("follows.csv cannot be written");
  return "follows.csv";
}

static void describe(const gnnmg_dataset* data) {
  /*! [describe] */
  const char *name, *features, *labels;
  gnnmg_dataset_info info = {.struct_size = sizeof info};
  CHECK(gnnmg_dataset_get_names(data, &name, &features, &labels));
  CHECK(gnnmg_dataset_get_info(data, &info));
  printf("%s: %lld nodes, %lld edges, features %s (%lld), labels %s, %lld splits\n", name,
         (long long)info.num_nodes, (long long)info.num_edges, *features ? features : "none",
         (long long)info.feature_dim, *labels ? labels : "none", (long long)info.num_splits);
  /*! [describe] */
}

int main(int argc, char** argv) {
  const char* text = argc > 1 ? argv[1] : small_text();
  const char* folder = argc > 2 ? argv[2] : "follows";
  gnnmg_context* context = open_context();

  /*! [open] */
  gnnmg_dataset_config config;
  CHECK(gnnmg_dataset_config_init(&config, sizeof config));
  config.format = GNNMG_FORMAT_EDGES;
  config.undirected = 1;
  config.relabel = 1; /* account numbers become 0, 1, 2, ... */
  gnnmg_dataset* data;
  gnnmg_status status;
  while ((status = gnnmg_dataset_open(context, text, &config, &data, 200)) == GNNMG_PENDING)
    printf("still reading %s\n", text); /* a program would show its window here */
  CHECK(status);
  /*! [open] */
  describe(data);

  gnnmg_graph* graph;
  CHECK(gnnmg_dataset_get_graph(data, 0, &graph));
  struct DLManagedTensorVersioned* ids;
  CHECK(gnnmg_graph_export_node_tensor(graph, 0, "original_id", &ids));
  printf("node 0 is %lld in the text\n", (long long)*(const int64_t*)data_of(ids, NULL));
  gnnmg_tensor_free(ids);
  gnnmg_graph_free(graph);

  /*! [save] */
  CHECK(gnnmg_dataset_save(data, folder, -1)); /* whole or not at all */
  gnnmg_dataset* again;
  CHECK(gnnmg_dataset_open(context, folder, NULL, &again, -1)); /* mapped, not parsed */
  /*! [save] */
  describe(again);

  gnnmg_dataset_info before = {.struct_size = sizeof before};
  gnnmg_dataset_info after = {.struct_size = sizeof after};
  CHECK(gnnmg_dataset_get_info(data, &before));
  CHECK(gnnmg_dataset_get_info(again, &after));
  gnnmg_dataset_free(again);
  gnnmg_dataset_free(data);
  close_context(context);
  if (argc == 1 && (before.num_nodes != 7 || before.num_edges != 16)) return 1;
  return after.num_nodes == before.num_nodes && after.num_edges == before.num_edges ? 0 : 1;
}
