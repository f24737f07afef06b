// The keys of networks and batch norms as users' classes have them in torch's own modules, against
// those of PyG's MLP and BatchNorm, which models have. Free of torch.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "io/state_file.h"
#include "nn/config.h"

namespace gnnmg::nn {

// Gives tensors under the keys of a Sequential (nn.0, nn.1, nn.3) or of a linear layer alone (nn)
// the keys of PyG's MLP where some of the expected ones are such. Error(kFormat) where a norm
// stands on the other side of the function than `act_first` says.
void adopt_network_names(std::map<std::string, const base::Tensor*>& tensors,
                         const std::vector<std::string>& expected, bool act_first);

// Gives tensors of torch's BatchNorm1d the expected keys of PyG's BatchNorm.
void adopt_norm_names(std::map<std::string, const base::Tensor*>& tensors,
                      const std::vector<std::string>& expected);

// The reverse, for a model of this config, in the order of those modules: a Sequential has a norm
// where it is used, an MLP has them behind its linear layers. Returns where each tensor was.
// Error(kUnsupported) where the function in the networks is a learned one, which a Sequential would
// have several of.
std::vector<size_t> to_torch_modules(io::StateFile& state, const ModelConfig& config);

}  // namespace gnnmg::nn
