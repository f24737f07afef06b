/*
 * Many small graphs: a data set made of arrays, folds in which every class has its share, and
 * mini-batches of whole graphs. The graphs are rings and stars of 3 to 12 nodes, one class each.
 */
#include <gnnmg.h>
#include <gnnmg_util.h>
#include <stdio.h>

enum { GRAPHS = 200, LARGEST = 12 };

int main(void) {
  gnnmg_context* context;
  gnnmg_graph* graph;
  gnnmg_dataset* data;
  GNNMG_CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  gnnmg_check_context(context);

  /* Side by side in one graph: nodes are numbered on from graph to graph. */
  static int64_t sources[2 * GRAPHS * LARGEST], targets[2 * GRAPHS * LARGEST];
  static int64_t graph_ptr[GRAPHS + 1], classes[GRAPHS];
  static float ones[GRAPHS * LARGEST];
  int64_t edges = 0;
  for (int g = 0; g < GRAPHS; ++g) {
    const int64_t first = graph_ptr[g], nodes = 3 + g * 7 % (LARGEST - 2);
    classes[g] = g % 2;
    for (int64_t i = 1; i < nodes + (classes[g] == 0); ++i) {
      const int64_t u = first + i % nodes, v = classes[g] == 0 ? first + i - 1 : first;
      sources[edges] = targets[edges + 1] = u;
      targets[edges] = sources[edges + 1] = v;
      edges += 2;
    }
    graph_ptr[g + 1] = first + nodes;
  }
  const int64_t nodes = graph_ptr[GRAPHS];
  for (int64_t i = 0; i < nodes; ++i) ones[i] = 1;
  const int64_t shape[] = {nodes, 1}, rows[] = {GRAPHS};
  GNNMG_CHECK(gnnmg_graph_create_from_coo(context, nodes, sources, targets, GNNMG_DTYPE_I64, edges,
                                          &graph));
  GNNMG_CHECK(gnnmg_graph_set_node_tensor(graph, 0, "x", ones, GNNMG_DTYPE_F32, 2, shape));

  /*! [data set] */
  gnnmg_tensor* labels;
  GNNMG_CHECK(gnnmg_tensor_create(classes, GNNMG_DTYPE_I64, 1, rows, NULL, NULL, &labels));
  GNNMG_CHECK(gnnmg_dataset_create_graphs(graph, graph_ptr, GRAPHS, "x", labels,
                                          GNNMG_TASK_MULTICLASS, 0, &data));
  gnnmg_tensor_free(labels);
  /*! [data set] */

  /*! [folds] */
  gnnmg_dataset* third; /* holds the third fold out */
  GNNMG_CHECK(gnnmg_dataset_add_folds(data, "folds", "num_folds=5 held_out=test"));
  GNNMG_CHECK(gnnmg_dataset_select_split(data, "folds", 2, &third));
  /*! [folds] */

  /*! [labels] */
  gnnmg_tensor *starts, *test;
  GNNMG_CHECK(gnnmg_dataset_export_labels(data, &labels));
  GNNMG_CHECK(gnnmg_dataset_export_graph_ptr(data, &starts));
  GNNMG_CHECK(gnnmg_dataset_export_split(third, GNNMG_PART_TEST, &test));
  int64_t num_test, count;
  const int64_t* ids = gnnmg_tensor_data_i64(test, &num_test);
  const int64_t* label_of = gnnmg_tensor_data_i64(labels, &count);
  const int64_t* first_node = gnnmg_tensor_data_i64(starts, &count);
  int64_t stars = 0, test_nodes = 0;
  for (int64_t i = 0; i < num_test; ++i) {
    stars += label_of[ids[i]];
    test_nodes += first_node[ids[i] + 1] - first_node[ids[i]];
  }
  printf("held out: %lld graphs of %lld nodes, %lld of them stars\n", (long long)num_test,
         (long long)test_nodes, (long long)stars);
  /*! [labels] */

  /*! [sampler] */
  /* Four layers; graphs are taken whole. */
  const gnnmg_sampler_config sampling = {.struct_size = sizeof sampling, .num_fanouts = 4};
  gnnmg_sampler* sampler;
  GNNMG_CHECK(gnnmg_sampler_create_graphs(data, &sampling, NULL, &sampler));
  /*! [sampler] */

  /*! [batch] */
  /* A mini-batch has 32 graphs. */
  gnnmg_loader* loader;
  gnnmg_batch* batch;
  GNNMG_CHECK(gnnmg_loader_create(third, sampler, NULL, "batch_size=32", &loader));
  int64_t batches = 0, seen = 0, batch_nodes = 0;
  while (gnnmg_loader_next(loader, &batch, -1) == GNNMG_OK) {
    gnnmg_tensor* graph_starts;
    GNNMG_CHECK(gnnmg_batch_export_graph_ptr(batch, &graph_starts));
    const int64_t* begin = gnnmg_tensor_data_i64(graph_starts, &count);
    ++batches;
    seen += count - 1;
    batch_nodes += begin[count - 1];
    gnnmg_tensor_free(graph_starts);
    gnnmg_batch_free(batch);
  }
  printf("an epoch: %lld mini-batches, %lld graphs of %lld nodes\n", (long long)batches,
         (long long)seen, (long long)batch_nodes);
  /*! [batch] */

  gnnmg_loader_free(loader);
  gnnmg_sampler_free(sampler);
  gnnmg_tensor_free(labels);
  gnnmg_tensor_free(starts);
  gnnmg_tensor_free(test);
  gnnmg_dataset_free(third);
  gnnmg_dataset_free(data);
  gnnmg_graph_free(graph);
  gnnmg_log_print(context, GNNMG_LOG_WARNING, stderr);
  gnnmg_context_free(context);
  return 0;
}
