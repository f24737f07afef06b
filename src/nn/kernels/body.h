// The kernels' code, compiled once for each instruction set: a file that defines GNNMG_ISA (the
// name of its table) and GNNMG_VECTOR_BYTES includes this one. Everything is internal to that file,
// and no inline function from elsewhere is called, because the linker could keep a copy made for a
// wider machine.
#include "nn/kernels/kernels.h"
#include "nn/kernels/vector.h"

namespace gnnmg::nn::kernels {
namespace {

// Number of accumulators of the sums that dominate the time (in f32), and of all others: fewer,
// since every number needs code of its own.
template <typename T>
constexpr int kManyVectors = sizeof(T) > 4              ? 4
                             : GNNMG_VECTOR_BYTES >= 64 ? 16
                                                        : 8;
constexpr int kFewVectors = 4;
constexpr int64_t kAhead = 6;  // prefetch distance in rows

// Processes a row in panels of N vectors held in registers, N <= kMost. The last vector of a row is
// moved back so that it ends with the row; it covers some columns twice, with equal results. Rows
// shorter than a vector are processed column by column: panels of N = 0.
template <typename T, int kMost, typename F>
inline void for_panels(int64_t width, F&& body) {
  constexpr int kL = kLanes<T>;
  if (width < kL) {
    if (width > 0) body.template operator()<0>(0, 0);
    return;
  }
  for (int64_t column = 0; column < width;) {
    const int64_t left = (width - column + kL - 1) / kL;
    const int64_t last = width - kL - column;  // offset of the row's last vector
    const auto panel = [&]<int N>() {
      body.template operator()<N>(column, last);
      column += int64_t{N} * kL;
    };
    if constexpr (kMost >= 16) {
      if (left >= 16) {
        panel.template operator()<16>();
        continue;
      }
    }
    if constexpr (kMost >= 8) {
      switch (left) {
        case 5:
          panel.template operator()<5>();
          continue;
        case 6:
          panel.template operator()<6>();
          continue;
        case 7:
          panel.template operator()<7>();
          continue;
        case 4:
        case 3:
        case 2:
        case 1:
          break;
        default:
          panel.template operator()<8>();
          continue;
      }
    }
    switch (left) {
      case 1:
        panel.template operator()<1>();
        break;
      case 2:
        panel.template operator()<2>();
        break;
      case 3:
        panel.template operator()<3>();
        break;
      default:
        panel.template operator()<4>();
    }
  }
}

// Offset of vector i of a panel whose row ends `last` + one vector after the panel's start.
template <typename T>
inline int64_t offset(int i, int64_t last) {
  const int64_t at = int64_t{i} * kLanes<T>;
  return at < last ? at : last;
}

template <typename T, int N>
inline void prefetch(const T* row) {
  constexpr int64_t kBytes = N == 0 ? 64 : N * GNNMG_VECTOR_BYTES;
  for (int64_t byte = 0; byte < kBytes; byte += 64)
    __builtin_prefetch(reinterpret_cast<const char*>(row) + byte, 0, 3);
}

template <typename T>
inline const T* row_of(const Rows<T>& x, int64_t r) {
  return x.data + (x.ids ? x.ids[r] : r) * x.stride;
}

enum class Weights { kNone, kByRow, kByEntry };

// Sum (times `scale`) or maximum of the rows `indices[0..n)`, one panel.
template <typename T, int N, bool kMax, Weights kWeights, typename Source>
inline void reduce_panel(const Source& x, const int32_t* indices, int64_t n, int64_t readable,
                         const T* weights, int64_t width, int64_t column, int64_t last, T scale,
                         const T* addend, T* out) {
  const auto weight = [&](int64_t e) {
    if constexpr (kWeights == Weights::kByRow) return weights[indices[e]];
    if constexpr (kWeights == Weights::kByEntry) return weights[e];
    return T{1};
  };
  if constexpr (N == 0) {
    for (int64_t c = 0; c < width; ++c) {
      T sum = n && kMax ? row_of(x, indices[0])[c] : T{0};
      for (int64_t e = kMax ? 1 : 0; e < n; ++e) {
        const T value = row_of(x, indices[e])[c];
        if constexpr (kMax)
          sum = value > sum || value != value ? value : sum;
        else
          sum += kWeights == Weights::kNone ? value : weight(e) * value;
      }
      sum *= scale;
      out[c] = addend ? sum + addend[c] : sum;
    }
  } else {
    Vector<T> sum[N];
    for (int i = 0; i < N; ++i) sum[i] = Vector<T>{};
    for (int64_t e = 0; e < n; ++e) {
      const int64_t ahead = e + kAhead < readable ? e + kAhead : readable - 1;
      prefetch<T, N>(row_of(x, indices[ahead]) + column);
      const T* row = row_of(x, indices[e]) + column;
      if constexpr (kMax) {
        if (e == 0) {
          for (int i = 0; i < N; ++i) sum[i] = load(row + offset<T>(i, last));
        } else {
          for (int i = 0; i < N; ++i) {
            const Vector<T> value = load(row + offset<T>(i, last));
            sum[i] = ((value > sum[i]) | (value != value)) ? value : sum[i];
          }
        }
      } else if constexpr (kWeights == Weights::kNone) {
        for (int i = 0; i < N; ++i) sum[i] += load(row + offset<T>(i, last));
      } else {
        const Vector<T> w = splat(weight(e));
        for (int i = 0; i < N; ++i) sum[i] += w * load(row + offset<T>(i, last));
      }
    }
    const Vector<T> factor = splat(scale);
    for (int i = 0; i < N; ++i) {
      const int64_t at = offset<T>(i, last);
      sum[i] *= factor;
      store(out + column + at, addend ? sum[i] + load(addend + column + at) : sum[i]);
    }
  }
}

template <typename T, bool kMax>
void aggregate_rows(bool mean, Lists lists, Rows<T> x, int64_t width, Matrix<T> out, int64_t begin,
                    int64_t end) {
  const int64_t stop = lists.indptr[end];
  for (int64_t t = begin; t < end; ++t) {
    const int64_t first = lists.indptr[t], n = lists.indptr[t + 1] - first;
    const T scale = mean && n > 0 ? T{1} / static_cast<T>(n) : T{1};
    for_panels<T, kManyVectors<T>>(width, [&]<int N>(int64_t column, int64_t last) {
      reduce_panel<T, N, kMax, Weights::kNone>(x, lists.indices + first, n, stop - first, nullptr,
                                               width, column, last, scale, nullptr,
                                               out.row(t - begin));
    });
  }
}

template <typename T>
void aggregate(Reduce reduce, Lists lists, Rows<T> x, int64_t width, Matrix<T> out, int64_t begin,
               int64_t end) {
  if (begin >= end) return;
  if (reduce == Reduce::kMax)
    aggregate_rows<T, true>(false, lists, x, width, out, begin, end);
  else
    aggregate_rows<T, false>(reduce == Reduce::kMean, lists, x, width, out, begin, end);
}

// Number of leading entries below `bound` of an ascending list.
inline int64_t count_below(const int32_t* list, int64_t n, int64_t bound) {
  if (n == 0 || list[n - 1] < bound) return n;
  int64_t low = 0;
  while (low < n) {
    const int64_t middle = low + (n - low) / 2;
    if (list[middle] < bound)
      low = middle + 1;
    else
      n = middle;
  }
  return low;
}

template <typename T>
void aggregate_transposed(Lists lists, int64_t num_targets, const T* scale, Matrix<const T> y,
                          Matrix<const T> self, int64_t width, Matrix<T> out, int64_t begin,
                          int64_t end) {
  const Rows<T> rows{y.data, y.stride, nullptr};
  for (int64_t s = begin; s < end; ++s) {
    const int32_t* list = lists.indices + lists.indptr[s];
    const int64_t n = count_below(list, lists.indptr[s + 1] - lists.indptr[s], num_targets);
    const T* addend = self.data && s < num_targets ? self.row(s) : nullptr;
    for_panels<T, kManyVectors<T>>(width, [&]<int N>(int64_t column, int64_t last) {
      if (scale)
        reduce_panel<T, N, false, Weights::kByRow>(rows, list, n, n, scale, width, column, last,
                                                   T{1}, addend, out.row(s));
      else
        reduce_panel<T, N, false, Weights::kNone>(rows, list, n, n, nullptr, width, column, last,
                                                  T{1}, addend, out.row(s));
    });
  }
}

template <typename T>
void max_share(Lists lists, Rows<T> x, Matrix<const T> max, Matrix<const T> gradient, int64_t width,
               Matrix<T> share, int64_t begin, int64_t end) {
  for (int64_t t = begin; t < end; ++t) {
    const int64_t first = lists.indptr[t], stop = lists.indptr[t + 1];
    for_panels<T, kFewVectors>(width, [&]<int N>(int64_t column, int64_t last) {
      if constexpr (N == 0) {
        for (int64_t c = 0; c < width; ++c) {
          T ties = 0;
          for (int64_t e = first; e < stop; ++e)
            ties += row_of(x, lists.indices[e])[c] == max.row(t)[c] ? T{1} : T{0};
          share.row(t)[c] = ties > 0 ? gradient.row(t)[c] / ties : T{0};
        }
      } else {
        Vector<T> ties[N];
        const Vector<T> one = splat(T{1}), zero{};
        for (int i = 0; i < N; ++i) ties[i] = zero;
        for (int64_t e = first; e < stop; ++e) {
          const T* row = row_of(x, lists.indices[e]) + column;
          for (int i = 0; i < N; ++i) {
            const int64_t at = offset<T>(i, last);
            ties[i] += load(row + at) == load(max.row(t) + column + at) ? one : zero;
          }
        }
        for (int i = 0; i < N; ++i) {
          const int64_t at = column + offset<T>(i, last);
          const Vector<T> divisor = ties[i] > zero ? ties[i] : one;
          store(share.row(t) + at, ties[i] > zero ? load(gradient.row(t) + at) / divisor : zero);
        }
      }
    });
  }
}

template <typename T>
void max_transposed(Lists lists, int64_t num_targets, Matrix<const T> x, Matrix<const T> max,
                    Matrix<const T> share, Matrix<const T> self, int64_t width, Matrix<T> out,
                    int64_t begin, int64_t end) {
  for (int64_t s = begin; s < end; ++s) {
    const int32_t* list = lists.indices + lists.indptr[s];
    const int64_t n = count_below(list, lists.indptr[s + 1] - lists.indptr[s], num_targets);
    const T* addend = self.data && s < num_targets ? self.row(s) : nullptr;
    for_panels<T, kFewVectors>(width, [&]<int N>(int64_t column, int64_t last) {
      if constexpr (N == 0) {
        for (int64_t c = 0; c < width; ++c) {
          T sum = 0;
          for (int64_t e = 0; e < n; ++e)
            if (x.row(s)[c] == max.row(list[e])[c]) sum += share.row(list[e])[c];
          out.row(s)[c] = addend ? sum + addend[c] : sum;
        }
      } else {
        Vector<T> sum[N];
        const Vector<T> zero{};
        for (int i = 0; i < N; ++i) sum[i] = zero;
        for (int64_t e = 0; e < n; ++e) {
          const T* top = max.row(list[e]) + column;
          const T* part = share.row(list[e]) + column;
          for (int i = 0; i < N; ++i) {
            const int64_t at = offset<T>(i, last);
            sum[i] += load(x.row(s) + column + at) == load(top + at) ? load(part + at) : zero;
          }
        }
        for (int i = 0; i < N; ++i) {
          const int64_t at = column + offset<T>(i, last);
          store(out.row(s) + at, addend ? sum[i] + load(addend + at) : sum[i]);
        }
      }
    });
  }
}

template <typename T>
void sparse_times_dense(SparseMatrix<T> a, Matrix<const T> y, int64_t width, Matrix<T> out,
                        int64_t begin, int64_t end) {
  const Rows<T> rows{y.data, y.stride, nullptr};
  const int64_t stop = begin < end ? a.indptr[end] : 0;
  for (int64_t r = begin; r < end; ++r) {
    const int64_t first = a.indptr[r], n = a.indptr[r + 1] - first;
    for_panels<T, kManyVectors<T>>(width, [&]<int N>(int64_t column, int64_t last) {
      reduce_panel<T, N, false, Weights::kByEntry>(rows, a.indices + first, n, stop - first,
                                                   a.values + first, width, column, last, T{1},
                                                   nullptr, out.row(r));
    });
  }
}

template <typename T>
void sparse_transposed_times_dense(SparseMatrix<T> a, int64_t num_rows, Matrix<const T> y,
                                   Matrix<T> out, int64_t begin, int64_t end) {
  constexpr int64_t kL = kLanes<T>;
  for (int64_t column = begin; column < end;) {
    const int64_t left = end - column;
    const int vectors = left >= 2 * kL ? 2 : left >= kL ? 1 : 0;
    for (int64_t r = 0; r < num_rows; ++r) {
      const T* from = y.row(r) + column;
      if (vectors == 2) {
        const Vector<T> y0 = load(from), y1 = load(from + kL);
        for (int64_t k = a.indptr[r]; k < a.indptr[r + 1]; ++k) {
          T* to = out.row(a.indices[k]) + column;
          const Vector<T> v = splat(a.values[k]);
          store(to, load(to) + v * y0);
          store(to + kL, load(to + kL) + v * y1);
        }
      } else if (vectors == 1) {
        const Vector<T> y0 = load(from);
        for (int64_t k = a.indptr[r]; k < a.indptr[r + 1]; ++k) {
          T* to = out.row(a.indices[k]) + column;
          store(to, load(to) + splat(a.values[k]) * y0);
        }
      } else {
        for (int64_t k = a.indptr[r]; k < a.indptr[r + 1]; ++k) {
          T* to = out.row(a.indices[k]) + column;
          for (int64_t c = 0; c < left; ++c) to[c] += a.values[k] * from[c];
        }
      }
    }
    column += vectors ? vectors * kL : left;
  }
}

// Computes up to sixteen Philox4x32-10 blocks at a time, lane by lane.
using Words = Vector<uint32_t>;

inline void multiply(Words a, uint32_t b, Words& high, Words& low) {
#if GNNMG_VECTOR_BYTES == 64
  const __m512i x = reinterpret_cast<__m512i>(a), m = _mm512_set1_epi32(static_cast<int>(b));
  const __m512i even = _mm512_mul_epu32(x, m);
  const __m512i odd = _mm512_mul_epu32(_mm512_srli_epi64(x, 32), m);
  high = reinterpret_cast<Words>(_mm512_mask_blend_epi32(0xAAAA, _mm512_srli_epi64(even, 32), odd));
  low = reinterpret_cast<Words>(_mm512_mask_blend_epi32(0xAAAA, even, _mm512_slli_epi64(odd, 32)));
#elif GNNMG_VECTOR_BYTES == 32
  const __m256i x = reinterpret_cast<__m256i>(a), m = _mm256_set1_epi32(static_cast<int>(b));
  const __m256i even = _mm256_mul_epu32(x, m);
  const __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64(x, 32), m);
  high = reinterpret_cast<Words>(_mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA));
  low = reinterpret_cast<Words>(_mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA));
