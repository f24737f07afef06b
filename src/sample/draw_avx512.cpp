// The lane kernel in AVX-512F, sixteen rows per vector. The only code in its file, because the file
// is compiled for that instruction set; draw.cpp calls it only if the CPU has it.
#include <immintrin.h>

#include "sample/draw_lanes.h"

namespace gnnmg::sample {
namespace {

struct Vector {
  static constexpr int kWidth = 16;
  using Mask = __mmask16;
  __m512i v;

  static Vector load(const uint32_t* from) { return {_mm512_load_si512(from)}; }
  static Vector load_any(const void* from) { return {_mm512_loadu_si512(from)}; }
  static Vector splat(uint32_t value) { return {_mm512_set1_epi32(static_cast<int>(value))}; }
  void store(uint32_t* to) const { _mm512_store_si512(to, v); }
  friend Vector operator+(Vector a, Vector b) { return {_mm512_add_epi32(a.v, b.v)}; }
  friend Vector operator-(Vector a, Vector b) { return {_mm512_sub_epi32(a.v, b.v)}; }
  friend Vector operator^(Vector a, Vector b) { return {_mm512_xor_si512(a.v, b.v)}; }
  static void multiply(Vector a, Vector b, Vector& low, Vector& high) {
    const __m512i even = _mm512_mul_epu32(a.v, b.v);
    const __m512i odd = _mm512_mul_epu32(_mm512_srli_epi64(a.v, 32), _mm512_srli_epi64(b.v, 32));
    low.v = _mm512_mask_blend_epi32(0xAAAA, even, _mm512_slli_epi64(odd, 32));
    high.v = _mm512_mask_blend_epi32(0xAAAA, _mm512_srli_epi64(even, 32), odd);
  }
  static Mask equal(Vector a, Vector b) { return _mm512_cmpeq_epi32_mask(a.v, b.v); }
  static uint32_t below(Vector a, Vector b) { return _mm512_cmplt_epu32_mask(a.v, b.v); }
  static Vector select(Mask mask, Vector yes, Vector no) {
    return {_mm512_mask_blend_epi32(mask, no.v, yes.v)};
  }
};

}  // namespace

void draw_lanes_avx512(const uint32_t* key, const LaneRows& rows, int fanout, bool replace,
                       uint32_t* picks) {
  draw_lanes<Vector>(key, rows, fanout, replace, picks);
}

int keep_avx512(const uint32_t* key, const int32_t* sources, int count, uint32_t threshold,
                uint32_t* kept) {
  return keep_below<Vector>(key, sources, count, threshold, kept);
}

}  // namespace gnnmg::sample
