// The main operation of GraphSAGE, forward and backward. On the CPU one thread aggregates,
// multiplies and finishes a chunk of rows while the chunk is in its cache. The number of rows
// determines the chunks and the order in which their weight gradients are added, so results do not
// depend on the number of threads. On a device each of the three steps takes all rows at once.
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/cat.h>

#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "nn/ops/launch.h"
#include "nn/ops/layer_products.h"
#include "nn/ops/product.h"
#include "nn/torch/tensor.h"

namespace gnnmg::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t kMaxChunk = 512;
constexpr int64_t kMinChunk = 64;
constexpr int64_t kWeightSums = 16;  // partial sums of the weight gradient

int64_t aggregate_chunk(int64_t rows) {
  const int64_t even = (rows + kWeightSums - 1) / kWeightSums;
  return std::clamp<int64_t>((even + 15) / 16 * 16, kMinChunk, kMaxChunk);
}

// The gradient of a layer's input rows, computed row by row on demand.
struct SourceGradient {
  sample::BlockView block;
  Reduce reduce = Reduce::kMean;
  int64_t width = 0;
  at::Tensor reduced;        // gradient of the reduced rows; for max, of each tied edge
  at::Tensor own;            // gradient by way of own rows; may be undefined
  at::Tensor scale{};        // scale of means
  at::Tensor rows{}, max{};  // input and result of a maximum

  // Writes rows [begin, end) of `out`.
  template <typename T>
  void write(kernels::Matrix<T> out, int64_t begin, int64_t end) const {
    const kernels::Matrix<const T> self = own_rows<T>();
    if (reduce == Reduce::kMax)
      return kernels::table<T>().max_transposed(
          lists_by_source(block), block.num_targets, const_matrix<T>(rows), const_matrix<T>(max),
          const_matrix<T>(reduced), self, width, out, begin, end);
    kernels::table<T>().aggregate_transposed(lists_by_source(block), block.num_targets,
                                             scale.defined() ? scale.const_data_ptr<T>() : nullptr,
                                             const_matrix<T>(reduced), self, width, out, begin,
                                             end);
  }
  // Writes all rows, on a device.
  template <typename T>
  void write(const kernels::DeviceLayers<T>& layers, device::Queue* queue,
             kernels::Matrix<T> out) const {
    const kernels::Lists lists = lists_by_source(block);
    if (reduce == Reduce::kMax)
      return layers.max_transposed(queue, lists, block.num_targets, const_matrix<T>(rows),
                                   const_matrix<T>(max), const_matrix<T>(reduced), own_rows<T>(),
                                   width, out, block.num_sources);
    layers.aggregate_transposed(
        queue, lists, block.num_targets, scale.defined() ? scale.const_data_ptr<T>() : nullptr,
        const_matrix<T>(reduced), own_rows<T>(), width, out, block.num_sources);
  }
  template <typename T>
  kernels::Matrix<const T> own_rows() const {
    return own.defined() ? const_matrix<T>(own) : kernels::Matrix<const T>{};
  }
};

struct AggregateLinearSpec : torch::CustomClassHolder {
  sample::BlockView block;
  const int64_t* ids = nullptr;
  Reduce reduce = Reduce::kMean;
  Finish finish;
  Execution execution;
  int64_t source_width = 0, target_width = 0;  // columns of the two halves of the product's input
  bool own_is_source = true;                   // the own row of target t is x[t]
  bool has_bias = false;
  size_t target_edge = 0;  // x_target's index among the defined inputs
  // The layer that made x and takes its gradient from here, instead of from LibTorch's graph.
  c10::intrusive_ptr<AggregateLinearSpec> producer;
  bool has_taker = false;                  // true if this is the producer of another layer
  std::optional<SourceGradient> incoming;  // stored by the other layer's backward pass
};

