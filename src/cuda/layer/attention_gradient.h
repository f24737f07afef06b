// The gradients of attention on a GPU. By target: the gradients of scores, head by head; then
// GATv2's other gradients, which are sums over all edges (attention_parts.h) or belong to one edge.
// By source: one pass over the sources' lists.
#pragma once

#include "cuda/layer/attention_parts.h"
#include "cuda/layer/edges.h"
#include "nn/kernels/device.h"

namespace gnnmg::cuda {

// Item: a target and a head, or, if the gradient of factors sums over heads, a target.
template <typename T, bool kGat, int K>
struct ScoreGradients {
  static constexpr int kLeastBlocks = sizeof(T) == 4 ? 2 : 1;
  nn::kernels::Attention<T> a;
  Divisor by_heads;
  PlaceDropout<T> dropout;
  nn::kernels::Matrix<const T> dy;
  nn::kernels::AttentionGradient<T> to;

  template <typename Tile>
  GNNMG_BOTH bool alone(const Tile& tile, int64_t item) const {
    const Place at = place_of(item);
    const TargetEdges<T> edges(a, at.target);
    if (edges.is_long()) return false;
    const Turns all = Turns::alone(tile);
    for (int64_t h = at.first; h < at.last; ++h) {
      const T mean = by_weights(tile, edges, h, all);
      write_total(tile, at.target, h, by_scores(tile, edges, h, all, mean));
    }
    return true;
  }
  GNNMG_BOTH bool is_long(int64_t item) const {
    return TargetEdges<T>(a, place_of(item).target).is_long();
  }
  template <typename Team>
  GNNMG_BOTH void together(const Team& team, int64_t item) const {
    using Tile = typename Team::Tile;
    const Place at = place_of(item);
    const TargetEdges<T> edges(a, at.target);
    for (int64_t h = at.first; h < at.last; ++h) {
      const T mean = sum_of_team<T>(
          team, [&](const Tile& tile, Turns turns) { return by_weights(tile, edges, h, turns); });
      const T total = sum_of_team<T>(team, [&](const Tile& tile, Turns turns) {
        return by_scores(tile, edges, h, turns, mean);
      });
      team.each([&](const Tile& tile, int t) {
        if (t == 0) write_total(tile, at.target, h, total);
      });
    }
  }

 private:
  struct Place {
    int64_t target, first, last;  // range of heads
  };
  GNNMG_BOTH Place place_of(int64_t item) const {
    if (to.factors != nullptr) return {item, 0, a.heads};
    const int64_t t = by_heads(item), h = item - t * by_heads.by;
    return {t, h, h + 1};
  }

  // Writes the gradients of weights and of their alphas to scores; returns the sum of alpha times
  // these.
  template <typename Tile>
  GNNMG_BOTH T by_weights(const Tile& tile, const TargetEdges<T>& edges, int64_t h,
                          Turns turns) const {
    constexpr int kN = Tile::kLanes;
    const int64_t column = h * a.channels;
    const T* own = row_of(dy, edges.target) + column;
    const auto held = hold<K>(tile, own, a.channels);
    auto means = tile.template make<T>([](int) { return T{0}; });
    for (uint32_t base = turns.begin; base < edges.n; base += turns.step) {
      const int count = edges.some(base, kN);
      auto dots = tile.template make<T>([](int) { return T{0}; });
      const auto row = [&](int64_t j) {
        return row_of(a.source, edges.source(base + static_cast<uint32_t>(j))) + column;
      };
      in_order(
          0, count, row, [&](const T* from) { return hold<K>(tile, from, a.channels); },
          [&](const auto& source, int64_t at) {
            const int j = static_cast<int>(at);
            if (edges.left_out(base + j)) return;
            const T dot = tile.sum(tile.template make<T>([&](int lane) {
              T sum = 0;
              for (int k = 0; k < K; ++k)
                sum = multiply_add(held[lane].at[k], source[lane].at[k], sum);
              for (int64_t c = lane + K * kN; c < a.channels; c += kN)
                sum = multiply_add(own[c], row(j)[c], sum);
              return sum;
            }));
            tile.each([&](int lane) {
              if (lane == j) dots[lane] = dot;
            });
          });
      tile.each([&](int lane) {
        if (lane < count) means[lane] += by_alpha(edges, base + lane, h, dots[lane]);
      });
    }
    return tile.sum(means);
  }

