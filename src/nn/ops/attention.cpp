// Attention as one node of autograd: scores, softmax and weighted sum in one pass over each
// target's edges. The memory kept for backward() is linear in edges times heads.
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>

#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <optional>

#include "nn/ops/edge_functions.h"
#include "nn/ops/launch.h"

namespace gnnmg::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t kTargetRows = 128;  // targets in one range
constexpr int64_t kVectorSums = 16;   // partial sums of the gradient of a vector

struct AttentionSpec : torch::CustomClassHolder {
  sample::BlockView block;
  Execution execution;
  int64_t heads = 1, channels = 0, num_loops = 0, num_places = 0, first_own = 0;
  bool loops = false, v2 = false;
  bool has_target_scores = false, has_edges = false, has_factors = false;
  bool edges_need_gradient = false;  // GATv2
  double slope = 0;
  Dropout dropout;
  int64_t width() const { return heads * channels; }
};

// All tensors of one pass; absent ones are undefined.
struct Parts {
  at::Tensor source, target_scores, target, vector, edges, factors;
  at::Tensor edge_weight;  // GATv2: [columns of edges, heads * channels]
  at::Tensor alpha, weights;
};

template <typename T>
const T* data_of(const at::Tensor& t) {
  return t.defined() ? t.const_data_ptr<T>() : nullptr;
}
// Returns the columns of a matrix from `first` on.
template <typename T>
kernels::Matrix<T> columns(kernels::Matrix<T> rows, int64_t first) {
  return {rows.data + first, rows.stride};
}

template <typename T>
kernels::Attention<T> attention_of(const AttentionSpec& spec, const Parts& parts) {
  kernels::Attention<T> a;
  a.lists = lists_by_target(spec.block);
  a.num_edges = spec.block.num_edges;
  a.num_loops = spec.num_loops;
  a.loops = spec.loops;
  a.first_own = spec.first_own;
  a.heads = spec.heads;
  a.channels = spec.channels;
  a.slope = static_cast<T>(spec.slope);
  a.source = const_matrix<T>(parts.source);
  if (spec.v2) {
    a.vector = data_of<T>(parts.vector);
    a.target = const_matrix<T>(parts.target);
    if (spec.has_edges) {
      a.edge_features = const_matrix<T>(parts.edges);
      a.edge_weight = data_of<T>(parts.edge_weight);
      a.edge_columns = parts.edges.size(1);
    }
  } else {
    a.source_scores = columns(a.source, spec.width());
    a.target_scores = spec.has_target_scores
                          ? const_matrix<T>(parts.target_scores)
                          : columns<const T>({a.source.row(spec.first_own), a.source.stride},
                                             spec.width() + spec.heads);
    a.edge_scores = data_of<T>(parts.edges);
  }
  a.factors = data_of<T>(parts.factors);
  a.dropout = spec.dropout;
  a.alpha = const_cast<T*>(data_of<T>(parts.alpha));
  a.weights = const_cast<T*>(data_of<T>(parts.weights));
  return a;
}

// Returns row 0 plus the other rows, in order.
at::Tensor sum_of_lanes(const at::Tensor& sums) {
  at::Tensor sum = sums[0];
  for (int64_t lane = 1; lane < kVectorSums; ++lane) sum.add_(sums[lane]);
  return sum;
}

// The gradients that are summed by target, and the gradients of GATv2's vector and edge matrix: one
// partial sum per lane of targets, added in order.
struct VectorGradients {
  at::Tensor vector, edge_weight;
};
template <typename T>
VectorGradients backward_by_targets(const AttentionSpec& spec, const kernels::Attention<T>& a,
                                    const at::Tensor& dy, const kernels::AttentionGradient<T>& to) {
  const int64_t rows = spec.block.num_targets, width = spec.v2 ? spec.width() : 0;
  at::Tensor sums = at::zeros({kVectorSums, width}, dy.options());
  at::Tensor edge_sums = at::zeros({kVectorSums, a.edge_columns * width}, dy.options());
  at::Tensor edge_rows = at::empty({kVectorSums, to.edge_features.data ? width : 0}, dy.options());
  const int64_t share = (rows + kVectorSums - 1) / kVectorSums;
  for_ranges(spec.execution.pool, kVectorSums, 1, [&](int64_t lane, int64_t) {
    kernels::AttentionGradient<T> of_lane = to;
    if (a.edge_columns > 0) of_lane.edge_weight = matrix<T>(edge_sums).row(lane);
    if (to.edge_features.data) of_lane.edge_row = matrix<T>(edge_rows).row(lane);
    kernels::table<T>().attend_backward(a, const_matrix<T>(dy), of_lane, matrix<T>(sums).row(lane),
                                        std::min(rows, lane * share),
                                        std::min(rows, (lane + 1) * share));
  });
  return {sum_of_lanes(sums), sum_of_lanes(edge_sums).view({a.edge_columns, width})};
}

