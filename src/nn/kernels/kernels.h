// The sparse and element-wise kernels of the layers, free of torch: plain pointers and ranges of
// rows. No kernel splits the sum of one output row, so results depend neither on the callers'
// ranges nor on threads.
#pragma once

#include <cstdint>

#include "base/philox.h"

namespace gnnmg::nn::kernels {

// Rows of a matrix, `stride` elements apart.
template <typename T>
struct Matrix {
  T* data = nullptr;
  int64_t stride = 0;
  T* row(int64_t r) const { return data + r * stride; }
};

// The input rows of edges: row r is data + r * stride, or, with `ids`, row ids[r] of a table.
template <typename T>
struct Rows {
  const T* data = nullptr;
  int64_t stride = 0;
  const int64_t* ids = nullptr;
};

// Lists of row numbers: list t is indices[indptr[t]] .. indices[indptr[t+1]-1].
struct Lists {
  const int32_t* indptr = nullptr;
  const int32_t* indices = nullptr;
};

// Sparse rows: row r holds values[k] in column indices[k] for indptr[r] <= k < indptr[r+1].
template <typename T>
struct SparseMatrix {
  const int64_t* indptr = nullptr;
  const int32_t* indices = nullptr;
  const T* values = nullptr;
};

enum class Reduce : int32_t { kSum, kMean, kMax };

// Dropout of one layer of one mini-batch. The bits of (row, column): half word h of the Philox
// block with counter (row, b), where within each run of 128 columns b counts the sixteen columns
// 16h, 16h+1, ... that share h, so that vectors of sixteen words need no shuffle. An element is
// dropped if its half word is below `threshold`; others are multiplied by `scale`.
struct Dropout {
  base::Key key{};
  uint32_t threshold = 0;  // 0: nothing is dropped
  double scale = 1;
  // For device kernels: two words in device memory that they read instead of `key` when they run;
  // null: use `key`.
  const uint32_t* device_key = nullptr;
  bool active() const { return threshold != 0; }
};
// Makes a dropout of probability `rate` in [0, 1), rounded to a multiple of 2^-16.
Dropout make_dropout(double rate, uint64_t seed, uint64_t epoch, uint64_t batch, uint64_t layer);

// The edges of a block with weights, one per head: entry e of the lists has the weights from
// weights[e * heads] on. Head h applies to the columns [h * channels, (h + 1) * channels).
template <typename T>
struct WeightedLists {
  Lists lists;
  const T* weights = nullptr;  // null: ones; with several heads kPadding more elements are readable
  // Target t < num_self also takes its own row, with the weights from self_weights[t * heads] on.
  const T* self_weights = nullptr;
  int64_t num_self = 0;
  int64_t heads = 1, channels = 0;
};
constexpr int64_t kPadding = 16;

// The same edges by source: entry p of the ascending list s is the edge to target indices[p], whose
// position in the order by target is positions[p]. Lists may continue with targets >= num_targets,
// which belong to other layers, with arbitrary positions.
struct EdgesBySource {
  Lists lists;
  const int32_t* positions = nullptr;
  int64_t num_targets = 0;
};

// Attention over the entries of each target's list: weights = softmax of scores, then dropout, then
// times `factors`; out = weighted sum of the rows of `source`. An entry's score is
//   GAT:    leaky(source_scores[s] + target_scores[t] + edge_scores[e])        (`vector` null)
//   GATv2:  <vector, leaky(source[s] + target[t] + edge_features[e] edge_weight)>, head by head
// With loops, entries from a target to itself are ignored, and target t < num_loops has one such
// edge after its own; its values are at position num_edges + t of every array over edges.
template <typename T>
struct Attention {
  Lists lists;
  int64_t num_edges = 0, num_loops = 0;
  bool loops = false;
  int64_t first_own = 0;  // target t is source first_own + t; 0 for gradients
  int64_t heads = 1, channels = 0;
  T slope = 0;
  Matrix<const T> source;          // [sources, heads * channels]
  Matrix<const T> source_scores;   // [sources, heads]
  Matrix<const T> target_scores;   // [targets, heads]
  const T* edge_scores = nullptr;  // [num_edges + num_loops, heads], or null
  const T* vector = nullptr;
  Matrix<const T> target;          // [targets, heads * channels]
  Matrix<const T> edge_features;   // [num_edges + num_loops, edge_columns]
  const T* edge_weight = nullptr;  // [edge_columns, heads * channels]
  int64_t edge_columns = 0;        // 0: edges have no features
  const T* factors = nullptr;      // [num_edges + num_loops], or null
  Dropout dropout;                 // drops position column * heads + h, in rows of 128 columns
  T* alpha = nullptr;              // [num_edges + num_loops, heads]: softmax
  T* weights = nullptr;            // the same with dropout and factors; `alpha` itself without them
};
// The output of attention's gradient; null members are not wanted.
template <typename T>
struct AttentionGradient {
  // [num_edges + num_loops, heads], with kPadding more readable elements. GAT: gradient of the
  // input of LeakyReLU.
  T* scores = nullptr;
  Matrix<T> target_scores;   // [targets, heads]
  Matrix<T> target;          // [targets, heads * channels]
  T* factors = nullptr;      // [num_edges + num_loops]
  T* edge_weight = nullptr;  // [edge_columns, heads * channels], added to the old values
  // [num_edges + num_loops, edge_columns], and scratch of heads * channels numbers.
  Matrix<T> edge_features;
  T* edge_row = nullptr;
};

// c = a b, or c += a b: entry (i, k) of a is a[i * a_row + k * a_column], so that a may be
// transposed.
template <typename T>
struct ProductOf {
  const T* a = nullptr;
  int64_t a_row = 0, a_column = 0;
  Matrix<const T> b;             // [depth, width]
  Matrix<T> c;                   // [rows, width]
  int64_t depth = 0, width = 0;  // width: at least 64 bytes
  bool add = false;
};

// All kernels for one element type and one instruction set. Ranges are of output rows.
template <typename T>
struct Table {
  // out[t] = sum, mean or maximum of x over list t; 0 if the list is empty. NaNs in x propagate.
  void (*aggregate)(Reduce reduce, Lists lists, Rows<T> x, int64_t width, Matrix<T> out,
                    int64_t begin, int64_t end);
  // The gradient of sums and means: out[s] = sum of scale[t] * y[t] over the leading entries t <
  // num_targets of the ascending list s, plus self[s] if s < num_targets. `scale` null: ones.
  void (*aggregate_transposed)(Lists lists, int64_t num_targets, const T* scale, Matrix<const T> y,
                               Matrix<const T> self, int64_t width, Matrix<T> out, int64_t begin,
                               int64_t end);
  // share[t] = gradient[t] / number of entries of list t whose x equals max[t]; 0 for empty lists.
  void (*max_share)(Lists lists, Rows<T> x, Matrix<const T> max, Matrix<const T> gradient,
                    int64_t width, Matrix<T> share, int64_t begin, int64_t end);
  // out[s] = sum of share[t] over the entries t of list s with x[s] equal to max[t], plus self[s]
  // as above.
  void (*max_transposed)(Lists lists, int64_t num_targets, Matrix<const T> x, Matrix<const T> max,
                         Matrix<const T> share, Matrix<const T> self, int64_t width, Matrix<T> out,
                         int64_t begin, int64_t end);
  // out[r] = sum over the entries (c, v) of sparse row r of v * y[c].
  void (*sparse_times_dense)(SparseMatrix<T> a, Matrix<const T> y, int64_t width, Matrix<T> out,
                             int64_t begin, int64_t end);
  // out[c] += v * y[r] over all entries (r, c, v) of the first num_rows rows, for the columns
  // [begin, end) of y and out: a range of columns instead of rows.
  void (*sparse_transposed_times_dense)(SparseMatrix<T> a, int64_t num_rows, Matrix<const T> y,
                                        Matrix<T> out, int64_t begin, int64_t end);
  // y = dropout(relu(x + bias)). The bias may be null, relu may be absent, x and y may share
  // memory.
  void (*finish)(Matrix<const T> x, int64_t width, const T* bias, bool relu, const Dropout& dropout,
                 Matrix<T> y, int64_t begin, int64_t end);
  // The gradient of finish: dx from dy and, with relu, from y. Adds the columns of dx to
  // bias_gradient, row after row, unless that is null. dx and dy may share memory.
  void (*finish_backward)(Matrix<const T> dy, Matrix<const T> y, int64_t width, bool relu,
                          const Dropout& dropout, Matrix<T> dx, T* bias_gradient, int64_t begin,
                          int64_t end);
  // sums[width] = sum of the rows [begin, end), row after row.
  void (*column_sums)(Matrix<const T> x, int64_t width, T* sums, int64_t begin, int64_t end);
  // out[k] = dropout(value k) for the entries of sparse rows [begin, end): row and column determine
  // the bits, as if the matrix were dense.
  void (*sparse_dropout)(SparseMatrix<float> a, const Dropout& dropout, T* out, int64_t begin,
                         int64_t end);
  // Scales rows to unit length: y = x / max(norm, 1e-12), norms[r] = norm of x[r].
  void (*normalize)(Matrix<const T> x, int64_t width, Matrix<T> y, T* norms, int64_t begin,
                    int64_t end);
  void (*normalize_backward)(Matrix<const T> dy, Matrix<const T> y, const T* norms, int64_t width,
                             Matrix<T> dx, int64_t begin, int64_t end);

