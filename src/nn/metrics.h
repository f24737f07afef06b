// Kinds of loss and the results of an evaluation. Plain values without torch, for reports and logs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gnnmg::nn {

enum class Loss : int32_t {
  kAuto = 0,
  kCrossEntropy = 1,
  kBinaryCrossEntropy = 2,
  kMeanSquaredError = 3,
  kMeanAbsoluteError = 4,
  kHuber = 5,
  kFocal = 6  // classes or binary targets
};

// A loss with its numbers. The formulas are those of torch.nn's CrossEntropyLoss, HuberLoss and
// L1Loss, and of torchvision's sigmoid_focal_loss without alpha.
struct LossRule {
  Loss kind = Loss::kAuto;
  double label_smoothing = 0;  // cross-entropy: this share of the target is spread over all classes
  double huber_delta = 1;      // above it, the loss is linear
  double focal_gamma = 2;      // exponent of one minus the probability of the label
  LossRule() = default;
  LossRule(Loss of) : kind(of) {}
};

const char* name_of(Loss loss);  // "cross-entropy"
// The name, with the numbers that the loss reads if they are not the defaults.
std::string describe(const LossRule& loss);

// Choices of an evaluation.
struct MetricChoice {
  int32_t top_k = 5;       // classes among which the label counts as found
  bool confusion = false;  // the confusion matrix too
};

struct Metrics {
  int64_t count = 0;  // labeled rows (or targets)
  int64_t correct = 0;
  double loss = 0;
  double accuracy = 0;
  double f1_micro = 0, f1_macro = 0;
  double roc_auc = 0;  // NaN if undefined
  double average_precision = 0;
  double rmse = 0, mae = 0;
  double top_k_accuracy = 0;  // classes; NaN for other tasks
  // Labeled rows by class and by predicted class, [classes, classes], or of binary targets
  // [targets, 2, 2]; empty unless chosen. Rows whose results are NaN are left out.
  std::vector<int64_t> confusion;
};

}  // namespace gnnmg::nn
