// An optimiser's state as the state dict of PyTorch's optimizer of the same kind over the model's
// parameters, numbered in their order.
#pragma once

#include <string>
#include <vector>

#include "io/optimizer_pth.h"
#include "train/optimizer.h"

namespace gnnmg::train {

io::OptimizerDict torch_state_of(const Optimizer& optimizer, const nn::Model& model);

// For Optimizer::load_state, from such a file; empty where nothing was gathered yet. Parameters
// without an entry have gathered zeros. Error(kFormat) listing what is missing, unexpected or
// misshapen, kNan naming an element that is not finite, kUnsupported for parameters that have made
// different numbers of steps.
std::vector<nn::NamedTensor> read_torch_state(const std::string& path, const nn::Model& model,
                                              const OptimizerConfig& config);

}  // namespace gnnmg::train
