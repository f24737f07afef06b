// The code of bf16.h, compiled once for each instruction set: a file that defines GNNMG_BF16_TABLE
// (the name of its table) and GNNMG_VECTOR_BYTES includes this one. Everything is internal to that
// file, as in body.h.
#include "nn/kernels/bf16.h"
#include "nn/kernels/vector.h"

namespace gnnmg::nn::kernels {
namespace {

using Words = Vector<uint32_t>;
using Floats = Vector<float>;
constexpr int kWords = kLanes<uint32_t>;
typedef uint16_t Halves __attribute__((vector_size(GNNMG_VECTOR_BYTES / 2)));

inline Words load_halves(const Bf16* p) {
  Halves v;
  __builtin_memcpy(&v, p, sizeof v);
  return __builtin_convertvector(v, Words);
}

inline Words rounded(Words x) {
  const Words nearest = (x + 0x7fffu + ((x >> 16) & 1u)) >> 16;
  const Words quiet_nan = (x >> 16) | 0x40u;
  const Words is_nan = reinterpret_cast<Words>((x & 0x7fffffffu) > 0x7f800000u);
  return (is_nan & quiet_nan) | (~is_nan & nearest);
}

void round_rows(Matrix<const float> x, int64_t rows, int64_t width, Matrix<Bf16> out) {
  const int64_t whole = width / kWords * kWords, end = filled_depth(width);
  for (int64_t r = 0; r < rows; ++r) {
    const float* from = x.row(r);
    Bf16* to = out.row(r);
    const auto put = [&](int64_t column, Words bits) {
      const Halves halves = __builtin_convertvector(rounded(bits), Halves);
      __builtin_memcpy(to + column, &halves, sizeof halves);
    };
    for (int64_t c = 0; c < whole; c += kWords)
      put(c, reinterpret_cast<Words>(load<float>(from + c)));
    for (int64_t c = whole; c < end; c += kWords) {
      Words last{};
      if (c < width) __builtin_memcpy(&last, from + c, static_cast<size_t>(width - c) * 4);
      put(c, last);
    }
  }
}

constexpr int64_t kSide = 16;  // rows and columns of a block of words that is transposed at once

// Transposes a block of words: to[c][r] = from[r][c]. Rows of `from` beyond `rows` count as zeros,
// and only `columns` rows of `to` are written.
inline void transpose_block(const uint32_t* from, int64_t from_stride, int64_t rows, uint32_t* to,
                            int64_t to_stride, int64_t columns) {
  uint32_t block[kSide][kSide] = {};
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < kSide; ++c) block[c][r] = from[r * from_stride + c];
  for (int64_t c = 0; c < columns; ++c)
    __builtin_memcpy(to + c * to_stride, block[c], sizeof block[c]);
}

inline const uint32_t* words(const Bf16* p) { return reinterpret_cast<const uint32_t*>(p); }
inline uint32_t* words(Bf16* p) { return reinterpret_cast<uint32_t*>(p); }

// Writes kBf16Panel columns of two rows side by side; null counts as zeros.
inline void zip(const Bf16* even, const Bf16* odd, int64_t columns, uint32_t* to) {
  if (columns == kBf16Panel) {
    for (int64_t c = 0; c < kBf16Panel; c += kWords)
      store<uint32_t>(to + c, load_halves(even + c) | (odd ? load_halves(odd + c) << 16 : Words{}));
    return;
  }
  for (int64_t c = 0; c < kBf16Panel; ++c)
    to[c] = c < columns ? even[c] | (odd ? uint32_t{odd[c]} << 16 : 0) : 0;
}

// Writes pairs [begin, begin + pairs) of one panel, zeros beyond the last row.
inline void zip_panel(Matrix<const Bf16> x, int64_t depth, int64_t column, int64_t columns,
                      int64_t begin, int64_t pairs, uint32_t* to) {
  for (int64_t pair = begin; pair < begin + pairs; ++pair, to += kBf16Panel) {
    const int64_t row = 2 * pair;
    if (row >= depth)
      __builtin_memset(to, 0, kBf16Panel * sizeof *to);
    else
      zip(x.row(row) + column, row + 1 < depth ? x.row(row + 1) + column : nullptr, columns, to);
  }
}

void pack(Matrix<const Bf16> x, int64_t depth, int64_t width, Bf16* out) {
  const int64_t pairs = filled_depth(depth) / 2;
  uint32_t* to = words(out);
  for (int64_t column = 0; column < width; column += kBf16Panel, to += pairs * kBf16Panel) {
    const int64_t left = width - column;
    zip_panel(x, depth, column, left < kBf16Panel ? left : kBf16Panel, 0, pairs, to);
  }
}

void transpose(Matrix<const Bf16> x, int64_t rows, int64_t width, Matrix<Bf16> out) {
  const int64_t pairs = filled_depth(rows) / 2;
  uint32_t zipped[kSide * kBf16Panel];
  for (int64_t column = 0; column < width; column += kBf16Panel) {
    const int64_t left = width - column, columns = left < kBf16Panel ? left : kBf16Panel;
    for (int64_t pair = 0; pair < pairs; pair += kSide) {
      zip_panel(x, rows, column, columns, pair, kSide, zipped);
      transpose_block(zipped, kBf16Panel, kSide, words(out.row(column)) + pair, out.stride / 2,
                      columns);
    }
  }
}

void pack_transpose(Matrix<const Bf16> x, int64_t depth, int64_t width, Bf16* out) {
  const int64_t pairs = filled_depth(depth) / 2;
  uint32_t* to = words(out);
  for (int64_t row = 0; row < width; row += kBf16Panel, to += pairs * kBf16Panel) {
    const int64_t left = width - row;
    for (int64_t pair = 0; pair < pairs; pair += kSide)
      transpose_block(words(x.row(row)) + pair, x.stride / 2, left < kSide ? left : kSide,
                      to + pair * kBf16Panel, kBf16Panel, kSide);
  }
}

#if defined(__AVX512BF16__)
constexpr int kTallest = 6;
inline Floats add_pairs(Floats sum, Words a, Words b) {
  return reinterpret_cast<Floats>(_mm512_dpbf16_ps(
      reinterpret_cast<__m512>(sum), reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b)));
}
#else
constexpr int kTallest = 4;
// A product of two bf16 is exact in f32, so it does not matter if it is added by one instruction.
inline Floats add_pairs(Floats sum, Words a, Words b) {
  constexpr uint32_t kHigh = 0xffff0000u;
  sum += reinterpret_cast<Floats>(a & kHigh) * reinterpret_cast<Floats>(b & kHigh);
  return sum + reinterpret_cast<Floats>(a << 16) * reinterpret_cast<Floats>(b << 16);
}
#endif

