// Attention as one node of autograd: scores, softmax and weighted sum in one pass over each
// target's edges; what backward() keeps is linear in edges times heads.
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "nn/edge_functions.h"
#include "nn/parallel.h"
#include "nn/tensors.h"

namespace gnnmg::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t kRows = 128;  // a range of targets
constexpr int64_t kLanes = 16;  // partial sums of the gradients of vectors

struct Spec : torch::CustomClassHolder {
  sample::BlockView block;
  Execution execution;
  int64_t heads = 1, channels = 0, num_loops = 0, num_places = 0, first_own = 0;
  at::Tensor source_scores;  // given
  bool loops = false, v2 = false;
  bool has_target = false, has_edges = false, has_factors = false;
  double slope = 0;
  Dropout dropout;
};

// All tensors of one pass; those that are not there are undefined.
struct Parts {
  at::Tensor source, target, vector, vector_target, edges, factors;
  at::Tensor source_scores, target_scores;  // GAT
  at::Tensor alpha, weights;
};

template <typename T>
const T* data_of(const at::Tensor& t) {
  return t.defined() ? t.const_data_ptr<T>() : nullptr;
}
template <typename T>
kernels::Matrix<const T> matrix_of(const at::Tensor& t) {
  return t.defined() ? const_matrix<T>(t) : kernels::Matrix<const T>{};
}

template <typename T>
kernels::Attention<T> attention_of(const Spec& spec, const Parts& parts) {
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
    a.edge_rows = matrix_of<T>(parts.edges);
  } else {
    a.source_scores = const_matrix<T>(parts.source_scores);
    a.target_scores = data_of<T>(parts.target_scores);
    a.edge_scores = data_of<T>(parts.edges);
  }
  a.factors = data_of<T>(parts.factors);
  a.dropout = spec.dropout;
  a.alpha = const_cast<T*>(data_of<T>(parts.alpha));
  a.weights = const_cast<T*>(data_of<T>(parts.weights));
  return a;
}

// [rows, heads]: <x, vector> of each row and head.
template <typename T>
at::Tensor scores_of(const Spec& spec, const at::Tensor& x, const at::Tensor& vector,
                     int64_t rows) {
  at::Tensor scores = scratch_tensor(spec.execution, {rows, spec.heads}, x.scalar_type());
  for_ranges(spec.execution.pool, rows, kRows, [&](int64_t begin, int64_t end) {
    kernels::table<T>().row_dots(const_matrix<T>(x), {vector.const_data_ptr<T>(), 0}, spec.heads,
                                 spec.channels, scores.mutable_data_ptr<T>(), begin, end);
  });
  return scores;
}

// Partial sums, one a lane of rows: body(lane's row of sums, begin, end); added up in their order.
template <typename F>
at::Tensor sum_lanes(const Spec& spec, int64_t rows, at::ScalarType type, const F& body) {
  const int64_t width = spec.heads * spec.channels;
  at::Tensor sums = at::zeros({kLanes, width}, at::TensorOptions(type));
  const int64_t share = (rows + kLanes - 1) / kLanes;
  for_ranges(spec.execution.pool, kLanes, 1, [&](int64_t lane, int64_t) {
    body(sums[lane], std::min(rows, lane * share), std::min(rows, (lane + 1) * share));
  });
  at::Tensor sum = sums[0];
  for (int64_t lane = 1; lane < kLanes; ++lane) sum.add_(sums[lane]);
  return sum;
}

// rows += factors * vector, head by head, with row r's factors from `factors`.
template <typename T>
void add_outer(const Spec& spec, const at::Tensor& rows, const at::Tensor& factors,
               const at::Tensor& vector) {
  const T* by_head = factors.const_data_ptr<T>();
  const T* values = vector.const_data_ptr<T>();
  const auto to = matrix<T>(rows);
  for_ranges(spec.execution.pool, factors.size(0), kRows, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r)
      for (int64_t h = 0; h < spec.heads; ++h) {
        const T factor = by_head[r * spec.heads + h];
        T* out = to.row(r) + h * spec.channels;
        const T* in = values + h * spec.channels;
        for (int64_t c = 0; c < spec.channels; ++c) out[c] += factor * in[c];
      }
  });
}

