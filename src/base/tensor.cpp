#include "base/tensor.h"

#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/memory.h"

namespace gnnmg::base {
namespace {

// Sets fresh memory to zero. Whole pages are returned to the system, which supplies zeros on the
// next access, so pages that are never written take no memory.
void clear_pages(char* data, size_t bytes) {
  constexpr size_t kPage = size_t{2} << 20;  // alignment of large memory in allocate_pages()
  size_t cleared = bytes >= 2 * kPage ? bytes / kPage * kPage : 0;
  if (cleared > 0 && madvise(data, cleared, MADV_DONTNEED) != 0) cleared = 0;
  std::memset(data + cleared, 0, bytes - cleared);
}

}  // namespace

int64_t dtype_size(DType dtype) noexcept {
  switch (dtype) {
    case DType::kF64:
    case DType::kI64:
      return 8;
    case DType::kF32:
    case DType::kI32:
      return 4;
    case DType::kF16:
    case DType::kBF16:
      return 2;
    case DType::kU8:
    case DType::kBool:
      return 1;
  }
  return 0;
}

const char* dtype_name(DType dtype) noexcept {
  switch (dtype) {
    case DType::kF32:
      return "f32";
    case DType::kF64:
      return "f64";
    case DType::kF16:
      return "f16";
    case DType::kBF16:
      return "bf16";
    case DType::kI64:
      return "i64";
    case DType::kI32:
      return "i32";
    case DType::kU8:
      return "u8";
    case DType::kBool:
      return "bool";
  }
  return "unknown";
}

bool is_floating(DType dtype) noexcept { return dtype <= DType::kBF16; }

float f16_to_f32(uint16_t bits) noexcept {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1f;
  const uint32_t mantissa = bits & 0x3ff;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | mantissa << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  const float magnitude = std::ldexp(static_cast<float>(mantissa), -24);  // zero and subnormals
  return sign ? -magnitude : magnitude;
}

uint16_t f32_to_f16(float value) noexcept {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint16_t sign = static_cast<uint16_t>(bits >> 16 & 0x8000u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return sign | 0x7e00u;
  if (magnitude >= 0x477ff000u) return sign | 0x7c00u;  // rounds to infinity, or is it
  if (magnitude < 0x38800000u) {                        // infinity, or rounds to it
    const float scaled = std::bit_cast<float>(magnitude) * 16777216.0f;
    return sign | static_cast<uint16_t>(std::nearbyintf(scaled));
  }
  const uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u) - (112u << 23);
  return sign | static_cast<uint16_t>(rounded >> 13);
}

uint16_t f32_to_bf16(float value) noexcept {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>(bits >> 16 | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

Shape::Shape(std::initializer_list<int64_t> sizes)
    : Shape(std::span<const int64_t>(sizes.begin(), sizes.size())) {}

Shape::Shape(std::span<const int64_t> sizes) {
  if (sizes.size() > kMaxDims)
    fail(Status::kUnsupported, "tensor has ", sizes.size(), " dimensions, at most ", kMaxDims,
         " are supported");
  int64_t total = 1;  // also when a dimension is 0, because row_elements() must fit too
  for (int64_t size : sizes) {
    if (size < 0)
      fail(Status::kInvalidArgument, "tensor dimension ", num_dims, " is ", size,
           ", expected 0 or more");
    total = checked_mul(total, std::max<int64_t>(size, 1), "tensor shape");
    dims[num_dims++] = size;
  }
}

int64_t Shape::num_elements() const {
  int64_t total = 1;
  for (int i = 0; i < num_dims; ++i) total *= dims[i];
  return total;
}

int64_t Shape::row_elements() const {
  int64_t total = 1;
  for (int i = 1; i < num_dims; ++i) total *= dims[i];
  return total;
}

std::string Shape::to_string() const {
  std::string out = "[";
  for (int i = 0; i < num_dims; ++i) out += (i ? ", " : "") + std::to_string(dims[i]);
  return out + "]";
}

Tensor Tensor::empty(DType dtype, Shape shape) {
  const int64_t bytes = checked_mul(shape.num_elements(), dtype_size(dtype), "tensor size");
  std::shared_ptr<void> owner =
      allocate_pages(bytes, text("a tensor ", dtype_name(dtype), " ", shape.to_string()));
  return Tensor({owner.get(), dtype, shape}, owner);
}

Tensor Tensor::zeros(DType dtype, Shape shape) {
  Tensor tensor = empty(dtype, shape);
  clear_pages(static_cast<char*>(tensor.data()), static_cast<size_t>(tensor.view().num_bytes()));
  return tensor;
}

}  // namespace gnnmg::base
