#include "nn/layers/step_norm.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/split_with_sizes.h>
#include <ATen/ops/square.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

#include <torch/csrc/autograd/custom_function.h>

namespace gnnmg::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

at::Tensor column_sums(const at::Tensor& rows) { return at::sum(rows, {0}, false, at::kDouble); }

// Moments of the rows of all ranks, in f64.
struct Moments {
  double count = 0;
  at::Tensor mean, square;  // [width]: mean, and sum of squared distances from it
};

// `rows` may be undefined.
Moments moments_of(const at::Tensor& rows, const at::Tensor& shift, const SumOverRanks& sum) {
  const int64_t width = shift.numel();
  at::Tensor sums = at::zeros({1 + 2 * width}, shift.options().dtype(at::kDouble));
  if (rows.defined()) {
    const at::Tensor distances = rows - shift;
    sums[0].fill_(static_cast<double>(rows.size(0)));
    sums.narrow(0, 1, width).copy_(column_sums(distances));
    sums.narrow(0, 1 + width, width).copy_(column_sums(distances.square()));
  }
  sum(sums);
  Moments moments;
  // The only wait for a device: the number of rows determines whether there is a result.
  moments.count = sums[0].item<double>();
  if (moments.count < 2) return moments;
  const at::Tensor first = sums.narrow(0, 1, width), second = sums.narrow(0, 1 + width, width);
  moments.mean = shift + first / moments.count;
  moments.square = (second - first.square() / moments.count).clamp_min(0);
  return moments;
}

struct StepNormSpec : torch::CustomClassHolder {
  Moments moments;
  double epsilon = 0;
  SumOverRanks sum;
};

struct StepNormFunction : torch::autograd::Function<StepNormFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& rows,
                            const at::Tensor& weight, const at::Tensor& bias,
                            c10::intrusive_ptr<StepNormSpec> spec) {
    const Moments& m = spec->moments;
    const at::ScalarType type = rows.scalar_type();
    const at::Tensor scale = (m.square / m.count + spec->epsilon).rsqrt().to(type);
    const at::Tensor unit = (rows - m.mean.to(type)) * scale;
    context->save_for_backward({unit, weight, scale});
    context->saved_data["spec"] = c10::IValue::make_capsule(spec);
    return unit * weight + bias;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto spec =
        c10::static_intrusive_pointer_cast<StepNormSpec>(context->saved_data["spec"].toCapsule());
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &unit = saved[0], &weight = saved[1], &scale = saved[2];
    const at::Tensor& dy = gradients[0];
    const int64_t width = weight.numel();
    const at::ScalarType type = dy.scalar_type();
    at::Tensor sums = at::cat({column_sums(dy), column_sums(dy * unit)});
    // Both are gradients of this rank's rows, which the step's exchange sums.
    const at::Tensor bias_gradient = sums.narrow(0, 0, width).to(type, false, true);
    const at::Tensor weight_gradient = sums.narrow(0, width, width).to(type, false, true);
    spec->sum(sums);
    const at::Tensor means = (sums / spec->moments.count).to(type);
    const at::Tensor dx =
        (dy - means.narrow(0, 0, width) - unit * means.narrow(0, width, width)) * (weight * scale);
    return {dx, weight_gradient, bias_gradient, at::Tensor()};
  }
};

}  // namespace

StepNorm step_norm(const std::vector<at::Tensor>& rows, const StepNormParameters& parameters,
                   const SumOverRanks& sum) {
  const at::Tensor all = rows.empty() ? at::Tensor() : rows.size() == 1 ? rows[0] : at::cat(rows);
  auto spec = c10::make_intrusive<StepNormSpec>();
  spec->epsilon = parameters.epsilon;
  spec->sum = sum;
  {
    const c10::NoGradGuard no_grad;
    spec->moments = moments_of(all, parameters.shift, sum);
  }
  StepNorm out;
  out.count = spec->moments.count;
  if (out.count < 2) return out;
  const at::ScalarType type = parameters.weight.scalar_type();
  out.mean = spec->moments.mean.to(type);
  out.variance = (spec->moments.square / (out.count - 1)).to(type);
  if (rows.empty()) return out;
  std::vector<int64_t> sizes;
  for (const at::Tensor& part : rows) sizes.push_back(part.size(0));
  const at::Tensor y =
      StepNormFunction::apply(all, parameters.weight, parameters.bias, std::move(spec));
  out.rows = rows.size() == 1 ? std::vector<at::Tensor>{y} : at::split_with_sizes(y, sizes);
  return out;
}

void absent_step_norm(int64_t width, at::Device device, const SumOverRanks& sum) {
  at::Tensor sums = at::zeros({2 * width}, at::TensorOptions(at::kDouble).device(device));
  sum(sums);
}

}  // namespace gnnmg::nn