  // Writes the gradients of scores; returns their sum for GAT.
  template <typename Tile>
  GNNMG_BOTH T by_scores(const Tile& tile, const TargetEdges<T>& edges, int64_t h, Turns turns,
                         T mean) const {
    return tile.sum(tile.template make<T>([&](int lane) {
      T sum = 0;
      for (uint32_t i = turns.begin + lane; i < edges.n; i += turns.step) {
        const int64_t k = edges.place(i) * a.heads + h;
        T d = a.alpha[k] * (to.scores[k] - mean);
        if constexpr (kGat) {
          if (!(gat_sum(edges, i, h) > 0)) d *= a.slope;
          sum += d;
        }
        to.scores[k] = d;
      }
      return sum;
    }));
  }
  template <typename Tile>
  GNNMG_BOTH void write_total(const Tile& tile, int64_t target, int64_t h, T total) const {
    if (!kGat || to.target_scores.data == nullptr) return;
    tile.each([&](int lane) {
      if (lane == 0) row_of(to.target_scores, target)[h] = total;
    });
  }

  // Turns the gradient of an edge's weight into the gradient of its alpha, which it writes, and of
  // its factor; returns alpha times the value written.
  GNNMG_BOTH T by_alpha(const TargetEdges<T>& edges, uint32_t i, int64_t h, T d) const {
    const int64_t place = edges.place(i), k = place * a.heads + h;
    const T alpha = a.alpha[k];
    if (a.weights != a.alpha) d = dropout.left(d, k);
    if (to.factors != nullptr) {
      const T by_factor = a.factors != nullptr ? d * alpha : T{0};
      to.factors[place] = h == 0 ? by_factor : to.factors[place] + by_factor;
    }
    if (a.factors != nullptr) d *= a.factors[place];
    to.scores[k] = d;
    return alpha * d;
  }
};

// Item: a target. The gradient of its edges' features, over all columns of an edge.
template <typename T, int K>
struct FeatureGradients {
  static constexpr int kLeastBlocks = 2;
  nn::kernels::Attention<T> a;
  const T* scores;
  nn::kernels::Matrix<T> to_features;
  Divisor by_channels;

  template <typename Tile>
  GNNMG_BOTH bool alone(const Tile& tile, int64_t t) const {
    const TargetEdges<T> edges(a, t);
    if (edges.is_long()) return false;
    walk(tile, edges, 0, edges.n);
    return true;
  }
  GNNMG_BOTH bool is_long(int64_t t) const { return TargetEdges<T>(a, t).is_long(); }
  // Edges are independent.
  template <typename Team>
  GNNMG_BOTH void together(const Team& team, int64_t t) const {
    const TargetEdges<T> edges(a, t);
    team.each([&](const typename Team::Tile& tile, int k) {
      const Span run = Span{0, edges.n}.part(Team::kTiles, k);
      walk(tile, edges, static_cast<uint32_t>(run.first), static_cast<uint32_t>(run.last));
    });
  }

