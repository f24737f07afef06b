// Weights that torch stores as the arguments of a function: weight_norm stores length and
// direction, pruning a weight and its mask.
#pragma once

#include <string>
#include <vector>

#include "io/state_file.h"

namespace gnnmg::nn {

// Replaces the arguments by the weights and returns the keys of these. Arguments beside the weight
// itself are removed; arguments of other functions stay. Error(kFormat) if shapes do not fit.
std::vector<std::string> compose_weights(io::StateFile& state);

// Names the first weight that is stored for another function, such as spectral_norm, with the
// remedy: the end of an error's text. Empty if there is none.
std::string note_on_factors(const io::StateFile& state);

}  // namespace gnnmg::nn
