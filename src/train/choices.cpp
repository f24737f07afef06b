#include "train/choices.h"

namespace gnnmg::nn {

const Choices& choices_of(loader::Partition) {
  static constexpr const char* kWords[] = {"global", "distributed_sampler", "contiguous", "parts"};
  static const Choices choices{"GNNMG_PLAN_", 0, kWords};
  return choices;
}

const Choices& choices_of(Loss) {
  static constexpr const char* kWords[] = {
      "auto",  "cross_entropy", "binary_cross_entropy", "mean_squared_error", "mean_absolute_error",
      "huber", "focal"};
  static const Choices choices{"GNNMG_LOSS_", 0, kWords};
  return choices;
}

const Choices& choices_of(train::OptimizerKind) {
  static constexpr const char* kWords[] = {"adam", "adamw", "sgd", "rmsprop", "adagrad"};
  static const Choices choices{"GNNMG_OPTIMIZER_", 0, kWords};
  return choices;
}

const Choices& choices_of(train::ScheduleKind) {
  static constexpr const char* kWords[] = {"constant", "cosine", "step", "plateau"};
  static const Choices choices{"", 0, kWords};
  return choices;
}

const Choices& choices_of(train::Metric) {
  static constexpr const char* kWords[] = {
      "accuracy", "loss", "roc_auc", "f1_macro", "f1_micro", "average_precision", "rmse", "mae"};
  static const Choices choices{"", 0, kWords};
  return choices;
}

const Choices& choices_of(train::Average) {
  static constexpr const char* kWords[] = {"none", "ema", "swa"};
  static const Choices choices{"", 0, kWords};
  return choices;
}

const Choices& choices_of(train::EvaluationMode) {
  static constexpr const char* kWords[] = {"full", "sampled"};
  static const Choices choices{"", 0, kWords};
  return choices;
}

const Choices& choices_of(train::LossAverage) {
  static constexpr const char* kWords[] = {"exact", "ranks"};
  static const Choices choices{"", 0, kWords};
  return choices;
}

const Choices& choices_of(train::Precision) {
  static constexpr const char* kWords[] = {"float32", "tf32", "bf16"};
  static const Choices choices{"", 0, kWords};
  return choices;
}

const Choices& choices_of(train::Capture) {
  static constexpr const char* kWords[] = {"auto", "off", "on", "unpadded"};
  static const Choices choices{"", 0, kWords};
  return choices;
}

}  // namespace gnnmg::nn