// Writes rows [begin, end) of the product's input, [reduced | own], to `out`.
template <typename T>
void gather_rows(const AggregateLinearSpec& spec, const at::Tensor& x, const at::Tensor& x_target,
                 kernels::Matrix<T> out, int64_t begin, int64_t end) {
  const auto source = const_matrix<T>(x);
  kernels::table<T>().aggregate(spec.reduce, lists_by_target(spec.block),
                                {source.data, source.stride, spec.ids}, spec.source_width, out,
                                begin, end);
  if (spec.target_width == 0) return;
  const auto own = x_target.defined() ? const_matrix<T>(x_target) : source;
  const int64_t* ids = x_target.defined() ? nullptr : spec.ids;
  constexpr int64_t kAhead = 8;
  for (int64_t t = begin; t < end; ++t) {
    if (ids && t + kAhead < end) {  // rows of a table are scattered
      const T* ahead = own.row(ids[t + kAhead]);
      for (int64_t c = 0; c < spec.target_width; c += 64 / sizeof(T)) __builtin_prefetch(ahead + c);
    }
    std::copy_n(own.row(ids ? ids[t] : t), spec.target_width,
                out.row(t - begin) + spec.source_width);
  }
}

// Returns rows [begin, end) of the product's input, in `input` if that is defined. Rows of another
// type than `input` are made in pieces, which are still in the cache when they are kept.
template <typename T>
at::Tensor gathered(const AggregateLinearSpec& spec, const at::Tensor& x,
                    const at::Tensor& x_target, const ForwardProduct& product,
                    const at::Tensor& input, int64_t begin, int64_t end) {
  constexpr int64_t kPiece = 64;
  const int64_t width = spec.source_width + spec.target_width;
  const bool converts = input.defined() && input.scalar_type() != x.scalar_type();
  const int64_t piece = converts ? kPiece : end - begin;
  at::Tensor part = input.defined() ? input.narrow(0, begin, end - begin) : at::Tensor();
  at::Tensor rows = part;
  if (!part.defined() || converts)
    rows = scratch_tensor(spec.execution, {piece, width}, x.scalar_type());
  for (int64_t at = begin; at < end; at += piece) {
    const int64_t count = std::min(piece, end - at);
    gather_rows<T>(spec, x, x_target, matrix<T>(rows), at, at + count);
    if (converts) product.keep(rows.narrow(0, 0, count), part.narrow(0, at - begin, count));
  }
  return part.defined() ? part : rows;
}

// Writes all rows of the product's input on a device; x may be a table of any element type.
void gather_on_device(const AggregateLinearSpec& spec, const at::Tensor& x,
                      const at::Tensor& x_target, const at::Tensor& input) {
  const int64_t rows = spec.block.num_targets, width = spec.source_width;
  const kernels::Lists lists = lists_by_target(spec.block);
  const kernels::StoredRows stored{x.const_data_ptr(), dtype_of(x), x.stride(0), spec.ids};
  const bool converts = x.scalar_type() != input.scalar_type();
  const at::Tensor own =
      spec.target_width ? input.narrow(1, width, spec.target_width) : at::Tensor();
  launch(spec.execution, input.scalar_type(),
         [&]<typename T>(const kernels::DeviceLayers<T>& layers, device::Queue* queue) {
           const auto to = matrix<T>(input);
           if (converts)
             layers.aggregate_stored(queue, spec.reduce, lists, stored, width, to, rows);
           else
             layers.aggregate(queue, spec.reduce, lists,
                              {x.const_data_ptr<T>(), x.stride(0), spec.ids}, width, to, rows);
           if (own.defined() && !x_target.defined())
             layers.gather_rows(queue, stored, spec.target_width, matrix<T>(own), rows);
         });
  if (own.defined() && x_target.defined()) at::Tensor(own).copy_(x_target.narrow(0, 0, rows));
}

// Returns the gradient of x from the gradient of the product's input. `own`: the gradient of x by
// way of own rows.
SourceGradient source_gradient(const AggregateLinearSpec& spec, const at::Tensor& input,
                               const at::Tensor& x, const at::Tensor& input_gradient,
                               const at::Tensor& own) {
  const sample::BlockView& block = spec.block;
  const at::ScalarType type = input_gradient.scalar_type();
  SourceGradient gradient{.block = block,
                          .reduce = spec.reduce,
                          .width = spec.source_width,
                          .reduced = input_gradient,
                          .own = own};
  if (spec.reduce != Reduce::kMax) {
    gradient.scale = source_scale(block, spec.reduce, type, spec.execution);
    return gradient;
  }
  gradient.rows = x;
  gradient.max = input;
  gradient.reduced = scratch_tensor(spec.execution, {block.num_targets, spec.source_width}, type);
  visit_type(type, [&]<typename T>() {
    over_rows(spec.execution, block.num_targets, kMaxChunk, &kernels::Table<T>::max_share,
              &kernels::DeviceLayers<T>::max_share, lists_by_target(block), rows_of<T>(x),
              const_matrix<T>(input), const_matrix<T>(input_gradient), spec.source_width,
              matrix<T>(gradient.reduced));
  });
  return gradient;
}

