#include "nn/loss.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/nll_loss.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include "base/error.h"
#include "nn/torch_tensor.h"

namespace gnnmg::nn {

using base::fail;
using base::Status;

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

at::Tensor gather_labels(const data::Dataset& dataset, std::span<const int64_t> seeds,
                         at::ScalarType logits_type) {
  const graph::Column* column =
      dataset.label.empty() ? nullptr : dataset.graph->node_column(dataset.label);
  const base::Tensor* labels = column ? std::get_if<base::Tensor>(column) : nullptr;
  if (!labels)
    fail(Status::kNotFound, "data set \"", dataset.name, "\" has no dense node tensor \"",
         dataset.label, "\" with labels");
  const int64_t width = labels->shape().row_elements(), rows = labels->rows();
  const bool classes = dataset.task == data::Task::kMulticlass;
  if (classes ? labels->dtype() != base::DType::kI64 || width != 1
              : !base::is_floating(labels->dtype()))
    fail(Status::kInvalidArgument, "node tensor \"", dataset.label, "\" holds ",
         base::dtype_name(labels->dtype()), " ", labels->shape().to_string(), ", expected ",
         classes ? "i64, one class a node" : "floats, one column a target");
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
  const at::Tensor picked = all.index_select(0, ids);
  return classes ? picked : picked.to(logits_type);
}

namespace {

LossSum cross_entropy(const at::Tensor& logits, const at::Tensor& labels,
                      const at::Tensor& class_weights) {
  const int64_t num_classes = logits.size(1);
  const at::Tensor flat = labels.contiguous();
  const int64_t* label = flat.const_data_ptr<int64_t>();
  at::Tensor weights;
  if (class_weights.defined()) {
    weights = class_weights.to(logits.scalar_type());
    if (weights.dim() != 1 || weights.size(0) != num_classes)
      fail(Status::kInvalidArgument, "class weights: found ", weights.numel(), ", expected ",
           num_classes, ", one a class");
  }
  const at::Tensor exact = weights.defined() ? weights.to(at::kDouble).contiguous() : weights;
  double weight = 0;
  for (int64_t i = 0; i < flat.numel(); ++i) {
    if (label[i] < -1 || label[i] >= num_classes)
      fail(Status::kRange, "label of row ", i, " is ", label[i], ", expected -1 (none) or below ",
           num_classes, ", the number of columns of the logits");
    if (label[i] >= 0) weight += exact.defined() ? exact.const_data_ptr<double>()[label[i]] : 1;
  }
  const at::Tensor sum =
      at::nll_loss(at::log_softmax(logits, 1), flat, weights, at::Reduction::Sum, -1);
  return {sum, weight};
}

// Labels with NaN for none: the given ones, and where they are.
LossSum over_labelled(const at::Tensor& losses, const at::Tensor& given) {
  return {at::where(given, losses, at::zeros({}, losses.options())).sum(),
          static_cast<double>(given.sum().item<int64_t>())};
}

}  // namespace

double label_weight(const at::Tensor& labels, const at::Tensor& class_weights) {
  const at::Tensor weights =
      class_weights.defined() ? class_weights.to(at::kDouble) : class_weights;
  if (labels.is_floating_point()) {
    const at::Tensor given = labels.isnan().logical_not();
    if (!weights.defined()) return static_cast<double>(given.sum().item<int64_t>());
    return (given.to(at::kDouble) * weights.reshape({1, -1})).sum().item<double>();
  }
  const at::Tensor given = labels.ge(0);
  if (!weights.defined()) return static_cast<double>(given.sum().item<int64_t>());
  return weights.index_select(0, labels.masked_select(given)).sum().item<double>();
}

LossSum loss_sum(Loss loss, const at::Tensor& logits, const at::Tensor& labels,
                 const at::Tensor& class_weights) {
  if (logits.dim() != 2 || labels.dim() < 1 || labels.size(0) != logits.size(0))
    fail(Status::kInvalidArgument, "found ", logits.dim() ? logits.size(0) : 0,
         " rows of logits and ", labels.dim() ? labels.size(0) : 0, " of labels");
  if (loss == Loss::kCrossEntropy) {
    if (labels.scalar_type() != at::kLong || labels.dim() != 1)
      fail(Status::kInvalidArgument, "cross-entropy takes one class number (i64) a row");
    return cross_entropy(logits, labels, class_weights);
  }
  if (loss != Loss::kBinaryCrossEntropy && loss != Loss::kMeanSquaredError)
    fail(Status::kInvalidArgument, "loss is ", static_cast<int>(loss),
         ", expected cross-entropy, binary cross-entropy or mean squared error");
  if (!labels.is_floating_point() || labels.numel() != logits.numel())
    fail(Status::kInvalidArgument, "found ", labels.numel(), " labels for ", logits.numel(),
         " logits; this loss takes a float a logit");
  const at::Tensor all = labels.reshape(logits.sizes()).to(logits.scalar_type());
  const at::Tensor given = all.isnan().logical_not();
  const at::Tensor targets = at::where(given, all, at::zeros({}, all.options()));
  if (loss == Loss::kMeanSquaredError) {
    if (class_weights.defined())
      fail(Status::kInvalidArgument, "class weights do not go with mean squared error");
    return over_labelled(at::pow(logits - targets, 2), given);
  }
  const at::Tensor losses =
      at::binary_cross_entropy_with_logits(logits, targets, {}, {}, at::Reduction::None);
  if (!class_weights.defined()) return over_labelled(losses, given);
  if (class_weights.numel() != logits.size(1))
    fail(Status::kInvalidArgument, "class weights: found ", class_weights.numel(), ", expected ",
         logits.size(1), ", one a target");
  const at::Tensor weights = at::where(
      given, class_weights.to(logits.scalar_type()).reshape({1, -1}), at::zeros({}, all.options()));
  return {(losses * weights).sum(), weights.to(at::kDouble).sum().item<double>()};
}

}  // namespace gnnmg::nn
