// Attention on a GPU: one tile computes scores, softmax and weighted sum of one head of a target;
// only alpha and weights are written per edge. The counterpart of nn/kernels/attention_body.h; the
// gradients are in attention_gradient.h.
#pragma once

#include "cuda/layer/attention_edges.h"
#include "cuda/layer/attention_gradient.h"
#include "cuda/layer/table.h"

namespace gnnmg::cuda {

// Item: a target and a head. Lanes take edges for values per edge, and columns for rows; the same
// lane writes and reads the values of an edge.
template <typename T, Scores kScores, int K>
struct Attend {
  static constexpr int kLeastBlocks = sizeof(T) == 4 ? 2 : 1;
  nn::kernels::Attention<T> a;
  Divisor by_heads;
  PlaceDropout<T> dropout;
  nn::kernels::Matrix<T> out;

  template <typename Tile>
  GNNMG_BOTH bool alone(const Tile& tile, int64_t item) const {
    const int64_t t = by_heads(item), h = item - t * by_heads.by;
    const TargetEdges<T> edges(a, t);
    if (edges.is_long()) return false;
    const Turns all = Turns::alone(tile);
    if (!write_scores(tile, edges, h, all)) {
      write_nothing(tile, edges, h, all);
      tile.each_of(0, a.channels, [&](int64_t c) { row_of(out, t)[h * a.channels + c] = 0; });
      return true;
    }
    const T most = highest(tile, edges, h, all);
    write_weights(tile, edges, h, all, most, T{1} / powers(tile, edges, h, all, most));
    for (int64_t c = 0; c < a.channels; c += Tile::kLanes * K)
      write_row(tile, edges, h, c, weighted_sum(tile, edges, h, all, c));
    return true;
  }
  GNNMG_BOTH bool is_long(int64_t item) const {
    return TargetEdges<T>(a, by_heads(item)).is_long();
  }
  template <typename Team>
  GNNMG_BOTH void together(const Team& team, int64_t item) const {
    using Tile = typename Team::Tile;
    const int64_t target = by_heads(item), h = item - target * by_heads.by;
    const TargetEdges<T> edges(a, target);
    // Checks for an edge of a long list that is not an excluded loop; without one there is nothing
    // to do.
    if (sum_of_team<int32_t>(team, [&](const Tile& tile, Turns turns) {
          return write_scores(tile, edges, h, turns) ? 1 : 0;
        }) == 0) {
      team.each([&](const Tile& tile, int t) {
        write_nothing(tile, edges, h, Turns::of(team, t));
        if (t != 0) return;
        tile.each_of(0, a.channels,
                     [&](int64_t c) { row_of(out, target)[h * a.channels + c] = 0; });
      });
      return;
    }
    const T most = highest_of_team<T>(
        team, [&](const Tile& tile, Turns turns) { return highest(tile, edges, h, turns); });
    const T scale = T{1} / sum_of_team<T>(team, [&](const Tile& tile, Turns turns) {
                      return powers(tile, edges, h, turns, most);
                    });
    team.each([&](const Tile& tile, int t) {
      write_weights(tile, edges, h, Turns::of(team, t), most, scale);
    });
    for (int64_t c = 0; c < a.channels; c += Tile::kLanes * K) {
      const auto sums = team.template combine<Held<T, K>>(
          Team::kTiles,
          [&](const Tile& tile, int t) {
            return weighted_sum(tile, edges, h, Turns::of(team, t), c);
          },
          [](Held<T, K>& sum, const Held<T, K>& part) {
            for (int k = 0; k < K; ++k) sum.at[k] += part.at[k];
          });
      team.each([&](const Tile& tile, int t) {
        if (t == 0) write_row(tile, edges, h, c, sums);
      });
    }
  }

 private:
  // Writes the scores of the edges to alpha; excluded ones get the lowest number. Returns whether
  // there are others.
  template <typename Tile>
  GNNMG_BOTH bool write_scores(const Tile& tile, const TargetEdges<T>& edges, int64_t h,
                               Turns turns) const {
    constexpr int kN = Tile::kLanes;
    bool any = false;
    const auto write = [&](uint32_t base, int count, const auto& scores) {
      const uint32_t taken =
          tile.vote([&](int lane) { return lane < count && !edges.left_out(base + lane); });
      any = any || taken != 0;
      tile.each([&](int lane) {
        if (lane >= count) return;
        a.alpha[edges.place(base + lane) * a.heads + h] =
            (taken >> lane & 1) != 0 ? scores[lane] : static_cast<T>(-INFINITY);
      });
    };
    if constexpr (kScores == Scores::kGat) {
      for (uint32_t base = turns.begin; base < edges.n; base += turns.step) {
        const int count = edges.some(base, kN);
        write(base, count, tile.template make<T>([&](int lane) {
          return lane < count ? leaky(gat_sum(edges, base + lane, h), a.slope) : T{0};
        }));
      }
    } else {
      const int64_t column = h * a.channels;
      const T* own = row_of(a.target, edges.target) + column;
      const auto target = hold<K>(tile, own, a.channels);
      const auto vector = hold<K>(tile, a.vector + column, a.channels);
      for (uint32_t base = turns.begin; base < edges.n; base += turns.step) {
        const int count = edges.some(base, kN);
        auto scores = tile.template make<T>([](int) { return T{0}; });
        const auto row = [&](int64_t j) {
          return row_of(a.source, edges.source(base + static_cast<uint32_t>(j))) + column;
        };
        in_order(
            0, count, row, [&](const T* from) { return hold<K>(tile, from, a.channels); },
            [&](const auto& source, int64_t at) {
              const int j = static_cast<int>(at);
              const int64_t place = edges.place(base + j);
              const T score = tile.sum(tile.template make<T>([&](int lane) {
                T sum = 0;
                GNNMG_UNROLL
                for (int k = 0; k < K; ++k) {
                  const int64_t c = lane + k * kN;
                  if (c < a.channels) {
                    const T inner = gatv2_sum<kScores>(a, source[lane].at[k], target[lane].at[k],
                                                       place, column + c);
                    sum = multiply_add(vector[lane].at[k], leaky(inner, a.slope), sum);
                  }
                }
                for (int64_t c = lane + K * kN; c < a.channels; c += kN) {
                  const T inner = gatv2_sum<kScores>(a, row(j)[c], own[c], place, column + c);
                  sum = multiply_add(a.vector[column + c], leaky(inner, a.slope), sum);
                }
                return sum;
              }));
              tile.each([&](int lane) {
                if (lane == j) scores[lane] = score;
              });
            });
        write(base, count, scores);
      }
    }
    return any;
  }

