#include "nn/ops/edge_functions.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "nn/ops/device_lists.h"
#include "nn/ops/launch.h"
#include "nn/ops/made_block.h"

namespace gnnmg::nn {

using kernels::DeviceLayers;
using kernels::Table;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

namespace {

constexpr int64_t kEdgeRows = 256;  // rows in one range

// Includes padding, because kernels of several heads may read beyond the last value.
at::Tensor padded(const at::Tensor& values, const Execution& execution) {
  at::Tensor copy =
      scratch_tensor(execution, {values.numel() + kernels::kPadding}, values.scalar_type());
  copy.narrow(0, values.numel(), kernels::kPadding).zero_();
  copy.narrow(0, 0, values.numel()).view(values.sizes()).copy_(values);
  return copy;
}

struct WeightedSpec : torch::CustomClassHolder {
  sample::BlockView block;
  Execution execution;
  int64_t heads = 1, num_self = 0;
  bool has_weights = false, has_self = false, has_target = false, has_bias = false;
  Finish finish;

  template <typename T>
  kernels::WeightedLists<T> lists(const at::Tensor& weights, const at::Tensor& self_weights,
                                  int64_t width) const {
    kernels::WeightedLists<T> edges;
    edges.lists = lists_by_target(block);
    edges.heads = heads;
    edges.channels = width / heads;
    if (has_weights) edges.weights = weights.const_data_ptr<T>();
    if (has_self) {
      edges.self_weights = self_weights.const_data_ptr<T>();
      edges.num_self = num_self;
    }
    return edges;
  }
};

struct WeightedFunction : torch::autograd::Function<WeightedFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const std::optional<at::Tensor>& weights,
                            const std::optional<at::Tensor>& self_weights,
                            const std::optional<at::Tensor>& x_target,
                            const std::optional<at::Tensor>& bias,
                            c10::intrusive_ptr<WeightedSpec> spec) {
    context->saved_data["spec"] = c10::IValue::make_capsule(spec);
    const sample::BlockView& block = spec->block;
    const Execution& execution = spec->execution;
    const auto kept = [&](const std::optional<at::Tensor>& values) {
      if (!values) return at::Tensor();
      const bool pads = spec->heads > 1 && !execution.device;
      return pads ? padded(*values, execution) : values->contiguous();
    };
    const at::Tensor rows = with_dense_rows(x), w = kept(weights), own = kept(self_weights);
    const at::Tensor target = x_target ? with_dense_rows(*x_target) : rows;
    const int64_t width = x.size(1);
    at::Tensor out = scratch_tensor(execution, {block.num_targets, width}, x.scalar_type());
    visit_type(x.scalar_type(), [&]<typename T>() {
      const auto edges = spec->template lists<T>(w, own, width);
      const auto from = rows_of<T>(rows);
      const T* shift = bias ? bias->const_data_ptr<T>() : nullptr;
      const Finish& finish = spec->finish;
      if (const Device* device = execution.device) {
        const DeviceLayers<T>& layers = device->layers<T>();
        layers.weighted_sum(device->queue, edges, from, const_matrix<T>(target), matrix<T>(out),
                            block.num_targets);
        if (shift || finish.any())
          layers.finish(device->queue, const_matrix<T>(out), width, shift, finish.relu,
                        finish.dropout, matrix<T>(out), block.num_targets);
        return;
      }
      for_ranges(execution.pool, block.num_targets, kEdgeRows, [&](int64_t begin, int64_t end) {
        kernels::table<T>().weighted_sum(edges, from, const_matrix<T>(target), matrix<T>(out),
                                         begin, end);
        if (shift || finish.any())
          kernels::table<T>().finish(const_matrix<T>(out), width, shift, finish.relu,
                                     finish.dropout, matrix<T>(out), begin, end);
      });
    });
    if (execution.gradients) {
      if (x.requires_grad()) lists_by_source(block);
      const bool wants_weights =
          (weights && weights->requires_grad()) || (self_weights && self_weights->requires_grad());
      context->save_for_backward({wants_weights ? rows : at::Tensor(), w, own,
                                  wants_weights && x_target ? target : at::Tensor(),
                                  spec->finish.relu ? out : at::Tensor()});
    }
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto spec =
        c10::static_intrusive_pointer_cast<WeightedSpec>(context->saved_data["spec"].toCapsule());
    const sample::BlockView& block = spec->block;
    const Execution& execution = spec->execution;
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &w = saved[1], &own = saved[2], &target = saved[3];
    const FinishGradient sum = finish_gradient(spec->finish, with_dense_rows(gradients[0]),
                                               saved[4], spec->has_bias, execution);
    const at::Tensor& dy = sum.x;
    const int64_t width = dy.size(1), heads = spec->heads;
    // Undefined inputs have no edge in the graph.
    size_t edge = 1;
    const bool wants_x = context->needs_input_grad(0);
    const bool wants_weights = spec->has_weights && context->needs_input_grad(edge++);
    const bool wants_self = spec->has_self && context->needs_input_grad(edge++);
    const bool wants_target = spec->has_target && context->needs_input_grad(edge++);
    at::Tensor dx, dw, dself, dtarget;
    visit_type(dy.scalar_type(), [&]<typename T>() {
      auto edges = spec->template lists<T>(w, own, width);
      const auto from = const_matrix<T>(dy);
      const int64_t num_self = edges.num_self;
      if (wants_weights) {
        dw = scratch_tensor(execution, {block.num_edges, heads}, dy.scalar_type());
        over_rows(execution, block.num_targets, kEdgeRows, &Table<T>::edge_dots,
                  &DeviceLayers<T>::edge_dots, edges, rows_of<T>(x), from,
                  dw.mutable_data_ptr<T>());
      }
      if (wants_self) {
        dself = scratch_tensor(execution, {num_self, heads}, dy.scalar_type());
        over_rows(execution, num_self, kEdgeRows, &Table<T>::row_dots, &DeviceLayers<T>::row_dots,
                  const_matrix<T>(target.defined() ? target : x), from, heads, width / heads,
                  dself.mutable_data_ptr<T>());
      }
      if (wants_target) {
        // Own rows are a block of one edge each: the part of the sum from x_target.
        dtarget = at::zeros({block.num_targets, width}, dy.options());
        const at::Tensor no_lists =
            at::zeros({block.num_targets + 1}, options_of(execution, at::kInt));
        const kernels::EdgesBySource empty{
            {no_lists.const_data_ptr<int32_t>(), nullptr}, nullptr, 0};
        over_rows(execution, num_self, kEdgeRows, &Table<T>::weighted_transposed,
                  &DeviceLayers<T>::weighted_transposed, edges, empty, from, matrix<T>(dtarget));
      }
      if (wants_x) {
        BySource sources{{lists_by_source(block), nullptr, block.num_targets}, {}};
        if (spec->has_weights) sources = by_source(block, execution);
        if (spec->has_target) edges.self_weights = nullptr;
        dx = scratch_tensor(execution, {block.num_sources, width}, dy.scalar_type());
        over_rows(execution, block.num_sources, kEdgeRows, &Table<T>::weighted_transposed,
                  &DeviceLayers<T>::weighted_transposed, edges, sources.edges, from, matrix<T>(dx));
      }
    });
    return {dx, dw, dself, dtarget, sum.bias, at::Tensor()};
  }
};

