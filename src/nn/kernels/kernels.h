// The sparse and element-wise kernels of the layers, free of torch: plain pointers and ranges of
// rows. No kernel splits the sum of one output row, so results do not depend on how callers cut the
// ranges or on threads.
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

// Rows that edges read: row r is data + r * stride, or, with `ids`, row ids[r] of a table.
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
// 16h, 16h+1, ... that share h: vectors of sixteen words need no shuffle. An element is dropped
// when its half word is below `threshold`; what is kept is multiplied by `scale`.
struct Dropout {
  base::Key key{};
  uint32_t threshold = 0;  // 0: nothing is dropped
  double scale = 1;
  // Of kernels of a device: two words of its memory that they read in place of `key` when they run;
  // null: none.
  const uint32_t* device_key = nullptr;
  bool active() const { return threshold != 0; }
};
// Of probability `rate` in [0, 1), which is rounded to a multiple of 2^-16.
Dropout make_dropout(double rate, uint64_t seed, uint64_t epoch, uint64_t batch, uint64_t layer);

// The edges of a block that carry weights, one a head: entry e of the lists has weights[e * heads]
// and the following. Head h acts on the columns [h * channels, (h + 1) * channels).
template <typename T>
struct WeightedLists {
  Lists lists;
  const T* weights = nullptr;  // null: ones. With several heads kPadding more elements are readable
  // Target t < num_self also takes its own row, by self_weights[t * heads] and the following.
  const T* self_weights = nullptr;
  int64_t num_self = 0;
  int64_t heads = 1, channels = 0;
};
constexpr int64_t kPadding = 16;

// The same edges by source: entry p of the ascending list s is the edge into indices[p] that stands
// at positions[p] in the order by target. Lists may go on with targets >= num_targets, which belong
// to other layers, at positions that are any edge's.
struct EdgesBySource {
  Lists lists;
  const int32_t* positions = nullptr;
  int64_t num_targets = 0;
};

// Attention over the entries of each target's list: weights = softmax of scores, then dropout, then
// times `factors`; out = weighted sum of the rows of `source`. An entry's score is
//   GAT:    leaky(source_scores[s] + target_scores[t] + edge_scores[e])        (`vector` null)
//   GATv2:  <vector, leaky(source[s] + target[t] + edge_features[e] edge_weight)>, head by head
// With loops, entries from a target to itself are left out, and target t < num_loops has one such
// edge behind its own; its values stand at position num_edges + t of every array over edges.
template <typename T>
struct Attention {
  Lists lists;
  int64_t num_edges = 0, num_loops = 0;
  bool loops = false;
  int64_t first_own = 0;  // the source that target 0 is; others follow. 0 where gradients are made
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
  int64_t edge_columns = 0;        // 0: edges carry nothing
  const T* factors = nullptr;      // [num_edges + num_loops], or null
  Dropout dropout;                 // of flat column position * heads + h, in rows of 128 columns
  T* alpha = nullptr;              // [num_edges + num_loops, heads]: softmax
  T* weights = nullptr;            // the same with dropout and factors; `alpha` itself without them
};
// What the gradient of attention writes; null where it is not wanted.
template <typename T>
struct AttentionGradient {
  // [num_edges + num_loops, heads], and kPadding more are readable; GAT: before the leaky function.
  T* scores = nullptr;
  Matrix<T> target_scores;   // [targets, heads]
  Matrix<T> target;          // [targets, heads * channels]
  T* factors = nullptr;      // [num_edges + num_loops]
  T* edge_weight = nullptr;  // [edge_columns, heads * channels], added up
  // [num_edges + num_loops, edge_columns], and room for heads * channels numbers to make it.
  Matrix<T> edge_features;
  T* edge_row = nullptr;
};

// c = a b, or c += a b: entry (i, k) of a is a[i * a_row + k * a_column], so that a may lie
// transposed.
template <typename T>
struct ProductOf {
  const T* a = nullptr;
  int64_t a_row = 0, a_column = 0;
  Matrix<const T> b;             // [depth, width]
  Matrix<T> c;                   // [rows, width]
  int64_t depth = 0, width = 0;  // 64 bytes wide at least
  bool add = false;
};

