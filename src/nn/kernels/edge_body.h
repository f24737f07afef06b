// The part of body.h for edges with weights or rows of their own. Included by body.h; its functions
// are internal to each including file.
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

// values[lane] of a vector for each lane.
template <typename T>
inline Vector<T> pick(Vector<T> values, Vector<Lane<T>> lane) {
#if GNNMG_VECTOR_BYTES == 64
  if constexpr (sizeof(T) == 4)
    return reinterpret_cast<Vector<T>>(
        _mm512_permutexvar_ps(reinterpret_cast<__m512i>(lane), reinterpret_cast<__m512>(values)));
  else
    return reinterpret_cast<Vector<T>>(
        _mm512_permutexvar_pd(reinterpret_cast<__m512i>(lane), reinterpret_cast<__m512d>(values)));
#elif GNNMG_VECTOR_BYTES == 32
  if constexpr (sizeof(T) == 4)
    return reinterpret_cast<Vector<T>>(_mm256_permutevar8x32_ps(reinterpret_cast<__m256>(values),
                                                                reinterpret_cast<__m256i>(lane)));
#endif
  Vector<T> v{};
  for (int i = 0; i < kLanes<T>; ++i) v[i] = values[lane[i]];
  return v;
}

// The mapping from an edge's weights to the lanes of a row's vectors.
enum class Spread {
  kOnes,   // no weights
  kOne,    // one head
  kWhole,  // each vector is within one head
  kFew,    // the weights of all heads fit in one vector
  kAny,
};

// The heads of the columns of vector i of a row: heads[first[i] + lane[i]]. Made once for many
// rows, since it takes one division per lane.
template <typename T>
class HeadTable {
 public:
  HeadTable(int64_t heads, int64_t channels, bool ones)
      : heads(heads), channels(channels), width(heads * channels), spread(spread_of(ones)) {
    const int64_t vectors = (width + kLanes<T> - 1) / kLanes<T>;
    if (spread < Spread::kWhole || width < kLanes<T>) return;
    for (int64_t i = 0; i < vectors && i < kMost; ++i) make(i, first_[i], lane_[i]);
  }

  // Returns the weights, one per head, for the lanes of vector i of the row. `all`: for kFew, the
  // preloaded weights.
  template <Spread kSpread>
  Vector<T> spread_to(int64_t i, const T* weights, Vector<T> all) const {
    if constexpr (kSpread == Spread::kOnes || kSpread == Spread::kOne) return splat(weights[0]);
    if (i >= kMost) {
      int64_t first;
      Vector<Lane<T>> lane{};
      make(i, first, lane);
      return pick(weights + first, lane);
    }
    if constexpr (kSpread == Spread::kWhole) return splat(weights[first_[i]]);
    if constexpr (kSpread == Spread::kFew) return pick<T>(all, lane_[i]);
    return pick(weights + first_[i], lane_[i]);
  }

  // The same for any spread of one or several heads; kPadding more weights are readable.
  Vector<T> spread_of_head(int64_t i, const T* weights) const {
    if (spread == Spread::kOne) return splat(weights[0]);
    if (spread == Spread::kWhole) return spread_to<Spread::kWhole>(i, weights, Vector<T>{});
    return spread_to<Spread::kAny>(i, weights, Vector<T>{});
  }

  const int64_t heads, channels, width;
  const Spread spread;

 private:
  static constexpr int64_t kMost = 64;  // vectors of a row; wider rows compute the rest on demand

  Spread spread_of(bool ones) const {
    if (heads == 1) return ones ? Spread::kOnes : Spread::kOne;
    if (channels % kLanes<T> == 0) return Spread::kWhole;
    return heads <= kLanes<T> ? Spread::kFew : Spread::kAny;
  }
  void make(int64_t i, int64_t& first, Vector<Lane<T>>& lane) const {
    const int64_t column = offset<T>(static_cast<int>(i), width - kLanes<T>);
    first = spread == Spread::kFew && i < kMost ? 0 : column / channels;
    for (int l = 0; l < kLanes<T>; ++l)
      lane[l] = static_cast<Lane<T>>((column + l) / channels - first);
  }

