// Losses as exact sums, so that a step's loss is one quotient however its seeds are spread over
// mini-batches and ranks; and metrics from counts.
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

// Error(kInvalidArgument) where there are no labels.
Loss loss_for(data::Task task);

// What the rows of logits are compared with, in memory of the host wherever the logits lie: losses
// on a device take a copy, and their weights and checks cost no wait for it.
struct Targets {
  at::Tensor labels;  // i64 [n] of classes, -1: none; or floats [n, targets], NaN: none
  // f64, the shape of the labels: how much each counts, 0 where there is none; undefined: 1 each.
  at::Tensor weights = {};
};

// Of the seeds of a batch, from the data set's labels and weights; floats get the logits' type.
Targets gather_targets(const data::Dataset& dataset, std::span<const int64_t> seeds,
                       at::ScalarType logits_type);

// The weights, also where they are 1 each.
at::Tensor weights_of(const Targets& targets);

struct LossSum {
  at::Tensor sum;     // 0-d, differentiable, where the logits lie: sum of weighted losses
  double weight = 0;  // sum of the weights
};
// A copy of a tensor of the host's where the logits lie, there for what comes into their queue from
// here on.
using SendThere = std::function<at::Tensor(const at::Tensor&)>;
// Rows (or targets) without a label have weight zero. Error(kRange) naming row and label for one
// outside the classes. Targets are the host's, wherever the logits lie; empty `send`: they are
// copied by LibTorch, out of pageable memory.
LossSum loss_sum(Loss loss, const at::Tensor& logits, const Targets& targets,
                 const SendThere& send = {});

// The weight alone, of targets that loss_sum() would accept.
double label_weight(const Targets& targets);

// Adds rows up exactly: integers as integers, losses in f64. Scores are kept for ROC-AUC and
// average precision of binary targets, and of two classes (the second is the positive one). Both
// are means over the targets that have labels of both kinds. F1 is that of each class or of each
// target's positive label; the macro mean is over those that are labeled or predicted at all.
class MetricSum {
 public:
  // `num_classes`: columns of the logits.
  MetricSum(data::Task task, Loss loss, int64_t num_classes);
  // Weights count in the loss alone. Logits of a device are copied.
  void add(const at::Tensor& logits, const Targets& targets);
  // Everything as flat arrays for exchange between ranks, and back.
  std::vector<int64_t> counts() const;
  std::vector<double> sums() const;
  std::vector<double> scores() const;  // pairs (score, label) target after target
  // Error(kInvalidArgument) when the arrays do not fit each other or the task.
  void merge(std::span<const int64_t> counts, std::span<const double> sums,
             std::span<const double> scores);
  // What does not apply to the task is NaN, or 0 for counts, accuracy and F1.
  Metrics result() const;

 private:
  data::Task task_;
  Loss loss_;
  int64_t num_classes_;
  std::vector<int64_t> counts_;
  std::vector<double> sums_;
  std::vector<std::vector<std::pair<double, float>>> scores_;  // a target: (score, label)
};

}  // namespace gnnmg::nn
