// Inner products of rows, head by head: the gradients of weights. Equal to the CPU's except for
// rounding.
#pragma once

#include "cuda/layer/row.h"

namespace gnnmg::cuda {

// One lane computes heads of at most this many channels; a tile computes wider ones.
constexpr int64_t kLaneChannels = 32;

// Returns the line of elements from `from` on, by one load if rows have lines. The columns of a
// lane, and so the results, do not depend on that.
template <bool kLines, typename T>
GNNMG_BOTH Piece<T, kLineOf<T>> line_at(const T* from, int64_t n) {
  constexpr int kV = kLineOf<T>;
  if (kLines && n >= kV) return load<kV>(from);
  Piece<T, kV> piece;
  for (int i = 0; i < kV; ++i) piece[i] = i < n ? from[i] : T{0};
  return piece;
}

// Returns <a, b> of one head, in the order of the columns.
template <bool kLines, typename T>
GNNMG_BOTH T dot_of(const T* a, const T* b, int64_t channels) {
  T sum = 0;
  for (int64_t c = 0; c < channels; c += kLineOf<T>) {
    const auto x = line_at<kLines>(a + c, channels - c), y = line_at<kLines>(b + c, channels - c);
    for (int i = 0; i < kLineOf<T>; ++i) sum = multiply_add(x[i], y[i], sum);
  }
  return sum;
}

// Computes dots[p] of the pairs p < num_pairs, kTogether at a time: rows(p) is {a, b} of the head.
template <bool kLines, typename T, typename Tile, typename RowsOf>
GNNMG_BOTH void dots_of(const Tile& tile, int64_t num_pairs, int64_t channels, const RowsOf& rows,
                        T* dots) {
  constexpr int kV = kLineOf<T>;
  for (int64_t p = 0; p < num_pairs; p += kTogether) {
    const auto shares = tile.template make<Piece<T, kTogether>>([&](int lane) {
      auto sums = filled<kTogether>(T{0});
      for (int64_t c = int64_t{lane} * kV; c < channels; c += Tile::kLanes * kV)
        for (int k = 0; k < kTogether; ++k) {
          if (p + k >= num_pairs) continue;
          const auto pair = rows(p + k);
          const auto x = line_at<kLines>(pair.a + c, channels - c);
          const auto y = line_at<kLines>(pair.b + c, channels - c);
          for (int i = 0; i < kV; ++i) sums[k] = multiply_add(x[i], y[i], sums[k]);
        }
      return sums;
    });
    for (int k = 0; k < kTogether; ++k) {
      if (p + k >= num_pairs) continue;
      const auto share = tile.template make<T>([&](int lane) { return shares[lane][k]; });
      const T sum = tile.sum(share);
      tile.each([&](int lane) {
        if (lane == 0) dots[p + k] = sum;
      });
    }
  }
}

template <typename T>
struct PairOfRows {
  const T *a, *b;
};

// Item: a target. kWide: a tile computes a pair of a head, otherwise a lane does.
template <typename T, bool kLines, bool kWide>
struct EdgeDots {
  nn::kernels::Lists lists;
  Divisor by_heads;
  int64_t channels;
  nn::kernels::Rows<T> x;
  nn::kernels::Matrix<const T> y;
  T* dots;

  template <typename Tile>
  GNNMG_BOTH bool alone(const Tile& tile, int64_t t) const {
    if (list(t).is_long()) return false;
    walk(tile, t, list(t));
    return true;
  }
  GNNMG_BOTH bool is_long(int64_t t) const { return list(t).is_long(); }
  // Entries are independent.
  template <typename Team>
  GNNMG_BOTH void together(const Team& team, int64_t t) const {
    team.each([&](const typename Team::Tile& tile, int i) {
      walk(tile, t, list(t).part(Team::kTiles, i));
    });
  }