struct ReluSumSpec : torch::CustomClassHolder {
  sample::BlockView block;
  Execution execution;
};

struct ReluSumFunction : torch::autograd::Function<ReluSumFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const at::Tensor& edge_rows, c10::intrusive_ptr<ReluSumSpec> spec) {
    context->saved_data["spec"] = c10::IValue::make_capsule(spec);
    const sample::BlockView& block = spec->block;
    const at::Tensor rows = with_dense_rows(x), edges = with_dense_rows(edge_rows);
    at::Tensor out =
        scratch_tensor(spec->execution, {block.num_targets, x.size(1)}, x.scalar_type());
    visit_type(x.scalar_type(), [&]<typename T>() {
      over_rows(spec->execution, block.num_targets, kEdgeRows, &Table<T>::relu_sum,
                &DeviceLayers<T>::relu_sum, lists_by_target(block), rows_of<T>(rows),
                const_matrix<T>(edges), x.size(1), matrix<T>(out));
    });
    if (spec->execution.gradients) {
      if (x.requires_grad()) lists_by_source(block);
      context->save_for_backward({rows, edges});
    }
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto spec =
        c10::static_intrusive_pointer_cast<ReluSumSpec>(context->saved_data["spec"].toCapsule());
    const sample::BlockView& block = spec->block;
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &edges = saved[1];
    const at::Tensor dy = with_dense_rows(gradients[0]);
    const int64_t width = dy.size(1);
    at::Tensor dx, de;
    visit_type(dy.scalar_type(), [&]<typename T>() {
      const auto edge_rows = const_matrix<T>(edges), from = const_matrix<T>(dy);
      if (context->needs_input_grad(0)) {
        dx = scratch_tensor(spec->execution, {block.num_sources, width}, dy.scalar_type());
        const BySource sources = by_source(block, spec->execution);
        over_rows(spec->execution, block.num_sources, kEdgeRows, &Table<T>::relu_sum_transposed,
                  &DeviceLayers<T>::relu_sum_transposed, sources.edges, const_matrix<T>(x),
                  edge_rows, from, width, matrix<T>(dx));
      }
      if (context->needs_input_grad(1)) {
        de = scratch_tensor(spec->execution, {block.num_edges, width}, dy.scalar_type());
        over_rows(spec->execution, block.num_targets, kEdgeRows, &Table<T>::relu_sum_edges,
                  &DeviceLayers<T>::relu_sum_edges, lists_by_target(block), rows_of<T>(x),
                  edge_rows, from, width, matrix<T>(de));
      }
    });
    return {dx, de, at::Tensor()};
  }
};

