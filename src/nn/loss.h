// Losses as exact sums, so that a step's loss is one quotient however its seeds are spread over
// mini-batches and ranks; and metrics from counts.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "data/dataset.h"
#include "nn/metrics.h"

namespace gnnmg::nn {

Loss loss_for(data::Task task);

// The labels of the seeds of a batch, from the data set's label tensor: i64 [n], or float [n,
// targets] of the logits' type.
at::Tensor gather_labels(const data::Dataset& dataset, std::span<const int64_t> seeds,
                         at::ScalarType logits_type);

struct LossSum {
  at::Tensor sum;     // 0-d, differentiable: sum of weighted losses
  double weight = 0;  // sum of the weights: seeds, or labelled targets, or class weights
};
// Rows without a label have weight zero. `class_weights` may be undefined.
LossSum loss_sum(Loss loss, const at::Tensor& logits, const at::Tensor& labels,
                 const at::Tensor& class_weights);

// Adds rows up exactly: integers as integers, losses in f64. Scores are kept for ROC-AUC and
// average precision of binary tasks.
class MetricSum {
 public:
  MetricSum(data::Task task, Loss loss, int64_t num_classes)
      : task_(task), loss_(loss), num_classes_(num_classes) {}
  void add(const at::Tensor& logits, const at::Tensor& labels);
  // Everything as flat arrays for exchange between ranks, and back.
  std::vector<int64_t> counts() const;
  std::vector<double> sums() const;
  std::vector<float> scores() const;  // pairs (score, label) target after target
  void merge(std::span<const int64_t> counts, std::span<const double> sums,
             std::span<const float> scores);
  Metrics result() const;

 private:
  data::Task task_;
  Loss loss_;
  int64_t num_classes_;
  std::vector<int64_t> counts_;
  std::vector<double> sums_;
  std::vector<float> scores_;
};

}  // namespace gnnmg::nn
