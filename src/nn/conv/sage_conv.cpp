#include "nn/conv/sage_conv.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/relu.h>

#include <algorithm>

#include "base/error.h"
#include "nn/config/choices.h"
#include "nn/conv/layers.h"
#include "nn/conv/make_conv.h"
#include "nn/conv/reductions.h"
#include "nn/layers/sequence.h"

namespace gnnmg::nn {
namespace {

at::Tensor plus(const at::Tensor& a, const at::Tensor& b) {
  if (!a.defined()) return b;
  return b.defined() ? a + b : a;
}

// The convolution before normalization, with `own` on the rows of the targets.
at::Tensor convolve(const SageConvWeights& w, const ConvInput& in, const at::Tensor& own,
                    const at::Tensor& bias, const sample::BlockView& block, Reduce reduce,
                    const Finish& finish, const Execution& execution) {
  if (in.sparse) {
    const auto times = [&](int64_t rows, const at::Tensor& weight) {
      return sparse_linear(in.rows, rows, in.rows_dropout, weight, execution, in.by_column);
    };
    const at::Tensor sources = times(block.num_sources, w.lin_l);
    at::Tensor y = aggregate(sources, block, reduce, execution);
    if (own.defined()) y = y + times(block.num_targets, own);
    return apply_finish(plus(y, bias), finish, execution);
  }
  if (transforms_first(reduce, block, w.lin_l.size(1), w.lin_l.size(0)) && !in.as_stored) {
    at::Tensor y = aggregate(linear(in.x, w.lin_l, {}, execution), block, reduce, execution);
    if (!own.defined()) return apply_finish(plus(y, bias), finish, execution);
    const at::Tensor target =
        in.x_target.defined() ? in.x_target : in.x.narrow(0, 0, block.num_targets);
    return apply_finish(y + linear(target, own, bias, execution), finish, execution);
  }
  AggregateLinear arguments;
  arguments.x = in.x;
  arguments.x_target = in.x_target;
  arguments.x_is_internal = in.x_is_internal;
  arguments.ids = in.ids;
  arguments.lin_l = w.lin_l;
  arguments.bias = bias;
  arguments.lin_r = own;
  return aggregate_linear(arguments, block, reduce, finish, execution);
}

}  // namespace

at::Tensor own_weight(const SageConvWeights& weights) { return plus(weights.lin_r, weights.skip); }
at::Tensor whole_bias(const SageConvWeights& weights) {
  return plus(weights.lin_l_bias, weights.skip_bias);
}

bool transforms_first(Reduce reduce, const sample::BlockView& block, int64_t in, int64_t out) {
  if (!may_transform_first(reduce, in, out)) return false;
  // Sixteen operations of a product take about as long as moving one byte of a gathered row.
  const double more_work = 2.0 * static_cast<double>(block.num_sources - block.num_targets) *
                           static_cast<double>(in) * static_cast<double>(out);
  const double fewer_bytes =
      4.0 * static_cast<double>(block.num_edges) * static_cast<double>(in - out);
  return more_work <= 16 * fewer_bytes;
}

at::Tensor sage_conv(const SageConvWeights& w, const ConvInput& input,
                     const sample::BlockView& block, const SageConvOptions& options,
                     const Finish& finish, const Execution& execution) {
  ConvInput in = input;
  if (!in.sparse && !in.ids && in.x.size(0) != block.num_sources)
    in.x = in.x.narrow(0, 0, block.num_sources);
  // A product before the maximum would change it, and a projection comes before everything else.
  if (in.sparse && (options.reduce == Reduce::kMax || w.lin.defined())) {
    in.x = densify(in.rows, in.rows_dropout, w.lin_l.scalar_type(), execution)
               .narrow(0, 0, block.num_sources);
    in.sparse = false;
  }
  if (w.lin.defined()) {
    if (in.ids) {
      in.x = dense_rows(in, block.num_sources, execution);
      in.ids = nullptr;
    }
    in.as_stored = false;
    if (!in.x_target.defined()) in.x_target = in.x.narrow(0, 0, block.num_targets);
    in.x = apply_finish(linear(in.x, w.lin, w.lin_bias, execution), Finish{true, {}}, execution);
  }
  if (!options.normalize)
    return convolve(w, in, own_weight(w), whole_bias(w), block, options.reduce, finish, execution);

  at::Tensor y = normalize_rows(
      convolve(w, in, w.lin_r, w.lin_l_bias, block, options.reduce, Finish{}, execution),
      execution);
  if (w.skip.defined()) {
    if (in.sparse) {
      y = y +
          sparse_linear(in.rows, block.num_targets, in.rows_dropout, w.skip, execution,
                        in.by_column) +
          w.skip_bias;
    } else {
      at::Tensor target = in.x_target;
      if (!target.defined() && in.ids)
        target = dense_rows(in, block.num_targets, execution);
      else if (!target.defined())
        target = in.x.narrow(0, 0, block.num_targets);
      y = y + linear(target, w.skip, w.skip_bias, execution);
    }
  }
  return apply_finish(y, finish, execution);
}

namespace {

class SageConv final : public Conv {
 public:
  explicit SageConv(const SageOptions& options) : o_(options) {
    if (o_.in_target == 0) o_.in_target = o_.in;
  }

