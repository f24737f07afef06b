// Softmax over the entries of lists, and its gradient. Equal to the CPU's except for rounding: all
// lanes of a tile, or of a block for a long list, add its entries.
#pragma once

#include "cuda/layer/exponential.h"
#include "cuda/layer/team.h"

namespace gnnmg::cuda {

// One head of one list, as its kernels walk it.
struct HeadOfList {
  int64_t heads, h, first, last;
  GNNMG_BOTH HeadOfList(const nn::kernels::Lists& lists, const Divisor& by_heads, int64_t item)
      : heads(by_heads.by) {
    const int64_t t = by_heads(item);
    h = item - t * heads;
    first = lists.indptr[t];
    last = lists.indptr[t + 1];
  }
  GNNMG_BOTH bool is_long() const { return Span{first, last}.is_long(); }
  // Calls f(k) for the positions of a lane's entries, which are the same in all walks.
  template <typename F>
  GNNMG_BOTH void walk(int lane, Turns turns, const F& f) const {
    for (int64_t e = first + turns.begin + lane; e < last; e += turns.step) f(e * heads + h);
  }
};

// Item: one head of one list.
template <typename T>
struct Softmax {
  static constexpr int kLeastBlocks = sizeof(T) == 4 ? 4 : 3;  // nvcc spills for one more
  nn::kernels::Lists lists;
  const T* scores;
  Divisor by_heads;
  T* out;

  template <typename Tile>
  GNNMG_BOTH bool alone(const Tile& tile, int64_t item) const {
    const HeadOfList list(lists, by_heads, item);
    if (list.is_long()) return false;
    const Turns all = Turns::alone(tile);
    const T most = highest(tile, list, all);
    write(tile, list, all, T{1} / powers(tile, list, all, most));
    return true;
  }
  GNNMG_BOTH bool is_long(int64_t item) const {
    return HeadOfList(lists, by_heads, item).is_long();
  }
  template <typename Team>
  GNNMG_BOTH void together(const Team& team, int64_t item) const {
    using Tile = typename Team::Tile;
    const HeadOfList list(lists, by_heads, item);
    const T most = highest_of_team<T>(
        team, [&](const Tile& tile, Turns turns) { return highest(tile, list, turns); });
    const T sum = sum_of_team<T>(
        team, [&](const Tile& tile, Turns turns) { return powers(tile, list, turns, most); });
    team.each([&](const Tile& tile, int t) { write(tile, list, Turns::of(team, t), T{1} / sum); });
  }

 private:
  template <typename Tile>
  GNNMG_BOTH T highest(const Tile& tile, const HeadOfList& list, Turns turns) const {
    return tile.maximum(tile.template make<T>([&](int lane) {
      T most = static_cast<T>(float_of_bits(0xff800000u));
      list.walk(lane, turns, [&](int64_t k) {
        const T score = scores[k];
        most = score > most || score != score ? score : most;
      });
      return most;
    }));
  }
  template <typename Tile>
  GNNMG_BOTH T powers(const Tile& tile, const HeadOfList& list, Turns turns, T most) const {
    return tile.sum(tile.template make<T>([&](int lane) {
      T sum = 0;
      list.walk(lane, turns, [&](int64_t k) {
        const T power = exponential(scores[k] - most);
        out[k] = power;
        sum = added(sum, power);
      });
      return sum;
    }));
  }
  template <typename Tile>
  GNNMG_BOTH void write(const Tile& tile, const HeadOfList& list, Turns turns, T scale) const {
    tile.each([&](int lane) { list.walk(lane, turns, [&](int64_t k) { out[k] *= scale; }); });
  }
};

template <typename T>
struct SoftmaxBackward {
  nn::kernels::Lists lists;
  const T *out, *gradient;
  Divisor by_heads;
  T* scores;

  template <typename Tile>
  GNNMG_BOTH bool alone(const Tile& tile, int64_t item) const {
    const HeadOfList list(lists, by_heads, item);
    if (list.is_long()) return false;
    const Turns all = Turns::alone(tile);
    write(tile, list, all, products(tile, list, all));
    return true;
  }
  GNNMG_BOTH bool is_long(int64_t item) const {
    return HeadOfList(lists, by_heads, item).is_long();
  }
  template <typename Team>
  GNNMG_BOTH void together(const Team& team, int64_t item) const {
    using Tile = typename Team::Tile;
    const HeadOfList list(lists, by_heads, item);
    const T mean = sum_of_team<T>(
        team, [&](const Tile& tile, Turns turns) { return products(tile, list, turns); });
    team.each([&](const Tile& tile, int t) { write(tile, list, Turns::of(team, t), mean); });
  }

 private:
  template <typename Tile>
  GNNMG_BOTH T products(const Tile& tile, const HeadOfList& list, Turns turns) const {
    return tile.sum(tile.template make<T>([&](int lane) {
      T sum = 0;
      list.walk(lane, turns, [&](int64_t k) { sum = multiply_add(out[k], gradient[k], sum); });
      return sum;
    }));
  }
  template <typename Tile>
  GNNMG_BOTH void write(const Tile& tile, const HeadOfList& list, Turns turns, T mean) const {
    tile.each([&](int lane) {
      list.walk(lane, turns, [&](int64_t k) { scores[k] = out[k] * (gradient[k] - mean); });
    });
  }
};

template <typename Queue, typename T>
void softmax(device::Queue* queue, nn::kernels::Lists lists, const T* scores, int64_t heads, T* out,
             int64_t rows) {
  queue_of<Queue>(queue).template teams<8>(rows * heads,
                                           Softmax<T>{lists, scores, Divisor(heads), out});
}

template <typename Queue, typename T>
void softmax_backward(device::Queue* queue, nn::kernels::Lists lists, const T* out,
                      const T* gradient, int64_t heads, T* scores, int64_t rows) {
  queue_of<Queue>(queue).template teams<8>(
      rows * heads, SoftmaxBackward<T>{lists, out, gradient, Divisor(heads), scores});
}

}  // namespace gnnmg::cuda
