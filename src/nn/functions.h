// The differentiable operations that the layers are made of, on our kernels: each is one node of
// LibTorch's autograd graph. Tensors are f32 or f64, matrices row-major.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <span>
#include <utility>

#include "base/thread_pool.h"
#include "nn/device.h"
#include "nn/kernels/kernels.h"
#include "nn/scratch.h"
#include "nn/sparse_view.h"
#include "sample/mini_batch.h"

namespace gnnmg::nn {

struct Transposed;  // device_lists.h

using kernels::Dropout;
using kernels::Reduce;

// Where an operation runs and takes its memory from.
struct Execution {
  base::ThreadPool* pool = nullptr;  // as for_ranges
  Scratch scratch;
  bool gradients = false;  // backward() will be asked for: keep what it needs
  // Lives until backward() has run: the owner of a block that was made on the way.
  std::shared_ptr<const void> owner = {};
  // Where tensors and blocks lie and the kernels run; null: the CPU.
  const Device* device = nullptr;
  // Products of f32 matrices read their factors rounded to bf16; sums stay f32 within a product.
  bool bf16 = false;

  Execution with(std::shared_ptr<const void> kept) const {
    Execution other = *this;
    other.owner = std::move(kept);
    return other;
  }
};

at::Tensor scratch_tensor(const Execution& execution, at::IntArrayRef sizes, at::ScalarType type);

// What comes behind a product: y = dropout(relu(x)).
struct Finish {
  bool relu = false;
  Dropout dropout;
  bool any() const { return relu || dropout.active(); }
};

// y[t] = finish([reduce over the sources s of t: x[s] | own row of t] [lin_l | lin_r]^T + bias),
// the aggregation, one product and what follows it in one pass over chunks of rows that stay in the
// cache. The own row of t is x[t], or x_target[t] where that is defined; without lin_r there is
// none. With `ids`, x is a table without gradient and source s is its row ids[s]. Blocks must stay
// until backward() has run, and carry lists by source if x wants a gradient. Max: the gradient is
// shared evenly among tied edges.
struct AggregateLinear {
  at::Tensor x, x_target;
  // Nobody but layers asks for the gradient of x. If x is the result of an aggregate_linear, that
  // one then makes it chunk by chunk in its own backward pass, and it never exists as a whole.
  bool x_is_internal = false;
  const int64_t* ids = nullptr;
  at::Tensor lin_l, bias,
      lin_r;  // [out, in], [out] or undefined, [out, in of targets] or undefined
};
at::Tensor aggregate_linear(const AggregateLinear& in, const sample::BlockView& block,
                            Reduce reduce, const Finish& finish, const Execution& execution);

// [num_targets, F]: sum, mean or max of the rows of x over the sources of each target.
at::Tensor aggregate(const at::Tensor& x, const sample::BlockView& block, Reduce reduce,
                     const Execution& execution);

// x weight^T for the first num_rows sparse rows, with dropout of the stored values. `by_column`, if
// it is given, is one for all products of these rows, and empty: gradients on a device want the
// entries sorted by column, which the first of them to be made does for all.
at::Tensor sparse_linear(const SparseView& x, int64_t num_rows, const Dropout& dropout,
                         const at::Tensor& weight, const Execution& execution,
                         std::shared_ptr<Transposed> by_column = nullptr);
// The sparse rows as a dense matrix, without a gradient.
at::Tensor densify(const SparseView& x, const Dropout& dropout, at::ScalarType type,
                   const Execution& execution);

// Rows of a table by their ids, as `type`, without a gradient. On the CPU the table is of this
// type.
at::Tensor rows_of_table(const at::Tensor& table, std::span<const int64_t> ids, at::ScalarType type,
                         const Execution& execution);

// finish(x + bias), where the bias may be undefined.
at::Tensor apply_finish(const at::Tensor& x, const Finish& finish, const Execution& execution,
                        const at::Tensor& bias = {});

// For backward passes of what ends with finish(x + bias): the gradient of x from that of y and,
// with a relu, from y; where it is wanted, that of the bias, else undefined.
struct FinishGradient {
  at::Tensor x, bias;
};
FinishGradient finish_gradient(const Finish& finish, const at::Tensor& dy, const at::Tensor& y,
                               bool wants_bias, const Execution& execution);

// finish(x weight^T + bias); the bias may be undefined.
at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                  const Execution& execution, const Finish& finish = {});
// The same of all rows of x, and beside it another of its first rows, those of the targets: the
// gradient of x is made of both at once.
struct LinearOfEnds {
  at::Tensor weight, bias;
  int64_t num_targets = 0;
  at::Tensor target_weight, target_bias;
};
std::pair<at::Tensor, at::Tensor> linear_of_ends(const at::Tensor& x, const LinearOfEnds& by,
                                                 const Execution& execution);

// Rows to unit length; rows of zeros stay.
at::Tensor normalize_rows(const at::Tensor& x, const Execution& execution);

}  // namespace gnnmg::nn
