// LibTorch's tensors in and out as DLPack.
#pragma once

#include <ATen/core/Tensor.h>

#include "base/tensor.h"
#include "capi/tensor.h"

namespace gnnmg::capi {

// Shares memory with `tensor`, which is made contiguous first where it is not.
Export export_torch(const at::Tensor& tensor, bool read_only);

// A tensor of LibTorch's over memory that stays somebody else's.
at::Tensor torch_view(const base::TensorView& view);

base::DType dtype_of(const at::Tensor& tensor);
at::ScalarType scalar_type(base::DType dtype);

}  // namespace gnnmg::capi