// Returns [entries of out_targets], i32.
at::Tensor edge_positions(const sample::BlockView& block, const Execution& execution) {
  const kernels::Lists out = lists_by_source(block);
  const int64_t entries = out.indptr[block.num_sources];
  std::shared_ptr<void> memory;
  Scratch scratch = execution.scratch;
  memory = scratch.take(
      base::checked_mul(entries + block.num_sources + 1, sizeof(int32_t), "positions of edges"));
  int32_t* positions = static_cast<int32_t*>(memory.get());
  // Targets ascend on both sides, and the edges of one target keep the order of its list.
  int32_t* next = positions + entries;
  std::copy_n(out.indptr, block.num_sources, next);
  if (entries > block.num_edges) std::fill_n(positions, entries, 0);
  for (int64_t e = 0; e < block.num_edges; ++e)
    positions[next[block.indices[e]]++] = static_cast<int32_t>(e);
  return at::from_blob(
      positions, {entries}, [memory = std::move(memory)](void*) {}, at::TensorOptions(at::kInt));
}

}  // namespace

BySource by_source(const sample::BlockView& block, const Execution& execution) {
  const kernels::Lists lists = lists_by_source(block);
  if (!execution.device) {
    const at::Tensor positions = edge_positions(block, execution);
    return {{lists, positions.const_data_ptr<int32_t>(), block.num_targets}, {positions}};
  }
  // Only the device knows the number of entries of the block's own lists, so new ones are made.
  const Transposed own = transposed(block, execution);
  return {{{own.indptr.const_data_ptr<int32_t>(), own.lists.const_data_ptr<int32_t>()},
           own.positions.const_data_ptr<int32_t>(),
           block.num_targets},
          {own.indptr, own.lists, own.positions}};
}

