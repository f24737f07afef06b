// Conversions between LibTorch's tensors and the library's: element types, shapes, shared memory.
#pragma once

#include <ATen/core/Tensor.h>

#include "base/tensor.h"

namespace gnnmg::nn {

at::ScalarType scalar_type(base::DType dtype);
// Error(kUnsupported) for a type without a counterpart.
base::DType dtype_of(const at::Tensor& tensor);
base::Shape shape_of(const at::Tensor& tensor);
// Returns a LibTorch tensor over memory with another owner.
at::Tensor view_of(const base::TensorView& view);

}  // namespace gnnmg::nn
