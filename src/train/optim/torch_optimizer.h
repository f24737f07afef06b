// An optimizer's state as the state dict of PyTorch's optimizer of the same kind over the
// parameters of the model, or of one that its weights convert to, numbered in their order there.
#pragma once

#include <string>
#include <vector>

#include "base/log.h"
#include "io/optimizer_pth.h"
#include "nn/file_parameters.h"
#include "train/optim/optimizer.h"

namespace gnnmg::train {

// A file of one, and how it is read: over which parameters, and, where it holds more than that
// dict, at which place; empty: the only one.
struct TorchFile {
  nn::FileForm form;
  std::string dict;
};

io::OptimizerDict torch_state_of(const Optimizer& optimizer, const nn::Model& model,
                                 const nn::FileForm& form = {});

// For Optimizer::load_state, from such a file; empty where nothing was gathered yet. Parameters
// without an entry have gathered zeros. Error(kFormat) listing what is missing, unexpected or
// misshapen, kNan naming an element that is not finite, kUnsupported for parameters that have made
// different numbers of steps. Both: kUnsupported where a state cannot follow the weights.
// `log`, which may be null, gets a warning where the file is read in the model's order and its
// weights came from one with another.
std::vector<nn::NamedTensor> read_torch_state(const std::string& path, const nn::Model& model,
                                              const OptimizerConfig& config,
                                              const TorchFile& file = {}, base::Log* log = nullptr);

}  // namespace gnnmg::train
