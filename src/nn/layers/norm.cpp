#include "nn/layers/norm.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/elu.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/prelu.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/std.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "nn/layers/norm_over_rows.h"
#include "nn/ops/readout.h"
#include "nn/torch/parallel.h"

namespace gnnmg::nn {

at::Tensor activate(Activation activation, const at::Tensor& x, const at::Tensor& prelu) {
  const TorchThreads threads(x, kElementWork * static_cast<double>(x.numel()));
  switch (activation) {
    case Activation::kRelu:
      return at::relu(x);
    case Activation::kNone:
      return x;
    case Activation::kElu:
      return at::elu(x);
    case Activation::kLeakyRelu:
      return at::leaky_relu(x, 0.01);
    case Activation::kGelu:
      return at::gelu(x);
    case Activation::kTanh:
      return at::tanh(x);
    case Activation::kPrelu:
      return at::prelu(x, prelu);
    case Activation::kSilu:
      return at::silu(x);
    case Activation::kSigmoid:
      return at::sigmoid(x);
  }
  return x;
}

NormLayer::NormLayer(Norm kind, int64_t width, const NormOptions& options)
    : kind_(kind), width_(width), options_(options) {
  if (options_.scale == -1) options_.scale = static_cast<double>(width);
}

void NormLayer::declare(ParameterList& list, bool plain_keys) {
  std::optional<ParameterList::Scope> scope;
  if (kind_ == Norm::kBatch && !plain_keys) scope.emplace(list, "module");
  if (learns(kind_, options_.affine)) {
    list.constant("weight", {width_}, 1, &weight_);
    list.constant("bias", {width_}, 0, &bias_);
  }
  if (kind_ == Norm::kGraph) list.constant("mean_scale", {width_}, 1, &mean_scale_);
  if (kind_ != Norm::kBatch) return;
  list.buffer("running_mean", {width_}, 0, &running_mean_);
  list.buffer("running_var", {width_}, 1, &running_var_);
  list.counter("num_batches_tracked", &num_batches_);
}

at::Tensor NormLayer::scaled(const at::Tensor& x) const {
  return weight_.defined() ? x * weight_ + bias_ : x;
}

at::Tensor NormLayer::by_running(const at::Tensor& x) const {
  return at::batch_norm(x, weight_, bias_, running_mean_, running_var_, false, 0.1,
                        options_.epsilon, false);
}

at::Tensor NormLayer::batch(const at::Tensor& x, BatchStatistics* statistics) const {
  if (!statistics) return by_running(x);
  if (x.size(0) == 1) {
    statistics->lone_row_ = true;
    return by_running(x);
  }
  // With momentum 1 the "running" statistics are those of these rows alone.
  at::Tensor mean = at::zeros_like(running_mean_), var = at::zeros_like(running_var_);
  const at::Tensor y =
      at::batch_norm(x, weight_, bias_, mean, var, true, 1.0, options_.epsilon, false);
  statistics->put(*this, mean, var);
  return y;
}

at::Tensor NormLayer::layer(const at::Tensor& x, std::span<const int64_t> graph_ptr,
                            const Execution& execution) const {
  // For one graph PyG uses another formula than for graphs of a batch. In inference its sums have a
  // fixed order, so that they are the same for rows that come in ranges.
  if (graph_ptr.empty() && !execution.gradients && !execution.device) {
    constexpr int64_t kRange = 4096;
    NormsOverRows norms;
    do {
      for (int64_t low = 0; low < x.size(0); low += kRange)
        norms.apply(*this, x.narrow(0, low, std::min(kRange, x.size(0) - low)), execution);
      norms.end_pass();
    } while (!norms.finished());
    return norms.apply(*this, x, execution);
  }
  if (graph_ptr.empty()) {
    const at::Tensor centered = x - x.mean();
    return scaled(centered / (at::std(x, /*unbiased=*/false) + options_.epsilon));
  }
  const auto mean_of = [&](const at::Tensor& rows) {
    return spread(readout(rows.mean(1, true), graph_ptr, Readout::kMean, Ties::kSplit, execution),
                  graph_ptr, execution);
  };
  const at::Tensor centered = x - mean_of(x);
  return scaled(centered * (mean_of(centered.square()) + options_.epsilon).rsqrt());
}

at::Tensor NormLayer::graph(const at::Tensor& x, std::span<const int64_t> graph_ptr,
                            const Execution& execution) const {
  const auto mean_of = [&](const at::Tensor& rows) {
    return readout(rows, graph_ptr, Readout::kMean, Ties::kSplit, execution);
  };
  const auto spread_out = [&](const at::Tensor& rows) {
    return spread(rows, graph_ptr, execution);
  };
  at::Tensor mean = mean_of(x);
  if (kind_ == Norm::kGraph) mean = mean * mean_scale_;
  const at::Tensor centered = x - spread_out(mean);
  if (kind_ == Norm::kPairRows)
    return centered * options_.scale /
           (at::linalg_vector_norm(centered, 2, 1, true) + options_.epsilon);
  const at::Tensor square = centered.square();
  if (kind_ == Norm::kPair)
    return centered * options_.scale *
           spread_out((mean_of(square.sum(1, true)) + options_.epsilon).rsqrt());
  const at::Tensor unit = centered * spread_out((mean_of(square) + options_.epsilon).rsqrt());
  return scaled(unit);
}

at::Tensor NormLayer::summands(const at::Tensor& rows, const RowStatistics& known) const {
  const bool all_columns = kind_ == Norm::kLayerGraph;
  if (known.pass == 0) return all_columns ? rows.to(at::kDouble) : rows;
  const at::Tensor centered = rows - known.mean;
  if (kind_ == Norm::kPair) return centered.square().sum(1, true);
  return all_columns ? centered.to(at::kDouble).square() : centered.square();
}

void NormLayer::end_row_pass(RowStatistics& statistics) const {
  const at::Tensor& sum = statistics.sum;
  const auto rows = static_cast<double>(statistics.rows);
  at::Tensor average =
      kind_ == Norm::kLayerGraph ? (sum.sum() / (rows * static_cast<double>(width_))) : sum / rows;
  if (kind_ == Norm::kLayerGraph && statistics.pass == 1) average = average.sqrt();
  if (kind_ == Norm::kGraph && statistics.pass == 0) average = average * mean_scale_;
  (statistics.pass == 0 ? statistics.mean : statistics.squares) = average;
  statistics = {.pass = statistics.pass + 1,
                .rows = 0,
                .sum = {},
                .mean = statistics.mean,
                .squares = statistics.squares};
}

at::Tensor NormLayer::by_statistics(const at::Tensor& rows, const RowStatistics& known) const {
  const at::Tensor centered = rows - known.mean;
  switch (kind_) {
    case Norm::kLayerGraph:
      return scaled(centered / (known.squares + options_.epsilon));
    case Norm::kPairRows:
      return centered * options_.scale /
             (at::linalg_vector_norm(centered, 2, 1, true) + options_.epsilon);
    case Norm::kPair:
      return centered * options_.scale * (known.squares + options_.epsilon).rsqrt();
    default:
      return scaled(centered * (known.squares + options_.epsilon).rsqrt());
  }
}

void NormLayer::step(std::span<at::Tensor> rows, const NormPass& pass) const {
  const at::Tensor weight = weight_.defined() ? weight_ : at::ones_like(running_mean_);
  const at::Tensor bias = bias_.defined() ? bias_ : at::zeros_like(running_mean_);
  const StepNorm step = step_norm({rows.begin(), rows.end()},
                                  {weight, bias, running_mean_, options_.epsilon}, pass.sum);
  if (step.count < 2) {
    pass.statistics->lone_row_ |= step.count == 1;
    for (at::Tensor& x : rows)
      if (x.size(0) > 0) x = by_running(x);
    return;
  }
  std::ranges::copy(step.rows, rows.begin());
  pass.statistics->put(*this, step.mean, step.variance);
}

void NormLayer::apply(std::span<at::Tensor> rows, const NormPass& pass) const {
  if (kind_ == Norm::kBatch && pass.sum && pass.statistics) {
    step(rows, pass);
    return;
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    at::Tensor& x = rows[i];
    if (x.size(0) == 0) continue;
    if (pass.over_rows && over_graph(kind_)) {
      x = pass.over_rows->apply(*this, x, pass.execution);
      continue;
    }
    const std::span<const int64_t> graph_ptr =
        i < pass.graphs.size() ? pass.graphs[i] : std::span<const int64_t>{};
    const int64_t whole[] = {0, x.size(0)};
    const TorchThreads threads(x, kElementWork * static_cast<double>(x.numel()));
    switch (kind_) {
      case Norm::kNone:
        break;
      case Norm::kLayer:
        x = at::layer_norm(x, {x.size(1)}, weight_, bias_, options_.epsilon);
        break;
      case Norm::kBatch:
        x = batch(x, pass.statistics);
        break;
      case Norm::kLayerGraph:
        x = layer(x, graph_ptr, pass.execution);
        break;
      case Norm::kGraph:
      case Norm::kInstance:
      case Norm::kPair:
      case Norm::kPairRows:
        x = graph(x, graph_ptr.empty() ? std::span(whole) : graph_ptr, pass.execution);
        break;
    }
  }
}

BatchStatistics::BatchStatistics(const std::vector<NormLayer*>& layers) {
  for (NormLayer* layer : layers) {
    if (!layer->takes_statistics()) continue;
    layer->offset_ = width_;
    width_ += 2 * layer->width_ + 1;
    layers_.push_back(layer);
  }
}

void BatchStatistics::put(const NormLayer& layer, const at::Tensor& mean,
                          const at::Tensor& variance) {
  const c10::NoGradGuard no_grad;
  pass_.narrow(0, layer.offset_, layer.width_).copy_(mean);
  pass_.narrow(0, layer.offset_ + layer.width_, layer.width_).copy_(variance);
  pass_[layer.offset_ + 2 * layer.width_].fill_(1);
  put_.push_back(&layer);
}

void BatchStatistics::absent_backward(const SumOverRanks& sum) const {
  for (size_t i = put_.size(); i-- > 0;)
    absent_step_norm(put_[i]->width_, put_[i]->running_mean_.device(), sum);
}

void BatchStatistics::begin_pass() {
  put_.clear();
  if (width_ > 0) pass_ = at::zeros({width_}, layers_[0]->running_mean_.options());
}

void BatchStatistics::end_pass() {
  if (width_ > 0) finished_.push_back(std::move(pass_));
  pass_ = at::Tensor();
}

bool BatchStatistics::take_lone_row() { return std::exchange(lone_row_, false); }

at::Tensor BatchStatistics::take() {
  if (width_ == 0) return at::empty({0, 0}, at::TensorOptions(at::kFloat));
  at::Tensor rows = finished_.empty() ? at::empty({0, width_}, layers_[0]->running_mean_.options())
                                      : at::stack(finished_);
  finished_.clear();
  return rows;
}

void BatchStatistics::fold(const at::Tensor& rows) {
  const c10::NoGradGuard no_grad;
  if (rows.dim() != 2 || rows.size(1) != width_)
    base::fail(base::Status::kInvalidArgument, "batch statistics have ",
               rows.dim() == 2 ? rows.size(1) : 0, " numbers per row, expected ", width_);
  if (layers_.empty()) return;
  const at::Tensor here = rows.to(layers_[0]->running_mean_.device());
  for (int64_t r = 0; r < rows.size(0); ++r)
    for (NormLayer* layer : layers_) {
      const int64_t at = layer->offset_, width = layer->width_;
      const at::Tensor moves = here[r][at + 2 * width].to(at::kBool);
      layer->num_batches_.add_(moves);
      // Only a mean over all batches needs a wait for the device.
      const double momentum = layer->options_.momentum == -1
                                  ? 1 / std::max(layer->num_batches_.item<double>(), 1.0)
                                  : layer->options_.momentum;
      const auto move = [&](at::Tensor& running, const at::Tensor& statistics) {
        const at::Tensor moved = running.mul(1 - momentum).add_(statistics, momentum);
        running.copy_(at::where(moves, moved, running));
      };
      move(layer->running_mean_, here[r].narrow(0, at, width));
      move(layer->running_var_, here[r].narrow(0, at + width, width));
    }
}

}  // namespace gnnmg::nn