struct AttendFunction : torch::autograd::Function<AttendFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& source,
                            const at::Tensor& vector,
                            const std::optional<at::Tensor>& vector_target,
                            const std::optional<at::Tensor>& target,
                            const std::optional<at::Tensor>& edges,
                            const std::optional<at::Tensor>& factors,
                            c10::intrusive_ptr<Spec> spec) {
    context->saved_data["spec"] = c10::IValue::make_capsule(spec);
    const sample::BlockView& block = spec->block;
    const Execution& execution = spec->execution;
    const at::ScalarType type = source.scalar_type();
    Parts parts;
    parts.source = with_dense_rows(source);
    parts.vector = vector.contiguous();
    if (vector_target) parts.vector_target = vector_target->contiguous();
    parts.target = target ? with_dense_rows(*target) : parts.source;
    if (edges) parts.edges = edges->contiguous();
    if (factors) parts.factors = factors->contiguous();
    // What kernels of several heads may read behind the last weight.
    const int64_t size = spec->num_places * spec->heads + kernels::kPadding;
    const auto over_edges = [&] {
      at::Tensor values = scratch_tensor(execution, {size}, type);
      values.narrow(0, size - kernels::kPadding, kernels::kPadding).zero_();
      return values;
    };
    parts.alpha = over_edges();
    parts.weights = spec->dropout.active() || factors ? over_edges() : parts.alpha;
    at::Tensor out =
        scratch_tensor(execution, {block.num_targets, spec->heads * spec->channels}, type);
    visit_type(type, [&]<typename T>() {
      if (!spec->v2) {
        parts.source_scores =
            spec->source_scores.defined()
                ? spec->source_scores
                : scores_of<T>(*spec, parts.source, parts.vector, block.num_sources);
        parts.target_scores =
            scores_of<T>(*spec, parts.target, parts.vector_target, block.num_targets);
      }
      const kernels::Attention<T> a = attention_of<T>(*spec, parts);
      for_ranges(execution.pool, block.num_targets, kRows, [&](int64_t begin, int64_t end) {
        kernels::table<T>().attend(a, matrix<T>(out), begin, end);
      });
    });
    if (execution.gradients) {
      lists_by_source(block);
      context->save_for_backward({parts.source, target ? parts.target : at::Tensor(), parts.vector,
                                  parts.vector_target, parts.edges, parts.factors,
                                  parts.source_scores, parts.target_scores, parts.alpha,
                                  parts.weights});
    }
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto spec =
        c10::static_intrusive_pointer_cast<Spec>(context->saved_data["spec"].toCapsule());
    const sample::BlockView& block = spec->block;
    const Execution& execution = spec->execution;
    const variable_list saved = context->get_saved_variables();
    Parts parts{saved[0], saved[1].defined() ? saved[1] : saved[0],
                saved[2], saved[3],
                saved[4], saved[5],
                saved[6], saved[7],
                saved[8], saved[9]};
    const at::Tensor dy = with_dense_rows(gradients[0]);
    const at::ScalarType type = dy.scalar_type();
    const int64_t width = spec->heads * spec->channels;
    const at::Tensor scores = scratch_tensor(execution, {spec->num_places * spec->heads}, type);
    at::Tensor dsource = scratch_tensor(execution, {block.num_sources, width}, type);
    at::Tensor dvector, dvector_target, dtarget, dedges, dfactors;
    if (spec->has_factors) dfactors = scratch_tensor(execution, {spec->num_places}, type);
    if (spec->has_edges && spec->v2) dedges = at::zeros({spec->num_places, width}, dy.options());
    if (spec->v2 || spec->has_target)
      dtarget = scratch_tensor(execution, {block.num_targets, width}, type);
    const at::Tensor positions = edge_positions(block, execution);
    const kernels::EdgesBySource by_source{lists_by_source(block),
                                           positions.const_data_ptr<int32_t>(), block.num_targets};
    visit_type(type, [&]<typename T>() {
      const kernels::Attention<T> a = attention_of<T>(*spec, parts);
      kernels::AttentionGradient<T> to;
      to.scores = scores.mutable_data_ptr<T>();
      if (dfactors.defined()) to.factors = dfactors.mutable_data_ptr<T>();
      if (dedges.defined()) to.edge_rows = matrix<T>(dedges);
      at::Tensor target_scores, source_scores;
      if (spec->v2) {
        to.target = matrix<T>(dtarget);
      } else {
        target_scores = scratch_tensor(execution, {block.num_targets, spec->heads}, type);
        source_scores = scratch_tensor(execution, {block.num_sources, spec->heads}, type);
        to.target_scores = target_scores.mutable_data_ptr<T>();
      }
      dvector = sum_lanes(*spec, block.num_targets, type,
                          [&](const at::Tensor& sums, int64_t begin, int64_t end) {
                            kernels::table<T>().attend_backward(
                                a, const_matrix<T>(dy), to, sums.mutable_data_ptr<T>(), begin, end);
                          });
      for_ranges(execution.pool, block.num_sources, kRows, [&](int64_t begin, int64_t end) {
        kernels::table<T>().attend_transposed(
            a, by_source, const_matrix<T>(dy), to.scores, matrix<T>(dsource),
            spec->v2 ? nullptr : source_scores.mutable_data_ptr<T>(), begin, end);
      });
      if (spec->v2) return;
      // Through the scores of sources and targets to their rows and vectors.
      const auto vector_gradient = [&](const at::Tensor& rows, const at::Tensor& by_head) {
        return sum_lanes(
            *spec, by_head.size(0), type, [&](const at::Tensor& sums, int64_t begin, int64_t end) {
              kernels::table<T>().row_sums(const_matrix<T>(rows), by_head.const_data_ptr<T>(),
                                           spec->heads, spec->channels, sums.mutable_data_ptr<T>(),
                                           begin, end);
            });
      };
      dvector = vector_gradient(parts.source, source_scores);
      dvector_target = vector_gradient(parts.target, target_scores);
      add_outer<T>(*spec, dsource, source_scores, parts.vector);
      if (spec->has_target) {
        dtarget.zero_();
        add_outer<T>(*spec, dtarget, target_scores, parts.vector_target);
      } else {
        add_outer<T>(*spec, dsource, target_scores, parts.vector_target);
      }
      if (spec->has_edges) dedges = scores.view({spec->num_places, spec->heads});
    });
    dvector = dvector.view(parts.vector.sizes());
    if (dvector_target.defined()) dvector_target = dvector_target.view(parts.vector_target.sizes());
    return {dsource, dvector,  dvector_target, spec->has_target ? dtarget : at::Tensor(),
            dedges,  dfactors, at::Tensor()};
  }
};

}  // namespace

