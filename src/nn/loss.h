// Losses as exact sums, so that a step's loss is one quotient for any distribution of its seeds
// over mini-batches and ranks; and metrics from counts.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "data/dataset.h"
#include "nn/metrics.h"

namespace gnnmg::nn {

// Error(kInvalidArgument) if the task has no labels.
Loss loss_for(data::Task task);

// The targets of rows of logits, in host memory even for logits on a device: losses there take a
// copy, and checks and sums of weights need no wait for the device.
struct Targets {
  at::Tensor labels;  // i64 [n] classes, -1: none; or floats [n, targets], NaN: none
  // f64, the shape of the labels: the weight of each, 0 for missing labels; undefined: 1 each.
  at::Tensor weights = {};
};

// Returns the targets of a batch's seeds, from the data set's labels and weights; float labels get
// the logits' type.
Targets gather_targets(const data::Dataset& dataset, std::span<const int64_t> seeds,
                       at::ScalarType logits_type);

// Returns the weights, also if they are 1 each.
at::Tensor weights_of(const Targets& targets);

struct LossSum {
  at::Tensor sum;     // 0-d, differentiable, on the logits' device: sum of weighted losses
  double weight = 0;  // sum of the weights
};
// Copies a host tensor to the logits' device, for later work in their queue.
using SendThere = std::function<at::Tensor(const at::Tensor&)>;
// Rows (or targets) without a label have weight zero. Error(kRange) names row and label of a class
// that does not exist. Targets are on the host, even if the logits are not; with an empty `send`,
// LibTorch copies them from pageable memory.
LossSum loss_sum(const LossRule& loss, const at::Tensor& logits, const Targets& targets,
                 const SendThere& send = {});

// Returns only the weight, for targets that loss_sum() would accept.
double label_weight(const Targets& targets);

// The parts of loss_sum() on the logits' device, which wait for nothing: losses of single elements
// (rows for classes) for labels that are there, and their weighted sum. Labels are classes
// (-1 has the loss 0), or floats of the logits' type, none of them NaN.
at::Tensor element_losses(const LossRule& loss, const at::Tensor& logits, const at::Tensor& labels);
// Elements that are not `counted` add nothing, even if their loss is not finite. `factors` have the
// losses' type.
at::Tensor weighted_sum(const at::Tensor& losses, const at::Tensor& counted,
                        const at::Tensor& factors);

// Sums rows exactly: integers as integers, losses in f64. Scores are kept for the ROC-AUC and
// average precision of binary targets, and of two classes (the second is the positive one). Both
// are means over the targets that have labels of both kinds. F1 is computed for each class or for
// each target's positive label; the macro mean is over those that occur in labels or predictions.
class MetricSum {
 public:
  // `num_classes`: columns of the logits. A label is found if it is among the first `top_k`
  // classes.
  MetricSum(data::Task task, LossRule loss, int64_t num_classes, int32_t top_k = 5);
  // Weights affect only the loss. Logits on a device are copied. `confusion`: [classes, classes],
  // to which the rows of a task with classes are added, by class and by predicted class, without
  // rows of NaN; empty: none.
  void add(const at::Tensor& logits, const Targets& targets, std::span<int64_t> confusion = {});
  // Return all data as flat arrays for the exchange between ranks.
  std::vector<int64_t> counts() const;
  std::vector<double> sums() const;
  std::vector<double> scores() const;  // pairs (score, label), target after target
  // Error(kInvalidArgument) if the arrays match neither each other nor the task.
  void merge(std::span<const int64_t> counts, std::span<const double> sums,
             std::span<const double> scores);
  // The confusion matrices of binary targets, [targets, 2, 2].
  std::vector<int64_t> target_confusion() const;
  // Figures that do not apply to the task are NaN, except counts, accuracy and F1, which are 0.
  Metrics result() const;

 private:
  data::Task task_;
  LossRule loss_;
  int64_t num_classes_;
  int32_t top_k_;
  std::vector<int64_t> counts_;
  std::vector<double> sums_;
  std::vector<std::vector<std::pair<double, float>>> scores_;  // per target: (score, label)
};

}  // namespace gnnmg::nn
