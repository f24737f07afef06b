// Averages of a model's weights and batch norm statistics, by the formulas of PyTorch's
// AveragedModel with use_buffers (torch/optim/swa_utils.py). Integer buffers are copied.
#pragma once

#include "nn/model/model.h"

namespace gnnmg::train {

// These change `average`, a model of the same config, type and device as `model`.

void copy_weights(const nn::Model& model, nn::Model& average);
// get_ema_multi_avg_fn(decay): average <- lerp(average, model, 1 - decay).
void average_ema(const nn::Model& model, double decay, nn::Model& average);
// get_swa_avg_fn(): average <- average + (model - average) / (count + 1), of `count` weights
// before.
void average_swa(const nn::Model& model, int64_t count, nn::Model& average);

}  // namespace gnnmg::train
