// Products of rows with a layer's matrix, whose results and gradients use recycled memory. On the
// CPU rows are processed in chunks that depend only on their number, and weight gradients are added
// in a fixed order, so results do not depend on the number of threads. On a device there is one
// product of all rows.
#include <ATen/core/LegacyTypeDispatch.h>

#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <optional>

#include "nn/ops/launch.h"
#include "nn/ops/layer_products.h"
#include "nn/ops/product.h"

namespace gnnmg::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t kLinearSums = 16;  // partial sums of the weight gradient

// Chunks for every lane if they are large enough, because each chunk packs the matrix again.
int64_t linear_chunk(int64_t rows) {
  constexpr int64_t kMin = 1024, kMax = 2048;
  const int64_t even = (rows + kLinearSums - 1) / kLinearSums;
  return std::clamp<int64_t>((even + 15) / 16 * 16, kMin, kMax);
}

struct LinearSpec : torch::CustomClassHolder {
  Execution execution;
  Finish finish;
  int64_t num_first = 0;                  // number of rows for the second matrix
  bool bias = false, first_bias = false;  // true if the matrix has a bias
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

// y = finish(x weight^T + bias), on the CPU chunk by chunk.
void product(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
             const Finish& finish, const at::Tensor& y, const Execution& execution) {
  if (execution.device) {
    multiply(y, x, weight.t(), execution);
    return finish_in_place(y, bias, finish, execution);
  }
  const int64_t rows = y.size(0), chunk = linear_chunk(rows);
  const auto by_weight = ForwardProduct::make(weight, execution);
  visit_type(y.scalar_type(), [&]<typename T>() {
    const T* shift = bias.defined() ? bias.const_data_ptr<T>() : nullptr;
    const auto finish_rows = [&](int64_t begin, int64_t end) {
      if (shift || finish.any())
        kernels::table<T>().finish(const_matrix<T>(y), y.size(1), shift, finish.relu,
                                   finish.dropout, matrix<T>(y), begin, end);
    };
    ranges(execution, rows, chunk, [&](int64_t begin, int64_t end) {
      by_weight->multiply(y.narrow(0, begin, end - begin), x.narrow(0, begin, end - begin));
      if (!execution.pool) finish_rows(begin, end);
    });
    if (execution.pool) for_ranges(execution.pool, rows, chunk, finish_rows);
  });
}

// The requested gradients, and whether the gradient of x is added to the old values.
struct Wanted {
  bool bias = false;
  at::Tensor x{};
  bool add = false;
};
struct Gradients {
  at::Tensor weight, bias;
};

// The same as backward_of(), all rows at once.
Gradients backward_on_device(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& weight,
                             const at::Tensor& y, const Finish& finish, const Wanted& wanted,
                             const Execution& execution) {
  const FinishGradient dz = finish_gradient(finish, dy, y, wanted.bias, execution);
  Gradients gradients{scratch_tensor(execution, weight.sizes(), dy.scalar_type()), dz.bias};
  multiply(gradients.weight, dz.x.t(), x, execution);
  if (wanted.x.defined()) multiply(wanted.x, dz.x, weight, execution, wanted.add);
  return gradients;
}

// Returns the gradients of y = finish(x weight^T + bias), computed from chunks of rows that stay in
// the cache. Lane l takes chunks l, l + lanes, ... in this order.
Gradients backward_of(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& weight,
                      const at::Tensor& y, const Finish& finish, const Wanted& wanted,
                      const Execution& execution) {
  if (execution.device) return backward_on_device(dy, x, weight, y, finish, wanted, execution);
  const int64_t rows = dy.size(0), width = dy.size(1);
  const int64_t chunk = linear_chunk(rows), chunks = (rows + chunk - 1) / chunk;
  const int64_t lanes = std::clamp<int64_t>(chunks, 1, kLinearSums);
  at::Tensor weights = scratch_tensor(execution, {lanes, width, x.size(1)}, dy.scalar_type());
  const auto products = BackwardProducts::make(weight, wanted.x.defined(), execution);
  at::Tensor biases;
  if (wanted.bias)
    biases = scratch_tensor(execution, {std::max<int64_t>(chunks, 1), width}, dy.scalar_type());
  visit_type(dy.scalar_type(), [&]<typename T>() {
    const kernels::Table<T>& table = kernels::table<T>();
    if (chunks == 0 && wanted.bias) std::fill_n(biases.mutable_data_ptr<T>(), width, T{0});
    const auto out = finish.relu ? const_matrix<T>(y) : kernels::Matrix<const T>{};
    ranges(execution, lanes, 1, [&](int64_t lane, int64_t) {
      at::Tensor sum = weights[lane];
      if (chunks == 0) sum.zero_();
      at::Tensor room;
      if (finish.any())
        room = scratch_tensor(execution, {std::min(chunk, rows), width}, dy.scalar_type());
      for (int64_t k = lane; k < chunks; k += lanes) {
        const int64_t begin = k * chunk, n = std::min(rows - begin, chunk);
        T* bias_sum = wanted.bias ? matrix<T>(biases).row(k) : nullptr;
        at::Tensor dz = dy.narrow(0, begin, n);
        if (finish.any()) {
          dz = room.narrow(0, 0, n);
          // Row `begin` of all rows is row 0 of this chunk's scratch.
          kernels::Matrix<T> dz_at = matrix<T>(dz);
          dz_at.data -= begin * dz_at.stride;
          if (bias_sum) std::fill_n(bias_sum, width, T{0});
          table.finish_backward(const_matrix<T>(dy), out, width, finish.relu, finish.dropout, dz_at,
                                bias_sum, begin, begin + n);
        } else if (bias_sum) {
          table.column_sums(const_matrix<T>(dy), width, bias_sum, begin, begin + n);
        }
        const at::Tensor dx = wanted.x.defined() ? wanted.x.narrow(0, begin, n) : at::Tensor();
        products->multiply(dz, x.narrow(0, begin, n), {sum, /*add=*/k != lane}, {dx, wanted.add});
      }
    });
    add_up<T>(weights);
    if (wanted.bias) add_up<T>(biases);
  });
  return {weights[0], wanted.bias ? biases[0] : at::Tensor()};
}

struct LinearFunction : torch::autograd::Function<LinearFunction> {
  static variable_list forward(AutogradContext* context, const at::Tensor& x_any,
                               const at::Tensor& weight, const std::optional<at::Tensor>& bias,
                               const std::optional<at::Tensor>& first_weight,
                               const std::optional<at::Tensor>& first_bias,
                               c10::intrusive_ptr<LinearSpec> spec) {
    context->set_materialize_grads(false);
    context->saved_data["spec"] = c10::IValue::make_capsule(spec);
    spec->bias = bias.has_value();
    spec->first_bias = first_bias.has_value();
    const Execution& execution = spec->execution;
    const at::Tensor x = with_dense_rows(x_any);
    const auto times = [&](const at::Tensor& rows, const at::Tensor& by,
                           const std::optional<at::Tensor>& shift) {
      at::Tensor y = scratch_tensor(execution, {rows.size(0), by.size(0)}, by.scalar_type());
      product(rows, by, shift ? *shift : at::Tensor(), spec->finish, y, execution);
      return y;
    };
    variable_list all{times(x, weight, bias)};
    if (first_weight)
      all.push_back(times(x.narrow(0, 0, spec->num_first), *first_weight, first_bias));
    if (execution.gradients)
      context->save_for_backward({x, weight, first_weight ? *first_weight : at::Tensor(),
                                  spec->finish.relu ? all[0] : at::Tensor()});
    return all;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto spec =
        c10::static_intrusive_pointer_cast<LinearSpec>(context->saved_data["spec"].toCapsule());
    const Execution& execution = spec->execution;
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1], &first_weight = saved[2];
    at::Tensor dx;
    Gradients all, first;
    if (context->needs_input_grad(0)) dx = scratch_tensor(execution, x.sizes(), x.scalar_type());
    if (gradients[0].defined())
      all = backward_of(with_dense_rows(gradients[0]), x, weight, saved[3], spec->finish,
                        {spec->bias, dx, false}, execution);
    else if (dx.defined())
      dx.zero_();
    if (gradients.size() > 1 && gradients[1].defined()) {
      const at::Tensor first_dx = dx.defined() ? dx.narrow(0, 0, spec->num_first) : at::Tensor();
      first = backward_of(with_dense_rows(gradients[1]), x.narrow(0, 0, spec->num_first),
                          first_weight, {}, {}, {spec->first_bias, first_dx, true}, execution);
    }
    return {dx, all.weight, all.bias, first.weight, first.bias, at::Tensor()};
  }
};

std::optional<at::Tensor> given(const at::Tensor& t) {
  return t.defined() ? std::optional<at::Tensor>(t) : std::nullopt;
}

}  // namespace

at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                  const Execution& execution, const Finish& finish) {
  auto spec = c10::make_intrusive<LinearSpec>();
  spec->execution = execution;
  spec->finish = finish;
  return LinearFunction::apply(x, weight, given(bias), std::optional<at::Tensor>(),
                               std::optional<at::Tensor>(), std::move(spec))[0];
}

std::pair<at::Tensor, at::Tensor> linear_of_ends(const at::Tensor& x, const LinearOfEnds& by,
                                                 const Execution& execution) {
  auto spec = c10::make_intrusive<LinearSpec>();
  spec->execution = execution;
  spec->num_first = by.num_targets;
  const variable_list both =
      LinearFunction::apply(x, by.weight, given(by.bias), given(by.target_weight),
                            given(by.target_bias), std::move(spec));
  return {both[0], both[1]};
}

}  // namespace gnnmg::nn
