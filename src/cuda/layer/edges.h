// Operations along edges with rows of their own: sums of relu(source + edge); and the edge that won
// a maximum. Bitwise equal to the CPU's, except sums of long lists (kLongList).
#pragma once

#include "cuda/layer/row.h"
#include "cuda/layer/table.h"

namespace gnnmg::cuda {

// Returns the end of this layer's entries in a source's list.
GNNMG_BOTH int32_t end_of_source(const nn::kernels::EdgesBySource& by_source, int64_t s) {
  const int32_t first = by_source.lists.indptr[s], last = by_source.lists.indptr[s + 1];
  return first + static_cast<int32_t>(count_below(by_source.lists.indices + first, last - first,
                                                  by_source.num_targets));
}

template <typename T>
struct Ends {
  const T *a, *b;
};
template <typename T, int V>
struct TwoPieces {
  Piece<T, V> a, b;
};

template <typename T>
struct ReluSum {
  static constexpr int kPiece = kLineOf<T>;
  static constexpr int kLeastBlocks = 3;  // nvcc spills for a fourth
  nn::kernels::Lists lists;
  nn::kernels::Rows<T> x;
  nn::kernels::Matrix<const T> edge_rows;
  nn::kernels::Matrix<T> out;

  template <int V>
  using Share = Piece<T, V>;
  GNNMG_BOTH Span list(int64_t t) const { return {lists.indptr[t], lists.indptr[t + 1]}; }

  template <int V>
  GNNMG_BOTH Piece<T, V> part(int64_t, int64_t column, const Span& span) const {
    Piece<T, V> total = filled<V>(T{0});
    in_order<int32_t>(
        span,
        [&](int32_t e) {
          return Ends<T>{row_of(x, lists.indices[e]) + column, row_of(edge_rows, e) + column};
        },
        [&](const Ends<T>& from) { return TwoPieces<T, V>{load<V>(from.a), load<V>(from.b)}; },
        [&](const TwoPieces<T, V>& ends, int32_t) {
          for (int i = 0; i < V; ++i) {
            const T sum = ends.a[i] + ends.b[i];
            total[i] += sum > 0 || sum != sum ? sum : T{0};
          }
        });
    return total;
  }
  template <int V>
  GNNMG_BOTH void add(Piece<T, V>& total, const Piece<T, V>& next) const {
    for (int i = 0; i < V; ++i) total[i] += next[i];
  }
  template <int V>
  GNNMG_BOTH void finish(int64_t t, int64_t column, const Piece<T, V>& total) const {
    store<V>(row_of(out, t) + column, total);
  }
};

template <typename T>
struct ReluSumEdges {
  static constexpr int kPiece = kLineOf<T>;
  nn::kernels::Lists lists;
  nn::kernels::Rows<T> x;
  nn::kernels::Matrix<const T> edge_rows, dy;
  nn::kernels::Matrix<T> de;

  template <int V>
  using Share = Nothing;
  GNNMG_BOTH Span list(int64_t t) const { return {lists.indptr[t], lists.indptr[t + 1]}; }

  template <int V>
  GNNMG_BOTH Nothing part(int64_t t, int64_t column, const Span& span) const {
    const Piece<T, V> from = load<V>(row_of(dy, t) + column);
    in_order<int32_t>(
        span,
        [&](int32_t e) {
          return Ends<T>{row_of(x, lists.indices[e]) + column, row_of(edge_rows, e) + column};
        },
        [&](const Ends<T>& from) { return TwoPieces<T, V>{load<V>(from.a), load<V>(from.b)}; },
        [&](const TwoPieces<T, V>& ends, int32_t e) {
          Piece<T, V> to;
          for (int i = 0; i < V; ++i) to[i] = ends.a[i] + ends.b[i] > 0 ? from[i] : T{0};
          store<V>(row_of(de, e) + column, to);
        });
    return {};
  }
  template <int V>
  GNNMG_BOTH void add(Nothing&, const Nothing&) const {}
  template <int V>
  GNNMG_BOTH void finish(int64_t, int64_t, const Nothing&) const {}
};

template <typename T>
struct ReluSumTransposed {
  static constexpr int kPiece = kLineOf<T>;
  static constexpr int kLeastBlocks = 3;  // nvcc spills for a fourth
  nn::kernels::EdgesBySource by_source;
  nn::kernels::Matrix<const T> x, edge_rows, dy;
  nn::kernels::Matrix<T> dx;

