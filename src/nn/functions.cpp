#include "nn/functions.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <torch/csrc/autograd/custom_function.h>

#include <optional>

#include "base/error.h"
#include "nn/parallel.h"
#include "nn/tensors.h"

namespace gnnmg::nn {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

namespace {

constexpr int64_t kRows = 512;  // a range of cheap rows

template <typename Spec>
c10::intrusive_ptr<Spec> spec_of(AutogradContext* context) {
  return c10::static_intrusive_pointer_cast<Spec>(context->saved_data["spec"].toCapsule());
}
template <typename Spec>
void keep_spec(AutogradContext* context, const c10::intrusive_ptr<Spec>& spec) {
  context->saved_data["spec"] = c10::IValue::make_capsule(spec);
}

struct AggregateSpec : torch::CustomClassHolder {
  sample::BlockView block;
  Reduce reduce;
  Execution execution;
};

struct AggregateFunction : torch::autograd::Function<AggregateFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            c10::intrusive_ptr<AggregateSpec> spec) {
    keep_spec(context, spec);
    const sample::BlockView& block = spec->block;
    if (spec->execution.gradients && x.requires_grad()) lists_by_source(block);
    const int64_t width = x.size(1);
    const at::Tensor rows = with_dense_rows(x);
    at::Tensor out = scratch_tensor(spec->execution, {block.num_targets, width}, x.scalar_type());
    visit_type(x.scalar_type(), [&]<typename T>() {
      const auto from = const_matrix<T>(rows);
      const auto to = matrix<T>(out);
      for_ranges(spec->execution.pool, block.num_targets, kRows, [&](int64_t begin, int64_t end) {
        kernels::table<T>().aggregate(spec->reduce, lists_by_target(block),
                                      {from.data, from.stride, nullptr}, width,
                                      {to.row(begin), to.stride}, begin, end);
      });
    });
    if (spec->execution.gradients && spec->reduce == Reduce::kMax)
      context->save_for_backward({rows, out});
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto spec = spec_of<AggregateSpec>(context);
    const sample::BlockView& block = spec->block;
    const at::Tensor dy = with_dense_rows(gradients[0]);
    const int64_t width = dy.size(1);
    if (spec->reduce == Reduce::kMax) return {max_gradient(context, *spec, dy), at::Tensor()};
    at::Tensor dx = scratch_tensor(spec->execution, {block.num_sources, width}, dy.scalar_type());
    const at::Tensor scale = source_scale(block, spec->reduce, dy.scalar_type(), spec->execution);
    visit_type(dy.scalar_type(), [&]<typename T>() {
      const T* factor = scale.defined() ? scale.const_data_ptr<T>() : nullptr;
      for_ranges(spec->execution.pool, block.num_sources, kRows, [&](int64_t begin, int64_t end) {
        kernels::table<T>().aggregate_transposed(lists_by_source(block), block.num_targets, factor,
                                                 const_matrix<T>(dy), {}, width, matrix<T>(dx),
                                                 begin, end);
      });
    });
    return {dx, at::Tensor()};
  }

  // Shared evenly among tied edges.
  static at::Tensor max_gradient(AutogradContext* context, const AggregateSpec& spec,
                                 const at::Tensor& dy) {
    const sample::BlockView& block = spec.block;
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &max = saved[1];
    const int64_t width = dy.size(1);
    at::Tensor share = scratch_tensor(spec.execution, dy.sizes(), dy.scalar_type());
    at::Tensor dx = scratch_tensor(spec.execution, {block.num_sources, width}, dy.scalar_type());
    visit_type(dy.scalar_type(), [&]<typename T>() {
      const auto from = const_matrix<T>(x);
      for_ranges(spec.execution.pool, block.num_targets, kRows, [&](int64_t begin, int64_t end) {
        kernels::table<T>().max_share(lists_by_target(block), {from.data, from.stride, nullptr},
                                      const_matrix<T>(max), const_matrix<T>(dy), width,
                                      matrix<T>(share), begin, end);
      });
      for_ranges(spec.execution.pool, block.num_sources, kRows, [&](int64_t begin, int64_t end) {
        kernels::table<T>().max_transposed(lists_by_source(block), block.num_targets, from,
                                           const_matrix<T>(max), const_matrix<T>(share), {}, width,
                                           matrix<T>(dx), begin, end);
      });
    });
    return dx;
  }
};