// Vectors of a tile, and of a panel.
constexpr int kWidest = GNNMG_VECTOR_BYTES >= 64 ? 4 : 2, kOfPanel = kBf16Panel / kWords;

inline Floats load_left(const float* p, int64_t columns) {
  if (columns >= kWords) return load(p);
  Floats v{};
  if (columns > 0) __builtin_memcpy(&v, p, static_cast<size_t>(columns) * sizeof(float));
  return v;
}
inline void store_left(float* p, Floats v, int64_t columns) {
  if (columns >= kWords)
    store(p, v);
  else if (columns > 0)
    __builtin_memcpy(p, &v, static_cast<size_t>(columns) * sizeof(float));
}

// M rows and N vectors of c, held in registers; `vector` is the number of the first vector.
template <int M, int N>
[[gnu::always_inline]] inline void vector_tile(const Bf16Product& p, int64_t row, int64_t vector) {
  const int64_t pairs = (p.depth + 1) / 2, panel = filled_depth(p.depth) / 2 * kBf16Panel;
  const uint32_t* b[N];
  int64_t column[N];
  for (int j = 0; j < N; ++j) {
    b[j] = words(p.b) + (vector + j) / kOfPanel * panel + (vector + j) % kOfPanel * kWords;
    column[j] = (vector + j) * kWords;
  }
  Floats sum[M][N];
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j)
      sum[i][j] = p.add ? load_left(p.c.row(row + i) + column[j], p.width - column[j]) : Floats{};
  const uint32_t* a = words(p.a.row(row));
  for (int64_t k = 0; k < pairs; ++k) {
    Words columns[N];
    for (int j = 0; j < N; ++j) columns[j] = load(b[j] + k * kBf16Panel);
    for (int i = 0; i < M; ++i) {
      const Words factor = splat(a[i * p.a.stride / 2 + k]);
      for (int j = 0; j < N; ++j) sum[i][j] = add_pairs(sum[i][j], factor, columns[j]);
    }
  }
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j)
      store_left(p.c.row(row + i) + column[j], sum[i][j], p.width - column[j]);
}

template <int N>
void vector_panel(const Bf16Product& p, int64_t begin, int64_t end, int64_t vector) {
  int64_t row = begin;
  const auto tiles = [&]<int M>() {
    for (; row + M <= end; row += M) vector_tile<M, N>(p, row, vector);
  };
  tiles.template operator()<kTallest>();
  tiles.template operator()<4>();
  tiles.template operator()<2>();
  tiles.template operator()<1>();
}

[[maybe_unused]] void vector_product(const Bf16Product& p, int64_t begin, int64_t end) {
  const int64_t vectors = (p.width + kWords - 1) / kWords;
  int64_t vector = 0;
  for (; vector + kWidest <= vectors; vector += kWidest)
    vector_panel<kWidest>(p, begin, end, vector);
  if constexpr (kWidest > 3)
    if (vectors - vector == 3) return vector_panel<3>(p, begin, end, vector);
  if constexpr (kWidest > 2)
    if (vectors - vector == 2) return vector_panel<2>(p, begin, end, vector);
  if (vectors - vector == 1) vector_panel<1>(p, begin, end, vector);
}

}  // namespace
}  // namespace gnnmg::nn::kernels

#if defined(__AMX_BF16__)
#include "nn/kernels/amx_body.h"
#define GNNMG_BF16_PRODUCT amx_product
#else
#define GNNMG_BF16_PRODUCT vector_product
#endif

namespace gnnmg::nn::kernels {

extern const Bf16Kernels GNNMG_BF16_TABLE;
const Bf16Kernels GNNMG_BF16_TABLE = {round_rows, transpose, pack, pack_transpose,
                                      GNNMG_BF16_PRODUCT};

}  // namespace gnnmg::nn::kernels