at::Tensor head_scores(const at::Tensor& rows, const at::Tensor& vector, int64_t heads,
                       const Execution& execution) {
  Spec spec;
  spec.execution = execution;
  spec.heads = heads;
  spec.channels = rows.size(1) / heads;
  return visit_type(rows.scalar_type(), [&]<typename T>() {
    return scores_of<T>(spec, with_dense_rows(rows), vector.contiguous(), rows.size(0));
  });
}

at::Tensor attend(const Attend& in, const sample::BlockView& block, const Execution& execution) {
  auto spec = c10::make_intrusive<Spec>();
  spec->block = block;
  spec->execution = execution;
  spec->heads = in.heads;
  spec->channels = in.source.size(1) / in.heads;
  spec->loops = in.loops;
  spec->num_loops = in.loops ? std::min(block.num_sources, block.num_targets) : 0;
  spec->num_places = block.num_edges + spec->num_loops;
  spec->first_own = in.first_own;
  spec->source_scores = in.source_scores;
  spec->v2 = !in.vector_target.defined();
  spec->has_target = in.target.defined();
  spec->has_edges = in.edges.defined();
  spec->has_factors = in.factors.defined();
  spec->slope = in.slope;
  spec->dropout = in.dropout;
  const auto given = [](const at::Tensor& t) {
    return t.defined() ? std::optional<at::Tensor>(t) : std::nullopt;
  };
  return AttendFunction::apply(in.source, in.vector, given(in.vector_target), given(in.target),
                               given(in.edges), given(in.factors), std::move(spec));
}

}  // namespace gnnmg::nn
