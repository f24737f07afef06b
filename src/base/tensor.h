// Element types, contiguous tensor views, and shared ownership of their memory. This is all the
// tensor code below the torch line: shapes and bytes, no arithmetic.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace gnnmg::base {

enum class DType : uint8_t { kF32, kF64, kF16, kBF16, kI64, kI32, kU8, kBool };

int64_t dtype_size(DType dtype) noexcept;      // bytes of one element
const char* dtype_name(DType dtype) noexcept;  // "f32", "i64", "bool", ...
bool is_floating(DType dtype) noexcept;

// Conversions of single 16-bit floats, exact to f32 and with rounding to nearest even from f32. The
// rest of the library treats 16-bit floats as bytes.
float f16_to_f32(uint16_t bits) noexcept;
uint16_t f32_to_f16(float value) noexcept;
inline float bf16_to_f32(uint16_t bits) noexcept {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}
uint16_t f32_to_bf16(float value) noexcept;

template <typename T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>)
    return DType::kF32;
  else if constexpr (std::is_same_v<T, double>)
    return DType::kF64;
  else if constexpr (std::is_same_v<T, int64_t>)
    return DType::kI64;
  else if constexpr (std::is_same_v<T, int32_t>)
    return DType::kI32;
  else if constexpr (std::is_same_v<T, uint8_t>)
    return DType::kU8;
  else if constexpr (std::is_same_v<T, bool>)
    return DType::kBool;
  else
    static_assert(sizeof(T) == 0, "no DType for this element type");
}

inline constexpr int kMaxDims = 4;

// Shape of a contiguous row-major tensor of 0 to kMaxDims dimensions.
struct Shape {
  int32_t num_dims = 0;
  std::array<int64_t, kMaxDims> dims{};

  Shape() = default;
  Shape(std::initializer_list<int64_t> sizes);
  explicit Shape(std::span<const int64_t> sizes);
  int64_t operator[](int i) const { return dims[i]; }
  int64_t num_elements() const;   // 1 for a 0-d tensor
  int64_t row_elements() const;   // elements per entry of the first dimension
  std::string to_string() const;  // "[3, 4]"
  bool operator==(const Shape&) const = default;
};

// A read-only or writable view of contiguous memory with another owner.
struct TensorView {
  void* data = nullptr;
  DType dtype = DType::kF32;
  Shape shape;

  int64_t num_bytes() const { return shape.num_elements() * dtype_size(dtype); }
  int64_t rows() const { return shape.num_dims ? shape[0] : 1; }
  int64_t row_bytes() const { return shape.row_elements() * dtype_size(dtype); }
  // Returns the elements as T. Error(kInvalidArgument) if T is not the element type.
  template <typename T>
  std::span<T> as() const {
    if (dtype != dtype_of<std::remove_const_t<T>>())
      fail(Status::kInvalidArgument, "tensor has elements of type ", dtype_name(dtype),
           ", expected ", dtype_name(dtype_of<std::remove_const_t<T>>()));
    return {static_cast<T*>(data), static_cast<size_t>(shape.num_elements())};
  }
};

// A tensor that shares ownership of its memory: heap, mapped file, imported DLPack tensor, or the
// arena of a batch. Copies share the memory.
class Tensor {
 public:
  Tensor() = default;
  Tensor(TensorView view, std::shared_ptr<void> owner) : view_(view), owner_(std::move(owner)) {}
  // Allocates uninitialized memory, aligned to 64 bytes, with huge pages if large. Error(kNoMemory)
  // if there is none.
  static Tensor empty(DType dtype, Shape shape);
  static Tensor zeros(DType dtype, Shape shape);
  template <typename T>
  static Tensor copy_of(std::span<const T> values) {
    Tensor tensor = empty(dtype_of<T>(), {static_cast<int64_t>(values.size())});
    std::copy(values.begin(), values.end(), tensor.as<T>().begin());
    return tensor;
  }

  bool defined() const { return owner_ != nullptr; }
  const TensorView& view() const { return view_; }
  const std::shared_ptr<void>& owner() const { return owner_; }
  DType dtype() const { return view_.dtype; }
  const Shape& shape() const { return view_.shape; }
  int64_t rows() const { return view_.rows(); }
  void* data() const { return view_.data; }
  template <typename T>
  std::span<T> as() const {
    return view_.as<T>();
  }

 private:
  TensorView view_;
  std::shared_ptr<void> owner_;
};

// A sparse matrix in CSR form: row r holds entries indptr[r] .. indptr[r+1].
struct CsrMatrix {
  int64_t num_rows = 0;
  int64_t num_cols = 0;
  Tensor indptr;   // i64 [num_rows + 1]
  Tensor indices;  // i32 [nnz], each in [0, num_cols)
  Tensor values;   // f32 [nnz]
  int64_t nnz() const { return indices.rows(); }
};

}  // namespace gnnmg::base