 private:
  template <typename Tile>
  GNNMG_BOTH void walk(const Tile& tile, const TargetEdges<T>& edges, uint32_t first,
                       uint32_t last) const {
    constexpr int kN = Tile::kLanes;
    const int64_t width = a.heads * a.channels;
    const T* target = row_of(a.target, edges.target);
    for (uint32_t i = first; i < last; ++i) {
      const int64_t place = edges.place(i);
      const T* source = row_of(a.source, edges.source(i));
      T* to = row_of(to_features, place);
      for (int64_t begin = 0; begin < width; begin += kN * K) {
        const auto inner = tile.template make<Held<T, K>>([&](int lane) {
          Held<T, K> held{};
          for (int k = 0; k < K; ++k) {
            const int64_t c = begin + lane + k * kN;
            if (c >= width) break;
            const T sum = gatv2_sum<Scores::kGatv2Edges>(a, source[c], target[c], place, c);
            held.at[k] =
                scores[place * a.heads + by_channels(c)] * a.vector[c] * (sum > 0 ? T{1} : a.slope);
          }
          return held;
        });
        for (int64_t f = 0; f < a.edge_columns; ++f) {
          const T* weight = a.edge_weight + f * width + begin;
          const T sum = tile.sum(tile.template make<T>([&](int lane) {
            T dot = 0;
            for (int k = 0; k < K; ++k)
              if (begin + lane + k * kN < width) dot += inner[lane].at[k] * weight[lane + k * kN];
            return dot;
          }));
          tile.each([&](int lane) {
            if (lane == f % kN) to[f] = begin == 0 ? sum : to[f] + sum;
          });
        }
      }
    }
  }
};

// The gradient by source, without GAT's scores. A piece of a row is within one head
// (attend_transposed ensures that).
template <typename T, Scores kScores>
struct SourceGradients {
  static constexpr int kPiece = kLineOf<T>;
  static constexpr bool kGat = kScores == Scores::kGat;
  static constexpr int kLeastBlocks = kGat ? 3 : 2;  // nvcc spills for one more
  nn::kernels::Attention<T> a;
  nn::kernels::EdgesBySource by_source;
  nn::kernels::Matrix<const T> dy;
  const T* scores;
  nn::kernels::Matrix<T> dx;
  Divisor by_channels;

  template <int V>
  struct Share {
    Piece<T, V> by_row, by_score;
  };
  struct Edge {
    int32_t target;
    int64_t place;
  };
  // The values read along an edge; `target` and `score` are for GATv2 only.
  template <int V>
  struct Term {
    Piece<T, V> row, target;
    T weight, score;
    int64_t place;
  };
  GNNMG_BOTH Span list(int64_t s) const {
    return {by_source.lists.indptr[s], end_of_source(by_source, s)};
  }

  template <int V>
  GNNMG_BOTH Term<V> read(const Edge& edge, int64_t h, int64_t column) const {
    Term<V> term;
    term.row = load<V>(row_of(dy, edge.target) + column);
    term.weight = a.weights[edge.place * a.heads + h];
    if constexpr (!kGat) {
      term.target = load<V>(row_of(a.target, edge.target) + column);
      term.score = scores[edge.place * a.heads + h];
      term.place = edge.place;
    }
    return term;
  }
  template <int V>
  GNNMG_BOTH void add_term(const Term<V>& term, int64_t column, const Piece<T, V>& source,
                           Share<V>& sums) const {
    for (int i = 0; i < V; ++i)
      sums.by_row[i] = multiply_add(term.weight, term.row[i], sums.by_row[i]);
    if constexpr (!kGat) {
      for (int i = 0; i < V; ++i) {
        const T sum = gatv2_sum<kScores>(a, source[i], term.target[i], term.place, column + i);
        sums.by_score[i] += term.score * (sum > 0 ? T{1} : a.slope);
      }
    }
  }

