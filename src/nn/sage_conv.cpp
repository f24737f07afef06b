#include "nn/sage_conv.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/linear.h>

namespace gnnmg::nn {
namespace {

at::Tensor plus(const at::Tensor& a, const at::Tensor& b) {
  if (!a.defined()) return b;
  return b.defined() ? a + b : a;
}

// The convolution before normalisation, with `own` on the rows of the targets.
at::Tensor convolve(const SageConvWeights& w, const SageConvInput& in, const at::Tensor& own,
                    const at::Tensor& bias, const sample::BlockView& block, Reduce reduce,
                    const Finish& finish, const Execution& execution) {
  if (in.sparse) {
    const at::Tensor sources =
        sparse_linear(in.rows, block.num_sources, in.rows_dropout, w.lin_l, execution);
    at::Tensor y = aggregate(sources, block, reduce, execution);
    if (own.defined())
      y = y + sparse_linear(in.rows, block.num_targets, in.rows_dropout, own, execution);
    return apply_finish(plus(y, bias), finish, execution);
  }
  if (transforms_first(reduce, block, w.lin_l.size(1), w.lin_l.size(0)) && !in.ids) {
    at::Tensor y = aggregate(at::linear(in.x, w.lin_l), block, reduce, execution);
    if (!own.defined()) return apply_finish(plus(y, bias), finish, execution);
    const at::Tensor target =
        in.x_target.defined() ? in.x_target : in.x.narrow(0, 0, block.num_targets);
    return apply_finish(y + at::linear(target, own, bias), finish, execution);
  }
  AggregateLinear arguments;
  arguments.x = in.x;
  arguments.x_target = in.x_target;
  arguments.x_is_internal = in.x_is_internal;
  arguments.ids = in.ids;
  arguments.lin_l = w.lin_l;
  arguments.bias = bias;
  arguments.lin_r = own;
  return aggregate_linear(arguments, block, reduce, finish, execution);
}

}  // namespace

at::Tensor own_weight(const SageConvWeights& weights) { return plus(weights.lin_r, weights.skip); }
at::Tensor whole_bias(const SageConvWeights& weights) {
  return plus(weights.lin_l_bias, weights.skip_bias);
}

bool transforms_first(Reduce reduce, const sample::BlockView& block, int64_t in, int64_t out) {
  if (reduce == Reduce::kMax || out >= in) return false;
  // Sixteen operations of a product take about as long as moving one byte of a gathered row.
  const double more_work = 2.0 * static_cast<double>(block.num_sources - block.num_targets) *
                           static_cast<double>(in) * static_cast<double>(out);
  const double fewer_bytes =
      4.0 * static_cast<double>(block.num_edges) * static_cast<double>(in - out);
  return more_work <= 16 * fewer_bytes;
}

at::Tensor sage_conv(const SageConvWeights& w, const SageConvInput& input,
                     const sample::BlockView& block, const SageConvOptions& options,
                     const Finish& finish, const Execution& execution) {
  SageConvInput in = input;
  if (!in.sparse && !in.ids && in.x.size(0) != block.num_sources)
    in.x = in.x.narrow(0, 0, block.num_sources);
  // Products before the maximum would change it, and a projection comes before everything.
  if (in.sparse && (options.reduce == Reduce::kMax || w.lin.defined())) {
    in.x = densify(in.rows, in.rows_dropout, w.lin_l.scalar_type(), execution)
               .narrow(0, 0, block.num_sources);
    in.sparse = false;
  }
  if (w.lin.defined()) {
    if (in.ids) {
      const at::Tensor ids = at::from_blob(const_cast<int64_t*>(in.ids), {block.num_sources},
                                           at::TensorOptions(at::kLong));
      in.x = in.x.index_select(0, ids);
      in.ids = nullptr;
    }
    if (!in.x_target.defined()) in.x_target = in.x.narrow(0, 0, block.num_targets);
    in.x = apply_finish(at::linear(in.x, w.lin, w.lin_bias), Finish{true, {}}, execution);
  }
  if (!options.normalize)
    return convolve(w, in, own_weight(w), whole_bias(w), block, options.reduce, finish, execution);

  at::Tensor y = normalize_rows(
      convolve(w, in, w.lin_r, w.lin_l_bias, block, options.reduce, Finish{}, execution),
      execution);
  if (w.skip.defined()) {
    if (in.sparse) {
      y = y + sparse_linear(in.rows, block.num_targets, in.rows_dropout, w.skip, execution) +
          w.skip_bias;
    } else {
      at::Tensor target = in.x_target;
      if (!target.defined() && in.ids)
        target =
            in.x.index_select(0, at::from_blob(const_cast<int64_t*>(in.ids), {block.num_targets},
                                               at::TensorOptions(at::kLong)));
      else if (!target.defined())
        target = in.x.narrow(0, 0, block.num_targets);
      y = y + at::linear(target, w.skip, w.skip_bias);
    }
  }
  return apply_finish(y, finish, execution);
}

}  // namespace gnnmg::nn
