// The maximum with DGL's gradient for ties, which goes to one edge.
#include <ATen/ops/empty.h>

#include <torch/csrc/autograd/custom_function.h>

#include "nn/ops/edge_functions.h"
#include "nn/ops/launch.h"

namespace gnnmg::nn {
namespace {

using kernels::DeviceLayers;
using kernels::Table;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t kMaxRows = 256;  // targets or sources in one range

struct LastMaxSpec : torch::CustomClassHolder {
  sample::BlockView block;
  Execution execution;
};

struct LastMaxFunction : torch::autograd::Function<LastMaxFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            c10::intrusive_ptr<LastMaxSpec> spec) {
    context->saved_data["spec"] = c10::IValue::make_capsule(spec);
    const sample::BlockView& block = spec->block;
    const Execution& execution = spec->execution;
    const int64_t width = x.size(1);
    const at::Tensor rows = with_dense_rows(x);
    at::Tensor out = scratch_tensor(execution, {block.num_targets, width}, x.scalar_type());
    at::Tensor winner;
    if (execution.gradients && x.requires_grad()) {
      lists_by_source(block);
      winner = at::empty({block.num_targets, width}, options_of(execution, at::kInt));
    }
    visit_type(x.scalar_type(), [&]<typename T>() {
      const kernels::Rows<T> sources = rows_of<T>(rows);
      const auto to = matrix<T>(out);
      const kernels::Lists lists = lists_by_target(block);
      if (const Device* device = execution.device) {
        const DeviceLayers<T>& layers = device->layers<T>();
        layers.aggregate(device->queue, Reduce::kMax, lists, sources, width, to, block.num_targets);
        if (winner.defined())
          layers.last_winner(device->queue, lists, sources, const_matrix<T>(out), width,
                             winner.mutable_data_ptr<int32_t>(), block.num_targets);
        return;
      }
      for_ranges(execution.pool, block.num_targets, kMaxRows, [&](int64_t begin, int64_t end) {
        kernels::table<T>().aggregate(Reduce::kMax, lists, sources, width,
                                      {to.row(begin), to.stride}, begin, end);
        if (winner.defined())
          kernels::table<T>().last_winner(lists, sources, const_matrix<T>(out), width,
                                          winner.mutable_data_ptr<int32_t>(), begin, end);
      });
    });
    if (winner.defined()) context->save_for_backward({winner});
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto spec =
        c10::static_intrusive_pointer_cast<LastMaxSpec>(context->saved_data["spec"].toCapsule());
    const sample::BlockView& block = spec->block;
    const at::Tensor dy = with_dense_rows(gradients[0]);
    const at::Tensor winner = context->get_saved_variables()[0];
    const int64_t width = dy.size(1);
    at::Tensor dx = scratch_tensor(spec->execution, {block.num_sources, width}, dy.scalar_type());
    const BySource sources = by_source(block, spec->execution);
    visit_type(dy.scalar_type(), [&]<typename T>() {
      over_rows(spec->execution, block.num_sources, kMaxRows, &Table<T>::winner_transposed,
                &DeviceLayers<T>::winner_transposed, sources.edges,
                winner.const_data_ptr<int32_t>(), const_matrix<T>(dy), width, matrix<T>(dx));
    });
    return {dx, at::Tensor()};
  }
};

}  // namespace

at::Tensor aggregate_last_max(const at::Tensor& x, const sample::BlockView& block,
                              const Execution& execution) {
  auto spec = c10::make_intrusive<LastMaxSpec>();
  spec->block = block;
  spec->execution = execution;
  return LastMaxFunction::apply(x, std::move(spec));
}

}  // namespace gnnmg::nn