  template <int V>
  GNNMG_BOTH Piece<T, V> source_of(int64_t s, int64_t column) const {
    if constexpr (kGat) return {};
    return load<V>(row_of(a.source, s) + column);
  }
  template <int V>
  GNNMG_BOTH Share<V> part(int64_t s, int64_t column, const Span& span) const {
    const Piece<T, V> source = source_of<V>(s, column);
    const int64_t h = by_channels(column);
    Share<V> sums{};
    in_order<int32_t>(
        span, [&](int32_t p) { return Edge{by_source.lists.indices[p], by_source.positions[p]}; },
        [&](const Edge& edge) { return read<V>(edge, h, column); },
        [&](const Term<V>& term, int32_t) { add_term<V>(term, column, source, sums); });
    return sums;
  }
  template <int V>
  GNNMG_BOTH void add(Share<V>& sums, const Share<V>& next) const {
    for (int i = 0; i < V; ++i) {
      sums.by_row[i] += next.by_row[i];
      if constexpr (!kGat) sums.by_score[i] += next.by_score[i];
    }
  }
  template <int V>
  GNNMG_BOTH void finish(int64_t s, int64_t column, Share<V> sums) const {
    if (a.loops && s < a.num_loops)
      add_term<V>(read<V>({static_cast<int32_t>(s), a.num_edges + s}, by_channels(column), column),
                  column, source_of<V>(s, column), sums);
    if constexpr (!kGat)
      for (int i = 0; i < V; ++i)
        sums.by_row[i] = multiply_add(sums.by_score[i], a.vector[column + i], sums.by_row[i]);
    store<V>(row_of(dx, s) + column, sums.by_row);
  }
};

// Item: a source and a head. The gradient of GAT's scores of sources.
template <typename T>
struct SourceScoreGradients {
  nn::kernels::EdgesBySource by_source;
  Divisor by_heads;
  int64_t num_edges, num_loops;
  const T* scores;
  nn::kernels::Matrix<T> to;

  template <typename Tile>
  GNNMG_BOTH bool alone(const Tile& tile, int64_t item) const {
    const int64_t s = by_heads(item), h = item - s * by_heads.by;
    const Span list = list_of(s);
    if (list.is_long()) return false;
    write(tile, s, h, sum(tile, s, h, list, true));
    return true;
  }
  GNNMG_BOTH bool is_long(int64_t item) const { return list_of(by_heads(item)).is_long(); }
  template <typename Team>
  GNNMG_BOTH void together(const Team& team, int64_t item) const {
    using Tile = typename Team::Tile;
    const int64_t s = by_heads(item), h = item - s * by_heads.by;
    const Span list = list_of(s);
    const auto total = team.template combine<T>(
        list.sharing(Team::kTiles),
        [&](const Tile& tile, int t) {
          const T part = sum(tile, s, h, list.part(Team::kTiles, t), t == 0);
          return tile.template make<T>([&](int) { return part; });
        },
        [](T& sum, const T& part) { sum += part; });
    team.each([&](const Tile& tile, int t) {
      if (t == 0) write(tile, s, h, total[0]);
    });
  }

 private:
  GNNMG_BOTH Span list_of(int64_t s) const {
    return {by_source.lists.indptr[s], end_of_source(by_source, s)};
  }
  template <typename Tile>
  GNNMG_BOTH T sum(const Tile& tile, int64_t s, int64_t h, const Span& list, bool with_loop) const {
    const int64_t heads = by_heads.by;
    return tile.sum(tile.template make<T>([&](int lane) {
      T total =
          with_loop && lane == 0 && s < num_loops ? scores[(num_edges + s) * heads + h] : T{0};
      for (int64_t p = list.first + lane; p < list.last; p += Tile::kLanes)
        total += scores[int64_t{by_source.positions[p]} * heads + h];
      return total;
    }));
  }
  template <typename Tile>
  GNNMG_BOTH void write(const Tile& tile, int64_t s, int64_t h, T total) const {
    tile.each([&](int lane) {
      if (lane == 0) row_of(to, s)[h] = total;
    });
  }
};

template <typename T>
int64_t attend_parts(const nn::kernels::Attention<T>& a,
                     const nn::kernels::AttentionGradient<T>& gradient, int64_t rows) {
  if (a.vector == nullptr) return 0;
  const int64_t width = a.heads * a.channels;
  const int64_t of_matrix = a.edge_columns > 0 && gradient.edge_weight != nullptr
                                ? TargetParts::of_matrix(rows).number * a.edge_columns * width
                                : 0;
  return greatest(TargetParts::of_vector(rows).number * width, of_matrix);
}

template <typename Queue, typename T>
struct AttentionGradientEntries {
  using Attention = nn::kernels::Attention<T>;
  using Gradient = nn::kernels::AttentionGradient<T>;
  using Read = nn::kernels::Matrix<const T>;
  using Write = nn::kernels::Matrix<T>;