struct SparseSpec : torch::CustomClassHolder {
  SparseView x;
  at::Tensor values;  // of the weight's type, after dropout
  int64_t num_rows;
  Execution execution;

  template <typename T>
  kernels::SparseMatrix<T> matrix() const {
    return {x.indptr, x.indices, values.const_data_ptr<T>()};
  }
};

struct SparseLinearFunction : torch::autograd::Function<SparseLinearFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& weight,
                            c10::intrusive_ptr<SparseSpec> spec) {
    keep_spec(context, spec);
    const int64_t width = weight.size(0);
    const at::Tensor by_column = weight.t().contiguous();
    at::Tensor out = scratch_tensor(spec->execution, {spec->num_rows, width}, weight.scalar_type());
    visit_type(weight.scalar_type(), [&]<typename T>() {
      for_ranges(spec->execution.pool, spec->num_rows, 64, [&](int64_t begin, int64_t end) {
        kernels::table<T>().sparse_times_dense(spec->template matrix<T>(),
                                               const_matrix<T>(by_column), width, matrix<T>(out),
                                               begin, end);
      });
    });
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto spec = spec_of<SparseSpec>(context);
    const at::Tensor dy = with_dense_rows(gradients[0]);
    const int64_t width = dy.size(1);
    at::Tensor by_column =
        scratch_tensor(spec->execution, {spec->x.num_cols, width}, dy.scalar_type());
    visit_type(dy.scalar_type(), [&]<typename T>() {
      for_ranges(spec->execution.pool, width, 32, [&](int64_t begin, int64_t end) {
        const auto to = matrix<T>(by_column);
        for (int64_t c = 0; c < by_column.size(0); ++c)
          std::fill(to.row(c) + begin, to.row(c) + end, T{0});
        kernels::table<T>().sparse_transposed_times_dense(
            spec->template matrix<T>(), spec->num_rows, const_matrix<T>(dy), to, begin, end);
      });
    });
    return {by_column.t(), at::Tensor()};
  }
};

struct FinishSpec : torch::CustomClassHolder {
  Finish finish;
  Execution execution;
  bool bias = false;
};

struct FinishFunction : torch::autograd::Function<FinishFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const std::optional<at::Tensor>& bias,
                            c10::intrusive_ptr<FinishSpec> spec) {
    keep_spec(context, spec);
    spec->bias = bias.has_value();
    const at::Tensor from = with_dense_rows(x);
    at::Tensor y = scratch_tensor(spec->execution, x.sizes(), x.scalar_type());
    visit_type(x.scalar_type(), [&]<typename T>() {
      const T* shift = bias ? bias->const_data_ptr<T>() : nullptr;
      for_ranges(spec->execution.pool, x.size(0), kRows, [&](int64_t begin, int64_t end) {
        kernels::table<T>().finish(const_matrix<T>(from), x.size(1), shift, spec->finish.relu,
                                   spec->finish.dropout, matrix<T>(y), begin, end);
      });
    });
    if (spec->finish.relu) context->save_for_backward({y});
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto spec = spec_of<FinishSpec>(context);
    const at::Tensor dy = with_dense_rows(gradients[0]);
    const variable_list saved = context->get_saved_variables();
    const FinishGradient gradient = finish_gradient(
        spec->finish, dy, saved.empty() ? at::Tensor() : saved[0], spec->bias, spec->execution);
    return {gradient.x, gradient.bias, at::Tensor()};
  }
};

struct NormalizeSpec : torch::CustomClassHolder {
  Execution execution;
};

