// The words of each enumeration in the settings of optimizers and trainers, as nn/config/choices.h
// has them for models.
#pragma once

#include "nn/config/choices.h"
#include "train/config.h"

namespace gnnmg::nn {

const Choices& choices_of(loader::Partition);
const Choices& choices_of(Loss);
const Choices& choices_of(train::OptimizerKind);
const Choices& choices_of(train::ScheduleKind);
const Choices& choices_of(train::Metric);
const Choices& choices_of(train::Average);
const Choices& choices_of(train::EvaluationMode);
const Choices& choices_of(train::LossAverage);
const Choices& choices_of(train::Precision);
const Choices& choices_of(train::Capture);

}  // namespace gnnmg::nn
