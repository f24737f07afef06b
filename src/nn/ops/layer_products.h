// The products of a layer's rows with its matrix on the CPU, forward and backward, chunk by chunk:
// in the matrix's own type, or with factors that are rounded to bf16 while they lie in the cache.
// The execution must live longer than its products.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "nn/ops/functions.h"

namespace gnnmg::nn {

// y = x weight^T. Any number of threads may multiply at once.
class ForwardProduct {
 public:
  // `weight`: [out, in] of f32 or f64. Factors are rounded if the execution is in bf16 and the
  // weight in f32.
  static std::unique_ptr<ForwardProduct> make(const at::Tensor& weight, const Execution& execution);
  virtual ~ForwardProduct() = default;

  // Returns memory for `count` rows of x, in the type that is kept for backward products.
  virtual at::Tensor room(int64_t count) const = 0;
  // Stores rows of the weight's type in rows of a room of another type.
  virtual void keep(const at::Tensor& rows, const at::Tensor& kept) const = 0;
  // Writes y [rows, out]; x: [rows, in] of the weight's type, or rows of a room.
  virtual void multiply(const at::Tensor& y, const at::Tensor& x) const = 0;
};

// The gradients of y = x weight^T from dz, that of y. Any number of threads may add at once.
class BackwardProducts {
 public:
  // Without `wants_x` no gradient of x is asked for.
  static std::unique_ptr<BackwardProducts> make(const at::Tensor& weight, bool wants_x,
                                                const Execution& execution);
  virtual ~BackwardProducts() = default;

  // A result, which is overwritten or added to.
  struct Sum {
    at::Tensor to;
    bool add = false;
  };
  // weight.to [out, in] (+)= dz^T x, and x.to [rows, in] (+)= dz weight if it is defined; dz:
  // [rows, out], at least one row; `rows`: those of x, as for ForwardProduct::multiply().
  virtual void multiply(const at::Tensor& dz, const at::Tensor& rows, const Sum& weight,
                        const Sum& x) const = 0;
};

}  // namespace gnnmg::nn
