#include "nn/loss.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/expm1.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/huber_loss.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/nll_loss.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include "base/error.h"
#include "nn/torch/tensor.h"

namespace gnnmg::nn {

using base::fail;
using base::Status;

const char* name_of(Loss loss) {
  static constexpr const char* kNames[] = {
      "auto",  "cross-entropy", "binary cross-entropy", "mean squared error", "mean absolute error",
      "Huber", "focal"};
  return kNames[static_cast<int>(loss)];
}

std::string describe(const LossRule& loss) {
  const LossRule usual;
  if (loss.kind == Loss::kCrossEntropy && loss.label_smoothing != 0)
    return base::text(name_of(loss.kind), " with label_smoothing ", loss.label_smoothing);
  if (loss.kind == Loss::kHuber && loss.huber_delta != usual.huber_delta)
    return base::text(name_of(loss.kind), " with delta ", loss.huber_delta);
  if (loss.kind == Loss::kFocal && loss.focal_gamma != usual.focal_gamma)
    return base::text(name_of(loss.kind), " with gamma ", loss.focal_gamma);
  return name_of(loss.kind);
}

Loss loss_for(data::Task task) {
  switch (task) {
    case data::Task::kMulticlass:
      return Loss::kCrossEntropy;
    case data::Task::kBinary:
      return Loss::kBinaryCrossEntropy;
    case data::Task::kRegression:
      return Loss::kMeanSquaredError;
    case data::Task::kNone:
      break;
  }
  fail(Status::kInvalidArgument, "the data set has no labels, so there is no loss for it");
}

namespace {

at::Tensor are_given(const at::Tensor& labels) {
  return labels.is_floating_point() ? labels.isnan().logical_not() : labels.ge(0);
}

// Undefined if the data set has no weights.
at::Tensor gather_weights(const data::Dataset& dataset, const at::Tensor& ids,
                          const at::Tensor& labels) {
  const auto own = [](const base::Tensor& tensor) {
    return at::from_blob(tensor.data(), {tensor.rows()}, at::TensorOptions(at::kDouble));
  };
  if (!dataset.class_weights.defined() && !dataset.sample_weights.defined()) return {};
  const bool classes = labels.scalar_type() == at::kLong;
  at::Tensor weights = are_given(labels).to(at::kDouble);
  if (dataset.class_weights.defined()) {
    const at::Tensor of_class = own(dataset.class_weights);
    weights = weights * (classes ? of_class.index_select(0, labels.clamp_min(0)) : of_class);
  }
  if (dataset.sample_weights.defined()) {
    const at::Tensor of_node = own(dataset.sample_weights).index_select(0, ids);
    weights = weights * (classes ? of_node : of_node.unsqueeze(1));
  }
  return weights;
}

}  // namespace

Targets gather_targets(const data::Dataset& dataset, std::span<const int64_t> seeds,
                       at::ScalarType logits_type) {
  const base::Tensor* labels = dataset.labels();
  if (!labels)
    fail(Status::kNotFound, dataset.title(), " has no dense ", dataset.sample_name(), " tensor \"",
         dataset.label, "\" with labels");
  const int64_t width = labels->shape().row_elements(), rows = labels->rows();
  const bool classes = dataset.task == data::Task::kMulticlass;
  if (classes ? labels->dtype() != base::DType::kI64 || width != 1
              : !base::is_floating(labels->dtype()))
    fail(Status::kInvalidArgument, dataset.sample_name(), " tensor \"", dataset.label, "\" holds ",
         base::dtype_name(labels->dtype()), " ", labels->shape().to_string(), ", expected ",
         classes ? "i64, one class each" : "floats, one column per target");
  for (int64_t seed : seeds)
    if (seed < 0 || seed >= rows)
      fail(Status::kRange, "seed ", seed, " has no label: \"", dataset.label, "\" has ", rows,
           " rows");
  const at::Tensor all = at::from_blob(
      labels->data(), classes ? std::vector<int64_t>{rows} : std::vector<int64_t>{rows, width},
      at::TensorOptions(scalar_type(labels->dtype())));
  const at::Tensor ids =
      at::from_blob(const_cast<int64_t*>(seeds.data()), {static_cast<int64_t>(seeds.size())},
                    at::TensorOptions(at::kLong));
  at::Tensor picked = all.index_select(0, ids);
  if (!classes) picked = picked.to(logits_type);
  return {picked, gather_weights(dataset, ids, picked)};
}

namespace {

SendThere or_by_torch(const SendThere& send, const at::Tensor& logits) {
  if (send) return send;
  return [there = logits.device()](const at::Tensor& host) {
    return host.to(there, /*non_blocking=*/true);
  };
}

// Returns weighted losses of labeled rows. A loss with weight 0 adds nothing, even if it is not
// finite.
LossSum weighted(const at::Tensor& losses, const at::Tensor& given, const at::Tensor& weights,
                 const SendThere& send) {
  if (!weights.defined())
    return {at::where(send(given), losses, at::zeros({}, losses.options())).sum(),
            static_cast<double>(given.sum().item<int64_t>())};
  const at::Tensor all = weights.reshape(losses.sizes());
  const at::Tensor factors = send(all.to(losses.scalar_type()));
  const at::Tensor counted = send(given.logical_and(all.gt(0)));
  return {weighted_sum(losses, counted, factors), all.sum().item<double>()};
}

// Cross-entropies times (1 - p) ^ gamma, p the probability of the label. The bound keeps the
// gradient finite where p is 1.
at::Tensor focal(const at::Tensor& entropies, double gamma) {
  return at::pow(at::expm1(entropies.neg()).neg().clamp_min(1e-12), gamma) * entropies;
}

void check_classes(const at::Tensor& labels, int64_t num_classes) {
  const int64_t* label = labels.const_data_ptr<int64_t>();
  for (int64_t i = 0; i < labels.numel(); ++i)
    if (label[i] < -1 || label[i] >= num_classes)
      fail(Status::kRange, "label of row ", i, " is ", label[i], ", expected -1 (none) or below ",
           num_classes, ", the number of columns of the logits");
}

LossSum class_loss(const LossRule& loss, const at::Tensor& logits, const Targets& targets,
                   const SendThere& send) {
  const at::Tensor flat = targets.labels.contiguous();
  check_classes(flat, logits.size(1));
  const bool plain = loss.kind == Loss::kCrossEntropy && loss.label_smoothing == 0;
  if (!plain || targets.weights.defined())
    return weighted(element_losses(loss, logits, send(flat)), flat.ge(0), targets.weights, send);
  const at::Tensor logs = at::log_softmax(logits, 1);
  return {at::nll_loss(logs, send(flat), {}, at::Reduction::Sum, -1),
          static_cast<double>(flat.ge(0).sum().item<int64_t>())};
}

// The cross-entropies of rows, 0 without a label.
at::Tensor class_losses(const LossRule& loss, const at::Tensor& logits, const at::Tensor& labels) {
  const at::Tensor logs = at::log_softmax(logits, 1);
  at::Tensor hard = at::nll_loss(logs, labels, {}, at::Reduction::None, -1);
  if (loss.kind == Loss::kFocal) return focal(hard, loss.focal_gamma);
  if (loss.label_smoothing == 0) return hard;
  const at::Tensor spread =
      at::where(labels.ge(0), logs.mean(1).neg(), at::zeros({}, logs.options()));
  return hard * (1 - loss.label_smoothing) + spread * loss.label_smoothing;
}

}  // namespace

at::Tensor weights_of(const Targets& targets) {
  return targets.weights.defined() ? targets.weights : are_given(targets.labels).to(at::kDouble);
}

at::Tensor element_losses(const LossRule& loss, const at::Tensor& logits,
                          const at::Tensor& labels) {
  if (labels.scalar_type() == at::kLong) return class_losses(loss, logits, labels);
  if (loss.kind == Loss::kMeanSquaredError) return at::pow(logits - labels, 2);
  if (loss.kind == Loss::kMeanAbsoluteError) return at::abs(logits - labels);
  if (loss.kind == Loss::kHuber)
    return at::huber_loss(logits, labels, at::Reduction::None, loss.huber_delta);
  const at::Tensor entropies =
      at::binary_cross_entropy_with_logits(logits, labels, {}, {}, at::Reduction::None);
  return loss.kind == Loss::kFocal ? focal(entropies, loss.focal_gamma) : entropies;
}

at::Tensor weighted_sum(const at::Tensor& losses, const at::Tensor& counted,
                        const at::Tensor& factors) {
  return at::where(counted, losses * factors, at::zeros({}, losses.options())).sum();
}

double label_weight(const Targets& targets) {
  if (targets.weights.defined()) return targets.weights.sum().item<double>();
  return static_cast<double>(are_given(targets.labels).sum().item<int64_t>());
}

LossSum loss_sum(const LossRule& loss, const at::Tensor& logits, const Targets& targets,
                 const SendThere& given_send) {
  const SendThere send = or_by_torch(given_send, logits);
  const at::Tensor& labels = targets.labels;
  if (logits.dim() != 2 || labels.dim() < 1 || labels.size(0) != logits.size(0))
    fail(Status::kInvalidArgument, "found ", logits.dim() ? logits.size(0) : 0,
         " rows of logits and ", labels.dim() ? labels.size(0) : 0, " of labels");
  if (loss.kind <= Loss::kAuto || loss.kind > Loss::kFocal)
    fail(Status::kInvalidArgument, "loss is ", static_cast<int>(loss.kind), ", expected ",
         static_cast<int>(Loss::kCrossEntropy), " to ", static_cast<int>(Loss::kFocal));
  const bool classes = labels.scalar_type() == at::kLong;
  if (loss.kind == Loss::kCrossEntropy || (loss.kind == Loss::kFocal && classes)) {
    if (!classes || labels.dim() != 1)
      fail(
          Status::kInvalidArgument,
          "cross-entropy takes one class (i64) per row, and the labels are numbers; choose auto or "
          "another loss");
    return class_loss(loss, logits, targets, send);
  }
  if (classes)
    fail(Status::kInvalidArgument,
         "the labels are classes, and this loss is for numbers; choose auto, cross_entropy or "
         "focal");
  if (!labels.is_floating_point() || labels.numel() != logits.numel())
    fail(Status::kInvalidArgument, "found ", labels.numel(), " labels for ", logits.numel(),
         " logits; this loss takes one float per logit");
  const at::Tensor all = labels.reshape(logits.sizes()).to(logits.scalar_type());
  const at::Tensor given = all.isnan().logical_not();
  const at::Tensor wanted = send(at::where(given, all, at::zeros({}, all.options())));
  return weighted(element_losses(loss, logits, wanted), given, targets.weights, send);
}

}  // namespace gnnmg::nn
