// Converts elements of feature rows from the stored type to the requested type, with the bits that
// base/tensor.h gives on the host. Multiplications by powers of two are exact and sums round to
// nearest even; both need subnormal numbers, so this code must not be compiled to flush them.
#pragma once

#include <cstdint>

#include "cuda/grid/portable.h"

namespace gnnmg::cuda {

GNNMG_BOTH float float_of(uint32_t bits) {
  float value;
  __builtin_memcpy(&value, &bits, 4);
  return value;
}
GNNMG_BOTH uint32_t bits_of(float value) {
  uint32_t bits;
  __builtin_memcpy(&bits, &value, 4);
  return bits;
}

GNNMG_BOTH float widen_f16(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t shifted = static_cast<uint32_t>(bits & 0x7fffu) << 13;
  // Exponents of 5 bits are 112 below those of 8; 0x77800000 is 2^112.
  const uint32_t scaled = bits_of(float_of(shifted) * float_of(0x77800000u));
  return float_of(sign | (shifted >= 0x0f800000u ? shifted | 0x7f800000u : scaled));
}

GNNMG_BOTH uint16_t narrow_f16(float value) {
  const uint32_t bits = bits_of(value);
  const uint32_t sign = bits >> 16 & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  // Below 2^-14, adding 1/2 leaves multiples of 2^-24 in the lowest bits.
  const uint32_t small = bits_of(float_of(magnitude) + 0.5f) - 0x3f000000u;
  const uint32_t normal = (magnitude + 0xfffu + (magnitude >> 13 & 1u) - (112u << 23)) >> 13;
  const uint32_t rounded = magnitude > 0x7f800000u    ? 0x7e00u
                           : magnitude >= 0x477ff000u ? 0x7c00u
                           : magnitude < 0x38800000u  ? small
                                                      : normal;
  return static_cast<uint16_t>(sign | rounded);
}

GNNMG_BOTH uint16_t narrow_bf16(float value) {
  const uint32_t bits = bits_of(value);
  const uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  return static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? bits >> 16 | 0x40u : rounded);
}

// Formats of stored and requested elements. Word: a type of the same size.
struct F32 {
  using Word = uint32_t;
  static GNNMG_BOTH float widen(uint32_t bits, float) { return float_of(bits); }
  static GNNMG_BOTH uint32_t narrow(float value) { return bits_of(value); }
};
struct F16 {
  using Word = uint16_t;
  static GNNMG_BOTH float widen(uint16_t bits, float) { return widen_f16(bits); }
  static GNNMG_BOTH uint16_t narrow(float value) { return narrow_f16(value); }
};
struct BF16 {
  using Word = uint16_t;
  static GNNMG_BOTH float widen(uint16_t bits, float) {
    return float_of(static_cast<uint32_t>(bits) << 16);
  }
  static GNNMG_BOTH uint16_t narrow(float value) { return narrow_bf16(value); }
};
struct Int8 {
  using Word = uint8_t;
  static GNNMG_BOTH float widen(uint8_t bits, float scale) {
    return static_cast<float>(static_cast<int8_t>(bits)) * scale;
  }
};

// Converts From to To; `scale` is the row's, for int8 only.
template <typename From, typename To>
struct Convert {
  using In = typename From::Word;
  using Out = typename To::Word;
  static constexpr bool kScaled = sizeof(In) == 1;
  static GNNMG_BOTH Out convert(In in, float scale) { return To::narrow(From::widen(in, scale)); }
};
// Copies the bits, for any type of that size.
template <typename T>
struct Keep {
  using In = T;
  using Out = T;
  static constexpr bool kScaled = false;
  static GNNMG_BOTH T convert(T in, float) { return in; }
};

}  // namespace gnnmg::cuda