  void declare(ParameterList& list) override {
    if (o_.lstm) lstm_.declare(list, "aggr_module.lstm", o_.in, o_.in);
    if (o_.project) {
      list.weight("lin.weight", o_.in, o_.in, &w_.lin);
      list.bias("lin.bias", o_.in, o_.in, &w_.lin_bias);
    }
    const int64_t aggregations = std::max<int64_t>(1, static_cast<int64_t>(o_.reductions.size()));
    list.weight("lin_l.weight", o_.out, aggregations * o_.in, &w_.lin_l);
    if (o_.bias) list.bias("lin_l.bias", o_.out, aggregations * o_.in, &w_.lin_l_bias);
    if (o_.root_weight) list.weight("lin_r.weight", o_.out, o_.in_target, &w_.lin_r);
  }
  int64_t output_width() const override { return o_.out; }

  at::Tensor forward(const ConvInput& in, const ConvPass& pass) const override {
    if (aggregates_first()) return Conv::forward(in, pass);
    return sage_conv(with_skip(pass), in, pass.block, {o_.reduce, o_.normalize}, pass.finish,
                     pass.execution);
  }

  bool reads_by_source(bool sparse) const override {
    if (o_.project || aggregates_first()) return o_.project;
    return (sparse && o_.reduce != Reduce::kMax) || may_transform_first(o_.reduce, o_.in, o_.out);
  }

  bool reads_largest_degree() const override { return o_.lstm; }
  std::optional<Linear> own_linear() const override {
    if (o_.project) return std::nullopt;
    return Linear{w_.lin_r, w_.lin_r.defined() ? w_.lin_l_bias : at::Tensor()};
  }
  bool transforms(bool sparse, const sample::BlockView& block) const override {
    if (o_.project) return true;
    if (aggregates_first()) return false;
    return (sparse && o_.reduce != Reduce::kMax) ||
           transforms_first(o_.reduce, block, o_.in, o_.out);
  }
  int64_t transformed_width() const override { return o_.project ? o_.in : o_.out; }
  at::Tensor transform(const ConvInput& in, int64_t count,
                       const Execution& execution) const override {
    if (o_.project) return at::relu(times(in, count, {w_.lin, w_.lin_bias}, execution));
    return times(in, count, {w_.lin_l, {}}, execution);
  }