  int64_t first_[kMost];
  Vector<Lane<T>> lane_[kMost];
};

// Vectors per panel for differing heads: each needs registers for the heads of its columns and for
// its sum.
template <typename T>
constexpr int kHeadVectors = sizeof(T) > 4 || GNNMG_VECTOR_BYTES < 64 ? 4 : 8;

template <typename T>
inline void prefetch_row(const T* row, int64_t width) {
  for (int64_t c = 0; c < width; c += 64 / static_cast<int64_t>(sizeof(T)))
    __builtin_prefetch(row + c, 0, 3);
}

// out = sum of weight(e) * row(e) for e in [0, n), plus self_weight * self. Rows of n <= e <
// readable belong to later lists and may be prefetched; fetch(e) prefetches other data of edge e.
template <typename T, Spread kSpread, typename RowAt, typename WeightAt, typename Fetch>
inline void weighted_row(int64_t n, int64_t readable, const HeadTable<T>& heads,
                         const RowAt& row_at, const WeightAt& weights_at, const Fetch& fetch,
                         const T* self_weights, const T* self, T* out) {
  constexpr bool kHeads = kSpread >= Spread::kWhole, kOnes = kSpread == Spread::kOnes;
  const int64_t width = heads.width;
  for_panels<T, kHeads ? kHeadVectors<T> : kManyVectors<T>>(width, [&]<int N>(int64_t column,
                                                                              int64_t last) {
    if constexpr (N == 0) {
      for (int64_t c = 0; c < width; ++c) {
        const int64_t h = kHeads ? c / heads.channels : 0;
        T sum = 0;
        for (int64_t e = 0; e < n; ++e)
          sum += kOnes ? row_at(e)[c] : weights_at(e)[h] * row_at(e)[c];
        if (self) sum += self_weights[h] * self[c];
        out[c] = sum;
      }
    } else {
      const int64_t vector = column / kLanes<T>;
      const auto all = [&](const T* weights) {
        if constexpr (kSpread == Spread::kFew) return load(weights);
        return Vector<T>{};
      };
      Vector<T> sum[N];
      for (int i = 0; i < N; ++i) sum[i] = Vector<T>{};
      for (int64_t e = 0; e < n; ++e) {
        const int64_t ahead = e + kAhead < readable ? e + kAhead : readable - 1;
        prefetch<T, N>(row_at(ahead) + column);
        fetch(ahead);
        const T* row = row_at(e) + column;
        if constexpr (kOnes) {
          for (int i = 0; i < N; ++i) sum[i] += load(row + offset<T>(i, last));
        } else {
          const T* weights = weights_at(e);
          const Vector<T> w = all(weights);
          for (int i = 0; i < N; ++i)
            sum[i] += heads.template spread_to<kSpread>(vector + i, weights, w) *
                      load(row + offset<T>(i, last));
        }
      }
      for (int i = 0; i < N; ++i) {
        const int64_t at = column + offset<T>(i, last);
        if (self)
          sum[i] += heads.template spread_to<kSpread>(vector + i, self_weights, all(self_weights)) *
                    load(self + at);
        store(out + at, sum[i]);
      }
    }
  });
}

template <typename T, typename RowAt, typename WeightAt, typename Fetch>
inline void weighted_row(int64_t n, int64_t readable, const HeadTable<T>& heads,
                         const RowAt& row_at, const WeightAt& weights_at, const Fetch& fetch,
                         const T* self_weights, const T* self, T* out) {
  const auto as = [&]<Spread kSpread>() {
    weighted_row<T, kSpread>(n, readable, heads, row_at, weights_at, fetch, self_weights, self,
                             out);
  };
  switch (heads.spread) {
    case Spread::kOnes:
      return as.template operator()<Spread::kOnes>();
    case Spread::kOne:
      return as.template operator()<Spread::kOne>();
    case Spread::kWhole:
      return as.template operator()<Spread::kWhole>();
    case Spread::kFew:
      return as.template operator()<Spread::kFew>();
    case Spread::kAny:
      return as.template operator()<Spread::kAny>();
  }
}

