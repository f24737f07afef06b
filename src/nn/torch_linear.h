// LibTorch's product with a matrix of weights, for what is too small or too rare for linear() of
// functions.h.
#pragma once

#include <ATen/Context.h>
#include <ATen/ops/linear.h>

namespace gnnmg::nn {

inline at::Tensor linear_then_bias(const at::Tensor& x, const at::Tensor& weight,
                                   const at::Tensor& bias) {
  return at::linear(x, weight) + bias;
}

// x weight^T + bias; the bias may be undefined. In f32 where the calling thread asks for that: with
// a bias LibTorch multiplies on a GPU by cuBLASLt, for which it looks at the setting of TF32 of the
// process alone.
inline at::Tensor torch_linear(const at::Tensor& x, const at::Tensor& weight,
                               const at::Tensor& bias = {}) {
  if (!bias.defined() || x.is_cpu() || !at::NoTF32Guard::should_disable_tf32())
    return at::linear(x, weight, bias);
  return linear_then_bias(x, weight, bias);
}

}  // namespace gnnmg::nn
