// Names of layers in state dicts. A model keeps its layers in a list, "convs.0", "layers.0", ...;
// classes that users wrote may call them "conv1", "gat2" or "gnn.0". Free of torch.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/tensor.h"
#include "io/state_file.h"
#include "nn/config.h"

namespace gnnmg::nn {

// In front of the keys of each convolution of such a model, as "convs.0".
std::vector<std::string> convolution_names(const ModelConfig& config);

// The keys "<list>.i.x" get the name of the first layer in place of "<list>.0", in which the number
// at the end counts up: with "conv1" they become "conv1.x", "conv2.x". Error(kInvalidArgument)
// unless `first` ends with a number and is a name of modules.
void rename_layers(io::StateFile& state, std::string_view list, std::string_view first);

// The reverse, where none of the tensors is in `list`: if exactly one row of numbered names has as
// many layers as the expected keys have, each with a key that its layer has, it becomes `list`.
void adopt_layer_names(std::map<std::string, const base::Tensor*>& tensors, std::string_view list,
                       const std::vector<std::string>& expected);

}  // namespace gnnmg::nn
