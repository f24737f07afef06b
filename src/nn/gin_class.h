// The class of DGL's GIN example: GINConv with networks of two linear layers and a batch norm
// between them, a batch norm and ReLU behind each layer, and scores of every layer's readout. Apart
// from the conversion of layers, because its norms and scores have names of their own. Free of
// torch.
#pragma once

#include <list>
#include <map>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "io/state_file.h"
#include "nn/config.h"

namespace gnnmg::nn {

// Whether a model of this config, of PyG's layers, is the function of that class.
bool has_gin_class(const ModelConfig& config);

// The state of such a model as the class has it: "ginlayers.0.apply_func.linears.0.weight",
// "batch_norms.0.weight", "linear_prediction.0.weight", .... Its linear layers have no bias: a norm
// behind each takes its mean away, so that ours goes into the running mean.
io::StateFile to_gin_class(const io::StateFile& own);

// Gives tensors under the class's keys those of the expected ones; biases that it does not have
// become zeros in `made`. Networks may stand under "mlp." too, as in older versions of the example.
// Error(kUnsupported) for those whose networks have a further norm behind them.
void adopt_gin_class(std::map<std::string, const base::Tensor*>& tensors,
                     const std::vector<std::string>& expected, std::list<base::Tensor>& made);

}  // namespace gnnmg::nn