  template <int V>
  using Share = Piece<T, V>;
  GNNMG_BOTH Span list(int64_t s) const {
    return {by_source.lists.indptr[s], end_of_source(by_source, s)};
  }

  template <int V>
  GNNMG_BOTH Piece<T, V> part(int64_t s, int64_t column, const Span& span) const {
    const Piece<T, V> own = load<V>(row_of(x, s) + column);
    Piece<T, V> total = filled<V>(T{0});
    in_order<int32_t>(
        span,
        [&](int32_t p) {
          return Ends<T>{row_of(edge_rows, by_source.positions[p]) + column,
                         row_of(dy, by_source.lists.indices[p]) + column};
        },
        [&](const Ends<T>& from) { return TwoPieces<T, V>{load<V>(from.a), load<V>(from.b)}; },
        [&](const TwoPieces<T, V>& edge, int32_t) {
          for (int i = 0; i < V; ++i) total[i] += own[i] + edge.a[i] > 0 ? edge.b[i] : T{0};
        });
    return total;
  }
  template <int V>
  GNNMG_BOTH void add(Piece<T, V>& total, const Piece<T, V>& next) const {
    for (int i = 0; i < V; ++i) total[i] += next[i];
  }
  template <int V>
  GNNMG_BOTH void finish(int64_t s, int64_t column, const Piece<T, V>& total) const {
    store<V>(row_of(dx, s) + column, total);
  }
};

template <typename T>
struct LastWinner {
  static constexpr int kPiece = kLineOf<T>;
  nn::kernels::Lists lists;
  nn::kernels::Rows<T> x;
  nn::kernels::Matrix<const T> max;
  int64_t width;
  int32_t* winner;

  template <int V>
  using Share = Piece<int32_t, V>;
  GNNMG_BOTH Span list(int64_t t) const { return {lists.indptr[t], lists.indptr[t + 1]}; }

  template <int V>
  GNNMG_BOTH Piece<int32_t, V> part(int64_t t, int64_t column, const Span& span) const {
    const Piece<T, V> most = load<V>(row_of(max, t) + column);
    Piece<int32_t, V> won = filled<V>(int32_t{-1});
    in_order<int32_t>(
        span, [&](int32_t e) { return row_of(x, lists.indices[e]) + column; }, LoadPiece<V>(),
        [&](const Piece<T, V>& row, int32_t e) {
          for (int i = 0; i < V; ++i) won[i] = row[i] == most[i] ? e : won[i];
        });
    return won;
  }
  template <int V>
  GNNMG_BOTH void add(Piece<int32_t, V>& won, const Piece<int32_t, V>& next) const {
    for (int i = 0; i < V; ++i) won[i] = next[i] < 0 ? won[i] : next[i];
  }
  template <int V>
  GNNMG_BOTH void finish(int64_t t, int64_t column, const Piece<int32_t, V>& won) const {
    for (int i = 0; i < V; ++i) winner[t * width + column + i] = won[i];
  }
};

template <typename T>
struct WinnerTransposed {
  static constexpr int kPiece = kLineOf<T>;
  nn::kernels::EdgesBySource by_source;
  const int32_t* winner;
  nn::kernels::Matrix<const T> y;
  int64_t width;
  nn::kernels::Matrix<T> out;

  struct Place {
    const T* row;
    const int32_t* winner;
    int32_t position;
  };
  template <int V>
  struct Won {
    Piece<T, V> row;
    bool won[V];
  };

