// The class of DGL's GIN example: GINConv with networks of two linear layers and a batch norm
// between them, a batch norm and ReLU after each layer, and scores of every layer's readout.
// Separate from the conversion of layers, because its norms and scores have their own names. Free
// of torch.
#pragma once

#include <list>
#include <map>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "io/state_file.h"
#include "nn/config/config.h"

namespace gnnmg::nn {

// True if a model of this config, with PyG's layers, computes the same as that class.
bool has_gin_class(const ModelConfig& config);

// Returns the state of such a model under the class's keys:
// "ginlayers.0.apply_func.linears.0.weight", "batch_norms.0.weight", "linear_prediction.0.weight",
// .... The linear layers of the class have no bias: each is followed by a norm that subtracts its
// mean, so the model's bias is moved into the running mean.
io::StateFile to_gin_class(const io::StateFile& own);

// Renames tensors from the class's keys to the expected ones; missing biases are added to `made` as
// zeros. Networks may also be under "mlp.", as in older versions of the example.
// Error(kUnsupported) for classes whose networks end with another norm.
void adopt_gin_class(std::map<std::string, const base::Tensor*>& tensors,
                     const std::vector<std::string>& expected, std::list<base::Tensor>& made);

}  // namespace gnnmg::nn
