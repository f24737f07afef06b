// Converts between the keys of networks and batch norms in users' classes made of torch's own
// modules, and the keys of PyG's MLP and BatchNorm, which models have. Free of torch.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "io/state_file.h"
#include "nn/config/config.h"

namespace gnnmg::nn {

// Renames tensors under the keys of a Sequential (nn.0, nn.1, nn.3), of a single linear layer (nn)
// or of PyG's MLP (nn.lins.0) to the expected keys of the network, which are those of an MLP or of
// a linear layer. Error(kFormat) if the numbers show that a model of this config, or of its
// counterpart, computes something else: a norm on the other side of the function, no place for the
// function between two linear layers, a module before the first one.
void adopt_network_names(std::map<std::string, const base::Tensor*>& given,
                         const std::vector<std::string>& expected, const ModelConfig& config);

// Renames the norms inside DGL's layers, "layers.0.norm.weight", to the expected norms between
// layers, "norms.0.weight".
void adopt_inner_norm_names(std::map<std::string, const base::Tensor*>& given,
                            const std::vector<std::string>& expected);

// Renames tensors of torch's BatchNorm1d to the expected keys of PyG's BatchNorm.
void adopt_norm_names(std::map<std::string, const base::Tensor*>& given,
                      const std::vector<std::string>& expected);

// Sorts consecutive tensors of one network by the number of their module. Returns the old position
// of each.
std::vector<size_t> sort_modules(io::StateFile& state);

// The reverse for a model of this config, in the order of those modules: a Sequential lists a norm
// where it is used, an MLP after its linear layers. Returns the old position of each tensor.
// Error(kUnsupported) if the networks' function has parameters, because a Sequential would have
// several of it.
std::vector<size_t> to_torch_modules(io::StateFile& state, const ModelConfig& config);

}  // namespace gnnmg::nn
