// LibTorch's tensors out as DLPack.
#pragma once

#include <ATen/core/Tensor.h>

#include "base/tensor.h"
#include "capi/tensor.h"

namespace gnnmg::capi {

// Shares memory with `tensor`, which is made contiguous first where it is not.
Export export_torch(const at::Tensor& tensor, bool read_only);
// A tensor on memory that stays somebody else's, which may be a device's: that of number
// `view.device` of the type of `beside`.
at::Tensor torch_view(const PlacedView& view, at::Device beside);

}  // namespace gnnmg::capi
