// Products of rows with a layer's matrix, whose results and gradients lie in memory that is used
// again. Rows go through in chunks that depend on their number alone, and weight gradients are
// added up in a fixed order, so results do not depend on the number of threads.
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/mm.h>

#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <optional>

#include "nn/functions.h"
#include "nn/parallel.h"
#include "nn/tensors.h"

namespace gnnmg::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t kLanes = 16;  // partial sums of the weight gradient

// Chunks for every lane where they are of some size: each packs the matrix anew.
int64_t chunk_rows(int64_t rows) {
  constexpr int64_t kMin = 1024, kMax = 2048;
  const int64_t even = (rows + kLanes - 1) / kLanes;
  return std::clamp<int64_t>((even + 15) / 16 * 16, kMin, kMax);
}

struct Spec : torch::CustomClassHolder {
  Execution execution;
  int64_t num_first = 0;                  // rows that the second matrix takes
  bool bias = false, first_bias = false;  // of either matrix
};

// Calls body(begin, end) for ranges of `grain`. With a pool, products stay on this thread.
template <typename F>
void ranges(const Execution& execution, int64_t count, int64_t grain, const F& body) {
  if (!execution.pool)
    return for_ranges(nullptr, count, grain, [&](int64_t begin, int64_t end) {
      at::AutoDispatchBelowAutograd below;
      body(begin, end);
    });
  for (int64_t begin = 0; begin < count; begin += grain)
    body(begin, std::min(count, begin + grain));
}

// y = x by + bias, or y += x by.
void multiply(const at::Tensor& x, const at::Tensor& by, const at::Tensor& bias, bool add,
              const at::Tensor& y, const Execution& execution) {
  ranges(execution, y.size(0), chunk_rows(y.size(0)), [&](int64_t begin, int64_t end) {
    const at::Tensor part = x.narrow(0, begin, end - begin);
    at::Tensor to = y.narrow(0, begin, end - begin);
    if (add)
      to.addmm_(part, by);
    else if (bias.defined())
      at::addmm_out(to, bias, part, by);
    else
      at::mm_out(to, part, by);
  });
}

// dy^T x. Lane l takes the chunks l, l + lanes, ... in this order.
at::Tensor weight_gradient(const at::Tensor& dy, const at::Tensor& x, const Execution& execution) {
  const int64_t rows = dy.size(0), chunk = chunk_rows(rows), chunks = (rows + chunk - 1) / chunk;
  const int64_t lanes = std::clamp<int64_t>(chunks, 1, kLanes);
  at::Tensor sums = scratch_tensor(execution, {lanes, dy.size(1), x.size(1)}, dy.scalar_type());
  ranges(execution, lanes, 1, [&](int64_t lane, int64_t) {
    at::Tensor sum = sums[lane];
    if (chunks == 0) sum.zero_();
    for (int64_t k = lane; k < chunks; k += lanes) {
      const int64_t begin = k * chunk, n = std::min(rows - begin, chunk);
      const at::Tensor from = dy.narrow(0, begin, n).t(), part = x.narrow(0, begin, n);
      if (k == lane)
        at::mm_out(sum, from, part);
      else
        sum.addmm_(from, part);
    }
  });
  at::Tensor gradient = sums[0];
  for (int64_t lane = 1; lane < lanes; ++lane) gradient.add_(sums[lane]);
  return gradient;
}