// The same on a device, whose kernels use their own partial sums.
template <typename T>
VectorGradients by_targets_on_device(const AttentionSpec& spec, const kernels::Attention<T>& a,
                                     const at::Tensor& dy, kernels::AttentionGradient<T> to) {
  const Device& device = *spec.execution.device;
  const int64_t rows = spec.block.num_targets, width = spec.v2 ? spec.width() : 0;
  const auto numbers = [&](at::IntArrayRef sizes) {
    return scratch_tensor(spec.execution, sizes, dy.scalar_type());
  };
  const VectorGradients sums{numbers({width}), numbers({a.edge_columns, width})};
  if (a.edge_columns > 0) to.edge_weight = sums.edge_weight.template mutable_data_ptr<T>();
  // A non-null pointer means that the gradient of the edges' features is requested; kernels do not
  // write to it.
  to.edge_row = to.edge_features.data;
  const at::Tensor room = numbers({device.layers<T>().attend_parts(a, to, rows)});
  device.layers<T>().attend_backward(device.queue, a, const_matrix<T>(dy), to,
                                     sums.vector.template mutable_data_ptr<T>(),
                                     room.template mutable_data_ptr<T>(), rows);
  return sums;
}

struct AttendFunction : torch::autograd::Function<AttendFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& source,
                            const std::optional<at::Tensor>& target_scores,
                            const std::optional<at::Tensor>& target,
                            const std::optional<at::Tensor>& vector,
                            const std::optional<at::Tensor>& edges,
                            const std::optional<at::Tensor>& edge_weight,
                            const std::optional<at::Tensor>& factors,
                            c10::intrusive_ptr<AttentionSpec> spec) {
    context->saved_data["spec"] = c10::IValue::make_capsule(spec);
    const sample::BlockView& block = spec->block;
    const Execution& execution = spec->execution;
    const at::ScalarType type = source.scalar_type();
    Parts parts;
    parts.source = with_dense_rows(source);
    if (target_scores) parts.target_scores = with_dense_rows(*target_scores);
    if (target) parts.target = with_dense_rows(*target);
    if (vector) parts.vector = vector->contiguous();
    if (edges) parts.edges = edges->contiguous();
    if (edge_weight) parts.edge_weight = edge_weight->t().contiguous();
    if (factors) parts.factors = factors->contiguous();
    // Kernels of several heads may read beyond the last weight.
    const int64_t size = spec->num_places * spec->heads + kernels::kPadding;
    const auto over_edges = [&] {
      at::Tensor values = scratch_tensor(execution, {size}, type);
      values.narrow(0, size - kernels::kPadding, kernels::kPadding).zero_();
      return values;
    };
    parts.alpha = over_edges();
    parts.weights = spec->dropout.active() || factors ? over_edges() : parts.alpha;
    at::Tensor out = scratch_tensor(execution, {block.num_targets, spec->width()}, type);
    visit_type(type, [&]<typename T>() {
      over_rows(execution, block.num_targets, kTargetRows, &kernels::Table<T>::attend,
                &kernels::DeviceLayers<T>::attend, attention_of<T>(*spec, parts), matrix<T>(out));
    });
    if (execution.gradients) {
      lists_by_source(block);
      context->save_for_backward({parts.source, parts.target_scores, parts.target, parts.vector,
                                  parts.edges, parts.factors, parts.edge_weight, parts.alpha,
                                  parts.weights});
    }
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto spec =
        c10::static_intrusive_pointer_cast<AttentionSpec>(context->saved_data["spec"].toCapsule());
    const sample::BlockView& block = spec->block;
    const Execution& execution = spec->execution;
    const variable_list saved = context->get_saved_variables();
    const Parts parts{saved[0], saved[1], saved[2], saved[3], saved[4],
                      saved[5], saved[6], saved[7], saved[8]};
    const at::Tensor dy = with_dense_rows(gradients[0]);
    const at::ScalarType type = dy.scalar_type();
    const int64_t heads = spec->heads, width = spec->width();
    // Includes padding, because kernels of several heads may read beyond the last weight.
    const at::Tensor padded =
        scratch_tensor(execution, {spec->num_places * heads + kernels::kPadding}, type);
    const at::Tensor scores = padded.narrow(0, 0, spec->num_places * heads);
    padded.narrow(0, spec->num_places * heads, kernels::kPadding).zero_();
    at::Tensor dsource = scratch_tensor(execution, {block.num_sources, parts.source.size(1)}, type);
    at::Tensor dtarget_scores, dtarget, dedges, dfactors;
    VectorGradients sums;
    if (spec->has_factors) dfactors = scratch_tensor(execution, {spec->num_places}, type);
    if (spec->edges_need_gradient) dedges = at::empty_like(parts.edges);
    if (spec->v2) dtarget = scratch_tensor(execution, {block.num_targets, width}, type);
    if (spec->has_target_scores)
      dtarget_scores = scratch_tensor(execution, {block.num_targets, heads}, type);
    const BySource sources = by_source(block, execution);
    visit_type(type, [&]<typename T>() {
      const kernels::Attention<T> a = attention_of<T>(*spec, parts);
      const auto to_source = matrix<T>(dsource);
      kernels::AttentionGradient<T> to;
      to.scores = scores.mutable_data_ptr<T>();
      if (dfactors.defined()) to.factors = dfactors.mutable_data_ptr<T>();
      if (dedges.defined()) to.edge_features = matrix<T>(dedges);
      if (spec->v2)
        to.target = matrix<T>(dtarget);
      else
        to.target_scores =
            spec->has_target_scores ? matrix<T>(dtarget_scores) : columns(to_source, width + heads);
      sums = execution.device ? by_targets_on_device(*spec, a, dy, to)
                              : backward_by_targets(*spec, a, dy, to);
      over_rows(execution, block.num_sources, kTargetRows, &kernels::Table<T>::attend_transposed,
                &kernels::DeviceLayers<T>::attend_transposed, a, sources.edges, const_matrix<T>(dy),
                static_cast<const T*>(to.scores), to_source,
                spec->v2 ? kernels::Matrix<T>{} : columns(to_source, width));
    });
    // Sources that are not targets have no score as a target.
    if (!spec->v2 && !spec->has_target_scores)
      dsource.narrow(0, block.num_targets, block.num_sources - block.num_targets)
          .narrow(1, width + heads, heads)
          .zero_();
    if (!spec->v2 && spec->has_edges) dedges = scores.view({spec->num_places, heads});
    at::Tensor dvector, dedge_weight;
    if (spec->v2) dvector = sums.vector.view(parts.vector.sizes());
    if (spec->v2 && spec->has_edges) dedge_weight = sums.edge_weight.t();
    return {dsource, dtarget_scores, dtarget,  dvector,
            dedges,  dedge_weight,   dfactors, at::Tensor()};
  }
};

}  // namespace