#else
  for (int i = 0; i < kLanes<uint32_t>; ++i) {
    const uint64_t product = uint64_t{a[i]} * b;
    high[i] = static_cast<uint32_t>(product >> 32);
    low[i] = static_cast<uint32_t>(product);
  }
#endif
}

inline void philox_lanes(Words c[4], uint32_t k0, uint32_t k1) {
  for (int round = 0; round < 10; ++round) {
    Words high0, low0, high1, low1;
    multiply(c[0], 0xD2511F53u, high0, low0);
    multiply(c[2], 0xCD9E8D57u, high1, low1);
    c[0] = high1 ^ c[1] ^ k0;
    c[1] = low1;
    c[2] = high0 ^ c[3] ^ k1;
    c[3] = low0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
}

constexpr int64_t kGroup = 128;  // columns that take their bits from sixteen blocks

// keep[c] = all ones if column 128 * group + c of the row is kept, else 0.
inline void keep_group(const Dropout& dropout, int64_t row, int64_t group, uint32_t keep[kGroup]) {
  constexpr int kL = kLanes<uint32_t>;
  Words lane;
  for (int i = 0; i < kL; ++i) lane[i] = static_cast<uint32_t>(i);
  const Words threshold = Words{} + dropout.threshold;
  for (int part = 0; part < 16; part += kL) {
    Words c[4];
    c[0] = Words{} + static_cast<uint32_t>(row);
    c[1] = Words{} + static_cast<uint32_t>(static_cast<uint64_t>(row) >> 32);
    c[2] = lane + static_cast<uint32_t>(group * 16 + part);
    c[3] = Words{};
    philox_lanes(c, dropout.key[0], dropout.key[1]);
    for (int64_t word = 0; word < 4; ++word) {
      store<uint32_t>(keep + 32 * word + part,
                      reinterpret_cast<Words>((c[word] & 0xffffu) >= threshold));
      store<uint32_t>(keep + 32 * word + 16 + part,
                      reinterpret_cast<Words>((c[word] >> 16) >= threshold));
    }
  }
}

template <typename T>
void finish(Matrix<const T> x, int64_t width, const T* bias, bool relu, const Dropout& dropout,
            Matrix<T> y, int64_t begin, int64_t end) {
  const T scale = static_cast<T>(dropout.scale);
  uint32_t keep[kGroup];
  for (int64_t r = begin; r < end; ++r) {
    for (int64_t column = 0; column < width; column += kGroup) {
      const int64_t n = width - column < kGroup ? width - column : kGroup;
      const T* from = x.row(r) + column;
      T* to = y.row(r) + column;
      const T* shift = bias ? bias + column : nullptr;
      if (dropout.active()) keep_group(dropout, r, column / kGroup, keep);
      const auto one = [&](int64_t c) {
        T value = shift ? from[c] + shift[c] : from[c];
        if (relu) value = value > 0 || value != value ? value : T{0};
        if (dropout.active()) value = keep[c] ? value * scale : T{0};
        to[c] = value;
      };
      int64_t c = 0;
      if constexpr (sizeof(T) == sizeof(uint32_t)) {
        const Vector<T> zero{}, factor = splat(scale);
        for (; c + kLanes<T> <= n; c += kLanes<T>) {
          Vector<T> value = load(from + c);
          if (shift) value += load(shift + c);
          if (relu) value = ((value > zero) | (value != value)) ? value : zero;
          if (dropout.active())
            value = reinterpret_cast<Vector<T>>(reinterpret_cast<Words>(value * factor) &
                                                load(keep + c));
          store(to + c, value);
        }
      }
      for (; c < n; ++c) one(c);
    }
  }
}

template <typename T>
void finish_backward(Matrix<const T> dy, Matrix<const T> y, int64_t width, bool relu,
                     const Dropout& dropout, Matrix<T> dx, T* bias_gradient, int64_t begin,
                     int64_t end) {
  // After a ReLU the output shows which values were kept: no bits are drawn again.
  const T scale = static_cast<T>(dropout.scale);
  const bool draw = dropout.active() && !relu;
  uint32_t keep[kGroup];
  for (int64_t r = begin; r < end; ++r) {
    for (int64_t column = 0; column < width; column += kGroup) {
      const int64_t n = width - column < kGroup ? width - column : kGroup;
      const T* from = dy.row(r) + column;
      const T* out = relu ? y.row(r) + column : nullptr;
      T* to = dx.row(r) + column;
      T* sum = bias_gradient ? bias_gradient + column : nullptr;
      if (draw) keep_group(dropout, r, column / kGroup, keep);
      const Vector<T> zero{}, factor = splat(scale);
      int64_t c = 0;
      if (!draw || sizeof(T) == sizeof(uint32_t)) {
        for (; c + kLanes<T> <= n; c += kLanes<T>) {
          Vector<T> value = load(from + c) * factor;
          if (relu) value = load(out + c) > zero ? value : zero;
          if constexpr (sizeof(T) == sizeof(uint32_t))
            if (draw)
              value = reinterpret_cast<Vector<T>>(reinterpret_cast<Words>(value) & load(keep + c));
          store(to + c, value);
          if (sum) store(sum + c, load(sum + c) + value);
        }
      }
      for (; c < n; ++c) {
        T value = from[c] * scale;
        if (relu) value = out[c] > 0 ? value : T{0};
        if (draw) value = keep[c] ? value : T{0};
        to[c] = value;
        if (sum) sum[c] += value;
      }
    }
  }
}

template <typename T>
void column_sums(Matrix<const T> x, int64_t width, T* sums, int64_t begin, int64_t end) {
  for_panels<T, kFewVectors>(width, [&]<int N>(int64_t column, int64_t last) {
    if constexpr (N == 0) {
      for (int64_t c = 0; c < width; ++c) sums[c] = 0;
      for (int64_t r = begin; r < end; ++r)
        for (int64_t c = 0; c < width; ++c) sums[c] += x.row(r)[c];
    } else {
      Vector<T> sum[N];
      for (int i = 0; i < N; ++i) sum[i] = Vector<T>{};
      for (int64_t r = begin; r < end; ++r)
        for (int i = 0; i < N; ++i) sum[i] += load(x.row(r) + column + offset<T>(i, last));
      for (int i = 0; i < N; ++i) store(sums + column + offset<T>(i, last), sum[i]);
    }
  });
}

template <typename T>
void sparse_dropout(SparseMatrix<float> a, const Dropout& dropout, T* out, int64_t begin,
                    int64_t end) {
  constexpr int kL = kLanes<uint32_t>;
  const T scale = static_cast<T>(dropout.scale);
  for (int64_t r = begin; r < end; ++r) {
    for (int64_t k = a.indptr[r]; k < a.indptr[r + 1]; k += kL) {
      const int n = a.indptr[r + 1] - k < kL ? static_cast<int>(a.indptr[r + 1] - k) : kL;
      Words c[4];
      c[0] = Words{} + static_cast<uint32_t>(r);
      c[1] = Words{} + static_cast<uint32_t>(static_cast<uint64_t>(r) >> 32);
      c[2] = Words{};
      c[3] = Words{};
      for (int i = 0; i < n; ++i) {
        const uint32_t column = static_cast<uint32_t>(a.indices[k + i]);
        c[2][i] = column / 128 * 16 + column % 16;
      }
      philox_lanes(c, dropout.key[0], dropout.key[1]);
      for (int i = 0; i < n; ++i) {
        const uint32_t half = static_cast<uint32_t>(a.indices[k + i]) % 128 / 16;
        const uint32_t bits = c[half / 2][i] >> (half % 2 * 16) & 0xffffu;
        out[k + i] = bits >= dropout.threshold ? static_cast<T>(a.values[k + i]) * scale : T{0};
      }
    }
  }
}

template <typename T>
T inner_product(const T* a, const T* b, int64_t width) {
  Vector<T> sums{};
  int64_t c = 0;
  for (; c + kLanes<T> <= width; c += kLanes<T>) sums += load(a + c) * load(b + c);
  T sum = 0;
  for (int i = 0; i < kLanes<T>; ++i) sum += sums[i];
  for (; c < width; ++c) sum += a[c] * b[c];
  return sum;
}

inline float root(float x) { return __builtin_sqrtf(x); }
inline double root(double x) { return __builtin_sqrt(x); }

template <typename T>
constexpr T kSmallestNorm = static_cast<T>(1e-12);

template <typename T>
void normalize(Matrix<const T> x, int64_t width, Matrix<T> y, T* norms, int64_t begin,
               int64_t end) {
  for (int64_t r = begin; r < end; ++r) {
    const T square = inner_product(x.row(r), x.row(r), width);
    const T norm = root(square);
    const T divisor = norm > kSmallestNorm<T> || norm != norm ? norm : kSmallestNorm<T>;
    norms[r] = norm;
    for (int64_t c = 0; c < width; ++c) y.row(r)[c] = x.row(r)[c] / divisor;
  }
}

template <typename T>
void normalize_backward(Matrix<const T> dy, Matrix<const T> y, const T* norms, int64_t width,
                        Matrix<T> dx, int64_t begin, int64_t end) {
  for (int64_t r = begin; r < end; ++r) {
    const bool clamped = norms[r] < kSmallestNorm<T>;
    const T along = clamped ? T{0} : inner_product(dy.row(r), y.row(r), width);
    const T divisor = clamped ? kSmallestNorm<T> : norms[r];
    for (int64_t c = 0; c < width; ++c)
      dx.row(r)[c] = (dy.row(r)[c] - along * y.row(r)[c]) / divisor;
  }
}

}  // namespace
}  // namespace gnnmg::nn::kernels

