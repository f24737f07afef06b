/*
 * A graph and its tensors around the host's arrays, without copying, and back: as a binding does
 * with the arrays of its language. Each array is released exactly once.
 */
#include <gnnmg.h>
#include <gnnmg_util.h>
#include <stdio.h>
#include <stdlib.h>

enum { NODES = 4, EDGES = 5, WORDS = 6, ENTRIES = 7 };

static int arrays_out; /* lent to the library at the moment */

static void give_back(void* array) {
  free(array);
  --arrays_out;
}

/* Takes a copy of the numbers, as arrays of a host live on its heap, and wraps it. */
static gnnmg_tensor* wrap(const void* numbers, size_t size, gnnmg_dtype dtype, int32_t num_dims,
                          const int64_t* shape) {
  char* array = malloc(size);
  if (array == NULL) abort();
  for (size_t i = 0; i < size; ++i) array[i] = ((const char*)numbers)[i];
  ++arrays_out;
  /*! [wrap] */
  gnnmg_tensor* tensor;
  GNNMG_CHECK(gnnmg_tensor_create(array, dtype, num_dims, shape, give_back, array, &tensor));
  /*! [wrap] */
  return tensor;
}
#define WRAP(array, dtype, num_dims, shape) wrap(array, sizeof array, dtype, num_dims, shape)

int main(void) {
  const int64_t indptr[NODES + 1] = {0, 2, 3, 4, 5}, per_node[] = {NODES, 2}, per_edge[] = {EDGES};
  const int32_t sources[EDGES] = {1, 3, 0, 1, 2}, targets[EDGES] = {0, 0, 1, 2, 3};
  const float x[NODES][2] = {{0, 1}, {2, 3}, {4, 5}, {6, 7}}, weight[EDGES] = {1, 2, 3, 4, 5};
  const int64_t of_node[NODES + 1] = {0, 2, 3, 5, 7}, entries[] = {ENTRIES}, bounds[] = {NODES + 1};
  const int32_t word[ENTRIES] = {0, 5, 2, 1, 2, 3, 4};
  const float times[ENTRIES] = {1, 1, 3, 1, 2, 1, 1};

  gnnmg_context* context;
  gnnmg_graph* graph;
  GNNMG_CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  gnnmg_check_context(context);
  GNNMG_CHECK(gnnmg_graph_create(context, &graph));
  GNNMG_CHECK(gnnmg_graph_add_node_type(graph, "page", NODES, NULL));
  GNNMG_CHECK(gnnmg_graph_add_edge_type(graph, 0, "links", 0, NULL));
  GNNMG_CHECK(gnnmg_graph_add_edge_type(graph, 0, "cites", 0, NULL));

  /*! [import edges] */
  /* Compressed columns are shared with the graph. */
  GNNMG_CHECK(gnnmg_graph_import_csc(graph, 0, WRAP(indptr, GNNMG_DTYPE_I64, 1, bounds),
                                     WRAP(sources, GNNMG_DTYPE_I32, 1, per_edge), NULL));
  /* A list is sorted into columns, and its arrays are released at once. */
  GNNMG_CHECK(gnnmg_graph_import_coo(graph, 1, WRAP(sources, GNNMG_DTYPE_I32, 1, per_edge),
                                     WRAP(targets, GNNMG_DTYPE_I32, 1, per_edge)));
  /*! [import edges] */
  /*! [import tensors] */
  GNNMG_CHECK(gnnmg_graph_import_node_tensor(graph, 0, "x", WRAP(x, GNNMG_DTYPE_F32, 2, per_node)));
  GNNMG_CHECK(gnnmg_graph_import_edge_tensor(graph, 0, "weight",
                                             WRAP(weight, GNNMG_DTYPE_F32, 1, per_edge)));
  GNNMG_CHECK(gnnmg_graph_import_node_csr(
      graph, 0, "words", WORDS, WRAP(of_node, GNNMG_DTYPE_I64, 1, bounds),
      WRAP(word, GNNMG_DTYPE_I32, 1, entries), WRAP(times, GNNMG_DTYPE_F32, 1, entries)));
  /*! [import tensors] */
  printf("the graph holds %d arrays of this program\n", arrays_out);

  /*! [export] */
  gnnmg_tensor* features;
  GNNMG_CHECK(gnnmg_graph_export_node_tensor(graph, 0, "x", &features));
  gnnmg_graph_free(graph); /* the tensor keeps its memory alive */
  gnnmg_tensor_info info = {.struct_size = sizeof info};
  GNNMG_CHECK(gnnmg_tensor_get_info(features, &info));
  const float* rows = info.data;
  printf("x is %lld x %lld%s, its last number %.0f\n", (long long)info.shape[0],
         (long long)info.shape[1], info.read_only ? ", read-only" : "",
         rows[info.num_elements - 1]);
  /*! [export] */
  /*! [dlpack] */
  /* For another library that speaks DLPack, in the same memory. */
  struct DLManagedTensorVersioned* shared;
  GNNMG_CHECK(gnnmg_tensor_to_dlpack(features, &shared));
  gnnmg_tensor_free(features);
  /* Back from there; freeing it calls the deleter of the DLPack tensor. */
  GNNMG_CHECK(gnnmg_tensor_from_dlpack(shared, &features));
  gnnmg_tensor_free(features);
  /*! [dlpack] */

  gnnmg_log_print(context, GNNMG_LOG_WARNING, stderr);
  gnnmg_context_free(context);
  printf("%d arrays have not come back\n", arrays_out);
  return info.num_elements == 2 * NODES && arrays_out == 0 ? 0 : 1;
}