  template <int V>
  using Share = Piece<T, V>;
  GNNMG_BOTH Span list(int64_t s) const {
    return {by_source.lists.indptr[s], end_of_source(by_source, s)};
  }

  template <int V>
  GNNMG_BOTH Piece<T, V> part(int64_t, int64_t column, const Span& span) const {
    Piece<T, V> total = filled<V>(T{0});
    in_order<int32_t>(
        span,
        [&](int32_t p) {
          const int64_t t = by_source.lists.indices[p];
          return Place{row_of(y, t) + column, winner + t * width + column, by_source.positions[p]};
        },
        [&](const Place& from) {
          Won<V> edge;
          edge.row = load<V>(from.row);
          for (int i = 0; i < V; ++i) edge.won[i] = from.winner[i] == from.position;
          return edge;
        },
        [&](const Won<V>& edge, int32_t) {
          for (int i = 0; i < V; ++i) total[i] += edge.won[i] ? edge.row[i] : T{0};
        });
    return total;
  }
  template <int V>
  GNNMG_BOTH void add(Piece<T, V>& total, const Piece<T, V>& next) const {
    for (int i = 0; i < V; ++i) total[i] += next[i];
  }
  template <int V>
  GNNMG_BOTH void finish(int64_t s, int64_t column, const Piece<T, V>& total) const {
    store<V>(row_of(out, s) + column, total);
  }
};

template <typename Queue, typename T>
struct EdgeEntries {
  using Lists = nn::kernels::Lists;
  using Rows = nn::kernels::Rows<T>;
  using Read = nn::kernels::Matrix<const T>;
  using Write = nn::kernels::Matrix<T>;
  using BySource = nn::kernels::EdgesBySource;

  static void relu_sum(device::Queue* queue, Lists lists, Rows x, Read edge_rows, int64_t width,
                       Write out, int64_t rows) {
    by_pieces<Queue>(queue, rows, width, has_lines(x) && has_lines(edge_rows) && has_lines(out),
                     ReluSum<T>{lists, x, edge_rows, out});
  }
  static void relu_sum_edges(device::Queue* queue, Lists lists, Rows x, Read edge_rows, Read dy,
                             int64_t width, Write de, int64_t rows) {
    const bool lines = has_lines(x) && has_lines(edge_rows) && has_lines(dy) && has_lines(de);
    by_pieces<Queue>(queue, rows, width, lines, ReluSumEdges<T>{lists, x, edge_rows, dy, de});
  }
  static void relu_sum_transposed(device::Queue* queue, const BySource& by_source, Read x,
                                  Read edge_rows, Read dy, int64_t width, Write dx, int64_t rows) {
    const bool lines = has_lines(x) && has_lines(edge_rows) && has_lines(dy) && has_lines(dx);
    by_pieces<Queue>(queue, rows, width, lines,
                     ReluSumTransposed<T>{by_source, x, edge_rows, dy, dx});
  }
  static void last_winner(device::Queue* queue, Lists lists, Rows x, Read max, int64_t width,
                          int32_t* winner, int64_t rows) {
    by_pieces<Queue>(queue, rows, width, has_lines(x) && has_lines(max),
                     LastWinner<T>{lists, x, max, width, winner});
  }
  static void winner_transposed(device::Queue* queue, const BySource& by_source,
                                const int32_t* winner, Read y, int64_t width, Write out,
                                int64_t rows) {
    by_pieces<Queue>(queue, rows, width, has_lines(y) && has_lines(out),
                     WinnerTransposed<T>{by_source, winner, y, width, out});
  }
};

template <typename Queue, typename T>
void add_edges(nn::kernels::DeviceLayers<T>& table) {
  using Entries = EdgeEntries<Queue, T>;
  table.relu_sum = Entries::relu_sum;
  table.relu_sum_edges = Entries::relu_sum_edges;
  table.relu_sum_transposed = Entries::relu_sum_transposed;
  table.last_winner = Entries::last_winner;
  table.winner_transposed = Entries::winner_transposed;
}

}  // namespace gnnmg::cuda