  at::Tensor combine(const at::Tensor& rows, bool transformed, int64_t, const ConvInput& own,
                     const ConvPass& pass) const override {
    const sample::BlockView& block = pass.block;
    const int64_t n = block.num_targets;
    if (aggregates_first()) return after_aggregation(rows, own, pass);
    if (!transformed || o_.project) {
      SageConvWeights weights = with_skip(pass);
      weights.lin = weights.lin_bias = at::Tensor();
      ConvInput in;
      in.x = rows;
      in.x_target = target_rows(own, n, pass.execution);
      return sage_conv(weights, in, block, {o_.reduce, o_.normalize}, pass.finish, pass.execution);
    }
    const SageConvWeights weights = with_skip(pass);
    at::Tensor y = aggregate(rows, block, o_.reduce, pass.execution);
    if (!o_.normalize) {
      const Linear linear{own_weight(weights), whole_bias(weights)};
      if (linear.weight.defined())
        y = y + target_times(own, n, linear, pass.execution);
      else
        y = plus(y, linear.bias);
      return apply_finish(y, pass.finish, pass.execution);
    }
    if (w_.lin_r.defined())
      y = y + target_times(own, n, {w_.lin_r, w_.lin_l_bias}, pass.execution);
    else
      y = plus(y, w_.lin_l_bias);
    return complete(normalize_rows(y, pass.execution), own, pass);
  }

 private:
  SageConvWeights with_skip(const ConvPass& pass) const {
    SageConvWeights weights = w_;
    weights.skip = pass.skip.weight;
    weights.skip_bias = pass.skip.bias;
    return weights;
  }

  // True for reductions that no kernel combines with the product.
  bool aggregates_first() const { return o_.lstm || !o_.reductions.empty(); }

  at::Tensor after_aggregation(const at::Tensor& rows, const ConvInput& own,
                               const ConvPass& pass) const {
    const at::Tensor aggregated =
        o_.lstm
            ? lstm_padded(rows, lstm_, pass.block, own.largest_degree, pass.execution)
            : at::cat(reduce_messages({rows, false, {}}, o_.reductions, pass.block, pass.execution),
                      1);
    at::Tensor y = linear(aggregated, w_.lin_l, w_.lin_l_bias, pass.execution);
    if (w_.lin_r.defined())
      y = y + target_times(own, pass.block.num_targets, {w_.lin_r, {}}, pass.execution);
    return complete(o_.normalize ? normalize_rows(y, pass.execution) : y, own, pass);
  }

  SageOptions o_;
  SageConvWeights w_;
  Lstm lstm_;
};

DglSageOptions::Aggregator aggregator_of(Aggregation aggregation) {
  using Aggregator = DglSageOptions::Aggregator;
  switch (aggregation) {
    case Aggregation::kPool:
      return Aggregator::kPool;
    case Aggregation::kLstm:
      return Aggregator::kLstm;
    case Aggregation::kGcn:
      return Aggregator::kGcn;
    default:
      return Aggregator::kMean;
  }
}

std::unique_ptr<Conv> sage_of(const ModelConfig& c, const ConvWidths& widths, at::Tensor*) {
  if (c.framework == Framework::kDgl) {
    DglSageOptions options;
    options.in = widths.in;
    options.out = widths.out;
    options.aggregator = aggregator_of(c.reduction());
    options.bias = c.bias;
    return make_dgl_sage_conv(options);
  }
  SageOptions options;
  options.in = widths.in;
  options.out = widths.out;
  options.reductions = c.reductions;
  options.lstm = c.reduction() == Aggregation::kLstm;
  if (!options.lstm) options.reduce = reduce_of(c.reduction());
  options.normalize = c.normalize;
  options.root_weight = c.root_weight;
  options.project = c.project;
  options.bias = c.bias;
  return make_sage_conv(options);
}

}  // namespace

std::unique_ptr<Conv> make_sage_conv(const SageOptions& options) {
  return std::make_unique<SageConv>(options);
}

const MakeConv makers::kSage = sage_of;

}  // namespace gnnmg::nn
