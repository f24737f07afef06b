// Names of layers in state dicts. A model keeps its layers in a list, "convs.0", "layers.0", ...;
// users' classes may call them "conv1", "gat2" or "gnn.0". Free of torch.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/tensor.h"
#include "io/state_file.h"
#include "nn/config/config.h"

namespace gnnmg::nn {

// Returns the key prefix of each convolution of such a model, as "convs.0".
std::vector<std::string> convolution_names(const ModelConfig& config);

// Renames the keys "<list>.i.x": the name of the first layer replaces "<list>.0", and the number at
// its end counts up: with "conv1" they become "conv1.x", "conv2.x". Error(kInvalidArgument) unless
// `first` ends with a number and is a module name.
void rename_layers(io::StateFile& state, std::string_view list, std::string_view first);

// The reverse, if no tensor is in `list`: if exactly one series of numbered names has as many
// layers as the expected keys, and each layer has the keys of its counterpart, the series is
// renamed to `list`.
void adopt_layer_names(std::map<std::string, const base::Tensor*>& tensors, std::string_view list,
                       const std::vector<std::string>& expected);

}  // namespace gnnmg::nn
