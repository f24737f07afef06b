/*
 * A data set from a text with one edge per line: opens it with settings, reads it, writes a result
 * with the nodes' names, saves all of it in the library's own format, and opens that, which is
 * faster.
 *   edge_list [<text> [<new folder>]]       writes a small text without arguments
 */
#include <gnnmg.h>
#include <gnnmg_util.h>
#include <stdio.h>
#include <stdlib.h>

static void fail(const char* path) {
  perror(path);
  exit(1);
}

/* Seven people by their names, as an export of a database has them. */
static const char* small_text(void) {
  FILE* file = fopen("follows.csv", "w");
  if (file == NULL) fail("follows.csv");
  fputs("who;whom;since\n", file);
  fputs("ada;bob;2019\nbob;cleo;2020\ncleo;ada;2020\ndan;bob;2021\n", file);
  fputs("eve;dan;2022\nfay;eve;2023\ngus;fay;2023\ngus;bob;2024\n", file);
  if (fclose(file) != 0) fail("follows.csv");
  return "follows.csv";
}

static void describe(const gnnmg_dataset* data) {
  /*! [describe] */
  const char *name, *features, *labels;
  gnnmg_dataset_info info = {.struct_size = sizeof info};
  GNNMG_CHECK(gnnmg_dataset_get_names(data, &name, &features, &labels));
  GNNMG_CHECK(gnnmg_dataset_get_info(data, &info));
  printf("%s: %lld nodes, %lld edges, features %s (%lld), labels %s, %lld splits\n", name,
         (long long)info.num_nodes, (long long)info.num_edges, *features ? features : "none",
         (long long)info.feature_dim, *labels ? labels : "none", (long long)info.num_splits);
  /*! [describe] */
}

/* The nodes' names in the text: one zero-terminated row each, or numbers. */
typedef struct {
  gnnmg_tensor* tensor;
  int64_t width; /* width of a name; 0: numbers */
} in_text;

static in_text names_in_text(const gnnmg_graph* graph) {
  in_text names = {NULL, 0};
  int64_t num_nodes;
  GNNMG_CHECK(gnnmg_graph_num_nodes(graph, 0, &num_nodes));
  /*! [names] */
  gnnmg_status found = gnnmg_graph_export_node_tensor(graph, 0, "original_name", &names.tensor);
  if (found == GNNMG_OK) {
    gnnmg_tensor_data_u8(names.tensor, &names.width);
    names.width /= num_nodes;
  } else if (found == GNNMG_ERR_NOT_FOUND) { /* all were integers */
    found = gnnmg_graph_export_node_tensor(graph, 0, "original_id", &names.tensor);
  }
  GNNMG_CHECK(found);
  /*! [names] */
  return names;
}

static void put_name(FILE* file, in_text names, int64_t node) {
  if (names.width > 0)
    fputs((const char*)gnnmg_tensor_data_u8(names.tensor, NULL) + node * names.width, file);
  else
    fprintf(file, "%lld", (long long)gnnmg_tensor_data_i64(names.tensor, NULL)[node]);
}

/* One line per node: its name in the text, and its number of edges. */
static void write_results(const gnnmg_graph* graph, in_text names, const char* path) {
  int64_t num_nodes, edges;
  GNNMG_CHECK(gnnmg_graph_num_nodes(graph, 0, &num_nodes));
  FILE* file = fopen(path, "w");
  if (file == NULL) fail(path);
  for (int64_t node = 0; node < num_nodes; ++node) {
    GNNMG_CHECK(gnnmg_graph_get_in_edges(graph, 0, node, NULL, NULL, 0, &edges));
    put_name(file, names, node);
    fprintf(file, "\t%lld\n", (long long)edges);
  }
  if (fclose(file) != 0) fail(path);
  printf("edges of %lld nodes written to %s\n", (long long)num_nodes, path);
}

int main(int argc, char** argv) {
  const char* text = argc > 1 ? argv[1] : small_text();
  const char* folder = argc > 2 ? argv[2] : "follows";
  gnnmg_context* context;
  GNNMG_CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  gnnmg_check_context(context);

  /*! [open] */
  /* relabel: names, or numbers of any size, become 0, 1, 2, ... */
  const char* settings = "format=edges undirected=1 relabel=1";
  gnnmg_dataset* data;
  gnnmg_status status;
  while ((status = gnnmg_dataset_open(context, text, settings, &data, 200)) == GNNMG_PENDING)
    printf("still reading %s\n", text); /* a program would show its window here */
  GNNMG_CHECK(status);
  /*! [open] */
  describe(data);

  gnnmg_graph* graph;
  GNNMG_CHECK(gnnmg_dataset_get_graph(data, 0, &graph));
  const in_text names = names_in_text(graph);
  printf("node 0 is ");
  put_name(stdout, names, 0);
  printf(" in the text\n");
  write_results(graph, names, "results.tsv");
  gnnmg_tensor_free(names.tensor);
  gnnmg_graph_free(graph);

  /*! [save] */
  GNNMG_CHECK(gnnmg_dataset_save(data, folder, -1)); /* whole or not at all */
  gnnmg_dataset* again;
  GNNMG_CHECK(gnnmg_dataset_open(context, folder, NULL, &again, -1)); /* mapped, not parsed */
  /*! [save] */
  describe(again);

  gnnmg_dataset_info before = {.struct_size = sizeof before};
  gnnmg_dataset_info after = {.struct_size = sizeof after};
  GNNMG_CHECK(gnnmg_dataset_get_info(data, &before));
  GNNMG_CHECK(gnnmg_dataset_get_info(again, &after));
  gnnmg_dataset_free(again);
  gnnmg_dataset_free(data);
  gnnmg_log_print(context, GNNMG_LOG_WARNING, stderr);
  gnnmg_context_free(context);
  if (argc == 1 && (before.num_nodes != 7 || before.num_edges != 16)) return 1;
  return after.num_nodes == before.num_nodes && after.num_edges == before.num_edges ? 0 : 1;
}
