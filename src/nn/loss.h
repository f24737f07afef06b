// Losses as exact sums, so that a step's loss is one quotient however its seeds are spread over
// mini-batches and ranks; and metrics from counts.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "data/dataset.h"
#include "nn/metrics.h"

namespace gnnmg::nn {

// Error(kInvalidArgument) where there are no labels.
Loss loss_for(data::Task task);

// The labels of the seeds of a batch, from the data set's label tensor: i64 [n], or float [n,
// targets] of the logits' type.
at::Tensor gather_labels(const data::Dataset& dataset, std::span<const int64_t> seeds,
                         at::ScalarType logits_type);

struct LossSum {
  at::Tensor sum;     // 0-d, differentiable: sum of weighted losses
  double weight = 0;  // sum of the weights: seeds, or labelled targets, or class weights
};
// Rows (or targets) without a label, -1 or NaN, have weight zero. `class_weights`, one a class or
// binary target, may be undefined. Error(kRange) naming row and label for one outside the classes.
LossSum loss_sum(Loss loss, const at::Tensor& logits, const at::Tensor& labels,
                 const at::Tensor& class_weights);

// The weight alone, of labels that loss_sum() would accept.
double label_weight(const at::Tensor& labels, const at::Tensor& class_weights);

// Adds rows up exactly: integers as integers, losses in f64. Scores are kept for ROC-AUC and
// average precision of binary targets, and of two classes (the second is the positive one). Both
// are means over the targets that have labels of both kinds. F1 is that of each class or of each
// target's positive label; the macro mean is over those that are labelled or predicted at all.
class MetricSum {
 public:
  // `num_classes`: columns of the logits.
  MetricSum(data::Task task, Loss loss, int64_t num_classes);
  void add(const at::Tensor& logits, const at::Tensor& labels);
  // Everything as flat arrays for exchange between ranks, and back.
  std::vector<int64_t> counts() const;
  std::vector<double> sums() const;
  std::vector<float> scores() const;  // pairs (score, label) target after target
  // Error(kInvalidArgument) when the arrays do not fit each other or the task.
  void merge(std::span<const int64_t> counts, std::span<const double> sums,
             std::span<const float> scores);
  // What does not apply to the task is NaN, or 0 for counts, accuracy and F1.
  Metrics result() const;

 private:
  data::Task task_;
  Loss loss_;
  int64_t num_classes_;
  std::vector<int64_t> counts_;
  std::vector<double> sums_;
  std::vector<std::vector<std::pair<float, float>>> scores_;  // a target: (score, label)
};

}  // namespace gnnmg::nn