  // For a target without edges, or with excluded loops only.
  template <typename Tile>
  GNNMG_BOTH void write_nothing(const Tile& tile, const TargetEdges<T>& edges, int64_t h,
                                Turns turns) const {
    tile.each([&](int lane) {
      for (uint32_t i = turns.begin + lane; i < edges.n; i += turns.step) {
        const int64_t k = edges.place(i) * a.heads + h;
        a.alpha[k] = 0;
        a.weights[k] = 0;
      }
    });
  }

  // Compute the softmax of alpha, and the weights, in three steps.
  template <typename Tile>
  GNNMG_BOTH T highest(const Tile& tile, const TargetEdges<T>& edges, int64_t h,
                       Turns turns) const {
    return tile.maximum(tile.template make<T>([&](int lane) {
      T most = static_cast<T>(-INFINITY);
      for (uint32_t i = turns.begin + lane; i < edges.n; i += turns.step) {
        const T score = a.alpha[edges.place(i) * a.heads + h];
        most = score > most || score != score ? score : most;
      }
      return most;
    }));
  }
  template <typename Tile>
  GNNMG_BOTH T powers(const Tile& tile, const TargetEdges<T>& edges, int64_t h, Turns turns,
                      T most) const {
    return tile.sum(tile.template make<T>([&](int lane) {
      T sum = 0;
      for (uint32_t i = turns.begin + lane; i < edges.n; i += turns.step)
        sum += exponential(a.alpha[edges.place(i) * a.heads + h] - most);
      return sum;
    }));
  }
  template <typename Tile>
  GNNMG_BOTH void write_weights(const Tile& tile, const TargetEdges<T>& edges, int64_t h,
                                Turns turns, T most, T scale) const {
    tile.each([&](int lane) {
      for (uint32_t i = turns.begin + lane; i < edges.n; i += turns.step) {
        const int64_t place = edges.place(i), k = place * a.heads + h;
        const T alpha = exponential(a.alpha[k] - most) * scale;
        a.alpha[k] = alpha;
        if (a.weights == a.alpha) continue;
        a.weights[k] = dropout.left(a.factors != nullptr ? alpha * a.factors[place] : alpha, k);
      }
    });
  }

  // K columns of the head per lane, from `begin` on.
  template <typename Tile>
  GNNMG_BOTH auto weighted_sum(const Tile& tile, const TargetEdges<T>& edges, int64_t h,
                               Turns turns, int64_t begin) const {
    constexpr int kN = Tile::kLanes;
    auto sums = tile.template make<Held<T, K>>([](int) { return Held<T, K>{}; });
    for (uint32_t base = turns.begin; base < edges.n; base += turns.step) {
      const int count = edges.some(base, kN);
      const auto weights = tile.template make<T>([&](int lane) {
        return lane < count ? a.weights[edges.place(base + lane) * a.heads + h] : T{0};
      });
      in_order(
          0, count,
          [&](int64_t j) {
            const int64_t source = edges.source(base + static_cast<uint32_t>(j));
            return row_of(a.source, source) + h * a.channels + begin;
          },
          [&](const T* from) { return hold<K>(tile, from, a.channels - begin); },
          [&](const auto& row, int64_t j) {
            const T weight = tile.broadcast(weights, static_cast<int>(j));
            tile.each([&](int lane) {
              for (int k = 0; k < K; ++k)
                sums[lane].at[k] = multiply_add(weight, row[lane].at[k], sums[lane].at[k]);
            });
          });
    }
    return sums;
  }
  template <typename Tile, typename Sums>
  GNNMG_BOTH void write_row(const Tile& tile, const TargetEdges<T>& edges, int64_t h, int64_t begin,
                            const Sums& sums) const {
    T* to = row_of(out, edges.target) + h * a.channels;
    tile.each([&](int lane) {
      for (int k = 0; k < K; ++k) {
        const int64_t c = begin + lane + k * Tile::kLanes;
        if (c < a.channels) to[c] = sums[lane].at[k];
      }
    });
  }
};

template <typename Queue, typename T>
void attend(device::Queue* queue, const nn::kernels::Attention<T>& a, nn::kernels::Matrix<T> out,
            int64_t rows) {
  with_scores(a, [&]<Scores kScores>() {
    with_shape<T>(a.channels, [&]<int N, int K>() {
      queue_of<Queue>(queue).template teams<N>(
          rows * a.heads,
          Attend<T, kScores, K>{a, Divisor(a.heads), PlaceDropout<T>(a.dropout), out});
    });
  });
}

template <typename Queue, typename T>
void add_attention(nn::kernels::DeviceLayers<T>& table) {
  table.attend = attend<Queue, T>;
  add_attention_gradient<Queue, T>(table);
}

}  // namespace gnnmg::cuda
