// Kinds of loss and the results of an evaluation. Plain values without torch, for reports and logs.
#pragma once

#include <cstdint>

namespace gnnmg::nn {

enum class Loss : int32_t {
  kAuto = 0,
  kCrossEntropy = 1,
  kBinaryCrossEntropy = 2,
  kMeanSquaredError = 3
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
};

}  // namespace gnnmg::nn
