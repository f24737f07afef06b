/*
 * gnnmg_util.h - small helpers for programs that use gnnmg.h.
 *
 * All functions are static inline: there is no library to link, and a program may copy single
 * ones. C99 or C++11. Only the softmax functions need the C library's -lm.
 */
#ifndef GNNMG_UTIL_H
#define GNNMG_UTIL_H

#include <gnnmg.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** @defgroup util Helpers
 * Helpers for programs, in a header of their own: gnnmg_util.h. Its functions are compiled into the
 * program and are not part of the library. */
/** @{ */

/** Takes all messages from the queue of a context and prints those that are severe enough, one per
 * line: "warning: ...".
 * @param[in] context a context
 * @param[in] level the lowest level that is printed
 * @param[in] file standard error, for example */
static inline void gnnmg_log_print(gnnmg_context* context, gnnmg_log_level level, FILE* file) {
  static const char* const names[] = {"debug", "info", "warning", "error"};
  gnnmg_log_info info;
  char* text = NULL;
  size_t capacity = 0, needed = 0;
  info.struct_size = (uint32_t)sizeof info;
  if (file != stdout) fflush(stdout); /* prints the output of the program first */
  while (gnnmg_log_next(context, &info, text, capacity, &needed) == GNNMG_OK) {
    if (needed > capacity) { /* the message is still in the queue */
      free(text);
      text = (char*)malloc(capacity = needed);
      if (text == NULL) return;
    } else if (info.level >= level && info.level >= 0 && info.level <= GNNMG_LOG_ERROR) {
      fprintf(file, "%s: %s\n", names[info.level], text);
    }
  }
  free(text);
}

/** The context of gnnmg_check_context(), or NULL. */
static gnnmg_context* gnnmg_checked_context;

/** Names the context whose warnings #GNNMG_CHECK prints before an error, in this source file.
 * @param[in] context a context; may be freed before a call fails */
static inline void gnnmg_check_context(gnnmg_context* context) { gnnmg_checked_context = context; }

/** Ends the program if a call fails: prints the warnings of the context of gnnmg_check_context(),
 * then file, line, status and gnnmg_last_error() in one line on standard error, and exits with 1.
 * Answers, such as ::GNNMG_END, are not failures.
 *
 * Functions registered with atexit() do not run, because several threads may fail at once. */
#define GNNMG_CHECK(call) gnnmg_check((call), __FILE__, __LINE__)

/** Function of #GNNMG_CHECK.
 * @param[in] status result of a call
 * @param[in] file path of the source file, of which the name is printed
 * @param[in] line line in that file */
static inline void gnnmg_check(gnnmg_status status, const char* file, int line) {
  const char* name = strrchr(file, '/');
  const char* error = gnnmg_last_error();
  char* copy; /* the next calls have errors too */
  if (status >= 0) return;
  fflush(stdout); /* prints the output of the program first */
  copy = (char*)malloc(strlen(error) + 1);
  if (copy != NULL) error = strcpy(copy, error);
  if (gnnmg_checked_context != NULL)
    gnnmg_log_print(gnnmg_checked_context, GNNMG_LOG_WARNING, stderr);
  fprintf(stderr, "%s:%d: %s: %s\n", name != NULL ? name + 1 : file, line,
          gnnmg_status_name(status), error);
  _Exit(1);
}

/** Elements of a tensor, if they are of a type and in main memory.
 * @param[in] tensor a tensor; it keeps the elements
 * @param[in] dtype the expected type
 * @param[out] count number of elements, 0 on failure; may be NULL
 * @return the first element; NULL for another type, a tensor on a GPU, or no elements */
static inline const void* gnnmg_tensor_data(const gnnmg_tensor* tensor, gnnmg_dtype dtype,
                                            int64_t* count) {
  gnnmg_tensor_info info;
  int there;
  info.struct_size = (uint32_t)sizeof info;
  there = gnnmg_tensor_get_info(tensor, &info) == GNNMG_OK && info.dtype == dtype &&
          info.device_type == GNNMG_DEVICE_CPU;
  if (count != NULL) *count = there ? info.num_elements : 0;
  return there ? info.data : NULL;
}

/** gnnmg_tensor_data() for ::GNNMG_DTYPE_F32.
 * @param[in] tensor a tensor; it keeps the elements
 * @param[out] count number of elements, 0 on failure; may be NULL
 * @return as gnnmg_tensor_data() */
