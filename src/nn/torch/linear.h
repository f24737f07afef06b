// LibTorch's product with a matrix of weights, for products that are too small or too rare for
// linear() of functions.h.
#pragma once

#include <ATen/Context.h>
#include <ATen/ops/linear.h>

#include "nn/torch/parallel.h"

namespace gnnmg::nn {

inline at::Tensor linear_then_bias(const at::Tensor& x, const at::Tensor& weight,
                                   const at::Tensor& bias) {
  return at::linear(x, weight) + bias;
}

// Returns x weight^T + bias; the bias may be undefined. Exactly in f32 if the calling thread has
// set that: with a bias LibTorch uses cuBLASLt on a GPU, which looks only at the process's setting
// for TF32.
inline at::Tensor torch_linear(const at::Tensor& x, const at::Tensor& weight,
                               const at::Tensor& bias = {}) {
  const TorchThreads threads(x,
                             static_cast<double>(x.numel()) * static_cast<double>(weight.size(0)));
  if (!bias.defined() || x.is_cpu() || !at::NoTF32Guard::should_disable_tf32())
    return at::linear(x, weight, bias);
  return linear_then_bias(x, weight, bias);
}

}  // namespace gnnmg::nn
