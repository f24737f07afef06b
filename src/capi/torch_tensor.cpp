#include "capi/torch_tensor.h"

#include <ATen/ops/from_blob.h>

#include "base/error.h"

namespace gnnmg::capi {
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

base::DType dtype_of(const at::Tensor& tensor) {
  for (const Row& row : kTypes)
    if (row.scalar == tensor.scalar_type()) return row.dtype;
  base::fail(base::Status::kUnsupported, "a tensor of LibTorch's type ",
             static_cast<int>(tensor.scalar_type()), " cannot be handed out");
}

at::ScalarType scalar_type(base::DType dtype) { return kTypes[static_cast<size_t>(dtype)].scalar; }

Export export_torch(const at::Tensor& tensor, bool read_only) {
  auto kept = std::make_shared<at::Tensor>(tensor.detach().contiguous());
  const base::Shape shape(
      std::span<const int64_t>(kept->sizes().data(), static_cast<size_t>(kept->dim())));
  const base::TensorView view{kept->data_ptr(), dtype_of(*kept), shape};
  return export_tensor(view, std::move(kept), read_only);
}

at::Tensor torch_view(const base::TensorView& view) {
  return at::from_blob(
      view.data, at::IntArrayRef(view.shape.dims.data(), static_cast<size_t>(view.shape.num_dims)),
      at::TensorOptions(scalar_type(view.dtype)));
}

}  // namespace gnnmg::capi
