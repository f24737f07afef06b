// Division by a number that the host knows: a GPU's own 64-bit division is a function call of some
// hundred instructions.
#pragma once

#include <cstdint>

#include "cuda/grid/portable.h"

namespace gnnmg::cuda {

// Returns the upper half of the product.
GNNMG_BOTH uint64_t multiply_high(uint64_t a, uint64_t b) {
#ifdef __CUDA_ARCH__
  return __umul64hi(a, b);
#else
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>(Wide{a} * b >> 64);
#endif
}

// Computes i / by for i >= 0 and by >= 1.
struct Divisor {
  int64_t by;
  uint64_t inverse;  // (2^64 - 1) / by, rounded down
  Divisor() : Divisor(1) {}
  explicit Divisor(int64_t by) : by(by), inverse(~uint64_t{0} / static_cast<uint64_t>(by)) {}

  GNNMG_BOTH int64_t operator()(int64_t i) const {
    // by * inverse is 2^64 - by or more, so the result is too small by at most one.
    const auto near = static_cast<int64_t>(multiply_high(static_cast<uint64_t>(i), inverse));
    return i - near * by < by ? near : near + 1;
  }
};

}  // namespace gnnmg::cuda