 private:
  GNNMG_BOTH Span list(int64_t t) const { return {lists.indptr[t], lists.indptr[t + 1]}; }
  template <typename Tile>
  GNNMG_BOTH void walk(const Tile& tile, int64_t t, const Span& span) const {
    const int64_t heads = by_heads.by, first = span.first;
    const int64_t num_pairs = (span.last - first) * heads;
    T* to = dots + first * heads;
    const auto rows = [&](int64_t p) {
      const int64_t e = heads == 1 ? p : by_heads(p), column = (p - e * heads) * channels;
      return PairOfRows<T>{row_of(x, lists.indices[first + e]) + column, row_of(y, t) + column};
    };
    if constexpr (kWide) {
      dots_of<kLines>(tile, num_pairs, channels, rows, to);
    } else {
      tile.each_of(0, num_pairs, [&](int64_t p) {
        const PairOfRows<T> pair = rows(p);
        to[p] = dot_of<kLines>(pair.a, pair.b, channels);
      });
    }
  }
};

// Item: a row for tiles, a head of a row for each().
template <typename T, bool kLines>
struct RowDots {
  static constexpr int kLeastBlocks = 4;  // nvcc spills for a fifth
  nn::kernels::Matrix<const T> x, vectors;
  Divisor by_heads;
  int64_t channels;
  T* dots;

  GNNMG_BOTH PairOfRows<T> rows(int64_t r, int64_t h) const {
    return {row_of(x, r) + h * channels, row_of(vectors, r) + h * channels};
  }
  GNNMG_BOTH void operator()(int64_t i) const {
    const int64_t heads = by_heads.by, r = heads == 1 ? i : by_heads(i);
    const PairOfRows<T> pair = rows(r, i - r * heads);
    dots[i] = dot_of<kLines>(pair.a, pair.b, channels);
  }
  template <typename Tile>
  GNNMG_BOTH void operator()(const Tile& tile, int64_t r) const {
    dots_of<kLines>(
        tile, by_heads.by, channels, [&](int64_t h) { return rows(r, h); }, dots + r * by_heads.by);
  }
};

// True if heads of rows begin at multiples of 16 bytes.
template <typename T>
bool heads_have_lines(int64_t channels) {
  return channels % kLineOf<T> == 0;
}

template <typename Queue, typename T>
void edge_dots(device::Queue* handle, const nn::kernels::WeightedLists<T>& edges,
               nn::kernels::Rows<T> x, nn::kernels::Matrix<const T> y, T* dots, int64_t rows) {
  Queue& queue = queue_of<Queue>(handle);
  const int64_t channels = edges.channels, lines = (channels + kLineOf<T> - 1) / kLineOf<T>;
  const auto launch = [&]<bool kLines>() {
    const EdgeDots<T, kLines, true> wide{edges.lists, Divisor(edges.heads), channels, x, y, dots};
    if (channels <= kLaneChannels)
      queue.template teams<8>(rows, EdgeDots<T, kLines, false>{edges.lists, Divisor(edges.heads),
                                                               channels, x, y, dots});
    else if (lines <= 16)
      queue.template teams<16>(rows, wide);
    else
      queue.template teams<32>(rows, wide);
  };
  if (has_lines(x) && has_lines(y) && heads_have_lines<T>(channels))
    launch.template operator()<true>();
  else
    launch.template operator()<false>();
}

template <typename Queue, typename T>
void row_dots(device::Queue* handle, nn::kernels::Matrix<const T> x,
              nn::kernels::Matrix<const T> vectors, int64_t heads, int64_t channels, T* dots,
              int64_t rows) {
  Queue& queue = queue_of<Queue>(handle);
  const int64_t lines = (channels + kLineOf<T> - 1) / kLineOf<T>;
  const auto launch = [&]<bool kLines>() {
    const RowDots<T, kLines> kernel{x, vectors, Divisor(heads), channels, dots};
    if (channels <= kLaneChannels)
      queue.each(rows * heads, kernel);
    else if (lines <= 16)
      queue.template tiles<16>(rows, kernel);
    else
      queue.template tiles<32>(rows, kernel);
  };
  if (has_lines(x) && has_lines(vectors) && heads_have_lines<T>(channels))
    launch.template operator()<true>();
  else
    launch.template operator()<false>();
}

}  // namespace gnnmg::cuda