at::Tensor weighted_sum(const WeightedSum& in, const sample::BlockView& block,
                        const Execution& execution) {
  auto spec = c10::make_intrusive<WeightedSpec>();
  spec->block = block;
  spec->execution = execution;
  spec->has_weights = in.weights.defined();
  spec->has_self = in.self_weights.defined();
  spec->has_target = in.x_target.defined() && spec->has_self;
  const at::Tensor& widest = in.weights.defined() ? in.weights : in.self_weights;
  spec->heads = widest.defined() && widest.dim() > 1 ? widest.size(1) : 1;
  spec->num_self = spec->has_self ? in.self_weights.size(0) : 0;
  const auto given = [](const at::Tensor& t) {
    return t.defined() ? std::optional<at::Tensor>(t) : std::nullopt;
  };
  const auto as_matrix = [](const at::Tensor& t) {
    return t.defined() && t.dim() == 1 ? t.unsqueeze(1) : t;
  };
  spec->has_bias = in.bias.defined();
  spec->finish = in.finish;
  return WeightedFunction::apply(
      in.x, given(as_matrix(in.weights)), given(as_matrix(in.self_weights)),
      spec->has_target ? given(in.x_target) : std::nullopt, given(in.bias), std::move(spec));
}

at::Tensor relu_sum(const at::Tensor& x, const at::Tensor& edge_rows,
                    const sample::BlockView& block, const Execution& execution) {
  auto spec = c10::make_intrusive<ReluSumSpec>();
  spec->block = block;
  spec->execution = execution;
  return ReluSumFunction::apply(x, edge_rows, std::move(spec));
}

at::Tensor rows_of_edges(const at::Tensor& x, const at::Tensor& x_target,
                         const sample::BlockView& block, const Execution& execution) {
  const auto ends = ends_to_edges(block, x_target.defined(), execution);
  return aggregate(x_target.defined() ? at::cat({x, x_target}) : x, ends->view(), Reduce::kSum,
                   execution.with(ends));
}

at::Tensor weighted_rows(const at::Tensor& x, const at::Tensor& weights,
                         const sample::BlockView& block, const Execution& execution) {
  return rows_of_edges(x, {}, block, execution) * weights.unsqueeze(1);
}

at::Tensor weighted_last_max(const at::Tensor& x, const at::Tensor& weights,
                             const sample::BlockView& block, const Execution& execution) {
  const auto to_targets = edges_to_targets(block, execution);
  return aggregate_last_max(weighted_rows(x, weights, block, execution), to_targets->view(),
                            execution.with(to_targets));
}

at::Tensor aggregate_edges(const at::Tensor& rows, const sample::BlockView& block, Reduce reduce,
                           const Execution& execution) {
  const auto to_targets = edges_to_targets(block, execution);
  return aggregate(rows, to_targets->view(), reduce, execution.with(to_targets));
}

at::Tensor with_loop_rows(const at::Tensor& rows, const LoopRows& loops,
                          const sample::BlockView& block, const Execution& execution) {
  const int64_t num_loops = std::min(block.num_sources, block.num_targets);
  if (loops.fill == LoopFill::kConstant)
    return at::cat({rows, at::full({num_loops, rows.size(1)}, loops.value,
                                   rows.options().requires_grad(false))});
  const auto others = edges_without_loops(block, loops.first_own, execution);
  const auto reduced = [&](const at::Tensor& of, Reduce reduce) {
    return aggregate(of, others->view(), reduce, execution.with(others)).narrow(0, 0, num_loops);
  };
  switch (loops.fill) {
    case LoopFill::kSum:
      return at::cat({rows, reduced(rows, Reduce::kSum)});
    case LoopFill::kMax:
      return at::cat({rows, reduced(rows, Reduce::kMax)});
    case LoopFill::kMin:
      return at::cat({rows, -reduced(-rows, Reduce::kMax)});
    default:
      return at::cat({rows, reduced(rows, Reduce::kMean)});
  }
}

}  // namespace gnnmg::nn
