// Products of dense matrices: by our kernel where it is the faster one, else by LibTorch. Apart
// from the layers, which all multiply by it.
#pragma once

#include <ATen/core/Tensor.h>

#include "nn/functions.h"

namespace gnnmg::nn {

// to = a b, or to += a b, of matrices of one type, f32 or f64; `to` has dense rows. On the calling
// thread, and the pool's or LibTorch's where the execution has a pool, or on its device. In bf16
// where the execution says so, of f32.
void multiply(at::Tensor to, const at::Tensor& a, const at::Tensor& b, const Execution& execution,
              bool add = false);

// `b` in the form in which many multiply() with it are fast.
at::Tensor as_factor(const at::Tensor& b, const Execution& execution);

}  // namespace gnnmg::nn