struct LinearFunction : torch::autograd::Function<LinearFunction> {
  static variable_list forward(AutogradContext* context, const at::Tensor& x_any,
                               const at::Tensor& weight, const std::optional<at::Tensor>& bias,
                               const std::optional<at::Tensor>& first_weight,
                               const std::optional<at::Tensor>& first_bias,
                               c10::intrusive_ptr<Spec> spec) {
    context->set_materialize_grads(false);
    context->saved_data["spec"] = c10::IValue::make_capsule(spec);
    spec->bias = bias.has_value();
    spec->first_bias = first_bias.has_value();
    const Execution& execution = spec->execution;
    const at::Tensor x = with_dense_rows(x_any);
    const auto product = [&](const at::Tensor& rows, const at::Tensor& by,
                             const std::optional<at::Tensor>& shift) {
      at::Tensor y = scratch_tensor(execution, {rows.size(0), by.size(0)}, by.scalar_type());
      multiply(rows, by.t(), shift ? *shift : at::Tensor(), false, y, execution);
      return y;
    };
    variable_list all{product(x, weight, bias)};
    if (first_weight)
      all.push_back(product(x.narrow(0, 0, spec->num_first), *first_weight, first_bias));
    if (execution.gradients)
      context->save_for_backward({x, weight, first_weight ? *first_weight : at::Tensor()});
    return all;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto spec =
        c10::static_intrusive_pointer_cast<Spec>(context->saved_data["spec"].toCapsule());
    const Execution& execution = spec->execution;
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1], &first_weight = saved[2];
    at::Tensor dx, by_weight, by_bias, by_first_weight, by_first_bias;
    const bool wants_x = context->needs_input_grad(0);
    if (wants_x) dx = scratch_tensor(execution, x.sizes(), x.scalar_type());
    if (gradients[0].defined()) {
      const at::Tensor dy = with_dense_rows(gradients[0]);
      by_weight = weight_gradient(dy, x, execution);
      if (spec->bias) by_bias = column_sums(dy, execution);
      if (wants_x) multiply(dy, weight, {}, false, dx, execution);
    } else if (wants_x) {
      dx.zero_();
    }
    if (gradients.size() > 1 && gradients[1].defined()) {
      const at::Tensor dy = with_dense_rows(gradients[1]);
      by_first_weight = weight_gradient(dy, x.narrow(0, 0, spec->num_first), execution);
      if (spec->first_bias) by_first_bias = column_sums(dy, execution);
      if (wants_x)
        multiply(dy, first_weight, {}, true, dx.narrow(0, 0, spec->num_first), execution);
    }
    return {dx, by_weight, by_bias, by_first_weight, by_first_bias, at::Tensor()};
  }
};

std::optional<at::Tensor> given(const at::Tensor& t) {
  return t.defined() ? std::optional<at::Tensor>(t) : std::nullopt;
}

}  // namespace

at::Tensor column_sums(const at::Tensor& rows, const Execution& execution) {
  const at::Tensor from = with_dense_rows(rows);
  const int64_t count = from.size(0), width = from.size(1), share = (count + kLanes - 1) / kLanes;
  at::Tensor sums = scratch_tensor(execution, {kLanes, width}, rows.scalar_type());
  visit_type(rows.scalar_type(), [&]<typename T>() {
    const auto in = const_matrix<T>(from);
    const auto out = matrix<T>(sums);
    for_ranges(execution.pool, kLanes, 1, [&](int64_t lane, int64_t) {
      T* to = out.row(lane);
      std::fill_n(to, width, T{0});
      for (int64_t r = lane * share; r < std::min(count, (lane + 1) * share); ++r)
        for (int64_t c = 0; c < width; ++c) to[c] += in.row(r)[c];
    });
  });
  at::Tensor sum = sums[0];
  for (int64_t lane = 1; lane < kLanes; ++lane) sum.add_(sums[lane]);
  return sum;
}

at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                  const Execution& execution) {
  auto spec = c10::make_intrusive<Spec>();
  spec->execution = execution;
  return LinearFunction::apply(x, weight, given(bias), std::optional<at::Tensor>(),
                               std::optional<at::Tensor>(), std::move(spec))[0];
}

std::pair<at::Tensor, at::Tensor> linear_of_ends(const at::Tensor& x, const LinearOfEnds& by,
                                                 const Execution& execution) {
  auto spec = c10::make_intrusive<Spec>();
  spec->execution = execution;
  spec->num_first = by.num_targets;
  const variable_list both =
      LinearFunction::apply(x, by.weight, given(by.bias), given(by.target_weight),
                            given(by.target_bias), std::move(spec));
  return {both[0], both[1]};
}

}  // namespace gnnmg::nn
