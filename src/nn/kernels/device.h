// A GPU's functions for the layers: the counterparts of the kernels in kernels.h and segments.h,
// which the plug-in fills in. Each function has the meaning of its counterpart in Table<T> or
// segments.h, for all rows [0, rows) at once; only differences are documented here.
//
// All pointers are addresses that the queue's device can read. A function puts work into its queue
// and does not wait; its arguments must stay until that work is done, except structs. One thread
// per queue. Scratch memory is an argument: nothing is allocated, except once per queue for
// sorting. Results are bitwise equal in every run, whatever the device and the size of its
// launches. Functions throw base::Error: kDeviceLost, or kInternal if a launch is refused.
#pragma once

#include <cstdint>

#include "base/tensor.h"
#include "device/table.h"
#include "nn/kernels/kernels.h"

namespace gnnmg::nn::kernels {

// Rows of a table whose elements are kF32, kF64, kF16 or kBF16: row r is data + r * stride
// elements, or, with `ids`, row ids[r].
struct StoredRows {
  const void* data = nullptr;
  base::DType dtype = base::DType::kF32;
  int64_t stride = 0;
  const int64_t* ids = nullptr;
};

// The entries of a sparse matrix by column: entry p of column c is in row rows[p] and has the value
// number entries[p] of the matrix, for indptr[c] <= p < indptr[c + 1]; rows ascend.
struct SparseColumns {
  int32_t* indptr = nullptr;   // [num_columns + 1]
  int32_t* rows = nullptr;     // [num_entries]
  int32_t* entries = nullptr;  // [num_entries]
};

// Sums over many rows are computed in parts. The number of parts depends only on the number of
// rows: each part sums part_rows(rows) consecutive rows in order; the parts are added at the end.
constexpr int64_t kMostParts = 1024, kLeastPartRows = 16;
constexpr int64_t part_rows(int64_t rows) {
  const int64_t share = (rows + kMostParts - 1) / kMostParts;
  return share > kLeastPartRows ? share : kLeastPartRows;
}
constexpr int64_t num_parts(int64_t rows) { return (rows + part_rows(rows) - 1) / part_rows(rows); }

template <typename T>
struct DeviceLayers {
  static constexpr const char* kTable = sizeof(T) == sizeof(float) ? "layers f32" : "layers f64";

  void (*aggregate)(device::Queue* queue, Reduce reduce, Lists lists, Rows<T> x, int64_t width,
                    Matrix<T> out, int64_t rows);
  // The same for a table of any element type, converted to T when read.
  void (*aggregate_stored)(device::Queue* queue, Reduce reduce, Lists lists, const StoredRows& x,
                           int64_t width, Matrix<T> out, int64_t rows);
  // out[r] = row r, converted in the same way.
  void (*gather_rows)(device::Queue* queue, const StoredRows& x, int64_t width, Matrix<T> out,
                      int64_t rows);
  void (*aggregate_transposed)(device::Queue* queue, Lists lists, int64_t num_targets,
                               const T* scale, Matrix<const T> y, Matrix<const T> self,
                               int64_t width, Matrix<T> out, int64_t rows);
  // scale[t] = 1 / number of entries of list t, or 1 if it is empty: the factor in the gradient of
  // means.
  void (*mean_scale)(device::Queue* queue, Lists lists, T* scale, int64_t rows);
  void (*max_share)(device::Queue* queue, Lists lists, Rows<T> x, Matrix<const T> max,
                    Matrix<const T> gradient, int64_t width, Matrix<T> share, int64_t rows);
  void (*max_transposed)(device::Queue* queue, Lists lists, int64_t num_targets, Matrix<const T> x,
                         Matrix<const T> max, Matrix<const T> share, Matrix<const T> self,
                         int64_t width, Matrix<T> out, int64_t rows);

  void (*sparse_times_dense)(device::Queue* queue, SparseMatrix<T> a, Matrix<const T> y,
                             int64_t width, Matrix<T> out, int64_t rows);
  // Sorts the entries of the first num_rows rows, fewer than 2^31, by column. `room`: 3 *
  // num_entries numbers; num_entries: indptr[num_rows], which the host knows.
  void (*sparse_columns)(device::Queue* queue, const int64_t* indptr, const int32_t* indices,
                         int64_t num_rows, int64_t num_columns, int64_t num_entries, int32_t* room,
                         SparseColumns columns);
  // out[c] = sum of values[k] * y[r] over the entries (r, c, k) of column c; the counterpart adds
  // to `out`. rows: the number of columns.
  void (*sparse_transposed_times_dense)(device::Queue* queue, SparseColumns columns,
                                        const T* values, Matrix<const T> y, int64_t width,
                                        Matrix<T> out, int64_t rows);
  void (*sparse_dropout)(device::Queue* queue, SparseMatrix<float> a, const Dropout& dropout,
                         T* out, int64_t rows);
  // out[r] = the sparse row r with its zeros; entries at the same position are added. width:
  // columns.
  void (*densify)(device::Queue* queue, SparseMatrix<T> a, int64_t width, Matrix<T> out,
                  int64_t rows);