static inline const float* gnnmg_tensor_data_f32(const gnnmg_tensor* tensor, int64_t* count) {
  return (const float*)gnnmg_tensor_data(tensor, GNNMG_DTYPE_F32, count);
}

/** gnnmg_tensor_data() for ::GNNMG_DTYPE_F64.
 * @param[in] tensor a tensor; it keeps the elements
 * @param[out] count number of elements, 0 on failure; may be NULL
 * @return as gnnmg_tensor_data() */
static inline const double* gnnmg_tensor_data_f64(const gnnmg_tensor* tensor, int64_t* count) {
  return (const double*)gnnmg_tensor_data(tensor, GNNMG_DTYPE_F64, count);
}

/** gnnmg_tensor_data() for ::GNNMG_DTYPE_I64.
 * @param[in] tensor a tensor; it keeps the elements
 * @param[out] count number of elements, 0 on failure; may be NULL
 * @return as gnnmg_tensor_data() */
static inline const int64_t* gnnmg_tensor_data_i64(const gnnmg_tensor* tensor, int64_t* count) {
  return (const int64_t*)gnnmg_tensor_data(tensor, GNNMG_DTYPE_I64, count);
}

/** gnnmg_tensor_data() for ::GNNMG_DTYPE_I32.
 * @param[in] tensor a tensor; it keeps the elements
 * @param[out] count number of elements, 0 on failure; may be NULL
 * @return as gnnmg_tensor_data() */
static inline const int32_t* gnnmg_tensor_data_i32(const gnnmg_tensor* tensor, int64_t* count) {
  return (const int32_t*)gnnmg_tensor_data(tensor, GNNMG_DTYPE_I32, count);
}

/** gnnmg_tensor_data() for ::GNNMG_DTYPE_U8.
 * @param[in] tensor a tensor; it keeps the elements
 * @param[out] count number of elements, 0 on failure; may be NULL
 * @return as gnnmg_tensor_data() */
static inline const uint8_t* gnnmg_tensor_data_u8(const gnnmg_tensor* tensor, int64_t* count) {
  return (const uint8_t*)gnnmg_tensor_data(tensor, GNNMG_DTYPE_U8, count);
}

/** gnnmg_tensor_create() without `release`: import functions copy its array.
 * @param[in] data first element
 * @param[in] dtype type of the elements
 * @param[in] count number of elements
 * @param[out] tensor a new tensor
 * @return as gnnmg_tensor_create() */
static inline gnnmg_status gnnmg_tensor_of(const void* data, gnnmg_dtype dtype, int64_t count,
                                           gnnmg_tensor** tensor) {
  return gnnmg_tensor_create((void*)data, dtype, 1, &count, NULL, NULL, tensor);
}

/** gnnmg_graph_import_coo() with arrays, copied.
 * @param[in,out] graph a graph
 * @param[in] edge_type index of the edge type
 * @param[in] sources source of each edge
 * @param[in] targets target of each edge
 * @param[in] dtype ::GNNMG_DTYPE_I64 or ::GNNMG_DTYPE_I32, of both
 * @param[in] num_edges number of edges
 * @return as gnnmg_graph_import_coo() */
static inline gnnmg_status gnnmg_graph_set_coo(gnnmg_graph* graph, int32_t edge_type,
                                               const void* sources, const void* targets,
                                               gnnmg_dtype dtype, int64_t num_edges) {
  gnnmg_tensor *from = NULL, *to = NULL;
  gnnmg_status status = gnnmg_tensor_of(sources, dtype, num_edges, &from);
  if (status == GNNMG_OK) status = gnnmg_tensor_of(targets, dtype, num_edges, &to);
  if (status == GNNMG_OK) status = gnnmg_graph_import_coo(graph, edge_type, from, to);
  gnnmg_tensor_free(from); /* an imported one is no longer a tensor: nothing happens */
  gnnmg_tensor_free(to);
  return status;
}

/** gnnmg_graph_import_csc() with arrays, copied.
 * @param[in,out] graph a graph
 * @param[in] edge_type index of the edge type
 * @param[in] indptr first entry of each target, [targets + 1]
 * @param[in] indices source of each edge
 * @param[in] edge_ids a permutation of 0 .. num_edges - 1; NULL: entry e is edge e
 * @param[in] dtype ::GNNMG_DTYPE_I64 or ::GNNMG_DTYPE_I32, of `indices` and `edge_ids`
 * @param[in] num_edges number of edges
 * @return as gnnmg_graph_import_csc() */
