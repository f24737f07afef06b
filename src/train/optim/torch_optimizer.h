// An optimizer's state as the state dict of PyTorch's optimizer of the same kind over the
// parameters of the model, or of one that its weights convert to, numbered in their order there.
#pragma once

#include <string>
#include <vector>

#include "base/log.h"
#include "io/optimizer_pth.h"
#include "nn/model/file_parameters.h"
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

// Reads such a file for Optimizer::load_state; empty if it has no state yet. Parameters without an
// entry have zero state. Error(kFormat) listing missing, unexpected and misshapen entries; kNan
// naming an element that is not finite; kUnsupported for parameters with different numbers of
// steps, or a state that cannot follow the weights (as for torch_state_of()). `log`, which may be
// null, gets a warning if the file is read in the model's order and its weights came from one with
// another order.
std::vector<nn::NamedTensor> read_torch_state(const std::string& path, const nn::Model& model,
                                              const OptimizerConfig& config,
                                              const TorchFile& file = {}, base::Log* log = nullptr);

}  // namespace gnnmg::train
