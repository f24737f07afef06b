// Optimisers over a model's parameters: torch::optim behind one small face.
#pragma once

#include <memory>

#include "nn/model.h"
#include "train/config.h"

namespace gnnmg::train {

class Optimizer {
 public:
  // Works on the parameters of `model`, which must outlive it.
  static std::unique_ptr<Optimizer> create(nn::Model& model, const OptimizerConfig& config);
  virtual ~Optimizer() = default;
  virtual void step() = 0;  // one update from the gradients as they stand
  virtual void set_learning_rate(double rate) = 0;
  virtual double learning_rate() const = 0;
  virtual const OptimizerConfig& config() const = 0;
};

// Scales the flat gradient so that its 2-norm is at most `limit`; returns the norm before.
double clip_gradients(nn::Model& model, double limit);

}  // namespace gnnmg::train