static inline gnnmg_status gnnmg_graph_set_csc(gnnmg_graph* graph, int32_t edge_type,
                                               const int64_t* indptr, const void* indices,
                                               const void* edge_ids, gnnmg_dtype dtype,
                                               int64_t num_edges) {
  gnnmg_tensor *starts = NULL, *from = NULL, *ids = NULL;
  const char* name = NULL;
  int32_t source_type = 0, target_type = 0;
  int64_t num_targets = 0;
  gnnmg_status status =
      gnnmg_graph_edge_type_name(graph, edge_type, &source_type, &name, &target_type);
  if (status == GNNMG_OK) status = gnnmg_graph_num_nodes(graph, target_type, &num_targets);
  if (status == GNNMG_OK)
    status = gnnmg_tensor_of(indptr, GNNMG_DTYPE_I64, num_targets + 1, &starts);
  if (status == GNNMG_OK) status = gnnmg_tensor_of(indices, dtype, num_edges, &from);
  if (status == GNNMG_OK && edge_ids != NULL)
    status = gnnmg_tensor_of(edge_ids, dtype, num_edges, &ids);
  if (status == GNNMG_OK) status = gnnmg_graph_import_csc(graph, edge_type, starts, from, ids);
  gnnmg_tensor_free(starts);
  gnnmg_tensor_free(from);
  gnnmg_tensor_free(ids);
  return status;
}

/** gnnmg_graph_import_node_tensor() with an array, copied.
 * @param[in,out] graph a graph
 * @param[in] node_type index of the node type
 * @param[in] name the tensor's name
 * @param[in] data one row per node
 * @param[in] dtype type of the elements
 * @param[in] num_dims number of dimensions
 * @param[in] shape sizes, rows first
 * @return as gnnmg_graph_import_node_tensor() */
static inline gnnmg_status gnnmg_graph_set_node_tensor(gnnmg_graph* graph, int32_t node_type,
                                                       const char* name, const void* data,
                                                       gnnmg_dtype dtype, int32_t num_dims,
                                                       const int64_t* shape) {
  gnnmg_tensor* tensor = NULL;
  gnnmg_status status =
      gnnmg_tensor_create((void*)data, dtype, num_dims, shape, NULL, NULL, &tensor);
  if (status == GNNMG_OK) status = gnnmg_graph_import_node_tensor(graph, node_type, name, tensor);
  gnnmg_tensor_free(tensor);
  return status;
}

/** gnnmg_graph_import_node_csr() with arrays, copied.
 * @param[in,out] graph a graph
 * @param[in] node_type index of the node type
 * @param[in] name the tensor's name
 * @param[in] num_columns width of the dense form
 * @param[in] indptr first entry of each node, [nodes + 1]
 * @param[in] indices column of each entry
 * @param[in] values value of each entry
 * @param[in] num_entries number of entries
 * @return as gnnmg_graph_import_node_csr() */
static inline gnnmg_status gnnmg_graph_set_node_csr(gnnmg_graph* graph, int32_t node_type,
                                                    const char* name, int64_t num_columns,
                                                    const int64_t* indptr, const int32_t* indices,
                                                    const float* values, int64_t num_entries) {
  gnnmg_tensor *starts = NULL, *columns = NULL, *entries = NULL;
  int64_t num_nodes = 0;
  gnnmg_status status = gnnmg_graph_num_nodes(graph, node_type, &num_nodes);
  if (status == GNNMG_OK) status = gnnmg_tensor_of(indptr, GNNMG_DTYPE_I64, num_nodes + 1, &starts);
  if (status == GNNMG_OK) status = gnnmg_tensor_of(indices, GNNMG_DTYPE_I32, num_entries, &columns);
  if (status == GNNMG_OK) status = gnnmg_tensor_of(values, GNNMG_DTYPE_F32, num_entries, &entries);
  if (status == GNNMG_OK)
    status =
        gnnmg_graph_import_node_csr(graph, node_type, name, num_columns, starts, columns, entries);
  gnnmg_tensor_free(starts);
  gnnmg_tensor_free(columns);
  gnnmg_tensor_free(entries);
  return status;
}

