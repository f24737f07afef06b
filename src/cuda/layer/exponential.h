// exp(x) for softmax: for f32 the CPU kernels' function, with the same bits on a GPU and on the
// host.
#pragma once

#include <cmath>

#include "cuda/layer/element.h"
#include "cuda/layer/row.h"

namespace gnnmg::cuda {

// Accurate to three units of the last place for x <= 0; 0 far below, where the result would be
// subnormal. Reduction and polynomial are those of expf in Moshier's Cephes library.
GNNMG_BOTH float exponential(float x) {
  if (x < -87.0f) return 0;
  const float magic = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  const float shifted = multiply_add(x, 1.44269504088896341f, magic);
  const float n = shifted - magic;
  const float r = multiply_add(n, 2.12194440e-4f, multiply_add(-n, 0.693359375f, x));
  float p = 1.9875691500e-4f;
  p = multiply_add(p, r, 1.3981999507e-3f);
  p = multiply_add(p, r, 8.3334519073e-3f);
  p = multiply_add(p, r, 4.1665795894e-2f);
  p = multiply_add(p, r, 1.6666665459e-1f);
  p = multiply_add(p, r, 5.0000001201e-1f);
  p = added(multiply_add(p * r, r, r), 1.0f);
  const uint32_t power = (bits_of_float(shifted) - bits_of_float(magic) + 127) << 23;
  return p * float_of_bits(power);
}
GNNMG_BOTH double exponential(double x) {
#ifdef __CUDA_ARCH__
  return ::exp(x);
#else
  return std::exp(x);
#endif
}

}  // namespace gnnmg::cuda
