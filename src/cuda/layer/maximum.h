// The gradient of maxima, shared evenly among tied entries. Bitwise equal to the CPU's, except sums
// of long lists (kLongList).
#pragma once

#include "cuda/layer/row.h"

namespace gnnmg::cuda {

template <typename T>
struct MaxShare {
  static constexpr int kPiece = kLineOf<T>;
  nn::kernels::Lists lists;
  nn::kernels::Rows<T> x;
  nn::kernels::Matrix<const T> max, gradient;
  nn::kernels::Matrix<T> share;

  template <int V>
  using Share = Piece<T, V>;
  GNNMG_BOTH Span list(int64_t t) const { return {lists.indptr[t], lists.indptr[t + 1]}; }

  // The number of ties, which a sum in any order gives.
  template <int V>
  GNNMG_BOTH Piece<T, V> part(int64_t t, int64_t column, const Span& span) const {
    const Piece<T, V> top = load<V>(row_of(max, t) + column);
    Piece<T, V> ties = filled<V>(T{0});
    in_order<int32_t>(
        span, [&](int32_t e) { return row_of(x, lists.indices[e]) + column; }, LoadPiece<V>{},
        [&](const Piece<T, V>& row, int32_t) {
          for (int i = 0; i < V; ++i) ties[i] += row[i] == top[i] ? T{1} : T{0};
        });
    return ties;
  }
  template <int V>
  GNNMG_BOTH void add(Piece<T, V>& ties, const Piece<T, V>& next) const {
    for (int i = 0; i < V; ++i) ties[i] += next[i];
  }
  template <int V>
  GNNMG_BOTH void finish(int64_t t, int64_t column, const Piece<T, V>& ties) const {
    Piece<T, V> to = load<V>(row_of(gradient, t) + column);
    for (int i = 0; i < V; ++i) to[i] = ties[i] > 0 ? to[i] / ties[i] : T{0};
    store<V>(row_of(share, t) + column, to);
  }
};

template <typename Queue, typename T>
void max_share(device::Queue* queue, nn::kernels::Lists lists, nn::kernels::Rows<T> x,
               nn::kernels::Matrix<const T> max, nn::kernels::Matrix<const T> gradient,
               int64_t width, nn::kernels::Matrix<T> share, int64_t rows) {
  by_pieces<Queue>(queue, rows, width,
                   has_lines(x) && has_lines(max) && has_lines(gradient) && has_lines(share),
                   MaxShare<T>{lists, x, max, gradient, share});
}

template <typename T>
struct MaxTransposed {
  static constexpr int kPiece = kLineOf<T>;
  nn::kernels::Lists lists;
  int64_t num_targets;
  nn::kernels::Matrix<const T> x, max, share, self;
  nn::kernels::Matrix<T> out;

  template <int V>
  struct Pair {
    Piece<T, V> top, part;
  };

  template <int V>
  using Share = Piece<T, V>;
  GNNMG_BOTH Span list(int64_t s) const {
    const int32_t first = lists.indptr[s];
    return {first,
            first + count_below(lists.indices + first, lists.indptr[s + 1] - first, num_targets)};
  }

  template <int V>
  GNNMG_BOTH Piece<T, V> part(int64_t s, int64_t column, const Span& span) const {
    const Piece<T, V> own = load<V>(row_of(x, s) + column);
    Piece<T, V> sum = filled<V>(T{0});
    in_order<int32_t>(
        span, [&](int32_t e) { return lists.indices[e]; },
        [&](int32_t t) {
          return Pair<V>{load<V>(row_of(max, t) + column), load<V>(row_of(share, t) + column)};
        },
        [&](const Pair<V>& pair, int32_t) {
          for (int i = 0; i < V; ++i) sum[i] += own[i] == pair.top[i] ? pair.part[i] : T{0};
        });
    return sum;
  }
  template <int V>
  GNNMG_BOTH void add(Piece<T, V>& sum, const Piece<T, V>& next) const {
    for (int i = 0; i < V; ++i) sum[i] += next[i];
  }
  template <int V>
  GNNMG_BOTH void finish(int64_t s, int64_t column, Piece<T, V> sum) const {
    if (self.data && s < num_targets) {
      const Piece<T, V> addend = load<V>(row_of(self, s) + column);
      for (int i = 0; i < V; ++i) sum[i] += addend[i];
    }
    store<V>(row_of(out, s) + column, sum);
  }
};

template <typename Queue, typename T>
void max_transposed(device::Queue* queue, nn::kernels::Lists lists, int64_t num_targets,
                    nn::kernels::Matrix<const T> x, nn::kernels::Matrix<const T> max,
                    nn::kernels::Matrix<const T> share, nn::kernels::Matrix<const T> self,
                    int64_t width, nn::kernels::Matrix<T> out, int64_t rows) {
  const bool lines = has_lines(x) && has_lines(max) && has_lines(share) && has_lines(out) &&
                     (!self.data || has_lines(self));
  by_pieces<Queue>(queue, rows, width, lines,
                   MaxTransposed<T>{lists, num_targets, x, max, share, self, out});
}

}  // namespace gnnmg::cuda
