// Scales rows to unit length, and its gradient. Equal to the CPU's except for rounding: all lanes
// of a tile add the squares of a row.
#pragma once

#include "cuda/layer/row.h"

namespace gnnmg::cuda {

GNNMG_BOTH float root(float x) {
#ifdef __CUDA_ARCH__
  return __fsqrt_rn(x);
#else
  return __builtin_sqrtf(x);
#endif
}
GNNMG_BOTH double root(double x) {
#ifdef __CUDA_ARCH__
  return __dsqrt_rn(x);
#else
  return __builtin_sqrt(x);
#endif
}

// Returns <a, b>, the same on all lanes.
template <typename T, typename Tile>
GNNMG_BOTH T inner_product(const Tile& tile, const T* a, const T* b, int64_t width) {
  const auto shares = tile.template make<T>([&](int lane) {
    T sum = 0;
    for (int64_t c = lane; c < width; c += Tile::kLanes) sum = multiply_add(a[c], b[c], sum);
    return sum;
  });
  return tile.sum(shares);
}

// Tiles of 32 lanes for all widths, because the lanes determine the order of the sums.
template <typename T>
struct Normalize {
  nn::kernels::Matrix<const T> x;
  int64_t width;
  nn::kernels::Matrix<T> y;
  T* norms;
  T smallest;

  template <typename Tile>
  GNNMG_BOTH void operator()(const Tile& tile, int64_t r) const {
    const T* from = row_of(x, r);
    const T norm = root(inner_product(tile, from, from, width));
    const T divisor = norm > smallest || norm != norm ? norm : smallest;
    tile.each([&](int lane) {
      if (lane == 0) norms[r] = norm;
    });
    tile.each_of(0, width, [&](int64_t c) { row_of(y, r)[c] = from[c] / divisor; });
  }
};

template <typename T>
struct NormalizeBackward {
  nn::kernels::Matrix<const T> dy, y;
  const T* norms;
  int64_t width;
  nn::kernels::Matrix<T> dx;
  T smallest;

  template <typename Tile>
  GNNMG_BOTH void operator()(const Tile& tile, int64_t r) const {
    const T *from = row_of(dy, r), *unit = row_of(y, r);
    const bool clamped = norms[r] < smallest;
    const T along = clamped ? T{0} : inner_product(tile, from, unit, width);
    const T divisor = clamped ? smallest : norms[r];
    tile.each_of(0, width, [&](int64_t c) {
      row_of(dx, r)[c] = multiply_add(-along, unit[c], from[c]) / divisor;
    });
  }
};

template <typename T>
constexpr T kSmallestNorm = static_cast<T>(1e-12);

template <typename Queue, typename T>
void normalize(device::Queue* queue, nn::kernels::Matrix<const T> x, int64_t width,
               nn::kernels::Matrix<T> y, T* norms, int64_t rows) {
  queue_of<Queue>(queue).template tiles<32>(rows,
                                            Normalize<T>{x, width, y, norms, kSmallestNorm<T>});
}

template <typename Queue, typename T>
void normalize_backward(device::Queue* queue, nn::kernels::Matrix<const T> dy,
                        nn::kernels::Matrix<const T> y, const T* norms, int64_t width,
                        nn::kernels::Matrix<T> dx, int64_t rows) {
  queue_of<Queue>(queue).template tiles<32>(
      rows, NormalizeBackward<T>{dy, y, norms, width, dx, kSmallestNorm<T>});
}

}  // namespace gnnmg::cuda
