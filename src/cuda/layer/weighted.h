// Sums over lists of rows times weights: of edges, of the entries of sparse matrices, and the
// gradients of sums, which are sums over the transposed lists. Bitwise equal to those of CPUs with
// a multiply-add, except sums of long lists (kLongList).
#pragma once

#include "cuda/layer/row.h"

namespace gnnmg::cuda {

// out[r] = sum of weight(e) * x[indices[e]] over list r, plus self_weight(r) * self[r] for the
// first num_self rows. Column c belongs to head c / channels.
template <typename T, typename Index>
struct ListSum {
  static constexpr int kPiece = kLineOf<T>;
  static constexpr int kLeastBlocks = sizeof(T) + sizeof(Index) == 16 ? 2 : 3;  // more would spill
  const Index* indptr;
  const int32_t* indices;
  int64_t
      // Lists, which must ascend then, end before the first index of at least this; < 0: no bound.
      bound;
  nn::kernels::Rows<T> x;
  // Weight h of entry e: weights[place * heads + h], where its place is positions[e], or by_index ?
  // indices[e] : e. Null: ones.
  const T* weights;
  const int32_t* positions;
  bool by_index;
  nn::kernels::Matrix<const T> self;
  const T* self_weights;  // [num_self, heads], or null: ones
  int64_t num_self;
  int64_t heads;
  Divisor channels;
  nn::kernels::Matrix<T> out;

  GNNMG_BOTH int64_t place(int64_t e) const {
    return positions ? positions[e] : by_index ? indices[e] : e;
  }

  struct Place {
    const T *row, *weight;
  };
  template <int V>
  struct Term {
    Piece<T, V> row;
    T weight;
  };

  template <int V>
  using Share = Piece<T, V>;
  GNNMG_BOTH Span list(int64_t r) const {
    const Index first = indptr[r], last = indptr[r + 1];
    return {first, bound < 0 ? last : first + count_below(indices + first, last - first, bound)};
  }

  // Returns the head of a piece's columns, which are in one head (list_sum ensures that).
  GNNMG_BOTH int64_t head_of(int64_t column) const { return heads == 1 ? 0 : channels(column); }

  template <int V>
  GNNMG_BOTH Piece<T, V> part(int64_t, int64_t column, const Span& span) const {
    Piece<T, V> sum = filled<V>(T{0});
    if (weights) {
      const T* of_head = weights + head_of(column);
      in_order<Index>(
          span,
          [&](Index e) {
            return Place{row_of(x, indices[e]) + column, of_head + place(e) * heads};
          },
          [](const Place& at) { return Term<V>{load<V>(at.row), *at.weight}; },
          [&](const Term<V>& term, Index) {
            for (int i = 0; i < V; ++i) sum[i] = multiply_add(term.weight, term.row[i], sum[i]);
          });
    } else {
      in_order<Index>(
          span, [&](Index e) { return row_of(x, indices[e]) + column; }, LoadPiece<V>{},
          [&](const Piece<T, V>& row, Index) {
            for (int i = 0; i < V; ++i) sum[i] += row[i];
          });
    }
    return sum;
  }
  template <int V>
  GNNMG_BOTH void add(Piece<T, V>& sum, const Piece<T, V>& next) const {
    for (int i = 0; i < V; ++i) sum[i] += next[i];
  }
  template <int V>
  GNNMG_BOTH void finish(int64_t r, int64_t column, Piece<T, V> sum) const {
    if (r < num_self) {
      const Piece<T, V> own = load<V>(row_of(self, r) + column);
      const T weight = self_weights ? self_weights[r * heads + head_of(column)] : T{1};
      for (int i = 0; i < V; ++i) sum[i] = multiply_add(weight, own[i], sum[i]);
    }
    store<V>(row_of(out, r) + column, sum);
  }
};

template <typename Queue, typename T, typename Index>
void list_sum(device::Queue* queue, const ListSum<T, Index>& sum, int64_t width, int64_t rows) {
  const bool lines = has_lines(sum.x) && has_lines(sum.out) &&
                     (sum.num_self <= 0 || has_lines(sum.self)) &&
                     (sum.heads == 1 || sum.channels.by % kLineOf<T> == 0);
  by_pieces<Queue>(queue, rows, width, lines, sum);
}

// Returns the sum of whole lists without weights.
template <typename T, typename Index>
ListSum<T, Index> sum_of_lists(const Index* indptr, const int32_t* indices, nn::kernels::Rows<T> x,
                               nn::kernels::Matrix<T> out) {
  ListSum<T, Index> sum{};
  sum.indptr = indptr;
  sum.indices = indices;
  sum.bound = -1;
  sum.x = x;
  sum.heads = 1;
  sum.out = out;
  return sum;
}

template <typename Queue, typename T>
void aggregate_transposed(device::Queue* queue, nn::kernels::Lists lists, int64_t num_targets,
                          const T* scale, nn::kernels::Matrix<const T> y,
                          nn::kernels::Matrix<const T> self, int64_t width,
                          nn::kernels::Matrix<T> out, int64_t rows) {
  ListSum<T, int32_t> sum =
      sum_of_lists<T>(lists.indptr, lists.indices, {y.data, y.stride, nullptr}, out);
  sum.bound = num_targets;
  sum.weights = scale;
  sum.by_index = true;
  sum.self = self;
  sum.num_self = self.data ? num_targets : 0;
  list_sum<Queue>(queue, sum, width, rows);
}

template <typename T>
void take_heads(ListSum<T, int32_t>& sum, const nn::kernels::WeightedLists<T>& edges,
                nn::kernels::Matrix<const T> self) {
  sum.weights = edges.weights;
  sum.heads = edges.heads;
  sum.channels = Divisor(edges.channels);
  sum.self = self;
  sum.self_weights = edges.self_weights;
  sum.num_self = edges.self_weights ? edges.num_self : 0;
}

template <typename Queue, typename T>
void weighted_sum(device::Queue* queue, const nn::kernels::WeightedLists<T>& edges,
                  nn::kernels::Rows<T> x, nn::kernels::Matrix<const T> self,
                  nn::kernels::Matrix<T> out, int64_t rows) {
  ListSum<T, int32_t> sum = sum_of_lists<T>(edges.lists.indptr, edges.lists.indices, x, out);
  take_heads(sum, edges, self);
  list_sum<Queue>(queue, sum, edges.heads * edges.channels, rows);
}

template <typename Queue, typename T>
void weighted_transposed(device::Queue* queue, const nn::kernels::WeightedLists<T>& edges,
                         const nn::kernels::EdgesBySource& by_source,
                         nn::kernels::Matrix<const T> y, nn::kernels::Matrix<T> out, int64_t rows) {
  ListSum<T, int32_t> sum = sum_of_lists<T>(by_source.lists.indptr, by_source.lists.indices,
                                            {y.data, y.stride, nullptr}, out);
  take_heads(sum, edges, y);
  sum.bound = by_source.num_targets;
  sum.positions = by_source.positions;
  list_sum<Queue>(queue, sum, edges.heads * edges.channels, rows);
}

}  // namespace gnnmg::cuda