struct NormalizeFunction : torch::autograd::Function<NormalizeFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            c10::intrusive_ptr<NormalizeSpec> spec) {
    keep_spec(context, spec);
    const at::Tensor from = with_dense_rows(x);
    at::Tensor y = scratch_tensor(spec->execution, x.sizes(), x.scalar_type());
    at::Tensor norms = at::empty({x.size(0)}, x.options());
    visit_type(x.scalar_type(), [&]<typename T>() {
      T* lengths = norms.mutable_data_ptr<T>();
      for_ranges(spec->execution.pool, x.size(0), kRows, [&](int64_t begin, int64_t end) {
        kernels::table<T>().normalize(const_matrix<T>(from), x.size(1), matrix<T>(y), lengths,
                                      begin, end);
      });
    });
    context->save_for_backward({y, norms});
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto spec = spec_of<NormalizeSpec>(context);
    const at::Tensor dy = with_dense_rows(gradients[0]);
    const variable_list saved = context->get_saved_variables();
    at::Tensor dx = scratch_tensor(spec->execution, dy.sizes(), dy.scalar_type());
    visit_type(dy.scalar_type(), [&]<typename T>() {
      for_ranges(spec->execution.pool, dy.size(0), kRows, [&](int64_t begin, int64_t end) {
        kernels::table<T>().normalize_backward(const_matrix<T>(dy), const_matrix<T>(saved[0]),
                                               saved[1].const_data_ptr<T>(), dy.size(1),
                                               matrix<T>(dx), begin, end);
      });
    });
    return {dx, at::Tensor()};
  }
};

// The stored values as `type`, with dropout.
at::Tensor sparse_values(const SparseView& x, const Dropout& dropout, at::ScalarType type,
                         const Execution& execution) {
  const int64_t count = x.num_rows ? x.indptr[x.num_rows] : 0;
  if (!dropout.active()) {
    const at::Tensor stored =
        at::from_blob(const_cast<float*>(x.values), {count}, at::TensorOptions(at::kFloat));
    return type == at::kFloat ? stored : stored.to(type);
  }
  at::Tensor values = scratch_tensor(execution, {count}, type);
  visit_type(type, [&]<typename T>() {
    for_ranges(execution.pool, x.num_rows, kRows, [&](int64_t begin, int64_t end) {
      kernels::table<T>().sparse_dropout({x.indptr, x.indices, x.values}, dropout,
                                         values.mutable_data_ptr<T>(), begin, end);
    });
  });
  return values;
}

}  // namespace

at::Tensor scratch_tensor(const Execution& execution, at::IntArrayRef sizes, at::ScalarType type) {
  int64_t bytes = static_cast<int64_t>(c10::elementSize(type));
  for (int64_t size : sizes) bytes = base::checked_mul(bytes, size, "tensor size");
  const at::TensorOptions options(type);
  if (bytes == 0) return at::empty(sizes, options);
  Scratch scratch = execution.scratch;
  std::shared_ptr<void> memory = scratch.take(bytes);
  void* data = memory.get();
  return at::from_blob(data, sizes, [memory = std::move(memory)](void*) {}, options);
}

kernels::Lists lists_by_source(const sample::BlockView& block) {
  if (!block.out_indptr || (!block.out_targets && block.num_edges > 0))
    base::fail(base::Status::kInvalidArgument,
               "a block has no lists of edges by source, which gradients need: sample with "
               "transpose on");
  return {block.out_indptr, block.out_targets};
}

at::Tensor source_scale(const sample::BlockView& block, Reduce reduce, at::ScalarType type,
                        const Execution& execution) {
  if (reduce != Reduce::kMean) return {};
  at::Tensor scale = scratch_tensor(execution, {block.num_targets}, type);
  visit_type(type, [&]<typename T>() {
    T* out = scale.mutable_data_ptr<T>();
    for (int64_t t = 0; t < block.num_targets; ++t)
      out[t] = T{1} / static_cast<T>(std::max(1, block.indptr[t + 1] - block.indptr[t]));
  });
  return scale;
}