at::Tensor attend(const Attend& in, const sample::BlockView& block, const Execution& execution) {
  auto spec = c10::make_intrusive<AttentionSpec>();
  spec->block = block;
  spec->execution = execution;
  spec->heads = in.heads;
  spec->v2 = in.vector.defined();
  spec->has_target_scores = in.target_scores.defined();
  const int64_t score_columns = spec->v2 ? 0 : spec->has_target_scores ? 1 : 2;
  spec->channels = in.source.size(1) / in.heads - score_columns;
  spec->loops = in.loops;
  spec->num_loops = in.loops ? std::min(block.num_sources, block.num_targets) : 0;
  spec->num_places = block.num_edges + spec->num_loops;
  spec->first_own = in.first_own;
  spec->has_edges = in.edges.defined();
  spec->edges_need_gradient = spec->v2 && in.edges.defined() && in.edges.requires_grad();
  spec->has_factors = in.factors.defined();
  spec->slope = in.slope;
  spec->dropout = in.dropout;
  const auto given = [](const at::Tensor& t) {
    return t.defined() ? std::optional<at::Tensor>(t) : std::nullopt;
  };
  return AttendFunction::apply(in.source, given(in.target_scores), given(in.target),
                               given(in.vector), given(in.edges), given(in.edge_weight),
                               given(in.factors), std::move(spec));
}

}  // namespace gnnmg::nn
