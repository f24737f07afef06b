// The object of an optimizer's handle.
#pragma once

#include <memory>

#include "capi/model.h"
#include "capi/object.h"
#include "train/optim/optimizer.h"
#include "train/optim/torch_optimizer.h"

namespace gnnmg::capi {

// The form of the file of an optimizer's state: Error(kInvalidArgument) for any other
// format than `.pth`.
train::TorchFile optimizer_file(const gnnmg_model_file_config* config, std::string_view path);

// The settings that optimizer and trainer configs share, checked.
template <typename Config>
train::OptimizerConfig optimizer_config(const Config& in, int32_t kind) {
  train::OptimizerConfig config;
  config.kind = static_cast<train::OptimizerKind>(kind);
  config.learning_rate = in.learning_rate;
  config.weight_decay = in.weight_decay;
  config.weight_decay_layers = in.weight_decay_layers;
  config.beta1 = in.beta1;
  config.beta2 = in.beta2;
  config.epsilon = in.epsilon;
  config.amsgrad = in.amsgrad;
  config.momentum = in.momentum;
  config.dampening = in.dampening;
  config.nesterov = in.nesterov;
  config.check();
  return config;
}

// And their defaults.
template <typename Config>
void optimizer_defaults(Config& out) {
  const train::OptimizerConfig d;
  out.learning_rate = d.learning_rate;
  out.weight_decay = d.weight_decay;
  out.weight_decay_layers = d.weight_decay_layers;
  out.beta1 = d.beta1;
  out.beta2 = d.beta2;
  out.epsilon = d.epsilon;
  out.amsgrad = d.amsgrad;
  out.momentum = d.momentum;
  out.dampening = d.dampening;
  out.nesterov = d.nesterov;
}

class Optimizer : public Object {
 public:
  static constexpr Kind kKind = Kind::kOptimizer;
  Optimizer(std::shared_ptr<Model> model, const train::OptimizerConfig& config, double clip_norm);
  ~Optimizer() override;
  bool ends_slowly() const noexcept override { return model_->ends_slowly(); }

  const std::shared_ptr<Model>& model() const { return model_; }
  train::Optimizer& get() const { return *optimizer_; }
  bool on_device() const noexcept override { return model_->on_device(); }
  double clip_norm() const { return clip_norm_; }

 private:
  std::shared_ptr<Model> model_;
  const Model::Use use_;
  std::unique_ptr<train::Optimizer> optimizer_;
  double clip_norm_;
};

}  // namespace gnnmg::capi