  static void attend_backward(device::Queue* handle, const Attention& a, Read dy,
                              const Gradient& to, T* vector_gradient, T* parts, int64_t rows) {
    Queue& queue = queue_of<Queue>(handle);
    const bool gat = a.vector == nullptr;
    with_shape<T>(a.channels, [&]<int N, int K>() {
      const int64_t items = to.factors != nullptr ? rows : rows * a.heads;
      const PlaceDropout<T> dropout(a.dropout);
      const Divisor by_heads(a.heads);
      if (gat)
        queue.template teams<N>(items, ScoreGradients<T, true, K>{a, by_heads, dropout, dy, to});
      else
        queue.template teams<N>(items, ScoreGradients<T, false, K>{a, by_heads, dropout, dy, to});
    });
    if (gat) return;
    const int64_t width = a.heads * a.channels;
    const TargetParts vector = TargetParts::of_vector(rows);
    const auto by_targets = [&]<Scores kScores>() {
      launch_over_targets<T>(
          queue, vector, vector.number, rows, width,
          TargetGradients<T, kScores>{a, to.scores, to.target, parts, Divisor(a.channels)});
    };
    if (a.edge_columns == 0)
      by_targets.template operator()<Scores::kGatv2>();
    else
      by_targets.template operator()<Scores::kGatv2Edges>();
    if (vector_gradient != nullptr)
      queue.template tiles<32>(width, SumOfParts<T>{parts, vector.number, width, vector_gradient});
    if (a.edge_columns == 0) return;
    if (to.edge_weight != nullptr) {
      using Kernel = EdgeWeightGradients<T>;
      const TargetParts matrix = TargetParts::of_matrix(rows);
      const int64_t blocks = (a.edge_columns + Kernel::kFew - 1) / Kernel::kFew;
      launch_over_targets<T>(queue, matrix, matrix.number * blocks, rows, width,
                             Kernel{a, to.scores, parts, Divisor(blocks), Divisor(a.channels)});
      queue.template tiles<32>(
          a.edge_columns * width,
          SumOfParts<T>{parts, matrix.number, a.edge_columns * width, to.edge_weight});
    }
    if (to.edge_row == nullptr) return;
    with_shape<T>(width, [&]<int N, int K>() {
      queue.template teams<N>(
          rows, FeatureGradients<T, K>{a, to.scores, to.edge_features, Divisor(a.channels)});
    });
  }

  static void attend_transposed(device::Queue* handle, const Attention& a,
                                const nn::kernels::EdgesBySource& by_source, Read dy,
                                const T* scores, Write dx, Write score_gradients, int64_t rows) {
    Queue& queue = queue_of<Queue>(handle);
    const bool lines = has_lines(dy) && has_lines(dx) && has_lines(a.source) &&
                       has_lines(a.target) && a.channels % kLineOf<T> == 0;
    with_scores(a, [&]<Scores kScores>() {
      by_pieces<Queue>(
          handle, rows, a.heads * a.channels, lines,
          SourceGradients<T, kScores>{a, by_source, dy, scores, dx, Divisor(a.channels)});
    });
    if (a.vector != nullptr) return;
    queue.template teams<8>(
        rows * a.heads,
        SourceScoreGradients<T>{by_source, Divisor(a.heads), a.num_edges, a.loops ? a.num_loops : 0,
                                scores, score_gradients});
  }
};

template <typename Queue, typename T>
void add_attention_gradient(nn::kernels::DeviceLayers<T>& table) {
  using Entries = AttentionGradientEntries<Queue, T>;
  table.attend_parts = attend_parts<T>;
  table.attend_backward = Entries::attend_backward;
  table.attend_transposed = Entries::attend_transposed;
}

}  // namespace gnnmg::cuda
