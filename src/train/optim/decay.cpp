#include "train/optim/decay.h"

#include <ATen/TensorOperators.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <string>

#include "base/error.h"
#include "nn/state/layer_names.h"

namespace gnnmg::train {

DecayGroups decay_groups(const nn::Model& model, const OptimizerConfig& config) {
  const auto& parameters = model.parameters();
  std::vector<std::string> names = nn::convolution_names(model.config());
  const auto layers = static_cast<size_t>(config.weight_decay_layers);
  if (layers > names.size())
    base::fail(base::Status::kInvalidArgument, "weight_decay_layers is ", layers,
               ", and the model has ", names.size(), " convolutions");
  if (layers > 0) names.resize(layers);
  DecayGroups groups;
  std::vector<size_t> others;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const bool decayed = layers == 0 || std::ranges::any_of(names, [&](const std::string& name) {
                           return parameters[i].key.starts_with(name + ".");
                         });
    (decayed ? groups.order : others).push_back(i);
  }
  groups.decayed = groups.order.size();
  groups.order.insert(groups.order.end(), others.begin(), others.end());
  return groups;
}

LayerDecay::LayerDecay(const nn::Model& model, const OptimizerConfig& config)
    : decoupled_(config.kind == OptimizerKind::kAdamW) {
  const DecayGroups groups = decay_groups(model, config);
  if (config.weight_decay_layers == 0) return;
  decay_ = config.weight_decay;
  const int64_t begin = model.flat_parameters().storage_offset();
  for (size_t i = 0; i < groups.decayed; ++i) {
    if (model.frozen()[groups.order[i]]) continue;
    const at::Tensor& parameter = model.parameters()[groups.order[i]].tensor;
    ranges_.emplace_back(parameter.storage_offset() - begin, parameter.numel());
  }
}

void LayerDecay::apply(at::Tensor parameters, at::Tensor gradients, double learning_rate) const {
  if (decay_ == 0) return;
  const c10::NoGradGuard no_grad;
  for (const auto& [first, count] : ranges_) {
    at::Tensor weights = parameters.narrow(0, first, count);
    if (decoupled_)
      weights.mul_(1 - learning_rate * decay_);
    else
      gradients.narrow(0, first, count).add_(weights, decay_);
  }
}

}  // namespace gnnmg::train
