// The operations of attention by products: scores of edges, and their softmax over each target's
// edges. In attention.cpp both are one pass with the weighted sum.
#include <torch/csrc/autograd/custom_function.h>

#include "nn/ops/edge_functions.h"
#include "nn/ops/launch.h"

namespace gnnmg::nn {
namespace {

using kernels::DeviceLayers;
using kernels::Table;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t kScoreRows = 256;  // targets or sources in one range

struct EdgeScoreSpec : torch::CustomClassHolder {
  sample::BlockView block;
  Execution execution;
  int64_t heads = 1;
};

c10::intrusive_ptr<EdgeScoreSpec> score_spec(AutogradContext* context) {
  return c10::static_intrusive_pointer_cast<EdgeScoreSpec>(context->saved_data["spec"].toCapsule());
}

template <typename T>
kernels::WeightedLists<T> lists_of(const EdgeScoreSpec& spec, int64_t width, const T* weights) {
  kernels::WeightedLists<T> edges;
  edges.lists = lists_by_target(spec.block);
  edges.weights = weights;
  edges.heads = spec.heads;
  edges.channels = width / spec.heads;
  return edges;
}

struct DotsFunction : torch::autograd::Function<DotsFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const at::Tensor& x_target, c10::intrusive_ptr<EdgeScoreSpec> spec) {
    context->saved_data["spec"] = c10::IValue::make_capsule(spec);
    const sample::BlockView& block = spec->block;
    const at::Tensor rows = with_dense_rows(x), targets = with_dense_rows(x_target);
    at::Tensor dots =
        scratch_tensor(spec->execution, {block.num_edges, spec->heads}, x.scalar_type());
    visit_type(x.scalar_type(), [&]<typename T>() {
      const auto edges = lists_of<T>(*spec, rows.size(1), nullptr);
      over_rows(spec->execution, block.num_targets, kScoreRows, &Table<T>::edge_dots,
                &DeviceLayers<T>::edge_dots, edges, rows_of<T>(rows), const_matrix<T>(targets),
                dots.mutable_data_ptr<T>());
    });
    if (spec->execution.gradients) {
      lists_by_source(block);
      context->save_for_backward({rows, targets});
    }
    return dots;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto spec = score_spec(context);
    const sample::BlockView& block = spec->block;
    const Execution& execution = spec->execution;
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &targets = saved[1];
    const int64_t width = x.size(1), count = block.num_edges * spec->heads;
    // Includes padding, because kernels of several heads may read beyond the last weight.
    at::Tensor weights =
        scratch_tensor(execution, {count + kernels::kPadding}, gradients[0].scalar_type());
    weights.narrow(0, count, kernels::kPadding).zero_();
    weights.narrow(0, 0, count).view(gradients[0].sizes()).copy_(gradients[0]);
    at::Tensor dx, dtarget;
    visit_type(x.scalar_type(), [&]<typename T>() {
      const auto edges = lists_of<T>(*spec, width, weights.const_data_ptr<T>());
      if (context->needs_input_grad(0)) {
        dx = scratch_tensor(execution, {block.num_sources, width}, x.scalar_type());
        const BySource sources = by_source(block, execution);
        over_rows(execution, block.num_sources, kScoreRows, &Table<T>::weighted_transposed,
                  &DeviceLayers<T>::weighted_transposed, edges, sources.edges,
                  const_matrix<T>(targets), matrix<T>(dx));
      }
      if (context->needs_input_grad(1)) {
        dtarget = scratch_tensor(execution, targets.sizes(), x.scalar_type());
        over_rows(execution, block.num_targets, kScoreRows, &Table<T>::weighted_sum,
                  &DeviceLayers<T>::weighted_sum, edges, rows_of<T>(x), kernels::Matrix<const T>{},
                  matrix<T>(dtarget));
      }
    });
    return {dx, dtarget, at::Tensor()};
  }
};

struct SoftmaxFunction : torch::autograd::Function<SoftmaxFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& scores,
                            c10::intrusive_ptr<EdgeScoreSpec> spec) {
    context->saved_data["spec"] = c10::IValue::make_capsule(spec);
    const at::Tensor from = scores.contiguous();
    at::Tensor out = scratch_tensor(spec->execution, from.sizes(), from.scalar_type());
    visit_type(from.scalar_type(), [&]<typename T>() {
      over_rows(spec->execution, spec->block.num_targets, kScoreRows, &Table<T>::softmax,
                &DeviceLayers<T>::softmax, lists_by_target(spec->block), from.const_data_ptr<T>(),
                spec->heads, out.mutable_data_ptr<T>());
    });
    if (spec->execution.gradients) context->save_for_backward({out});
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto spec = score_spec(context);
    const at::Tensor out = context->get_saved_variables()[0], dy = gradients[0].contiguous();
    at::Tensor dx = scratch_tensor(spec->execution, dy.sizes(), dy.scalar_type());
    visit_type(dy.scalar_type(), [&]<typename T>() {
      over_rows(spec->execution, spec->block.num_targets, kScoreRows, &Table<T>::softmax_backward,
                &DeviceLayers<T>::softmax_backward, lists_by_target(spec->block),
                out.const_data_ptr<T>(), dy.const_data_ptr<T>(), spec->heads,
                dx.mutable_data_ptr<T>());
    });
    return {dx, at::Tensor()};
  }
};

c10::intrusive_ptr<EdgeScoreSpec> make_spec(const sample::BlockView& block,
                                            const Execution& execution, int64_t heads) {
  auto spec = c10::make_intrusive<EdgeScoreSpec>();
  spec->block = block;
  spec->execution = execution;
  spec->heads = heads;
  return spec;
}

}  // namespace

at::Tensor edge_dots(const at::Tensor& x, const at::Tensor& x_target, int64_t heads,
                     const sample::BlockView& block, const Execution& execution) {
  return DotsFunction::apply(x, x_target, make_spec(block, execution, heads));
}

at::Tensor edge_softmax(const at::Tensor& scores, const sample::BlockView& block,
                        const Execution& execution) {
  return SoftmaxFunction::apply(scores, make_spec(block, execution, scores.size(1)));
}

}  // namespace gnnmg::nn