at::Tensor whole(const SourceGradient& gradient, const Execution& execution) {
  const at::ScalarType type = gradient.reduced.scalar_type();
  at::Tensor dx = scratch_tensor(execution, {gradient.block.num_sources, gradient.width}, type);
  if (execution.device)
    launch(execution, type,
           [&]<typename T>(const kernels::DeviceLayers<T>& layers, device::Queue* queue) {
             gradient.write(layers, queue, matrix<T>(dx));
           });
  else
    visit_type(type, [&]<typename T>() {
      for_ranges(execution.pool, dx.size(0), kMaxChunk,
                 [&](int64_t begin, int64_t end) { gradient.write(matrix<T>(dx), begin, end); });
    });
  return dx;
}

// The gradients of a product [rows, in] weight^T and of the operations after it.
struct ProductGradient {
  at::Tensor weight, bias;
  at::Tensor input{};  // gradient of the rows; written if defined
};
struct Product {
  at::Tensor weight, input;
  at::Tensor y;  // defined if a ReLU follows
};

void product_on_device(const AggregateLinearSpec& spec, const Product& product,
                       const at::Tensor& dy, ProductGradient& gradient) {
  const Execution& execution = spec.execution;
  const FinishGradient dz = finish_gradient(spec.finish, dy, product.y, spec.has_bias, execution);
  gradient.bias = dz.bias;
  gradient.weight = scratch_tensor(execution, product.weight.sizes(), dy.scalar_type());
  multiply(gradient.weight, dz.x.t(), product.input, execution);
  if (gradient.input.defined()) multiply(gradient.input, dz.x, product.weight, execution);
}

// Lane l takes chunks l, l + lanes, ... in this order. `incoming` is added to dy, or replaces it if
// dy is undefined.
void product_by_lanes(const AggregateLinearSpec& spec, const Product& product, const at::Tensor& dy,
                      const std::optional<SourceGradient>& incoming, ProductGradient& gradient) {
  const Execution& execution = spec.execution;
  const auto& [weight, input, y] = product;
  const int64_t rows = input.size(0), out_width = weight.size(0), in_width = weight.size(1);
  const int64_t chunk = aggregate_chunk(rows), num_chunks = (rows + chunk - 1) / chunk;
  const int64_t lanes = std::clamp<int64_t>(num_chunks, 1, kWeightSums);
  const at::ScalarType type = weight.scalar_type();
  const auto products = BackwardProducts::make(weight, gradient.input.defined(), execution);
  at::Tensor weight_sums = scratch_tensor(execution, {lanes, out_width, in_width}, type);
  at::Tensor bias_sums = scratch_tensor(execution, {lanes, out_width}, type);
  visit_type(type, [&]<typename T>() {
    const auto lane_body = [&](int64_t lane, int64_t) {
      at::AutoDispatchBelowAutograd below;
      at::Tensor weight_sum = weight_sums[lane];
      T* bias_sum = bias_sums[lane].mutable_data_ptr<T>();
      std::fill_n(bias_sum, out_width, T{0});
      if (num_chunks == 0) weight_sum.zero_();
      at::Tensor dz_rows = scratch_tensor(execution, {chunk, out_width}, type);
      for (int64_t k = lane; k < num_chunks; k += lanes) {
        const int64_t begin = k * chunk, n = std::min(rows - begin, chunk);
        const auto y_rows = y.defined() ? const_matrix<T>(y) : kernels::Matrix<const T>{};
        const at::Tensor dz = dz_rows.narrow(0, 0, n);
        // Row `begin` of all rows is row 0 of this chunk's buffer.
        kernels::Matrix<T> dz_at = matrix<T>(dz);
        dz_at.data -= begin * dz_at.stride;
        kernels::Matrix<const T> dy_rows = {dz_at.data, dz_at.stride};
        if (incoming)
          incoming->write(dz_at, begin, begin + n);
        else
          dy_rows = const_matrix<T>(dy);
        if (incoming && dy.defined()) dz.add_(dy.narrow(0, begin, n));
        kernels::table<T>().finish_backward(dy_rows, y_rows, out_width, spec.finish.relu,
                                            spec.finish.dropout, dz_at, bias_sum, begin, begin + n);
        const at::Tensor dx =
            gradient.input.defined() ? gradient.input.narrow(0, begin, n) : at::Tensor();
        products->multiply(dz, input.narrow(0, begin, n), {weight_sum, /*add=*/k != lane}, {dx});
      }
    };
    if (execution.pool)
      for (int64_t lane = 0; lane < lanes; ++lane) lane_body(lane, lane + 1);
    else
      for_ranges(nullptr, lanes, 1, lane_body);
  });
  gradient.weight = weight_sums[0];
  gradient.bias = bias_sums[0];
  for (int64_t lane = 1; lane < lanes; ++lane) {
    gradient.weight.add_(weight_sums[lane]);
    gradient.bias.add_(bias_sums[lane]);
  }
}