  void (*finish)(device::Queue* queue, Matrix<const T> x, int64_t width, const T* bias, bool relu,
                 const Dropout& dropout, Matrix<T> y, int64_t rows);
  // bias_gradient[width] = the column sums of dx; the counterpart adds to the old values. `parts`:
  // scratch of width * num_parts(rows) numbers. Both may be null.
  void (*finish_backward)(device::Queue* queue, Matrix<const T> dy, Matrix<const T> y,
                          int64_t width, bool relu, const Dropout& dropout, Matrix<T> dx,
                          T* bias_gradient, T* parts, int64_t rows);
  // `parts`: as above.
  void (*column_sums)(device::Queue* queue, Matrix<const T> x, int64_t width, T* sums, T* parts,
                      int64_t rows);
  void (*normalize)(device::Queue* queue, Matrix<const T> x, int64_t width, Matrix<T> y, T* norms,
                    int64_t rows);
  void (*normalize_backward)(device::Queue* queue, Matrix<const T> dy, Matrix<const T> y,
                             const T* norms, int64_t width, Matrix<T> dx, int64_t rows);

  void (*weighted_sum)(device::Queue* queue, const WeightedLists<T>& edges, Rows<T> x,
                       Matrix<const T> self, Matrix<T> out, int64_t rows);
  void (*weighted_transposed)(device::Queue* queue, const WeightedLists<T>& edges,
                              const EdgesBySource& by_source, Matrix<const T> y, Matrix<T> out,
                              int64_t rows);
  void (*edge_dots)(device::Queue* queue, const WeightedLists<T>& edges, Rows<T> x,
                    Matrix<const T> y, T* dots, int64_t rows);
  void (*row_dots)(device::Queue* queue, Matrix<const T> x, Matrix<const T> vectors, int64_t heads,
                   int64_t channels, T* dots, int64_t rows);

  void (*attend)(device::Queue* queue, const Attention<T>& a, Matrix<T> out, int64_t rows);
  // Returns the number of scratch elements that attend_backward needs in `parts`, which may be null
  // if that is 0.
  int64_t (*attend_parts)(const Attention<T>& a, const AttentionGradient<T>& gradient,
                          int64_t rows);
  // Overwrites vector_gradient and gradient.edge_weight; the counterpart adds to them.
  // gradient.edge_row only tells whether the gradient of edge_features is wanted.
  void (*attend_backward)(device::Queue* queue, const Attention<T>& a, Matrix<const T> dy,
                          const AttentionGradient<T>& gradient, T* vector_gradient, T* parts,
                          int64_t rows);
  void (*attend_transposed)(device::Queue* queue, const Attention<T>& a,
                            const EdgesBySource& by_source, Matrix<const T> dy, const T* scores,
                            Matrix<T> dx, Matrix<T> score_gradients, int64_t rows);

  void (*relu_sum)(device::Queue* queue, Lists lists, Rows<T> x, Matrix<const T> edge_rows,
                   int64_t width, Matrix<T> out, int64_t rows);
  void (*relu_sum_edges)(device::Queue* queue, Lists lists, Rows<T> x, Matrix<const T> edge_rows,
                         Matrix<const T> dy, int64_t width, Matrix<T> de, int64_t rows);
  void (*relu_sum_transposed)(device::Queue* queue, const EdgesBySource& by_source,
                              Matrix<const T> x, Matrix<const T> edge_rows, Matrix<const T> dy,
                              int64_t width, Matrix<T> dx, int64_t rows);
  void (*last_winner)(device::Queue* queue, Lists lists, Rows<T> x, Matrix<const T> max,
                      int64_t width, int32_t* winner, int64_t rows);
  void (*winner_transposed)(device::Queue* queue, const EdgesBySource& by_source,
                            const int32_t* winner, Matrix<const T> y, int64_t width, Matrix<T> out,
                            int64_t rows);

  void (*softmax)(device::Queue* queue, Lists lists, const T* scores, int64_t heads, T* out,
                  int64_t rows);
  void (*softmax_backward)(device::Queue* queue, Lists lists, const T* out, const T* gradient,
                           int64_t heads, T* scores, int64_t rows);

  // The kernels of segments.h. rows: the number of runs.
  void (*reduce_segments)(device::Queue* queue, Reduce reduce, const int64_t* pointers,
                          Matrix<const T> x, int64_t width, Matrix<T> out, int64_t rows);
  void (*spread_segments)(device::Queue* queue, Reduce reduce, const int64_t* pointers,
                          Matrix<const T> dy, int64_t width, Matrix<T> dx, int64_t rows);
  void (*segment_max_backward)(device::Queue* queue, bool first_of_tied, const int64_t* pointers,
                               Matrix<const T> x, Matrix<const T> max, Matrix<const T> dy,
                               int64_t width, Matrix<T> dx, int64_t rows);
};

}  // namespace gnnmg::nn::kernels
