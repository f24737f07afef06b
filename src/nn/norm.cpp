#include "nn/norm.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/elu.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/prelu.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/std.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>

#include <algorithm>

#include "base/error.h"
#include "nn/step_norm.h"

namespace gnnmg::nn {
namespace {

constexpr double kEpsilon = 1e-5;
constexpr double kMomentum = 0.1;

}  // namespace

at::Tensor activate(Activation activation, const at::Tensor& x, const at::Tensor& prelu) {
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
  }
  return x;
}

void NormLayer::declare(ParameterList& list, const std::string& name) {
  if (kind_ == Norm::kNone) return;
  const ParameterList::Scope scope(list, kind_ == Norm::kBatch ? name + ".module" : name);
  list.constant("weight", {width_}, 1, &weight_);
  list.constant("bias", {width_}, 0, &bias_);
  if (kind_ != Norm::kBatch) return;
  list.buffer("running_mean", {width_}, 0, &running_mean_);
  list.buffer("running_var", {width_}, 1, &running_var_);
  list.counter("num_batches_tracked", &num_batches_);
}

at::Tensor NormLayer::apply(const at::Tensor& x, BatchStatistics* statistics) const {
  if (x.size(0) == 0) return x;
  switch (kind_) {
    case Norm::kNone:
      return x;
    case Norm::kLayer:
      return at::layer_norm(x, {x.size(1)}, weight_, bias_, kEpsilon);
    case Norm::kLayerGraph: {
      const at::Tensor centred = x - x.mean();
      return centred / (at::std(x, /*unbiased=*/false) + kEpsilon) * weight_ + bias_;
    }
    case Norm::kBatch:
      break;
  }
  if (!statistics)
    return at::batch_norm(x, weight_, bias_, running_mean_, running_var_, false, kMomentum,
                          kEpsilon, false);
  if (x.size(0) == 1)
    base::fail(base::Status::kInvalidArgument,
               "batch norm needs more than one row when training, and this mini-batch has one: "
               "take a larger batch_size or another norm");
  // With a momentum of 1 the "running" statistics are those of these rows alone.
  at::Tensor mean = at::zeros_like(running_mean_), var = at::zeros_like(running_var_);
  const at::Tensor y = at::batch_norm(x, weight_, bias_, mean, var, true, 1.0, kEpsilon, false);
  statistics->put(*this, mean, var);
  return y;
}

void NormLayer::apply_all(std::span<at::Tensor> rows, BatchStatistics* statistics,
                          const SumOverRanks& sum) const {
  if (!sum || !statistics || kind_ != Norm::kBatch) {
    for (at::Tensor& part : rows) part = apply(part, statistics);
    return;
  }
  const StepNorm step =
      step_norm({rows.begin(), rows.end()}, {weight_, bias_, running_mean_, kEpsilon}, sum);
  std::ranges::copy(step.rows, rows.begin());
  statistics->put(*this, step.mean, step.variance);
}

BatchStatistics::BatchStatistics(const std::vector<NormLayer*>& layers) {
  for (NormLayer* layer : layers) {
    if (!layer->takes_statistics()) continue;
    layer->offset_ = width_;
    width_ += 2 * layer->width_;
    layers_.push_back(layer);
  }
}

void BatchStatistics::put(const NormLayer& layer, const at::Tensor& mean,
                          const at::Tensor& variance) {
  const c10::NoGradGuard no_grad;
  pass_.narrow(0, layer.offset_, layer.width_).copy_(mean);
  pass_.narrow(0, layer.offset_ + layer.width_, layer.width_).copy_(variance);
  any_ = true;
}

void BatchStatistics::absent_backward(const SumOverRanks& sum) const {
  for (size_t i = layers_.size(); i-- > 0;) absent_step_norm(layers_[i]->width_, sum);
}

void BatchStatistics::begin_pass() {
  any_ = false;
  if (width_ > 0) pass_ = at::empty({width_}, layers_[0]->running_mean_.options());
}

void BatchStatistics::end_pass() {
  if (any_) finished_.push_back(std::move(pass_));
  pass_ = at::Tensor();
}

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
               rows.dim() == 2 ? rows.size(1) : 0, " numbers a row, expected ", width_);
  for (int64_t r = 0; r < rows.size(0); ++r)
    for (NormLayer* layer : layers_) {
      const int64_t at = layer->offset_, width = layer->width_;
      layer->running_mean_.mul_(1 - kMomentum).add_(rows[r].narrow(0, at, width), kMomentum);
      layer->running_var_.mul_(1 - kMomentum).add_(rows[r].narrow(0, at + width, width), kMomentum);
      layer->num_batches_.add_(1);
    }
}

}  // namespace gnnmg::nn
