// Checks of Architecture::kLayers: users' own stacks, whose widths follow from layer to layer.
#pragma once

#include "nn/config.h"

namespace gnnmg::nn {

// Fills in what follows from the layers: num_layers, hidden_dim, output_dim, readout.
// Error(kInvalidArgument) naming the layer that does not go with those before it, or whose options
// are wrong. A stack to which layers are still to be added may be `unfinished`: without a
// convolution.
void complete_layers(ModelConfig& config, bool unfinished = false);

}  // namespace gnnmg::nn
