// Products of dense matrices, by the library's kernel if it is faster, else by LibTorch.
#pragma once

#include <ATen/core/Tensor.h>

#include "nn/ops/functions.h"

namespace gnnmg::nn {

// to = a b, or to += a b, for matrices of one type, f32 or f64; `to` has dense rows. Runs on the
// calling thread, and on the pool's threads or LibTorch's if the execution has a pool, or on its
// device. On a device products of f32 use bf16 if the execution says so.
void multiply(at::Tensor to, const at::Tensor& a, const at::Tensor& b, const Execution& execution,
              bool add = false);

// Returns `b` in the form that makes many multiply() calls with it fast.
at::Tensor as_factor(const at::Tensor& b, const Execution& execution);

}  // namespace gnnmg::nn
