// Sums, means and maxima over lists of rows. Bitwise equal to the CPU's, except sums of long lists
// (kLongList).
#pragma once

#include "cuda/layer/element.h"
#include "cuda/layer/row.h"

namespace gnnmg::cuda {

// `E`: the element type of the table.
template <typename T, typename E, bool kMax>
struct Aggregate {
  static constexpr int kPiece = kLineOf<T>;
  nn::kernels::Lists lists;
  nn::kernels::Rows<E> x;
  nn::kernels::Matrix<T> out;
  bool mean;

  template <int V>
  using Share = Piece<T, V>;
  GNNMG_BOTH Span list(int64_t t) const { return {lists.indptr[t], lists.indptr[t + 1]}; }

  template <int V>
  GNNMG_BOTH Piece<T, V> part(int64_t, int64_t column, const Span& span) const {
    const auto first = static_cast<int32_t>(span.first);
    Piece<T, V> sum = filled<V>(T{0});
    in_order<int32_t>(
        span, [&](int32_t e) { return row_of(x, lists.indices[e]) + column; }, LoadPiece<V>{},
        [&](const Piece<E, V>& from, int32_t e) {
          for (int i = 0; i < V; ++i) {
            const T value = element_as<T>(from[i]);
            if constexpr (kMax)
              sum[i] = e == first || value > sum[i] || value != value ? value : sum[i];
            else
              sum[i] += value;
          }
        });
    return sum;
  }
  template <int V>
  GNNMG_BOTH void add(Piece<T, V>& sum, const Piece<T, V>& next) const {
    for (int i = 0; i < V; ++i) {
      if constexpr (kMax)
        sum[i] = next[i] > sum[i] || next[i] != next[i] ? next[i] : sum[i];
      else
        sum[i] += next[i];
    }
  }
  template <int V>
  GNNMG_BOTH void finish(int64_t t, int64_t column, Piece<T, V> sum) const {
    const int32_t count = lists.indptr[t + 1] - lists.indptr[t];
    if (mean && count > 0) {
      const T scale = T{1} / static_cast<T>(count);
      for (int i = 0; i < V; ++i) sum[i] *= scale;
    }
    store<V>(row_of(out, t) + column, sum);
  }
};

template <typename Queue, typename T, typename E>
void aggregate_of(device::Queue* queue, nn::kernels::Reduce reduce, nn::kernels::Lists lists,
                  nn::kernels::Rows<E> x, int64_t width, nn::kernels::Matrix<T> out, int64_t rows) {
  const bool lines = has_pieces<kLineOf<T>>(x) && has_lines(out);
  if (reduce == nn::kernels::Reduce::kMax)
    by_pieces<Queue>(queue, rows, width, lines, Aggregate<T, E, true>{lists, x, out, false});
  else
    by_pieces<Queue>(queue, rows, width, lines,
                     Aggregate<T, E, false>{lists, x, out, reduce == nn::kernels::Reduce::kMean});
}

template <typename Queue, typename T>
void aggregate(device::Queue* queue, nn::kernels::Reduce reduce, nn::kernels::Lists lists,
               nn::kernels::Rows<T> x, int64_t width, nn::kernels::Matrix<T> out, int64_t rows) {
  aggregate_of<Queue, T, T>(queue, reduce, lists, x, width, out, rows);
}

template <typename T>
struct MeanScale {
  nn::kernels::Lists lists;
  T* scale;
  GNNMG_BOTH void operator()(int64_t t) const {
    const int32_t n = lists.indptr[t + 1] - lists.indptr[t];
    scale[t] = T{1} / static_cast<T>(n > 1 ? n : 1);
  }
};

template <typename Queue, typename T>
void mean_scale(device::Queue* queue, nn::kernels::Lists lists, T* scale, int64_t rows) {
  queue_of<Queue>(queue).each(rows, MeanScale<T>{lists, scale});
}

}  // namespace gnnmg::cuda
