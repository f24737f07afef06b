#include "nn/ops/functions.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>

#include <torch/csrc/autograd/custom_function.h>

#include <limits>
#include <optional>

#include "base/error.h"
#include "nn/ops/device_lists.h"
#include "nn/ops/launch.h"
#include "nn/torch/tensor.h"

namespace gnnmg::nn {

using kernels::DeviceLayers;
using kernels::Table;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

namespace {

constexpr int64_t kCheapRows = 512;  // rows in one range of cheap work

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
      const kernels::Lists lists = lists_by_target(block);
      const auto from = rows_of<T>(rows);
      const auto to = matrix<T>(out);
      if (const Device* device = spec->execution.device)
        return device->layers<T>().aggregate(device->queue, spec->reduce, lists, from, width, to,
                                             block.num_targets);
      for_ranges(spec->execution.pool, block.num_targets, kCheapRows,
                 [&](int64_t begin, int64_t end) {
                   kernels::table<T>().aggregate(spec->reduce, lists, from, width,
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
      over_rows(spec->execution, block.num_sources, kCheapRows, &Table<T>::aggregate_transposed,
                &DeviceLayers<T>::aggregate_transposed, lists_by_source(block), block.num_targets,
                factor, const_matrix<T>(dy), kernels::Matrix<const T>{}, width, matrix<T>(dx));
    });
    return {dx, at::Tensor()};
  }