at::Tensor aggregate(const at::Tensor& x, const sample::BlockView& block, Reduce reduce,
                     const Execution& execution) {
  auto spec = c10::make_intrusive<AggregateSpec>();
  spec->block = block;
  spec->reduce = reduce;
  spec->execution = execution;
  return AggregateFunction::apply(x, std::move(spec));
}

at::Tensor sparse_linear(const SparseView& x, int64_t num_rows, const Dropout& dropout,
                         const at::Tensor& weight, const Execution& execution) {
  auto spec = c10::make_intrusive<SparseSpec>();
  spec->x = x;
  spec->num_rows = num_rows;
  spec->values = sparse_values(x, dropout, weight.scalar_type(), execution);
  spec->execution = execution;
  return SparseLinearFunction::apply(weight, std::move(spec));
}

at::Tensor densify(const SparseView& x, const Dropout& dropout, at::ScalarType type,
                   const Execution& execution) {
  const at::Tensor values = sparse_values(x, dropout, type, execution);
  at::Tensor out = scratch_tensor(execution, {x.num_rows, x.num_cols}, type);
  visit_type(type, [&]<typename T>() {
    const T* value = values.const_data_ptr<T>();
    const auto to = matrix<T>(out);
    for_ranges(execution.pool, x.num_rows, kRows, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        std::fill_n(to.row(r), x.num_cols, T{0});
        for (int64_t k = x.indptr[r]; k < x.indptr[r + 1]; ++k) to.row(r)[x.indices[k]] += value[k];
      }
    });
  });
  return out;
}

at::Tensor apply_finish(const at::Tensor& x, const Finish& finish, const Execution& execution,
                        const at::Tensor& bias) {
  if (!finish.any() && !bias.defined()) return x;
  auto spec = c10::make_intrusive<FinishSpec>();
  spec->finish = finish;
  spec->execution = execution;
  return FinishFunction::apply(x, bias.defined() ? std::optional<at::Tensor>(bias) : std::nullopt,
                               std::move(spec));
}

FinishGradient finish_gradient(const Finish& finish, const at::Tensor& dy, const at::Tensor& y,
                               bool wants_bias, const Execution& execution) {
  if (!finish.any() && !wants_bias) return {dy, {}};
  const int64_t rows = dy.size(0), width = dy.size(1);
  FinishGradient gradient{dy, {}};
  if (finish.any()) gradient.x = scratch_tensor(execution, dy.sizes(), dy.scalar_type());
  // Every lane adds up its share of the rows, so that sums do not depend on the threads.
  constexpr int64_t kLanes = 16;
  const int64_t share = std::max<int64_t>(1, (rows + kLanes - 1) / kLanes);
  const int64_t lanes = std::max<int64_t>(1, (rows + share - 1) / share);
  at::Tensor sums;
  if (wants_bias) sums = scratch_tensor(execution, {lanes, width}, dy.scalar_type());
  visit_type(dy.scalar_type(), [&]<typename T>() {
    const kernels::Table<T>& table = kernels::table<T>();
    const auto from = const_matrix<T>(dy);
    const auto out = finish.relu ? const_matrix<T>(y) : kernels::Matrix<const T>{};
    for_ranges(execution.pool, lanes, 1, [&](int64_t lane, int64_t) {
      const int64_t begin = lane * share, end = std::min(rows, begin + share);
      T* sum = wants_bias ? matrix<T>(sums).row(lane) : nullptr;
      if (!finish.any()) return table.column_sums(from, width, sum, begin, end);
      if (sum) std::fill_n(sum, width, T{0});
      table.finish_backward(from, out, width, finish.relu, finish.dropout, matrix<T>(gradient.x),
                            sum, begin, end);
    });
    if (wants_bias) add_up<T>(sums);
  });
  if (wants_bias) gradient.bias = sums[0];
  return gradient;
}

at::Tensor normalize_rows(const at::Tensor& x, const Execution& execution) {
  auto spec = c10::make_intrusive<NormalizeSpec>();
  spec->execution = execution;
  return NormalizeFunction::apply(x, std::move(spec));
}

}  // namespace gnnmg::nn
