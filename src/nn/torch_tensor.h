// What LibTorch's tensors and ours say to each other: element types, shapes, views of one memory.
#pragma once

#include <ATen/core/Tensor.h>

#include "base/tensor.h"

namespace gnnmg::nn {

at::ScalarType scalar_type(base::DType dtype);
// Error(kUnsupported) for a type that we have no name for.
base::DType dtype_of(const at::Tensor& tensor);
base::Shape shape_of(const at::Tensor& tensor);
// A tensor of LibTorch's over memory that stays somebody else's.
at::Tensor view_of(const base::TensorView& view);

}  // namespace gnnmg::nn