  // The gradient is shared evenly among tied edges.
  static at::Tensor max_gradient(AutogradContext* context, const AggregateSpec& spec,
                                 const at::Tensor& dy) {
    const sample::BlockView& block = spec.block;
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &max = saved[1];
    const int64_t width = dy.size(1);
    at::Tensor share = scratch_tensor(spec.execution, dy.sizes(), dy.scalar_type());
    at::Tensor dx = scratch_tensor(spec.execution, {block.num_sources, width}, dy.scalar_type());
    visit_type(dy.scalar_type(), [&]<typename T>() {
      over_rows(spec.execution, block.num_targets, kCheapRows, &Table<T>::max_share,
                &DeviceLayers<T>::max_share, lists_by_target(block), rows_of<T>(x),
                const_matrix<T>(max), const_matrix<T>(dy), width, matrix<T>(share));
      over_rows(spec.execution, block.num_sources, kCheapRows, &Table<T>::max_transposed,
                &DeviceLayers<T>::max_transposed, lists_by_source(block), block.num_targets,
                const_matrix<T>(x), const_matrix<T>(max), const_matrix<T>(share),
                kernels::Matrix<const T>{}, width, matrix<T>(dx));
    });
    return dx;
  }
};

struct SparseSpec : torch::CustomClassHolder {
  SparseView x;
  at::Tensor values;  // values after dropout, in the weight's type
  int64_t num_rows;
  Execution execution;
  std::shared_ptr<Transposed> by_column;

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
      over_rows(spec->execution, spec->num_rows, 64, &Table<T>::sparse_times_dense,
                &DeviceLayers<T>::sparse_times_dense, spec->template matrix<T>(),
                const_matrix<T>(by_column), width, matrix<T>(out));
    });
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto spec = spec_of<SparseSpec>(context);
    const at::Tensor dy = with_dense_rows(gradients[0]);
    const int64_t width = dy.size(1);
    at::Tensor by_column =
        scratch_tensor(spec->execution, {spec->x.num_cols, width}, dy.scalar_type());
    if (spec->execution.device) {
      by_columns(*spec, dy, by_column);
      return {by_column.t(), at::Tensor()};
    }
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

  // The entries by column, on a device; sorted unless an earlier product of these rows has done
  // that.
  static kernels::SparseColumns columns_of(const SparseSpec& spec) {
    const SparseView& x = spec.x;
    Transposed& by = *spec.by_column;
    if (!by.indptr.defined()) {
      if (x.num_entries > std::numeric_limits<int32_t>::max())
        base::fail(base::Status::kRange, "the sparse features of a mini-batch have ", x.num_entries,
                   " entries, expected fewer than 2^31 on a GPU: use a smaller batch_size");
      const auto numbers = [&](int64_t count) {
        return at::empty({count}, options_of(spec.execution, at::kInt));
      };
      const Transposed made{numbers(x.num_cols + 1), numbers(x.num_entries),
                            numbers(x.num_entries)};
      const at::Tensor room = numbers(3 * x.num_entries);
      launch(spec.execution, at::kFloat, [&](const auto& layers, device::Queue* queue) {
        layers.sparse_columns(queue, x.indptr, x.indices, x.num_rows, x.num_cols, x.num_entries,
                              room.mutable_data_ptr<int32_t>(), view_of(made));
      });
      by = made;
    }
    return view_of(by);
  }
  static kernels::SparseColumns view_of(const Transposed& by) {
    return {by.indptr.mutable_data_ptr<int32_t>(), by.lists.mutable_data_ptr<int32_t>(),
            by.positions.mutable_data_ptr<int32_t>()};
  }

  // On a device: to[c] = the sum of dy over the entries of column c.
  static void by_columns(const SparseSpec& spec, const at::Tensor& dy, const at::Tensor& to) {
    const SparseView& x = spec.x;
    const kernels::SparseColumns columns = columns_of(spec);
    // The number of entries of the first rows is unknown here: the other rows are multiplied by
    // zeros.
    at::Tensor all = dy;
    if (spec.num_rows < x.num_rows) {
      all = at::zeros({x.num_rows, dy.size(1)}, dy.options());
      all.narrow(0, 0, spec.num_rows).copy_(dy);
    }
    launch(spec.execution, dy.scalar_type(),
           [&]<typename T>(const DeviceLayers<T>& layers, device::Queue* queue) {
             layers.sparse_transposed_times_dense(queue, columns, spec.values.const_data_ptr<T>(),
                                                  const_matrix<T>(all), dy.size(1), matrix<T>(to),
                                                  x.num_cols);
           });
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
      over_rows(spec->execution, x.size(0), kCheapRows, &Table<T>::finish, &DeviceLayers<T>::finish,
                const_matrix<T>(from), x.size(1), shift, spec->finish.relu, spec->finish.dropout,
                matrix<T>(y));
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
      over_rows(spec->execution, x.size(0), kCheapRows, &Table<T>::normalize,
                &DeviceLayers<T>::normalize, const_matrix<T>(from), x.size(1), matrix<T>(y),
                lengths);
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
      over_rows(spec->execution, dy.size(0), kCheapRows, &Table<T>::normalize_backward,
                &DeviceLayers<T>::normalize_backward, const_matrix<T>(dy),
                const_matrix<T>(saved[0]), saved[1].const_data_ptr<T>(), dy.size(1), matrix<T>(dx));
    });
    return {dx, at::Tensor()};
  }
};

// Returns the stored values as `type`, with dropout.
at::Tensor sparse_values(const SparseView& x, const Dropout& dropout, at::ScalarType type,
                         const Execution& execution) {
  if (!dropout.active()) {
    const at::Tensor stored = view_on(execution, x.values, {x.num_entries});
    return type == at::kFloat ? stored : stored.to(type);
  }
  at::Tensor values = scratch_tensor(execution, {x.num_entries}, type);
  visit_type(type, [&]<typename T>() {
    over_rows(execution, x.num_rows, kCheapRows, &Table<T>::sparse_dropout,
              &DeviceLayers<T>::sparse_dropout,
              kernels::SparseMatrix<float>{x.indptr, x.indices, x.values}, dropout,
              values.mutable_data_ptr<T>());
  });
  return values;
}