// All kernels for one element type and one instruction set. Ranges are of output rows.
template <typename T>
struct Table {
  // out[t] = sum, mean or maximum of x over list t; 0 where the list is empty. A NaN in x stays
  // one.
  void (*aggregate)(Reduce reduce, Lists lists, Rows<T> x, int64_t width, Matrix<T> out,
                    int64_t begin, int64_t end);
  // The gradient of sums and means: out[s] = sum of scale[t] * y[t] over the leading entries t <
  // num_targets of the ascending list s, plus self[s] where s < num_targets. `scale` null: ones.
  void (*aggregate_transposed)(Lists lists, int64_t num_targets, const T* scale, Matrix<const T> y,
                               Matrix<const T> self, int64_t width, Matrix<T> out, int64_t begin,
                               int64_t end);
  // share[t] = gradient[t] / number of entries of list t whose x equals max[t]; 0 for empty lists.
  void (*max_share)(Lists lists, Rows<T> x, Matrix<const T> max, Matrix<const T> gradient,
                    int64_t width, Matrix<T> share, int64_t begin, int64_t end);
  // out[s] = sum of share[t] over list s where x[s] equals max[t], plus self[s] as above.
  void (*max_transposed)(Lists lists, int64_t num_targets, Matrix<const T> x, Matrix<const T> max,
                         Matrix<const T> share, Matrix<const T> self, int64_t width, Matrix<T> out,
                         int64_t begin, int64_t end);
  // out[r] = sum over the entries (c, v) of sparse row r of v * y[c].
  void (*sparse_times_dense)(SparseMatrix<T> a, Matrix<const T> y, int64_t width, Matrix<T> out,
                             int64_t begin, int64_t end);
  // out[c] += v * y[r] over all entries (r, c, v) of the first num_rows rows, for the columns
  // [begin, end) of y and out: ranges of columns in place of rows.
  void (*sparse_transposed_times_dense)(SparseMatrix<T> a, int64_t num_rows, Matrix<const T> y,
                                        Matrix<T> out, int64_t begin, int64_t end);
  // y = dropout(relu(x + bias)); bias may be null, relu left out, x and y the same memory.
  void (*finish)(Matrix<const T> x, int64_t width, const T* bias, bool relu, const Dropout& dropout,
                 Matrix<T> y, int64_t begin, int64_t end);
  // The gradient of finish: dx from dy, and from y where there is a relu. Adds the columns of dx up
  // in bias_gradient, row after row, unless that is null. dx and dy may be the same memory.
  void (*finish_backward)(Matrix<const T> dy, Matrix<const T> y, int64_t width, bool relu,
                          const Dropout& dropout, Matrix<T> dx, T* bias_gradient, int64_t begin,
                          int64_t end);
  // sums[width] = sum of the rows [begin, end), row after row.
  void (*column_sums)(Matrix<const T> x, int64_t width, T* sums, int64_t begin, int64_t end);
  // out[k] = dropout(value k) for the entries of sparse rows [begin, end): row and column give the
  // bits, as if the matrix were dense.
  void (*sparse_dropout)(SparseMatrix<float> a, const Dropout& dropout, T* out, int64_t begin,
                         int64_t end);
  // Rows to unit length: y = x / max(norm, 1e-12), norms[r] = norm of x[r].
  void (*normalize)(Matrix<const T> x, int64_t width, Matrix<T> y, T* norms, int64_t begin,
                    int64_t end);
  void (*normalize_backward)(Matrix<const T> dy, Matrix<const T> y, const T* norms, int64_t width,
                             Matrix<T> dx, int64_t begin, int64_t end);

