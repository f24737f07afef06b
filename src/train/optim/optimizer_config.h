// Settings of optimizers. Plain values that kernels read too.
#pragma once

#include <cstdint>

namespace gnnmg::train {

enum class OptimizerKind : int32_t { kAdam = 0, kAdamW = 1, kSgd = 2, kRmsProp = 3, kAdagrad = 4 };
struct OptimizerConfig {
  OptimizerKind kind = OptimizerKind::kAdam;
  double learning_rate = 0.01;
  double weight_decay = 0;
  // Above 0: it acts on the parameters of that many convolutions, the first ones, alone.
  int32_t weight_decay_layers = 0;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  bool amsgrad = false;
  double momentum = 0, dampening = 0;
  bool nesterov = false;
  double alpha = 0.99;    // RMSprop: decay of the square
  bool centered = false;  // RMSprop: divides by the deviation in place of the root mean square
  void check() const;     // Error(kInvalidArgument) naming the field
};

}  // namespace gnnmg::train