// Writes the gradient of finish() to dx, unless it does nothing; returns the gradient of the bias,
// or undefined.
at::Tensor finish_on_device(const Finish& finish, const at::Tensor& dy, const at::Tensor& y,
                            const at::Tensor& dx, bool wants_bias, const Execution& execution) {
  const int64_t rows = dy.size(0), width = dy.size(1);
  at::Tensor bias;
  if (wants_bias) bias = scratch_tensor(execution, {width}, dy.scalar_type());
  launch(execution, dy.scalar_type(),
         [&]<typename T>(const DeviceLayers<T>& layers, device::Queue* queue) {
           const at::Tensor room =
               wants_bias ? parts_of_sums<T>(execution, rows, width) : at::Tensor();
           T* sums = wants_bias ? bias.mutable_data_ptr<T>() : nullptr;
           T* parts = wants_bias ? room.mutable_data_ptr<T>() : nullptr;
           const auto from = const_matrix<T>(dy);
           const auto out = finish.relu ? const_matrix<T>(y) : kernels::Matrix<const T>{};
           if (finish.any())
             layers.finish_backward(queue, from, out, width, finish.relu, finish.dropout,
                                    matrix<T>(dx), sums, parts, rows);
           else
             layers.column_sums(queue, from, width, sums, parts, rows);
         });
  return bias;
}

}  // namespace

at::Tensor scratch_tensor(const Execution& execution, at::IntArrayRef sizes, at::ScalarType type) {
  int64_t bytes = static_cast<int64_t>(c10::elementSize(type));
  for (int64_t size : sizes) bytes = base::checked_mul(bytes, size, "tensor size");
  const at::TensorOptions options = options_of(execution, type);
  if (bytes == 0 || execution.device) return at::empty(sizes, options);
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
    if (const Device* device = execution.device)
      return device->layers<T>().mean_scale(device->queue, lists_by_target(block), out,
                                            block.num_targets);
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
                         const at::Tensor& weight, const Execution& execution,
                         std::shared_ptr<Transposed> by_column) {
  auto spec = c10::make_intrusive<SparseSpec>();
  spec->x = x;
  spec->num_rows = num_rows;
  spec->values = sparse_values(x, dropout, weight.scalar_type(), execution);
  spec->execution = execution;
  spec->by_column = by_column ? std::move(by_column) : std::make_shared<Transposed>();
  return SparseLinearFunction::apply(weight, std::move(spec));
}

at::Tensor densify(const SparseView& x, const Dropout& dropout, at::ScalarType type,
                   const Execution& execution) {
  const at::Tensor values = sparse_values(x, dropout, type, execution);
  at::Tensor out = scratch_tensor(execution, {x.num_rows, x.num_cols}, type);
  visit_type(type, [&]<typename T>() {
    const T* value = values.const_data_ptr<T>();
    const auto to = matrix<T>(out);
    if (const Device* device = execution.device)
      return device->layers<T>().densify(device->queue, {x.indptr, x.indices, value}, x.num_cols,
                                         to, x.num_rows);
    for_ranges(execution.pool, x.num_rows, kCheapRows, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        std::fill_n(to.row(r), x.num_cols, T{0});
        for (int64_t k = x.indptr[r]; k < x.indptr[r + 1]; ++k) to.row(r)[x.indices[k]] += value[k];
      }
    });
  });
  return out;
}

at::Tensor rows_of_table(const at::Tensor& table, std::span<const int64_t> ids, at::ScalarType type,
                         const Execution& execution) {
  if (!execution.device) return table.index_select(0, as_tensor(ids));
  const at::Tensor from = with_dense_rows(table);
  const int64_t rows = static_cast<int64_t>(ids.size()), width = from.size(1);
  at::Tensor out = scratch_tensor(execution, {rows, width}, type);
  launch(execution, type, [&]<typename T>(const DeviceLayers<T>& layers, device::Queue* queue) {
    layers.gather_rows(queue, {from.const_data_ptr(), dtype_of(from), from.stride(0), ids.data()},
                       width, matrix<T>(out), rows);
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
  if (execution.device) {
    gradient.bias = finish_on_device(finish, dy, y, gradient.x, wants_bias, execution);
    return gradient;
  }
  // Every lane adds its share of the rows, so that sums do not depend on the number of threads.
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
