// The lane kernel in AVX2, eight rows per vector. The only code in its file, because the file is
// compiled for that instruction set; draw.cpp calls it only if the CPU has it.
#include <immintrin.h>

#include "sample/draw_lanes.h"

namespace gnnmg::sample {
namespace {

struct Vector {
  static constexpr int kWidth = 8;
  __m256i v;

  static Vector load(const uint32_t* from) {
    return {_mm256_load_si256(reinterpret_cast<const __m256i*>(from))};
  }
  static Vector load_any(const void* from) {
    return {_mm256_loadu_si256(static_cast<const __m256i*>(from))};
  }
  static Vector splat(uint32_t value) { return {_mm256_set1_epi32(static_cast<int>(value))}; }
  void store(uint32_t* to) const { _mm256_store_si256(reinterpret_cast<__m256i*>(to), v); }
  friend Vector operator+(Vector a, Vector b) { return {_mm256_add_epi32(a.v, b.v)}; }
  friend Vector operator-(Vector a, Vector b) { return {_mm256_sub_epi32(a.v, b.v)}; }
  friend Vector operator^(Vector a, Vector b) { return {_mm256_xor_si256(a.v, b.v)}; }
  static void multiply(Vector a, Vector b, Vector& low, Vector& high) {
    const __m256i even = _mm256_mul_epu32(a.v, b.v);
    const __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64(a.v, 32), _mm256_srli_epi64(b.v, 32));
    low.v = _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA);
    high.v = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA);
  }

  struct Mask {
    __m256i v = _mm256_setzero_si256();
    Mask& operator|=(Mask other) {
      v = _mm256_or_si256(v, other.v);
      return *this;
    }
  };
  static Mask equal(Vector a, Vector b) { return {_mm256_cmpeq_epi32(a.v, b.v)}; }
  static uint32_t below(Vector a, Vector b) {
    // A signed comparison of numbers shifted by half the range is an unsigned comparison.
    const __m256i half = _mm256_set1_epi32(INT32_MIN);
    const __m256i mask =
        _mm256_cmpgt_epi32(_mm256_xor_si256(b.v, half), _mm256_xor_si256(a.v, half));
    return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(mask)));
  }
  static Vector select(Mask mask, Vector yes, Vector no) {
    return {_mm256_blendv_epi8(no.v, yes.v, mask.v)};
  }
};

}  // namespace

void draw_lanes_avx2(const uint32_t* key, const LaneRows& rows, int fanout, bool replace,
                     uint32_t* picks) {
  draw_lanes<Vector>(key, rows, fanout, replace, picks);
}

int keep_avx2(const uint32_t* key, const int32_t* sources, int count, uint32_t threshold,
              uint32_t* kept) {
  return keep_below<Vector>(key, sources, count, threshold, kept);
}

}  // namespace gnnmg::sample
