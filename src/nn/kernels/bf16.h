// Products of f32 matrices whose factors are rounded to bf16, with sums in f32: the rounding, the
// arrangement of factors for the instructions of each CPU, and the products. Free of torch.
#pragma once

#include <cstdint>

#include "nn/kernels/kernels.h"

namespace gnnmg::nn::kernels {

// The high half of an f32: a number with 8 bits of mantissa.
using Bf16 = uint16_t;

// A left factor is rows of bf16; a right factor is packed in panels of kBf16Panel columns, filled
// up with zeros, each of which has the numbers of rows 2k and 2k + 1 side by side. The depth, their
// common side, is filled up with zeros to a multiple of kBf16Step.
constexpr int64_t kBf16Step = 32, kBf16Panel = 16;
static constexpr int64_t filled(int64_t count, int64_t multiple) {
  return (count + multiple - 1) / multiple * multiple;
}
static constexpr int64_t filled_depth(int64_t depth) { return filled(depth, kBf16Step); }
static constexpr int64_t packed_size(int64_t depth, int64_t width) {
  return filled_depth(depth) * filled(width, kBf16Panel);
}

// c = a b, or c += a b.
struct Bf16Product {
  Matrix<const Bf16> a;     // [rows, filled_depth(depth)]
  const Bf16* b = nullptr;  // packed [depth, width], aligned to 64 bytes
  Matrix<float> c;          // [rows, width]
  int64_t depth = 0, width = 0;
  bool add = false;
};

// The functions for one instruction set. Those that arrange factors give the same bits for every
// set. Products add the numbers of a sum in an order that only the depth determines:
//   - with AMX, for every step of 32 the even and the odd numbers apart, then both together to the
//     result; numbers below 2^-126 count as zero;
//   - with all others one after the other, of each pair the odd number first. The bits are the same
//     for every set, except that AVX512-BF16 also takes numbers below 2^-126 for zero.
struct Bf16Kernels {
  // out[r] = x[r] rounded to the nearest bf16, ties to even, then zeros up to
  // filled_depth(width), for the rows [0, rows).
  void (*round)(Matrix<const float> x, int64_t rows, int64_t width, Matrix<Bf16> out);
  // out = the transpose of x [rows, width], as a left factor of depth `rows`.
  void (*transpose)(Matrix<const Bf16> x, int64_t rows, int64_t width, Matrix<Bf16> out);
  // Packs x [depth, width] as a right factor: packed_size(depth, width) numbers, aligned to 64
  // bytes.
  void (*pack)(Matrix<const Bf16> x, int64_t depth, int64_t width, Bf16* out);
  // Packs the transpose of x [width, depth], whose rows are filled up as by round().
  void (*pack_transpose)(Matrix<const Bf16> x, int64_t depth, int64_t width, Bf16* out);
  // Computes rows [begin, end) of a product.
  void (*product)(const Bf16Product& p, int64_t begin, int64_t end);
};

enum class Bf16Isa : int32_t { kGeneric, kAvx2, kAvx512, kAvx512Bf16, kAmx };
// Returns null if this machine cannot run them. AMX needs the system's permission, which the first
// call requests for the whole process, as LibTorch does for its own products in bf16.
const Bf16Kernels* bf16_kernels_for(Bf16Isa isa) noexcept;
// Returns the fastest that this machine can run.
const Bf16Kernels& bf16_kernels() noexcept;

}  // namespace gnnmg::nn::kernels