template <typename T>
void weighted_sum(const WeightedLists<T>& edges, Rows<T> x, Matrix<const T> self, Matrix<T> out,
                  int64_t begin, int64_t end) {
  const HeadTable<T> heads(edges.heads, edges.channels, !edges.weights);
  const int64_t stop = edges.lists.indptr[end];
  for (int64_t t = begin; t < end; ++t) {
    const int64_t first = edges.lists.indptr[t], n = edges.lists.indptr[t + 1] - first;
    const int32_t* indices = edges.lists.indices + first;
    const bool own = edges.self_weights && t < edges.num_self;
    weighted_row<T>(
        n, stop - first, heads, [&](int64_t e) { return row_of(x, indices[e]); },
        [&](int64_t e) { return edges.weights + (first + e) * edges.heads; }, [](int64_t) {},
        own ? edges.self_weights + t * edges.heads : nullptr, own ? self.row(t) : nullptr,
        out.row(t));
  }
}

template <typename T>
void weighted_transposed(const WeightedLists<T>& edges, const EdgesBySource& by_source,
                         Matrix<const T> y, Matrix<T> out, int64_t begin, int64_t end) {
  const HeadTable<T> heads(edges.heads, edges.channels, !edges.weights);
  const int64_t stop = by_source.lists.indptr[end];
  for (int64_t s = begin; s < end; ++s) {
    const int64_t first = by_source.lists.indptr[s];
    const int32_t* targets = by_source.lists.indices + first;
    const int64_t n =
        count_below(targets, by_source.lists.indptr[s + 1] - first, by_source.num_targets);
    const bool own = edges.self_weights && s < edges.num_self;
    const auto weights_at = [&](int64_t e) {
      return edges.weights + int64_t{by_source.positions[first + e]} * edges.heads;
    };
    weighted_row<T>(
        n, stop - first, heads, [&](int64_t e) { return y.row(targets[e]); }, weights_at,
        [&](int64_t e) {
          if (edges.weights) __builtin_prefetch(weights_at(e), 0, 3);
        },
        own ? edges.self_weights + s * edges.heads : nullptr, own ? y.row(s) : nullptr, out.row(s));
  }
}

#if GNNMG_VECTOR_BYTES == 64
// Returns partial sums of four vectors: lane i of each run of four lanes is a part of vector i's
// sum.
inline Vector<float> parts_of_four(Vector<float> a, Vector<float> b, Vector<float> c,
                                   Vector<float> d) {
  const auto halves = [](Vector<float> x, Vector<float> y) {
    const __m512 u = reinterpret_cast<__m512>(x), v = reinterpret_cast<__m512>(y);
    return _mm512_castps_pd(_mm512_add_ps(_mm512_unpacklo_ps(u, v), _mm512_unpackhi_ps(u, v)));
  };
  const __m512d ab = halves(a, b), cd = halves(c, d);
  return reinterpret_cast<Vector<float>>(_mm512_add_ps(
      _mm512_castpd_ps(_mm512_unpacklo_pd(ab, cd)), _mm512_castpd_ps(_mm512_unpackhi_pd(ab, cd))));
}
inline void store_four(Vector<float> a, Vector<float> b, Vector<float> c, Vector<float> d,
                       float* sums) {
  const __m512 parts = reinterpret_cast<__m512>(parts_of_four(a, b, c, d));
  const __m256 half =
      _mm256_add_ps(_mm512_castps512_ps256(parts), _mm512_extractf32x8_ps(parts, 1));
  _mm_storeu_ps(sums, _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1)));
}
#elif GNNMG_VECTOR_BYTES == 32
inline Vector<float> parts_of_four(Vector<float> a, Vector<float> b, Vector<float> c,
                                   Vector<float> d) {
  const auto halves = [](Vector<float> x, Vector<float> y) {
    const __m256 u = reinterpret_cast<__m256>(x), v = reinterpret_cast<__m256>(y);
    return _mm256_castps_pd(_mm256_add_ps(_mm256_unpacklo_ps(u, v), _mm256_unpackhi_ps(u, v)));
  };
  const __m256d ab = halves(a, b), cd = halves(c, d);
  return reinterpret_cast<Vector<float>>(_mm256_add_ps(
      _mm256_castpd_ps(_mm256_unpacklo_pd(ab, cd)), _mm256_castpd_ps(_mm256_unpackhi_pd(ab, cd))));
}
inline void store_four(Vector<float> a, Vector<float> b, Vector<float> c, Vector<float> d,
                       float* sums) {
  const __m256 parts = reinterpret_cast<__m256>(parts_of_four(a, b, c, d));
  _mm_storeu_ps(sums, _mm_add_ps(_mm256_castps256_ps128(parts), _mm256_extractf128_ps(parts, 1)));
}
#endif

