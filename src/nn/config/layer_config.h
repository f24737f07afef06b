// Checks of Architecture::kLayers: users' own stacks, whose widths follow from layer to layer.
#pragma once

#include "nn/config/config.h"

namespace gnnmg::nn {

inline constexpr size_t kMaxLayers = 500;

// Fills in the values that follow from the layers: num_layers, hidden_dim, output_dim, readout.
// Error(kInvalidArgument) names a layer that does not fit the ones before it or has invalid
// options. `unfinished`: more layers will be added, so the stack may lack a convolution.
void complete_layers(ModelConfig& config, bool unfinished = false);

}  // namespace gnnmg::nn
