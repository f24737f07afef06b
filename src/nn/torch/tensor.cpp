#include "nn/torch/tensor.h"

#include <ATen/ops/from_blob.h>

#include <span>

#include "base/error.h"

namespace gnnmg::nn {
namespace {

using base::DType;

struct Row {
  DType dtype;
  at::ScalarType scalar;
};
constexpr Row kTypes[] = {
    {DType::kF32, at::kFloat},     {DType::kF64, at::kDouble}, {DType::kF16, at::kHalf},
    {DType::kBF16, at::kBFloat16}, {DType::kI64, at::kLong},   {DType::kI32, at::kInt},
    {DType::kU8, at::kByte},       {DType::kBool, at::kBool},
};

}  // namespace

at::ScalarType scalar_type(DType dtype) {
  for (const Row& row : kTypes)
    if (row.dtype == dtype) return row.scalar;
  base::fail(base::Status::kInternal, "element type ", static_cast<int>(dtype), " has no name");
}

DType dtype_of(const at::Tensor& tensor) {
  for (const Row& row : kTypes)
    if (row.scalar == tensor.scalar_type()) return row.dtype;
  base::fail(base::Status::kUnsupported, "a tensor of LibTorch's type ",
             static_cast<int>(tensor.scalar_type()), " cannot be exported");
}

base::Shape shape_of(const at::Tensor& tensor) {
  const at::IntArrayRef sizes = tensor.sizes();
  return base::Shape(std::span<const int64_t>(sizes.data(), sizes.size()));
}

at::Tensor view_of(const base::TensorView& view) {
  return at::from_blob(
      view.data, at::IntArrayRef(view.shape.dims.data(), static_cast<size_t>(view.shape.num_dims)),
      at::TensorOptions(scalar_type(view.dtype)));
}

}  // namespace gnnmg::nn
