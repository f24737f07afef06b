#include "nn/kernels/segments.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace gnnmg::nn::kernels {

template <typename T>
void reduce_segments(Reduce reduce, const int64_t* pointers, Matrix<const T> x, int64_t width,
                     Matrix<T> out, int64_t begin, int64_t end) {
  for (int64_t g = begin; g < end; ++g) {
    T* to = out.row(g);
    const int64_t first = pointers[g], last = pointers[g + 1];
    if (first == last) {
      std::fill_n(to, width, T{0});
      continue;
    }
    std::copy_n(x.row(first), width, to);
    for (int64_t r = first + 1; r < last; ++r) {
      const T* from = x.row(r);
      if (reduce == Reduce::kMax) {
        for (int64_t c = 0; c < width; ++c)
          to[c] = from[c] > to[c] || std::isnan(from[c]) ? from[c] : to[c];
      } else {
        for (int64_t c = 0; c < width; ++c) to[c] += from[c];
      }
    }
    if (reduce == Reduce::kMean)
      for (int64_t c = 0; c < width; ++c) to[c] /= static_cast<T>(last - first);
  }
}

template <typename T>
void spread_segments(Reduce reduce, const int64_t* pointers, Matrix<const T> dy, int64_t width,
                     Matrix<T> dx, int64_t begin, int64_t end) {
  for (int64_t g = begin; g < end; ++g) {
    const T* from = dy.row(g);
    const T count = reduce == Reduce::kMean ? static_cast<T>(pointers[g + 1] - pointers[g]) : T{1};
    for (int64_t r = pointers[g]; r < pointers[g + 1]; ++r) {
      T* to = dx.row(r);
      for (int64_t c = 0; c < width; ++c) to[c] = from[c] / count;
    }
  }
}

template <typename T>
void segment_max_backward(bool first_of_tied, const int64_t* pointers, Matrix<const T> x,
                          Matrix<const T> max, Matrix<const T> dy, int64_t width, Matrix<T> dx,
                          int64_t begin, int64_t end) {
  std::vector<T> share(width), tied(width);
  for (int64_t g = begin; g < end; ++g) {
    const T *top = max.row(g), *from = dy.row(g);
    std::copy_n(from, width, share.data());
    if (!first_of_tied) {
      std::ranges::fill(tied, T{0});
      for (int64_t r = pointers[g]; r < pointers[g + 1]; ++r)
        for (int64_t c = 0; c < width; ++c) tied[c] += x.row(r)[c] == top[c] ? T{1} : T{0};
      for (int64_t c = 0; c < width; ++c) share[c] /= std::max(tied[c], T{1});
    }
    for (int64_t r = pointers[g]; r < pointers[g + 1]; ++r) {
      const T* row = x.row(r);
      T* to = dx.row(r);
      for (int64_t c = 0; c < width; ++c) {
        const bool wins = row[c] == top[c];
        to[c] = wins ? share[c] : T{0};
        if (first_of_tied && wins) share[c] = 0;
      }
    }
  }
}

#define GNNMG_INSTANTIATE(T)                                                                    \
  template void reduce_segments<T>(Reduce, const int64_t*, Matrix<const T>, int64_t, Matrix<T>, \
                                   int64_t, int64_t);                                           \
  template void spread_segments<T>(Reduce, const int64_t*, Matrix<const T>, int64_t, Matrix<T>, \
                                   int64_t, int64_t);                                           \
  template void segment_max_backward<T>(bool, const int64_t*, Matrix<const T>, Matrix<const T>, \
                                        Matrix<const T>, int64_t, Matrix<T>, int64_t, int64_t);
GNNMG_INSTANTIATE(float)
GNNMG_INSTANTIATE(double)
#undef GNNMG_INSTANTIATE

}  // namespace gnnmg::nn::kernels