#include "nn/kernels/attention_body.h"
#include "nn/kernels/edge_body.h"
#if GNNMG_VECTOR_BYTES == 64
#include "nn/kernels/product_body.h"
#endif

namespace gnnmg::nn::kernels {
namespace {

template <typename T>
constexpr Table<T> kTable = {
    aggregate<T>,
    aggregate_transposed<T>,
    max_share<T>,
    max_transposed<T>,
    sparse_times_dense<T>,
    sparse_transposed_times_dense<T>,
    finish<T>,
    finish_backward<T>,
    column_sums<T>,
    sparse_dropout<T>,
    normalize<T>,
    normalize_backward<T>,
    weighted_sum<T>,
    weighted_transposed<T>,
    edge_dots<T>,
    row_dots<T>,
    attend<T>,
    attend_backward<T>,
    attend_transposed<T>,
    relu_sum<T>,
    relu_sum_edges<T>,
    relu_sum_transposed<T>,
    last_winner<T>,
    winner_transposed<T>,
    softmax<T>,
    softmax_backward<T>,
#if GNNMG_VECTOR_BYTES == 64
    product<T>,
#else
    nullptr,
#endif
};

}  // namespace

extern const Table<float> GNNMG_ISA_TABLE(f32);
extern const Table<double> GNNMG_ISA_TABLE(f64);
const Table<float> GNNMG_ISA_TABLE(f32) = kTable<float>;
const Table<double> GNNMG_ISA_TABLE(f64) = kTable<double>;

}  // namespace gnnmg::nn::kernels