c10::intrusive_ptr<AggregateLinearSpec> linear_spec(AutogradContext* context) {
  return c10::static_intrusive_pointer_cast<AggregateLinearSpec>(
      context->saved_data["spec"].toCapsule());
}

struct AggregateLinearFunction : torch::autograd::Function<AggregateLinearFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x_any,
                            const at::Tensor& lin_l, const std::optional<at::Tensor>& bias,
                            const std::optional<at::Tensor>& lin_r,
                            const std::optional<at::Tensor>& target_any,
                            c10::intrusive_ptr<AggregateLinearSpec> spec) {
    const Execution& execution = spec->execution;
    context->set_materialize_grads(false);
    const at::Tensor x = with_dense_rows(x_any);
    const at::Tensor x_target = target_any ? with_dense_rows(*target_any) : at::Tensor();
    const bool wants_x = execution.gradients && x.requires_grad();
    if (wants_x) lists_by_source(spec->block);
    const at::Tensor weight = lin_r ? at::cat({lin_l, *lin_r}, 1) : lin_l.contiguous();
    const int64_t rows = spec->block.num_targets, out_width = weight.size(0);
    const int64_t in_width = weight.size(1), chunk = aggregate_chunk(rows);
    const at::ScalarType type = weight.scalar_type();

    const bool wants_max = wants_x && spec->reduce == Reduce::kMax;
    at::Tensor input;
    at::Tensor y = scratch_tensor(execution, {rows, out_width}, type);
    if (execution.device) {
      input = scratch_tensor(execution, {rows, in_width}, type);
      gather_on_device(*spec, x, x_target, input);
      multiply(y, input, weight.t(), execution);
      finish_in_place(y, bias ? *bias : at::Tensor(), spec->finish, execution);
    } else {
      const auto product = ForwardProduct::make(weight, execution);
      // The gradient of a maximum compares it with each source. With a pool, the products run on
      // this thread after all rows are aggregated.
      if (wants_max)
        input = scratch_tensor(execution, {rows, in_width}, type);
      else if (execution.gradients || execution.pool)
        input = product->room(rows);
      visit_type(type, [&]<typename T>() {
        const T* shift = bias ? bias->const_data_ptr<T>() : nullptr;
        const auto gather = [&](int64_t begin, int64_t end) {
          return gathered<T>(*spec, x, x_target, *product, input, begin, end);
        };
        const auto multiply = [&](const at::Tensor& part, int64_t begin, int64_t end) {
          product->multiply(y.narrow(0, begin, end - begin), part);
          kernels::table<T>().finish(const_matrix<T>(y), out_width, shift, spec->finish.relu,
                                     spec->finish.dropout, matrix<T>(y), begin, end);
        };
        if (execution.pool) {
          for_ranges(execution.pool, rows, chunk, gather);
          for (int64_t begin = 0; begin < rows; begin += chunk) {
            const int64_t end = std::min(rows, begin + chunk);
            multiply(input.narrow(0, begin, end - begin), begin, end);
          }
        } else {
          for_ranges(nullptr, rows, chunk, [&](int64_t begin, int64_t end) {
            at::AutoDispatchBelowAutograd below;
            multiply(gather(begin, end), begin, end);
          });
        }
      });
    }
    if (execution.gradients) {
      context->save_for_backward(
          {weight, input, spec->finish.relu ? y : at::Tensor(), wants_max ? x : at::Tensor()});
      context->saved_data["spec"] = c10::IValue::make_capsule(spec);
      // Undefined inputs have no edge in the graph.
      spec->has_bias = bias.has_value();
      spec->target_edge = 2 + bias.has_value() + lin_r.has_value();
    }
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto spec = linear_spec(context);
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &weight = saved[0], &input = saved[1], &y = saved[2], &x = saved[3];
    const Execution& execution = spec->execution;
    const std::optional<SourceGradient> incoming = std::exchange(spec->incoming, std::nullopt);
    if (!gradients[0].defined() && !incoming) return variable_list(6);
    const at::Tensor dy = gradients[0].defined() ? with_dense_rows(gradients[0]) : at::Tensor();
    const bool wants_x = context->needs_input_grad(0);
    const bool wants_target = !spec->own_is_source && context->needs_input_grad(spec->target_edge);
    ProductGradient gradient;
    if (wants_x || wants_target)
      gradient.input = scratch_tensor(execution, input.sizes(), weight.scalar_type());
    if (execution.device)
      product_on_device(*spec, {weight, input, y}, dy, gradient);
    else
      product_by_lanes(*spec, {weight, input, y}, dy, incoming, gradient);

    const int64_t f = spec->source_width;
    at::Tensor own_gradient, dx;  // dx stays undefined if the producer takes the gradient
    if (gradient.input.defined() && spec->target_width)
      own_gradient = gradient.input.narrow(1, f, spec->target_width);
    if (wants_x) {
      SourceGradient of_source = source_gradient(*spec, input, x, gradient.input,
                                                 spec->own_is_source ? own_gradient : at::Tensor());
      if (spec->producer)
        spec->producer->incoming = std::move(of_source);
      else
        dx = whole(of_source, execution);
    }
    return {dx,
            gradient.weight.narrow(1, 0, f),
            spec->has_bias ? gradient.bias : at::Tensor(),
            spec->target_width ? gradient.weight.narrow(1, f, spec->target_width) : at::Tensor(),
            wants_target ? own_gradient : at::Tensor(),
            at::Tensor()};
  }
};

