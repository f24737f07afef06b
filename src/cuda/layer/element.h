// The element types of feature tables, as kernels read them.
#pragma once

#include <cstdint>

#include "cuda/grid/portable.h"

namespace gnnmg::cuda {

struct Half {  // 16-bit float of IEEE 754
  uint16_t bits;
};
struct BrainFloat {
  uint16_t bits;
};

GNNMG_BOTH float float_of_bits(uint32_t bits) {
#ifdef __CUDA_ARCH__
  return __uint_as_float(bits);
#else
  return __builtin_bit_cast(float, bits);
#endif
}
GNNMG_BOTH uint32_t bits_of_float(float value) {
#ifdef __CUDA_ARCH__
  return __float_as_uint(value);
#else
  return __builtin_bit_cast(uint32_t, value);
#endif
}

GNNMG_BOTH float widened(float x) { return x; }
GNNMG_BOTH double widened(double x) { return x; }
GNNMG_BOTH float widened(BrainFloat x) { return float_of_bits(uint32_t{x.bits} << 16); }
// Exact: a product shifts the exponent, which also normalizes subnormal numbers.
GNNMG_BOTH float widened(Half x) {
  const uint32_t sign = uint32_t{x.bits} >> 15 << 31, rest = (x.bits & 0x7fffu) << 13;
  if (rest >= 0x0f800000u) return float_of_bits(sign | 0x7f800000u | rest);  // not finite
  return float_of_bits(sign | bits_of_float(float_of_bits(rest) * 0x1p112f));
}

template <typename T, typename E>
GNNMG_BOTH T element_as(E x) {
  return static_cast<T>(widened(x));
}

}  // namespace gnnmg::cuda