  // out[t] = sum of weight * x[s] over the entries of list t, plus self_weight * self[t].
  void (*weighted_sum)(const WeightedLists<T>& edges, Rows<T> x, Matrix<const T> self,
                       Matrix<T> out, int64_t begin, int64_t end);
  // The gradient of weighted_sum by x: out[s] = sum of weight * y[t] over the edges of source s,
  // plus self_weight * y[s] if s < num_self.
  void (*weighted_transposed)(const WeightedLists<T>& edges, const EdgesBySource& by_source,
                              Matrix<const T> y, Matrix<T> out, int64_t begin, int64_t end);
  // The gradient of weighted_sum by the weights: dots[e] = <x[s], y[t]>, head by head.
  void (*edge_dots)(const WeightedLists<T>& edges, Rows<T> x, Matrix<const T> y, T* dots,
                    int64_t begin, int64_t end);
  // dots[r] = <x[r], vectors[r]>, head by head; a stride of 0 gives every row the same vector.
  void (*row_dots)(Matrix<const T> x, Matrix<const T> vectors, int64_t heads, int64_t channels,
                   T* dots, int64_t begin, int64_t end);
  // Writes alpha, weights and out of the targets [begin, end).
  void (*attend)(const Attention<T>& a, Matrix<T> out, int64_t begin, int64_t end);
  // The part of the gradient that is computed by target. Adds the gradient of `vector` to
  // vector_gradient.
  void (*attend_backward)(const Attention<T>& a, Matrix<const T> dy,
                          const AttentionGradient<T>& gradient, T* vector_gradient, int64_t begin,
                          int64_t end);
  // The part that is computed by source: dx of `source`, except its gradient by way of the scores,
  // and the gradients of the scores (GAT: score_gradients [sources, heads]; GATv2: in dx).
  void (*attend_transposed)(const Attention<T>& a, const EdgesBySource& by_source,
                            Matrix<const T> dy, const T* scores, Matrix<T> dx,
                            Matrix<T> score_gradients, int64_t begin, int64_t end);
  // out[t] = sum over the entries e of list t of relu(x[s] + edge_rows[e]).
  void (*relu_sum)(Lists lists, Rows<T> x, Matrix<const T> edge_rows, int64_t width, Matrix<T> out,
                   int64_t begin, int64_t end);
  // The gradients of relu_sum by the edges' rows, computed by target, and by x, computed by source.
  void (*relu_sum_edges)(Lists lists, Rows<T> x, Matrix<const T> edge_rows, Matrix<const T> dy,
                         int64_t width, Matrix<T> de, int64_t begin, int64_t end);
  void (*relu_sum_transposed)(const EdgesBySource& by_source, Matrix<const T> x,
                              Matrix<const T> edge_rows, Matrix<const T> dy, int64_t width,
                              Matrix<T> dx, int64_t begin, int64_t end);
  // winner[t * width + c] = the last entry e of list t whose x equals max[t] in column c, or -1.
  void (*last_winner)(Lists lists, Rows<T> x, Matrix<const T> max, int64_t width, int32_t* winner,
                      int64_t begin, int64_t end);
  // out[s] = sum of y[t] over the edges of source s, in the columns that the edge won.
  void (*winner_transposed)(const EdgesBySource& by_source, const int32_t* winner,
                            Matrix<const T> y, int64_t width, Matrix<T> out, int64_t begin,
                            int64_t end);
  // out = softmax of scores over the entries of each list, for each of `heads` columns.
  void (*softmax)(Lists lists, const T* scores, int64_t heads, T* out, int64_t begin, int64_t end);
  // Computes its gradient from the gradient of out.
  void (*softmax_backward)(Lists lists, const T* out, const T* gradient, int64_t heads, T* scores,
                           int64_t begin, int64_t end);
  // Computes rows [begin, end) of a product; null except for AVX-512.
  void (*product)(const ProductOf<T>& p, int64_t begin, int64_t end);
};

enum class Isa : int32_t { kGeneric, kAvx2, kAvx512 };
// Returns null if this machine cannot run them.
template <typename T>
const Table<T>* table_for(Isa isa) noexcept;
template <>
const Table<float>* table_for<float>(Isa isa) noexcept;
template <>
const Table<double>* table_for<double>(Isa isa) noexcept;
// Returns the widest kernels that this machine can run.
template <typename T>
const Table<T>& table() noexcept;

// True if table().product exists and is faster than LibTorch's multiplication, which uses MKL; MKL
// uses AVX-512 only on Intel's processors.
template <typename T>
bool has_faster_product() noexcept;

}  // namespace gnnmg::nn::kernels