// Returns the layer whose result x is, or null.
c10::intrusive_ptr<AggregateLinearSpec> maker_of(const at::Tensor& x) {
  const auto node =
      std::dynamic_pointer_cast<torch::autograd::CppNode<AggregateLinearFunction>>(x.grad_fn());
  return node ? linear_spec(&node->ctx_) : nullptr;
}

}  // namespace

at::Tensor aggregate_linear(const AggregateLinear& in, const sample::BlockView& block,
                            Reduce reduce, const Finish& finish, const Execution& execution) {
  auto spec = c10::make_intrusive<AggregateLinearSpec>();
  spec->block = block;
  spec->ids = in.ids;
  spec->reduce = reduce;
  spec->finish = finish;
  spec->execution = execution;
  spec->source_width = in.lin_l.size(1);
  spec->target_width = in.lin_r.defined() ? in.lin_r.size(1) : 0;
  spec->own_is_source = !in.x_target.defined();
  // Chunks that fit in a cache are for the CPU; a device computes the whole gradient at once.
  if (in.x_is_internal && !execution.device && execution.gradients && in.x.requires_grad()) {
    c10::intrusive_ptr<AggregateLinearSpec> producer = maker_of(in.x);
    if (producer && !std::exchange(producer->has_taker, true)) spec->producer = producer;
  }
  const auto given = [](const at::Tensor& t) {
    return t.defined() ? std::optional<at::Tensor>(t) : std::nullopt;
  };
  return AggregateLinearFunction::apply(in.x, in.lin_l, given(in.bias), given(in.lin_r),
                                        given(in.x_target), std::move(spec));
}

}  // namespace gnnmg::nn
