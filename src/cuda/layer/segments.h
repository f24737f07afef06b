// Reductions over runs of consecutive rows and their gradients. Bitwise equal to the CPU's, except
// sums of long runs (kLongList).
#pragma once

#include "cuda/layer/row.h"

namespace gnnmg::cuda {

template <typename T, bool kMax>
struct ReduceSegments {
  static constexpr int kPiece = kLineOf<T>;
  const int64_t* pointers;
  nn::kernels::Matrix<const T> x;
  nn::kernels::Matrix<T> out;
  bool mean;

  template <int V>
  using Share = Piece<T, V>;
  GNNMG_BOTH Span list(int64_t g) const { return {pointers[g], pointers[g + 1]}; }

  template <int V>
  GNNMG_BOTH Piece<T, V> part(int64_t, int64_t column, const Span& span) const {
    const int64_t first = span.first;
    Piece<T, V> sum = filled<V>(T{0});
    in_order<int64_t>(
        span, [&](int64_t r) { return row_of(x, r) + column; }, LoadPiece<V>{},
        [&](const Piece<T, V>& row, int64_t r) {
          for (int i = 0; i < V; ++i) {
            if constexpr (kMax)
              sum[i] = r == first || row[i] > sum[i] || row[i] != row[i] ? row[i] : sum[i];
            else
              sum[i] = r == first ? row[i] : sum[i] + row[i];
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
  GNNMG_BOTH void finish(int64_t g, int64_t column, Piece<T, V> sum) const {
    const int64_t count = pointers[g + 1] - pointers[g];
    if (mean && count > 0)
      for (int i = 0; i < V; ++i) sum[i] /= static_cast<T>(count);
    store<V>(row_of(out, g) + column, sum);
  }
};

template <typename Queue, typename T>
void reduce_segments(device::Queue* queue, nn::kernels::Reduce reduce, const int64_t* pointers,
                     nn::kernels::Matrix<const T> x, int64_t width, nn::kernels::Matrix<T> out,
                     int64_t rows) {
  const bool lines = has_lines(x) && has_lines(out);
  if (reduce == nn::kernels::Reduce::kMax)
    by_pieces<Queue>(queue, rows, width, lines, ReduceSegments<T, true>{pointers, x, out, false});
  else
    by_pieces<Queue>(
        queue, rows, width, lines,
        ReduceSegments<T, false>{pointers, x, out, reduce == nn::kernels::Reduce::kMean});
}

template <typename T>
struct SpreadSegments {
  static constexpr int kPiece = kLineOf<T>;
  const int64_t* pointers;
  nn::kernels::Matrix<const T> dy;
  nn::kernels::Matrix<T> dx;
  bool mean;

  template <int V>
  using Share = Nothing;
  GNNMG_BOTH Span list(int64_t g) const { return {pointers[g], pointers[g + 1]}; }

  template <int V>
  GNNMG_BOTH Nothing part(int64_t g, int64_t column, const Span& run) const {
    if (run.first == run.last) return {};
    Piece<T, V> share = load<V>(row_of(dy, g) + column);
    if (mean)
      for (int i = 0; i < V; ++i) share[i] /= static_cast<T>(pointers[g + 1] - pointers[g]);
    for (int64_t r = run.first; r < run.last; ++r) store<V>(row_of(dx, r) + column, share);
    return {};
  }
  template <int V>
  GNNMG_BOTH void add(Nothing&, const Nothing&) const {}
  template <int V>
  GNNMG_BOTH void finish(int64_t, int64_t, const Nothing&) const {}
};

template <typename Queue, typename T>
void spread_segments(device::Queue* queue, nn::kernels::Reduce reduce, const int64_t* pointers,
                     nn::kernels::Matrix<const T> dy, int64_t width, nn::kernels::Matrix<T> dx,
                     int64_t rows) {
  by_pieces<Queue>(queue, rows, width, has_lines(dy) && has_lines(dx),
                   SpreadSegments<T>{pointers, dy, dx, reduce == nn::kernels::Reduce::kMean});
}

// Equal shares for all tied rows: bitwise equal to the CPU's for any run.
template <typename T>
struct SegmentMaxBackward {
  static constexpr int kPiece = kLineOf<T>;
  static constexpr int kLeastBlocks = 3;  // nvcc spills for a fourth
  static constexpr bool kSpreads = true;
  const int64_t* pointers;
  nn::kernels::Matrix<const T> x, max, dy;
  nn::kernels::Matrix<T> dx;

  template <int V>
  using Share = Piece<T, V>;
  GNNMG_BOTH Span list(int64_t g) const { return {pointers[g], pointers[g + 1]}; }

  // The number of ties, which a sum in any order gives.
  template <int V>
  GNNMG_BOTH Piece<T, V> part(int64_t g, int64_t column, const Span& span) const {
    const Piece<T, V> top = load<V>(row_of(max, g) + column);
    Piece<T, V> tied = filled<V>(T{0});
    in_order<int64_t>(
        span, [&](int64_t r) { return row_of(x, r) + column; }, LoadPiece<V>{},
        [&](const Piece<T, V>& row, int64_t) {
          for (int i = 0; i < V; ++i) tied[i] += row[i] == top[i] ? T{1} : T{0};
        });
    return tied;
  }
  template <int V>
  GNNMG_BOTH void add(Piece<T, V>& tied, const Piece<T, V>& next) const {
    for (int i = 0; i < V; ++i) tied[i] += next[i];
  }
  template <int V>
  GNNMG_BOTH void spread(int64_t g, int64_t column, const Span& span,
                         const Piece<T, V>& tied) const {
    const Piece<T, V> top = load<V>(row_of(max, g) + column);
    Piece<T, V> share = load<V>(row_of(dy, g) + column);
    for (int i = 0; i < V; ++i) share[i] /= greatest(tied[i], T{1});
    in_order<int64_t>(
        span, [&](int64_t r) { return row_of(x, r) + column; }, LoadPiece<V>{},
        [&](const Piece<T, V>& row, int64_t r) {
          Piece<T, V> to;
          for (int i = 0; i < V; ++i) to[i] = row[i] == top[i] ? share[i] : T{0};
          store<V>(row_of(dx, r) + column, to);
        });
  }
};

// All of the gradient for the first of tied rows.
template <typename T>
struct SegmentFirstMaxBackward {
  static constexpr int kPiece = kLineOf<T>;
  static constexpr bool kSpreads = true;
  const int64_t* pointers;
  nn::kernels::Matrix<const T> x, max, dy;
  nn::kernels::Matrix<T> dx;

  template <int V>
  using Share = Piece<int32_t, V>;
  GNNMG_BOTH Span list(int64_t g) const { return {pointers[g], pointers[g + 1]}; }

  // Returns the number of the row in the list; -1: not in this run.
  template <int V>
  GNNMG_BOTH Piece<int32_t, V> part(int64_t g, int64_t column, const Span& span) const {
    const Piece<T, V> top = load<V>(row_of(max, g) + column);
    const int64_t begin = pointers[g];
    Piece<int32_t, V> won = filled<V>(int32_t{-1});
    in_order<int64_t>(
        span, [&](int64_t r) { return row_of(x, r) + column; }, LoadPiece<V>{},
        [&](const Piece<T, V>& row, int64_t r) {
          for (int i = 0; i < V; ++i)
            won[i] = won[i] < 0 && row[i] == top[i] ? static_cast<int32_t>(r - begin) : won[i];
        });
    return won;
  }
  template <int V>
  GNNMG_BOTH void add(Piece<int32_t, V>& won, const Piece<int32_t, V>& next) const {
    for (int i = 0; i < V; ++i) won[i] = won[i] < 0 ? next[i] : won[i];
  }
  template <int V>
  GNNMG_BOTH void spread(int64_t g, int64_t column, const Span& span,
                         const Piece<int32_t, V>& won) const {
    const int64_t begin = pointers[g];
    const Piece<T, V> share = load<V>(row_of(dy, g) + column);
    for (int64_t r = span.first; r < span.last; ++r) {
      Piece<T, V> to;
      for (int i = 0; i < V; ++i) to[i] = r - begin == won[i] ? share[i] : T{0};
      store<V>(row_of(dx, r) + column, to);
    }
  }
};

template <typename Queue, typename T>
void segment_max_backward(device::Queue* queue, bool first_of_tied, const int64_t* pointers,
                          nn::kernels::Matrix<const T> x, nn::kernels::Matrix<const T> max,
                          nn::kernels::Matrix<const T> dy, int64_t width, nn::kernels::Matrix<T> dx,
                          int64_t rows) {
  const bool lines = has_lines(x) && has_lines(max) && has_lines(dy) && has_lines(dx);
  if (first_of_tied)
    by_pieces<Queue>(queue, rows, width, lines,
                     SegmentFirstMaxBackward<T>{pointers, x, max, dy, dx});
  else
    by_pieces<Queue>(queue, rows, width, lines, SegmentMaxBackward<T>{pointers, x, max, dy, dx});
}

}  // namespace gnnmg::cuda
