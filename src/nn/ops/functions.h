// The differentiable operations of the layers, on the library's own kernels: each is one node of
// LibTorch's autograd graph. Tensors are f32 or f64, matrices row-major.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <span>
#include <utility>

#include "base/thread_pool.h"
#include "nn/kernels/kernels.h"
#include "nn/ops/scratch.h"
#include "nn/ops/sparse_view.h"
#include "nn/torch/device.h"
#include "sample/mini_batch.h"

namespace gnnmg::nn {

struct Transposed;  // device_lists.h

using kernels::Dropout;
using kernels::Reduce;

// The threads, memory and device of an operation.
struct Execution {
  base::ThreadPool* pool = nullptr;  // see for_ranges()
  Scratch scratch;
  bool gradients = false;  // keep the data that backward() needs
  // Lives until backward() has run: the owner of a block that was made on the way.
  std::shared_ptr<const void> owner = {};
  // Device of tensors, blocks and kernels; null: the CPU.
  const Device* device = nullptr;
  // Products of f32 matrices round their factors to bf16; sums within a product stay f32.
  bool bf16 = false;

  Execution with(std::shared_ptr<const void> kept) const {
    Execution other = *this;
    other.owner = std::move(kept);
    return other;
  }
};

at::Tensor scratch_tensor(const Execution& execution, at::IntArrayRef sizes, at::ScalarType type);

// The operations after a product: y = dropout(relu(x)).
struct Finish {
  bool relu = false;
  Dropout dropout;
  bool any() const { return relu || dropout.active(); }
};

// y[t] = finish([reduce over the sources s of t: x[s] | own row of t] [lin_l | lin_r]^T + bias).
// Aggregation, one product and the following operations run in one pass over chunks of rows that
// stay in the cache. The own row of t is x[t], or x_target[t] if that is defined; without lin_r
// there is none. With `ids`, x is a table without gradient and source s is its row ids[s]. Blocks
// must stay until backward() has run, and need lists by source if x needs a gradient. Max: tied
// edges share the gradient evenly.
struct AggregateLinear {
  at::Tensor x, x_target;
  // Only layers use the gradient of x. If x is the result of an aggregate_linear(), that node
  // computes the gradient chunk by chunk in its own backward pass, and it is never stored as a
  // whole.
  bool x_is_internal = false;
  const int64_t* ids = nullptr;
  at::Tensor lin_l, bias,
      lin_r;  // [out, in], [out] or undefined, [out, in of targets] or undefined
};
at::Tensor aggregate_linear(const AggregateLinear& in, const sample::BlockView& block,
                            Reduce reduce, const Finish& finish, const Execution& execution);

// Returns [num_targets, F]: sum, mean or max of the rows of x over the sources of each target.
at::Tensor aggregate(const at::Tensor& x, const sample::BlockView& block, Reduce reduce,
                     const Execution& execution);

// Returns x weight^T for the first num_rows sparse rows, with dropout of the stored values.
// `by_column`, if given, is shared by all products of these rows and initially empty: gradients on
// a device need the entries sorted by column, and the first product sorts them for all.
at::Tensor sparse_linear(const SparseView& x, int64_t num_rows, const Dropout& dropout,
                         const at::Tensor& weight, const Execution& execution,
                         std::shared_ptr<Transposed> by_column = nullptr);
// Returns the sparse rows as a dense matrix, without a gradient.
at::Tensor densify(const SparseView& x, const Dropout& dropout, at::ScalarType type,
                   const Execution& execution);

// Returns rows of a table by their ids, as `type`, without a gradient. On the CPU the table has
// this type.
at::Tensor rows_of_table(const at::Tensor& table, std::span<const int64_t> ids, at::ScalarType type,
                         const Execution& execution);

// Returns finish(x + bias); the bias may be undefined.
at::Tensor apply_finish(const at::Tensor& x, const Finish& finish, const Execution& execution,
                        const at::Tensor& bias = {});

// For backward passes of operations that end with finish(x + bias): the gradient of x from the
// gradient of y and, with a ReLU, from y; and the gradient of the bias if wanted, else undefined.
struct FinishGradient {
  at::Tensor x, bias;
};
FinishGradient finish_gradient(const Finish& finish, const at::Tensor& dy, const at::Tensor& y,
                               bool wants_bias, const Execution& execution);

// Returns finish(x weight^T + bias); the bias may be undefined.
at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                  const Execution& execution, const Finish& finish = {});
// The same for all rows of x, together with a second product for its first rows, those of the
// targets. Both contribute to the gradient of x in one step.
struct LinearOfEnds {
  at::Tensor weight, bias;
  int64_t num_targets = 0;
  at::Tensor target_weight, target_bias;
};
std::pair<at::Tensor, at::Tensor> linear_of_ends(const at::Tensor& x, const LinearOfEnds& by,
                                                 const Execution& execution);

// Scales rows to unit length; rows of zeros stay.
at::Tensor normalize_rows(const at::Tensor& x, const Execution& execution);

}  // namespace gnnmg::nn
