// An optimizer's state as named tensors, each parameter's its own: "exp_avg.convs.0.lin_l.weight",
// and "step", which all parameters share.
#pragma once

#include "io/state_file.h"
#include "train/optim/optimizer.h"

namespace gnnmg::train {

// The names of the tensors that an optimizer of this kind keeps per parameter, as PyTorch's does:
// "exp_avg", ....
std::vector<const char*> state_kinds(const OptimizerConfig& config);
// True if it counts its updates, as "step".
inline bool counts_steps(const OptimizerConfig& config) {
  return config.kind != OptimizerKind::kSgd;
}

// Copies into `out`, which is empty, or the result of this function for an equal optimizer: then
// nothing is allocated.
void copy_state(const Optimizer& optimizer, const nn::Model& model, io::StateFile& out);
// The tensors that copy_state() will fill for an optimizer of this kind with a state; their memory
// has been written to. Any thread: reads only shapes.
io::StateFile reserve_state(const OptimizerConfig& config, const nn::Model& model);
// For Optimizer::load_state; empty from an empty file. kFormat, naming `name`, with one list of
// tensors that are missing, unexpected or misshapen for `model`.
std::vector<nn::NamedTensor> parse_state(const io::StateFile& file, const nn::Model& model,
                                         const OptimizerConfig& config, std::string_view name);

}  // namespace gnnmg::train
