// Weight decay of the first layers alone, like PyTorch's by groups of parameters. The optimizers
// work on one flat tensor, so the decay is a pass of its own before their step.
#pragma once

#include <utility>
#include <vector>

#include "nn/model/model.h"
#include "train/config.h"

namespace gnnmg::train {

// The parameter groups of PyTorch's optimizer: the numbers of the parameters that weight decay
// changes, then those of the others.
struct DecayGroups {
  std::vector<size_t> order;
  size_t decayed = 0;  // size of the first group: all if the config does not name layers
};
// Error(kInvalidArgument) if the model has fewer convolutions than the config names.
DecayGroups decay_groups(const nn::Model& model, const OptimizerConfig& config);

// The decay of such a config; none if it names no layers.
class LayerDecay {
 public:
  LayerDecay(const nn::Model& model, const OptimizerConfig& config);
  // Changes flat parameters or gradients, before the optimizer's own step.
  void apply(at::Tensor parameters, at::Tensor gradients, double learning_rate) const;
  // Ranges of the flat parameters: first, count.
  const std::vector<std::pair<int64_t, int64_t>>& ranges() const { return ranges_; }

 private:
  double decay_ = 0;
  bool decoupled_ = false;
  std::vector<std::pair<int64_t, int64_t>> ranges_;
};

}  // namespace gnnmg::train
