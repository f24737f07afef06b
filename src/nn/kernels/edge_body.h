// The part of body.h whose edges carry something: weights, or rows of their own. Included by it,
// and internal to each file that includes it.
#pragma once

namespace gnnmg::nn::kernels {
namespace {

// Lane numbers as integers of the element's size.
template <typename T>
struct LaneOf;
template <>
struct LaneOf<float> {
  using type = int32_t;
};
template <>
struct LaneOf<double> {
  using type = int64_t;
};
template <typename T>
using Lane = typename LaneOf<T>::type;

// values[lane] for each lane.
inline Vector<float> pick(const float* values, Vector<int32_t> lane) {
#if GNNMG_VECTOR_BYTES == 64
  return reinterpret_cast<Vector<float>>(
      _mm512_permutexvar_ps(reinterpret_cast<__m512i>(lane), _mm512_loadu_ps(values)));
#elif GNNMG_VECTOR_BYTES == 32
  return reinterpret_cast<Vector<float>>(
      _mm256_permutevar8x32_ps(_mm256_loadu_ps(values), reinterpret_cast<__m256i>(lane)));
#else
  Vector<float> v{};
  for (int i = 0; i < kLanes<float>; ++i) v[i] = values[lane[i]];
  return v;
#endif
}
inline Vector<double> pick(const double* values, Vector<int64_t> lane) {
#if GNNMG_VECTOR_BYTES == 64
  return reinterpret_cast<Vector<double>>(
      _mm512_permutexvar_pd(reinterpret_cast<__m512i>(lane), _mm512_loadu_pd(values)));
#else
  Vector<double> v{};
  for (int i = 0; i < kLanes<double>; ++i) v[i] = values[lane[i]];
  return v;
#endif
}

template <typename T>
inline T sum_of(Vector<T> v) {
#if GNNMG_VECTOR_BYTES == 64
  if constexpr (sizeof(T) == 4) return _mm512_reduce_add_ps(reinterpret_cast<__m512>(v));
  if constexpr (sizeof(T) == 8) return _mm512_reduce_add_pd(reinterpret_cast<__m512d>(v));
#elif GNNMG_VECTOR_BYTES == 32
  if constexpr (sizeof(T) == 4) {
    const __m256 x = reinterpret_cast<__m256>(v);
    __m128 half = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    half = _mm_add_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_add_ss(half, _mm_movehdup_ps(half)));
  }
#endif
  T sum = 0;
  for (int i = 0; i < kLanes<T>; ++i) sum += v[i];
  return sum;
}

// The heads of the columns that vector i of a panel covers: heads[first + lane].
template <typename T>
struct HeadOf {
  int64_t first;
  Vector<Lane<T>> lane{};
};
template <typename T>
inline HeadOf<T> head_of(int64_t column, int64_t channels) {
  HeadOf<T> head{column / channels, {}};
  for (int l = 0; l < kLanes<T>; ++l)
    head.lane[l] = static_cast<Lane<T>>((column + l) / channels - head.first);
  return head;
}

// Vectors of a panel where heads differ: each needs the numbers of its heads beside its sum.
template <typename T>
constexpr int kHeadVectors = sizeof(T) > 4 || GNNMG_VECTOR_BYTES < 64 ? 4 : 8;

template <typename T>
inline void prefetch_row(const T* row, int64_t width) {
  for (int64_t c = 0; c < width; c += 64 / static_cast<int64_t>(sizeof(T)))
    __builtin_prefetch(row + c, 0, 3);
}

// out = sum of weight(e) * row(e) for e in [0, n), plus self_weight * self. Rows of e < readable,
// which belong to the lists behind this one, may be prefetched.
template <typename T, bool kHeads, bool kOnes, typename RowAt, typename WeightAt>
inline void weighted_row(int64_t n, int64_t readable, int64_t heads, int64_t channels,
                         const RowAt& row_at, const WeightAt& weights_at, const T* self_weights,
                         const T* self, T* out) {
  const int64_t width = heads * channels;
  for_panels<T, kHeads ? kHeadVectors<T> : kManyVectors<T>>(
      width, [&]<int N>(int64_t column, int64_t last) {
        if constexpr (N == 0) {
          for (int64_t c = 0; c < width; ++c) {
            const int64_t h = kHeads ? c / channels : 0;
            T sum = 0;
            for (int64_t e = 0; e < n; ++e)
              sum += kOnes ? row_at(e)[c] : weights_at(e)[h] * row_at(e)[c];
            if (self) sum += self_weights[h] * self[c];
            out[c] = sum;
          }
        } else {
          HeadOf<T> head[N];
          if constexpr (kHeads)
            for (int i = 0; i < N; ++i) head[i] = head_of<T>(column + offset<T>(i, last), channels);
          const auto spread = [&](const T* values, int i) {
            if constexpr (kHeads)
              return pick(values + head[i].first, head[i].lane);
            else
              return splat(values[0]);
          };
          Vector<T> sum[N];
          for (int i = 0; i < N; ++i) sum[i] = Vector<T>{};
          for (int64_t e = 0; e < n; ++e) {
            prefetch<T, N>(row_at(e + kAhead < readable ? e + kAhead : readable - 1) + column);
            const T* row = row_at(e) + column;
            if constexpr (kOnes) {
              for (int i = 0; i < N; ++i) sum[i] += load(row + offset<T>(i, last));
            } else {
              const T* weights = weights_at(e);
              for (int i = 0; i < N; ++i)
                sum[i] += spread(weights, i) * load(row + offset<T>(i, last));
            }
          }
          for (int i = 0; i < N; ++i) {
            const int64_t at = column + offset<T>(i, last);
            if (self) sum[i] += spread(self_weights, i) * load(self + at);
            store(out + at, sum[i]);
          }
        }
      });
}

template <typename T, typename RowAt, typename WeightAt>
inline void weighted_row(int64_t n, int64_t readable, int64_t heads, int64_t channels, bool ones,
                         const RowAt& row_at, const WeightAt& weights_at, const T* self_weights,
                         const T* self, T* out) {
  if (heads > 1)
    weighted_row<T, true, false>(n, readable, heads, channels, row_at, weights_at, self_weights,
                                 self, out);
  else if (ones)
    weighted_row<T, false, true>(n, readable, heads, channels, row_at, weights_at, self_weights,
                                 self, out);
  else
    weighted_row<T, false, false>(n, readable, heads, channels, row_at, weights_at, self_weights,
                                  self, out);
}

template <typename T>
void weighted_sum(const WeightedLists<T>& edges, Rows<T> x, Matrix<const T> self, Matrix<T> out,
                  int64_t begin, int64_t end) {
  const int64_t stop = edges.lists.indptr[end];
  for (int64_t t = begin; t < end; ++t) {
    const int64_t first = edges.lists.indptr[t], n = edges.lists.indptr[t + 1] - first;
    const int32_t* indices = edges.lists.indices + first;
    const bool own = edges.self_weights && t < edges.num_self;
    weighted_row<T>(
        n, stop - first, edges.heads, edges.channels, !edges.weights,
        [&](int64_t e) { return row_of(x, indices[e]); },
        [&](int64_t e) { return edges.weights + (first + e) * edges.heads; },
        own ? edges.self_weights + t * edges.heads : nullptr, own ? self.row(t) : nullptr,
        out.row(t));
  }
}

template <typename T>
void weighted_transposed(const WeightedLists<T>& edges, const EdgesBySource& by_source,
                         Matrix<const T> y, Matrix<T> out, int64_t begin, int64_t end) {
  const int64_t stop = by_source.lists.indptr[end];
  for (int64_t s = begin; s < end; ++s) {
    const int64_t first = by_source.lists.indptr[s];
    const int32_t* targets = by_source.lists.indices + first;
    const int64_t n =
        count_below(targets, by_source.lists.indptr[s + 1] - first, by_source.num_targets);
    const bool own = edges.self_weights && s < edges.num_self;
    weighted_row<T>(
        n, stop - first, edges.heads, edges.channels, !edges.weights,
        [&](int64_t e) { return y.row(targets[e]); },
        [&](int64_t e) {
          return edges.weights + int64_t{by_source.positions[first + e]} * edges.heads;
        },
        own ? edges.self_weights + s * edges.heads : nullptr, own ? y.row(s) : nullptr, out.row(s));
  }
}

// <a, b> of each head.
template <typename T>
inline void head_dots(const T* a, const T* b, int64_t heads, int64_t channels, T* dots) {
  constexpr int kL = kLanes<T>;
  int64_t h = 0;
  if (channels < kL && kL % channels == 0 && channels > 1) {
    // Several heads lie in a vector: fold each into its first lane.
    T folded[kL];
    for (; (h + kL / channels) <= heads; h += kL / channels) {
      store(folded, load(a + h * channels) * load(b + h * channels));
      for (int64_t step = channels / 2; step > 0; step /= 2) {
        Vector<Lane<T>> lane{};
        for (int l = 0; l < kL; ++l) lane[l] = static_cast<Lane<T>>(l ^ step);
        store(folded, load(folded) + pick(folded, lane));
      }
      for (int64_t k = 0; k < kL; ++k)
        if (k % channels == 0) dots[h + k / channels] = folded[k];
    }
  }
  for (; h < heads; ++h) {
    const T *x = a + h * channels, *y = b + h * channels;
    Vector<T> sums{};
    int64_t c = 0;
    for (; c + kL <= channels; c += kL) sums += load(x + c) * load(y + c);
    T sum = c ? sum_of<T>(sums) : T{0};
    for (; c < channels; ++c) sum += x[c] * y[c];
    dots[h] = sum;
  }
}

template <typename T>
void edge_dots(const WeightedLists<T>& edges, Rows<T> x, Matrix<const T> y, T* dots, int64_t begin,
               int64_t end) {
  const int64_t stop = edges.lists.indptr[end], width = edges.heads * edges.channels;
  for (int64_t t = begin; t < end; ++t)
    for (int64_t e = edges.lists.indptr[t]; e < edges.lists.indptr[t + 1]; ++e) {
      if (e + kAhead < stop) prefetch_row(row_of(x, edges.lists.indices[e + kAhead]), width);
      head_dots(row_of(x, edges.lists.indices[e]), y.row(t), edges.heads, edges.channels,
                dots + e * edges.heads);
    }
}

template <typename T>
void row_dots(Matrix<const T> x, Matrix<const T> vectors, int64_t heads, int64_t channels, T* dots,
              int64_t begin, int64_t end) {
  for (int64_t r = begin; r < end; ++r)
    head_dots(x.row(r), vectors.row(r), heads, channels, dots + r * heads);
}

// Calls vector(c) for vectors of columns of a head, then scalar(c) for the rest.
template <typename T, typename F, typename G>
inline void for_columns(int64_t begin, int64_t end, const F& vector, const G& scalar) {
  int64_t c = begin;
  for (; c + kLanes<T> <= end; c += kLanes<T>) vector(c);
  for (; c < end; ++c) scalar(c);
}

template <typename T>
void relu_sum(Lists lists, Rows<T> x, Matrix<const T> edge_rows, int64_t width, Matrix<T> out,
              int64_t begin, int64_t end) {
  for (int64_t t = begin; t < end; ++t) {
    T* to = out.row(t);
    for (int64_t c = 0; c < width; ++c) to[c] = 0;
    for (int64_t e = lists.indptr[t]; e < lists.indptr[t + 1]; ++e) {
      const T *a = row_of(x, lists.indices[e]), *b = edge_rows.row(e);
      for_columns<T>(
          0, width,
          [&](int64_t c) {
            const Vector<T> sum = load(a + c) + load(b + c);
            store(to + c,
                  load(to + c) + (((sum > Vector<T>{}) | (sum != sum)) ? sum : Vector<T>{}));
          },
          [&](int64_t c) {
            const T sum = a[c] + b[c];
            to[c] += sum > 0 || sum != sum ? sum : T{0};
          });
    }
  }
}

template <typename T>
void relu_sum_edges(Lists lists, Rows<T> x, Matrix<const T> edge_rows, Matrix<const T> dy,
                    int64_t width, Matrix<T> de, int64_t begin, int64_t end) {
  for (int64_t t = begin; t < end; ++t)
    for (int64_t e = lists.indptr[t]; e < lists.indptr[t + 1]; ++e) {
      const T *a = row_of(x, lists.indices[e]), *b = edge_rows.row(e), *d = dy.row(t);
      T* to = de.row(e);
      for_columns<T>(
          0, width,
          [&](int64_t c) {
            store(to + c, load(a + c) + load(b + c) > Vector<T>{} ? load(d + c) : Vector<T>{});
          },
          [&](int64_t c) { to[c] = a[c] + b[c] > 0 ? d[c] : T{0}; });
    }
}

template <typename T>
void relu_sum_transposed(const EdgesBySource& by_source, Matrix<const T> x,
                         Matrix<const T> edge_rows, Matrix<const T> dy, int64_t width, Matrix<T> dx,
                         int64_t begin, int64_t end) {
  for (int64_t s = begin; s < end; ++s) {
    const int64_t first = by_source.lists.indptr[s];
    const int32_t* targets = by_source.lists.indices + first;
    const int64_t n =
        count_below(targets, by_source.lists.indptr[s + 1] - first, by_source.num_targets);
    T* to = dx.row(s);
    for (int64_t c = 0; c < width; ++c) to[c] = 0;
    for (int64_t i = 0; i < n; ++i) {
      const T *a = x.row(s), *b = edge_rows.row(by_source.positions[first + i]),
              *d = dy.row(targets[i]);
      for_columns<T>(
          0, width,
          [&](int64_t c) {
            store(to + c, load(to + c) + (load(a + c) + load(b + c) > Vector<T>{} ? load(d + c)
                                                                                  : Vector<T>{}));
          },
          [&](int64_t c) { to[c] += a[c] + b[c] > 0 ? d[c] : T{0}; });
    }
  }
}

template <typename T>
void last_winner(Lists lists, Rows<T> x, Matrix<const T> max, int64_t width, int32_t* winner,
                 int64_t begin, int64_t end) {
  for (int64_t t = begin; t < end; ++t) {
    int32_t* of_target = winner + t * width;
    const T* most = max.row(t);
    for (int64_t c = 0; c < width; ++c) of_target[c] = -1;
    for (int32_t e = lists.indptr[t]; e < lists.indptr[t + 1]; ++e) {
      const T* row = row_of(x, lists.indices[e]);
      for (int64_t c = 0; c < width; ++c) of_target[c] = row[c] == most[c] ? e : of_target[c];
    }
  }
}

template <typename T>
void winner_transposed(const EdgesBySource& by_source, const int32_t* winner, Matrix<const T> y,
                       int64_t width, Matrix<T> out, int64_t begin, int64_t end) {
  for (int64_t s = begin; s < end; ++s) {
    const int64_t first = by_source.lists.indptr[s];
    const int32_t* targets = by_source.lists.indices + first;
    const int64_t n =
        count_below(targets, by_source.lists.indptr[s + 1] - first, by_source.num_targets);
    T* to = out.row(s);
    for (int64_t c = 0; c < width; ++c) to[c] = 0;
    for (int64_t i = 0; i < n; ++i) {
      const int32_t place = by_source.positions[first + i];
      const int32_t* won = winner + int64_t{targets[i]} * width;
      const T* from = y.row(targets[i]);
      for (int64_t c = 0; c < width; ++c) to[c] += won[c] == place ? from[c] : T{0};
    }
  }
}

}  // namespace
}  // namespace gnnmg::nn::kernels
