// Softmax over the entries of lists, and its gradient. Equal to the CPU's but for rounding: a list
// is added up by as many lanes as a tile has.
#pragma once

#include "cuda/layer/exponential.h"
#include "cuda/layer/row.h"

namespace gnnmg::cuda {

// Item: one head of one list.
template <typename T>
struct Softmax {
  nn::kernels::Lists lists;
  const T* scores;
  Divisor by_heads;
  T* out;

  template <typename Tile>
  GNNMG_BOTH void operator()(const Tile& tile, int64_t item) const {
    const int64_t heads = by_heads.by, t = by_heads(item), h = item - t * heads;
    const int64_t first = lists.indptr[t], last = lists.indptr[t + 1];
    const auto most_of_lanes = tile.template make<T>([&](int lane) {
      T most = static_cast<T>(float_of_bits(0xff800000u));
      for (int64_t e = first + lane; e < last; e += Tile::kLanes) {
        const T score = scores[e * heads + h];
        most = score > most || score != score ? score : most;
      }
      return most;
    });
    const T most = tile.maximum(most_of_lanes);
    const auto shares = tile.template make<T>([&](int lane) {
      T sum = 0;
      for (int64_t e = first + lane; e < last; e += Tile::kLanes) {
        const T power = exponential(scores[e * heads + h] - most);
        out[e * heads + h] = power;
        sum = added(sum, power);
      }
      return sum;
    });
    const T scale = T{1} / tile.sum(shares);
    // A lane reads what it wrote itself.
    tile.each_of(first, last, [&](int64_t e) { out[e * heads + h] *= scale; });
  }
};

template <typename T>
struct SoftmaxBackward {
  nn::kernels::Lists lists;
  const T *out, *gradient;
  Divisor by_heads;
  T* scores;

  template <typename Tile>
  GNNMG_BOTH void operator()(const Tile& tile, int64_t item) const {
    const int64_t heads = by_heads.by, t = by_heads(item), h = item - t * heads;
    const int64_t first = lists.indptr[t], last = lists.indptr[t + 1];
    const auto shares = tile.template make<T>([&](int lane) {
      T sum = 0;
      for (int64_t e = first + lane; e < last; e += Tile::kLanes)
        sum = multiply_add(out[e * heads + h], gradient[e * heads + h], sum);
      return sum;
    });
    const T mean = tile.sum(shares);
    tile.each_of(first, last, [&](int64_t e) {
      scores[e * heads + h] = out[e * heads + h] * (gradient[e * heads + h] - mean);
    });
  }
};

template <typename Queue, typename T>
void softmax(base::DeviceQueue* queue, nn::kernels::Lists lists, const T* scores, int64_t heads,
             T* out, int64_t rows) {
  queue_of<Queue>(queue).template tiles<8>(rows * heads,
                                           Softmax<T>{lists, scores, Divisor(heads), out});
}

template <typename Queue, typename T>
void softmax_backward(base::DeviceQueue* queue, nn::kernels::Lists lists, const T* out,
                      const T* gradient, int64_t heads, T* scores, int64_t rows) {
  queue_of<Queue>(queue).template tiles<8>(
      rows * heads, SoftmaxBackward<T>{lists, out, gradient, Divisor(heads), scores});
}

}  // namespace gnnmg::cuda