/** gnnmg_graph_import_edge_tensor() with an array, copied.
 * @param[in,out] graph a graph
 * @param[in] edge_type index of the edge type
 * @param[in] name the tensor's name
 * @param[in] data rows by edge id
 * @param[in] dtype type of the elements
 * @param[in] num_dims number of dimensions
 * @param[in] shape sizes, rows first
 * @return as gnnmg_graph_import_edge_tensor() */
static inline gnnmg_status gnnmg_graph_set_edge_tensor(gnnmg_graph* graph, int32_t edge_type,
                                                       const char* name, const void* data,
                                                       gnnmg_dtype dtype, int32_t num_dims,
                                                       const int64_t* shape) {
  gnnmg_tensor* tensor = NULL;
  gnnmg_status status =
      gnnmg_tensor_create((void*)data, dtype, num_dims, shape, NULL, NULL, &tensor);
  if (status == GNNMG_OK) status = gnnmg_graph_import_edge_tensor(graph, edge_type, name, tensor);
  gnnmg_tensor_free(tensor);
  return status;
}

/** Precision of a class: correct predictions of it / all predictions of it.
 * @param[in] confusion a confusion matrix, [num_classes, num_classes]; of target t of a binary task
 *   the 2 x 2 numbers from 4 t on, with class 1
 * @param[in] num_classes number of classes
 * @param[in] index the class
 * @return 0 if it was never predicted */
static inline double gnnmg_precision(const int64_t* confusion, int64_t num_classes, int64_t index) {
  int64_t predicted = 0, i;
  for (i = 0; i < num_classes; ++i) predicted += confusion[i * num_classes + index];
  return predicted ? (double)confusion[index * num_classes + index] / (double)predicted : 0.0;
}

/** Recall of a class: correct predictions of it / rows of it.
 * @param[in] confusion as for gnnmg_precision()
 * @param[in] num_classes number of classes
 * @param[in] index the class
 * @return 0 without rows of it */
static inline double gnnmg_recall(const int64_t* confusion, int64_t num_classes, int64_t index) {
  int64_t rows = 0, i;
  for (i = 0; i < num_classes; ++i) rows += confusion[index * num_classes + i];
  return rows ? (double)confusion[index * num_classes + index] / (double)rows : 0.0;
}

/** F1 of a class: harmonic mean of precision and recall.
 * @param[in] confusion as for gnnmg_precision()
 * @param[in] num_classes number of classes
 * @param[in] index the class
 * @return 0 if the class is neither in rows nor in predictions */
static inline double gnnmg_f1(const int64_t* confusion, int64_t num_classes, int64_t index) {
  int64_t both = 0, i;
  for (i = 0; i < num_classes; ++i)
    both += confusion[i * num_classes + index] + confusion[index * num_classes + i];
  return both ? 2.0 * (double)confusion[index * num_classes + index] / (double)both : 0.0;
}

/** Probabilities from a row of logits: exp(row[i]), divided by their sum.
 * @param[in] row logits, [count]
 * @param[in] count number of columns
 * @param[out] probabilities [count], with a sum of 1 */
static inline void gnnmg_softmax_f32(const float* row, int64_t count, double* probabilities) {
  double largest = -HUGE_VAL, sum = 0;
  int64_t i;
  for (i = 0; i < count; ++i) largest = row[i] > largest ? (double)row[i] : largest;
  for (i = 0; i < count; ++i) sum += probabilities[i] = exp((double)row[i] - largest);
  for (i = 0; i < count; ++i) probabilities[i] /= sum;
}

/** gnnmg_softmax_f32() for a row of double.
 * @param[in] row logits, [count]
 * @param[in] count number of columns
 * @param[out] probabilities [count], with a sum of 1; may be `row` */
static inline void gnnmg_softmax_f64(const double* row, int64_t count, double* probabilities) {
  double largest = -HUGE_VAL, sum = 0;
  int64_t i;
  for (i = 0; i < count; ++i) largest = row[i] > largest ? row[i] : largest;
  for (i = 0; i < count; ++i) sum += probabilities[i] = exp(row[i] - largest);
  for (i = 0; i < count; ++i) probabilities[i] /= sum;
}

/** @} */

#endif /* GNNMG_UTIL_H */
