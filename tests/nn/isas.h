// Every compiled instruction set; a machine may support fewer.
#pragma once

#include "nn/kernels/kernels.h"

namespace gnnmg::nn::kernels {

inline constexpr Isa kAllIsas[] = {Isa::kGeneric, Isa::kAvx2, Isa::kAvx512};

}  // namespace gnnmg::nn::kernels
