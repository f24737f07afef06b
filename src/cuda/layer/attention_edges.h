// Common parts of attention's forward and backward kernels: the edges of a target, the input of
// LeakyReLU, and dropout.
#pragma once

#include <cmath>
#include <type_traits>

#include "cuda/layer/dropout.h"
#include "cuda/layer/exponential.h"
#include "cuda/layer/team.h"

namespace gnnmg::cuda {

// The kinds of scores. Each has its own kernels, because common ones would need the registers of
// all kinds.
enum class Scores {
  kGat,
  kGatv2,
  kGatv2Edges,  // GATv2 with edge features
};
// Calls f.template operator()<scores>().
template <typename T, typename F>
void with_scores(const nn::kernels::Attention<T>& a, const F& f) {
  if (a.vector == nullptr)
    f.template operator()<Scores::kGat>();
  else if (a.edge_columns == 0)
    f.template operator()<Scores::kGatv2>();
  else
    f.template operator()<Scores::kGatv2Edges>();
}

template <typename T>
GNNMG_BOTH T leaky(T x, T slope) {
  return x > 0 ? x : x * slope;
}

// Dropout of attention's weights by their flat position, in rows of one group of columns.
template <typename T>
struct PlaceDropout {
  DropoutBits bits;
  T scale;
  explicit PlaceDropout(const nn::kernels::Dropout& from)
      : bits(bits_of(from)), scale(static_cast<T>(from.scale)) {}

  GNNMG_BOTH bool keeps(int64_t place) const {
    // Shifts need more instructions for signed numbers.
    const auto number = static_cast<uint64_t>(place);
    return bits.keeps(static_cast<int64_t>(number / kDropoutGroup),
                      static_cast<uint32_t>(number % kDropoutGroup));
  }
  // Returns a weight or its gradient after dropout.
  GNNMG_BOTH T left(T weight, int64_t place) const {
    if (!bits.active()) return weight;
    return keeps(place) ? weight * scale : T{0};
  }
};

// The edges of one target, including its loop: place(i) is the position of edge i in arrays over
// edges, source(i) its source row; n edges are visited, of which some are excluded. Numbers of
// edges have 32 bits, to save registers; a block has fewer than 2^31 of them.
template <typename T>
struct TargetEdges {
  const nn::kernels::Attention<T>& a;
  int64_t target;
  uint32_t first, listed, n;

  GNNMG_BOTH TargetEdges(const nn::kernels::Attention<T>& attention, int64_t t)
      : a(attention),
        target(t),
        first(static_cast<uint32_t>(a.lists.indptr[t])),
        listed(static_cast<uint32_t>(a.lists.indptr[t + 1]) - first),
        n(listed + (a.loops && t < a.num_loops ? 1u : 0u)) {}
  GNNMG_BOTH int64_t place(uint32_t i) const {
    return i < listed ? int64_t{first + i} : a.num_edges + target;
  }
  GNNMG_BOTH int64_t source(uint32_t i) const {
    return i < listed ? int64_t{a.lists.indices[first + i]} : a.first_own + target;
  }
  GNNMG_BOTH bool left_out(uint32_t i) const {
    return a.loops && i < listed && a.lists.indices[first + i] == a.first_own + target;
  }
  GNNMG_BOTH bool is_long() const { return n > kLongList; }
  // Returns how many of the edges from `base` on a tile of `lanes` takes at once.
  GNNMG_BOTH int some(uint32_t base, int lanes) const {
    return static_cast<int>(least(n - base, static_cast<uint32_t>(lanes)));
  }
};

// Returns the input of LeakyReLU at edge i for head h of GAT.
template <typename T>
GNNMG_BOTH T gat_sum(const TargetEdges<T>& edges, uint32_t i, int64_t h) {
  const nn::kernels::Attention<T>& a = edges.a;
  const T sum =
      row_of(a.source_scores, edges.source(i))[h] + row_of(a.target_scores, edges.target)[h];
  return a.edge_scores != nullptr ? sum + a.edge_scores[edges.place(i) * a.heads + h] : sum;
}

// Returns the input of LeakyReLU in column c of GATv2 at the edge at `place`, from the rows of its
// ends.
template <Scores kScores, typename T>
GNNMG_BOTH T gatv2_sum(const nn::kernels::Attention<T>& a, T source, T target, int64_t place,
                       int64_t c) {
  T total = source + target;
  if constexpr (kScores == Scores::kGatv2Edges) {
    const T* features = row_of(a.edge_features, place);
    const T* weight = a.edge_weight + c;
    const int64_t width = a.heads * a.channels;
    T term = 0;
    for (int64_t k = 0; k < a.edge_columns; ++k, weight += width)
      term = multiply_add(features[k], *weight, term);
    total += term;
  }
  return total;
}

// The first K * N numbers of a row, K per lane, column after column.
template <typename T, int K>
struct Held {
  T at[K];
};
template <int K, typename Tile, typename T>
GNNMG_BOTH auto hold(const Tile& tile, const T* row, int64_t width) {
  return tile.template make<Held<T, K>>([&](int lane) {
    Held<T, K> held;
    for (int k = 0; k < K; ++k) {
      const int64_t c = lane + k * Tile::kLanes;
      held.at[k] = c < width ? row[c] : T{0};
    }
    return held;
  });
}

// Calls f.template operator()<N, K>(), where tiles of N lanes with K columns each suit rows of
// `width`. For f64, whose speed matters less, one shape serves all.
template <typename T, typename F>
void with_shape(int64_t width, const F& f) {
  if constexpr (std::is_same_v<T, double>)
    f.template operator()<32, 1>();
  else if (width <= 8)
    f.template operator()<8, 1>();
  else if (width <= 16)
    f.template operator()<16, 1>();
  else if (width <= 32)
    f.template operator()<32, 1>();
  else if (width <= 64)
    f.template operator()<32, 2>();
  else
    f.template operator()<32, 4>();
}

}  // namespace gnnmg::cuda
