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

/** Ends the program if a call fails: prints file, line, status and gnnmg_last_error() in one line
 * on standard error, and exits with 1. Answers, such as ::GNNMG_END, are not failures.
 *
 * Functions registered with atexit() do not run, because several threads may fail at once. */
#define GNNMG_CHECK(call) gnnmg_check((call), __FILE__, __LINE__)

/** Function of #GNNMG_CHECK.
 * @param[in] status result of a call
 * @param[in] file path of the source file, of which the name is printed
 * @param[in] line line in that file */
static inline void gnnmg_check(gnnmg_status status, const char* file, int line) {
  const char* name = strrchr(file, '/');
  if (status >= 0) return;
  fflush(stdout); /* prints the output of the program first */
  fprintf(stderr, "%s:%d: %s: %s\n", name != NULL ? name + 1 : file, line,
          gnnmg_status_name(status), gnnmg_last_error());
  _Exit(1);
}

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