  // out[t] = sum of weight * x[s] over the entries of list t, plus self_weight * self[t].
  void (*weighted_sum)(const WeightedLists<T>& edges, Rows<T> x, Matrix<const T> self,
                       Matrix<T> out, int64_t begin, int64_t end);
  // Its gradient by x: out[s] = sum of weight * y[t] over the edges that s sends, plus
  // self_weight * y[s] where s < num_self.
  void (*weighted_transposed)(const WeightedLists<T>& edges, const EdgesBySource& by_source,
                              Matrix<const T> y, Matrix<T> out, int64_t begin, int64_t end);
  // Its gradient by the weights: dots[e] = <x[s], y[t]>, head by head.
  void (*edge_dots)(const WeightedLists<T>& edges, Rows<T> x, Matrix<const T> y, T* dots,
                    int64_t begin, int64_t end);
  // dots[r] = <x[r], vectors[r]>, head by head; a stride of 0 gives every row the same vector.
  void (*row_dots)(Matrix<const T> x, Matrix<const T> vectors, int64_t heads, int64_t channels,
                   T* dots, int64_t begin, int64_t end);
  // Writes alpha, weights and out of the targets [begin, end).
  void (*attend)(const Attention<T>& a, Matrix<T> out, int64_t begin, int64_t end);
  // The part of the gradient that goes by targets. Adds the gradient of `vector` up in
  // vector_gradient.
  void (*attend_backward)(const Attention<T>& a, Matrix<const T> dy,
                          const AttentionGradient<T>& gradient, T* vector_gradient, int64_t begin,
                          int64_t end);
  // The part that goes by sources: dx of `source`, without what reaches it through its scores, and
  // those (GAT: score_gradients [sources, heads]; GATv2: in dx).
  void (*attend_transposed)(const Attention<T>& a, const EdgesBySource& by_source,
                            Matrix<const T> dy, const T* scores, Matrix<T> dx,
                            Matrix<T> score_gradients, int64_t begin, int64_t end);
  // out[t] = sum over the entries e of list t of relu(x[s] + edge_rows[e]).
  void (*relu_sum)(Lists lists, Rows<T> x, Matrix<const T> edge_rows, int64_t width, Matrix<T> out,
                   int64_t begin, int64_t end);
  // Its gradients by the rows of edges, over targets, and by x, over sources.
  void (*relu_sum_edges)(Lists lists, Rows<T> x, Matrix<const T> edge_rows, Matrix<const T> dy,
                         int64_t width, Matrix<T> de, int64_t begin, int64_t end);
  void (*relu_sum_transposed)(const EdgesBySource& by_source, Matrix<const T> x,
                              Matrix<const T> edge_rows, Matrix<const T> dy, int64_t width,
                              Matrix<T> dx, int64_t begin, int64_t end);
  // winner[t * width + c] = the last entry e of list t whose x equals max[t] in column c, or -1.
  void (*last_winner)(Lists lists, Rows<T> x, Matrix<const T> max, int64_t width, int32_t* winner,
                      int64_t begin, int64_t end);
  // out[s] = sum of y[t] over the edges that s sends, in the columns that the edge won.
  void (*winner_transposed)(const EdgesBySource& by_source, const int32_t* winner,
                            Matrix<const T> y, int64_t width, Matrix<T> out, int64_t begin,
                            int64_t end);
  // out = softmax of scores over the entries of each list, for each of `heads` columns.
  void (*softmax)(Lists lists, const T* scores, int64_t heads, T* out, int64_t begin, int64_t end);
  // Its gradient from that of out.
  void (*softmax_backward)(Lists lists, const T* out, const T* gradient, int64_t heads, T* scores,
                           int64_t begin, int64_t end);
  // Rows [begin, end) of a product; null but for AVX-512.
  void (*product)(const ProductOf<T>& p, int64_t begin, int64_t end);
};

enum class Isa : int32_t { kGeneric, kAvx2, kAvx512 };
// Null where this machine cannot run them.
template <typename T>
const Table<T>* table_for(Isa isa) noexcept;
// The widest that this machine runs.
template <typename T>
const Table<T>& table() noexcept;

// Whether table().product is there and faster than the library's that LibTorch multiplies with:
// MKL, which takes AVX-512 on Intel's processors alone.
template <typename T>
bool has_faster_product() noexcept;

}  // namespace gnnmg::nn::kernels
