#include "feature/pack.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace gnnmg::feature {
namespace {

using base::DType;
using base::fail;
using base::Status;

constexpr int64_t kPackedBytes = 1 << 20;  // bytes in one range of a parallel loop

float read(DType dtype, const uint8_t* row, int64_t col) {
  if (dtype == DType::kF32) {
    float value;
    std::memcpy(&value, row + col * 4, 4);
    return value;
  }
  uint16_t bits;
  std::memcpy(&bits, row + col * 2, 2);
  return dtype == DType::kF16 ? base::f16_to_f32(bits) : base::bf16_to_f32(bits);
}

void quantize(DType dtype, const uint8_t* from, int64_t row, int64_t cols, uint8_t* to,
              float* scale) {
  float most = 0;
  for (int64_t col = 0; col < cols; ++col) {
    const float value = read(dtype, from, col);
    if (!std::isfinite(value))
      fail(Status::kInvalidArgument, "features are ", static_cast<double>(value), " at row ", row,
           ", column ", col, "; rows can be kept as int8 only when all are finite");
    most = std::max(most, std::fabs(value));
  }
  *scale = most / 127;
  for (int64_t col = 0; col < cols; ++col) {
    const float value =
        *scale > 0 ? std::nearbyint(read(dtype, from, col) / *scale) : 0;  // ties to even
    to[col] = static_cast<uint8_t>(static_cast<int8_t>(std::clamp(value, -127.0f, 127.0f)));
  }
}

void narrow(Form form, DType dtype, const uint8_t* from, int64_t cols, uint8_t* to) {
  for (int64_t col = 0; col < cols; ++col) {
    const float value = read(dtype, from, col);
    const uint16_t bits = form == Form::kF16 ? base::f32_to_f16(value) : base::f32_to_bf16(value);
    std::memcpy(to + col * 2, &bits, 2);
  }
}

bool kept(Form form, DType dtype) {
  return form == Form::kAsGiven || (form == Form::kF16 && dtype == DType::kF16) ||
         (form == Form::kBF16 && dtype == DType::kBF16);
}

}  // namespace

int64_t form_size(Form form, DType dtype) noexcept {
  if (form == Form::kAsGiven) return base::dtype_size(dtype);
  return form == Form::kInt8 ? 1 : 2;
}

int64_t packed_stride(int64_t cols, Form form, DType dtype) noexcept {
  const int64_t bytes = cols * form_size(form, dtype);
  return (bytes + kRowAlignment - 1) / kRowAlignment * kRowAlignment;
}

void check_form(Form form, DType dtype) {
  if (kept(form, dtype) || dtype == DType::kF32) return;
  if (form == Form::kInt8 && (dtype == DType::kF16 || dtype == DType::kBF16)) return;
  const char* name = form == Form::kInt8 ? "int8" : form == Form::kF16 ? "f16" : "bf16";
  fail(Status::kInvalidArgument, "features of type ", base::dtype_name(dtype),
       " cannot be kept as ", name, "; keep them as given");
}

void pack_rows(const base::TensorView& table, Form form, std::span<const int64_t> ids,
               int64_t begin, int64_t end, uint8_t* out, float* scales, base::ThreadPool* pool) {
  check_form(form, table.dtype);
  const int64_t cols = table.shape.row_elements();
  const int64_t row_bytes = table.row_bytes();
  const int64_t stride = packed_stride(cols, form, table.dtype);
  const int64_t used = cols * form_size(form, table.dtype);
  const auto* bytes = static_cast<const uint8_t*>(table.data);
  const auto pack = [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int64_t row = ids.empty() ? begin + i : ids[begin + i];
      const uint8_t* from = bytes + row * row_bytes;
      uint8_t* to = out + i * stride;
      if (kept(form, table.dtype))
        std::copy_n(from, row_bytes, to);
      else if (form == Form::kInt8)
        quantize(table.dtype, from, row, cols, to, scales + i);
      else
        narrow(form, table.dtype, from, cols, to);
      std::fill(to + used, to + stride, uint8_t{0});
    }
  };
  if (pool == nullptr) return pack(0, end - begin);
  pool->parallel_for(end - begin, kPackedBytes / (row_bytes + 1) + 1, pack);
}

}  // namespace gnnmg::feature
