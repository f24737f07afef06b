// The part of body.h for products of dense matrices. Included by body.h for machines with AVX-512;
// its functions are internal to each including file.
#pragma once

namespace gnnmg::nn::kernels {
namespace {

// M rows and N vectors of columns of c, held in registers; the last vector begins `last` columns
// after the first one. Each number is one chain of additions in the order of k, whatever tile it is
// in.
template <typename T, int M, int N>
[[gnu::always_inline]] inline void product_tile(const ProductOf<T>& p, const T* a, const T* b,
                                                int64_t last, T* c) {
  Vector<T> sum[M][N];
  int64_t at[N];
  for (int j = 0; j < N; ++j) at[j] = offset<T>(j, last);
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) sum[i][j] = p.add ? load(c + i * p.c.stride + at[j]) : Vector<T>{};
  for (int64_t k = 0; k < p.depth; ++k, a += p.a_column, b += p.b.stride) {
    Vector<T> columns[N];
    for (int j = 0; j < N; ++j) columns[j] = load(b + at[j]);
    for (int i = 0; i < M; ++i) {
      const Vector<T> factor = splat(a[i * p.a_row]);
      for (int j = 0; j < N; ++j) sum[i][j] += factor * columns[j];
    }
  }
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) store(c + i * p.c.stride + at[j], sum[i][j]);
}

template <typename T, int M, int N>
void product_panel(const ProductOf<T>& p, int64_t column, int64_t begin, int64_t end) {
  const int64_t last = p.width - kLanes<T> - column;
  int64_t row = begin;
  const auto tiles = [&]<int kRows>() {
    for (; row + kRows <= end; row += kRows)
      product_tile<T, kRows, N>(p, p.a + row * p.a_row, p.b.data + column, last,
                                p.c.row(row) + column);
  };
  tiles.template operator()<M>();
  tiles.template operator()<4>();
  tiles.template operator()<2>();
  tiles.template operator()<1>();
}

template <typename T>
void product(const ProductOf<T>& p, int64_t begin, int64_t end) {
  constexpr int64_t kMost = 4;  // vectors of a panel
  const int64_t vectors = (p.width + kLanes<T> - 1) / kLanes<T>;
  // Panels of nearly equal numbers of vectors: so a panel has a single vector only if it is the
  // only panel, and a last vector that is moved back never overlaps another panel, whose numbers
  // are final.
  int64_t panels = (vectors + kMost - 1) / kMost, done = 0;
  for (; panels > 0; --panels) {
    const int64_t count = (vectors - done + panels - 1) / panels, column = done * kLanes<T>;
    if (count == 4) product_panel<T, 6, 4>(p, column, begin, end);
    if (count == 3) product_panel<T, 8, 3>(p, column, begin, end);
    if (count == 2) product_panel<T, 12, 2>(p, column, begin, end);
    if (count == 1) product_panel<T, 12, 1>(p, column, begin, end);
    done += count;
  }
}

}  // namespace
}  // namespace gnnmg::nn::kernels