// Sums over the channels of each head: of vectors of columns from c on, and of single columns c.
template <typename T, typename AtColumns, typename AtColumn>
inline void head_sums(int64_t heads, int64_t channels, const AtColumns& columns,
                      const AtColumn& column, T* out) {
  constexpr int64_t kL = kLanes<T>;
  int64_t h = 0;
  if constexpr (sizeof(T) == 4 && kL >= 8) {
    if (channels % kL == 0) {
      for (; h + 4 <= heads; h += 4) {
        const int64_t first = h * channels;
        Vector<T> sums[4];
        for (int i = 0; i < 4; ++i) sums[i] = columns(first + i * channels);
        for (int64_t c = kL; c < channels; c += kL)
          for (int i = 0; i < 4; ++i) sums[i] += columns(first + i * channels + c);
        store_four(sums[0], sums[1], sums[2], sums[3], out + h);
      }
    } else if (channels >= 4 && kL % channels == 0) {
      // A vector holds several heads, and each head is a number of runs of four lanes.
      const int64_t in_vector = kL / channels, runs = channels / 4;
      T parts[kL];
      for (; h + 4 * in_vector <= heads; h += 4 * in_vector) {
        const int64_t first = h * channels;
        store(parts, parts_of_four(columns(first), columns(first + kL), columns(first + 2 * kL),
                                   columns(first + 3 * kL)));
        for (int64_t k = 0; k < 4 * in_vector; ++k) {
          const T* part = parts + k % in_vector * channels + k / in_vector;
          T sum = part[0];
          for (int64_t r = 1; r < runs; ++r) sum += part[4 * r];
          out[h + k] = sum;
        }
      }
    }
  }
  if (channels < kL && kL % channels == 0 && channels > 1) {
    // Folds each head of a vector into its first lane.
    T folded[kL];
    for (; h + kL / channels <= heads; h += kL / channels) {
      Vector<T> sums = columns(h * channels);
      for (int64_t step = channels / 2; step > 0; step /= 2) {
        Vector<Lane<T>> lane{};
        for (int l = 0; l < kL; ++l) lane[l] = static_cast<Lane<T>>(l ^ step);
        sums += pick<T>(sums, lane);
      }
      store(folded, sums);
      for (int64_t k = 0; k < kL / channels; ++k) out[h + k] = folded[k * channels];
    }
  }
  for (; h < heads; ++h) {
    Vector<T> sums{};
    int64_t c = h * channels;
    const int64_t end = c + channels;
    for (; c + kL <= end; c += kL) sums += columns(c);
    T sum = channels >= kL ? sum_of<T>(sums) : T{0};
    for (; c < end; ++c) sum += column(c);
    out[h] = sum;
  }
}

// dots[h] = <a, b> of head h.
template <typename T>
inline void head_dots(const T* a, const T* b, int64_t heads, int64_t channels, T* dots) {
  head_sums<T>(
      heads, channels, [&](int64_t c) { return load(a + c) * load(b + c); },
      [&](int64_t c) { return a[c] * b[c]; }, dots);
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
