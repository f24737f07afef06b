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

// Gives tensors under the keys of a Sequential (nn.0, nn.1, nn.3), of a linear layer alone (nn) or
// of PyG's MLP (nn.lins.0) the expected keys of the network, which are those of an MLP or of a
// linear layer. Error(kFormat) where the numbers show that a model of this config, or one whose
// layers have its counterpart, computes something else: a norm on the other side of the function,
// no room for the function between two linear layers, a module in front of the first.
void adopt_network_names(std::map<std::string, const base::Tensor*>& tensors,
                         const std::vector<std::string>& expected, const ModelConfig& config);

// Gives the norms that DGL's layers have inside, "layers.0.norm.weight", the expected keys of those
// between the layers, "norms.0.weight".
void adopt_inner_norm_names(std::map<std::string, const base::Tensor*>& tensors,
                            const std::vector<std::string>& expected);

// Gives tensors of torch's BatchNorm1d the expected keys of PyG's BatchNorm.
void adopt_norm_names(std::map<std::string, const base::Tensor*>& tensors,
                      const std::vector<std::string>& expected);

// Tensors of one network that lie one behind the other, by the number of their module. Returns
// where each was.
std::vector<size_t> sort_modules(io::StateFile& state);

// The reverse, for a model of this config, in the order of those modules: a Sequential has a norm
// where it is used, an MLP has them behind its linear layers. Returns where each tensor was.
// Error(kUnsupported) where the function in the networks is a learned one, which a Sequential would
// have several of.
std::vector<size_t> to_torch_modules(io::StateFile& state, const ModelConfig& config);

}  // namespace gnnmg::nn
