// The maximum whose gradient goes to one edge where several are tied, as DGL has it.
#include <ATen/ops/empty.h>

#include <torch/csrc/autograd/custom_function.h>

#include "nn/edge_functions.h"
#include "nn/parallel.h"
#include "nn/tensors.h"

namespace gnnmg::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t kRows = 256;  // a range of targets or sources

struct Spec : torch::CustomClassHolder {
  sample::BlockView block;
  Execution execution;
};

struct LastMaxFunction : torch::autograd::Function<LastMaxFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            c10::intrusive_ptr<Spec> spec) {
    context->saved_data["spec"] = c10::IValue::make_capsule(spec);
    const sample::BlockView& block = spec->block;
    const Execution& execution = spec->execution;
    const int64_t width = x.size(1);
    const at::Tensor rows = with_dense_rows(x);
    at::Tensor out = scratch_tensor(execution, {block.num_targets, width}, x.scalar_type());
    at::Tensor winner;
    if (execution.gradients) {
      lists_by_source(block);
      winner = at::empty({block.num_targets, width}, at::TensorOptions(at::kInt));
    }
    visit_type(x.scalar_type(), [&]<typename T>() {
      const auto from = const_matrix<T>(rows);
      const kernels::Rows<T> sources{from.data, from.stride, nullptr};
      const auto to = matrix<T>(out);
      const kernels::Lists lists = lists_by_target(block);
      for_ranges(execution.pool, block.num_targets, kRows, [&](int64_t begin, int64_t end) {
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
        c10::static_intrusive_pointer_cast<Spec>(context->saved_data["spec"].toCapsule());
    const sample::BlockView& block = spec->block;
    const at::Tensor dy = with_dense_rows(gradients[0]);
    const at::Tensor winner = context->get_saved_variables()[0];
    const int64_t width = dy.size(1);
    at::Tensor dx = scratch_tensor(spec->execution, {block.num_sources, width}, dy.scalar_type());
    const at::Tensor positions = edge_positions(block, spec->execution);
    const kernels::EdgesBySource by_source{lists_by_source(block),
                                           positions.const_data_ptr<int32_t>(), block.num_targets};
    visit_type(dy.scalar_type(), [&]<typename T>() {
      for_ranges(spec->execution.pool, block.num_sources, kRows, [&](int64_t begin, int64_t end) {
        kernels::table<T>().winner_transposed(by_source, winner.const_data_ptr<int32_t>(),
                                              const_matrix<T>(dy), width, matrix<T>(dx), begin,
                                              end);
      });
    });
    return {dx, at::Tensor()};
  }
};

}  // namespace

at::Tensor aggregate_last_max(const at::Tensor& x, const sample::BlockView& block,
                              const Execution& execution) {
  auto spec = c10::make_intrusive<Spec>();
  spec->block = block;
  spec->execution = execution;
  return LastMaxFunction::apply(x, std::move(spec));
}

}  // namespace gnnmg::nn
