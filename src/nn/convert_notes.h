// Under which conditions layers compute the same after their weights were converted between PyG's
// form and DGL's. Apart from the conversion, which is exact in itself: these are about options and
// graphs that no file of weights tells of.
#pragma once

#include <string>
#include <vector>

#include "nn/config.h"

namespace gnnmg::nn {

// A sentence for each kind of layer, in a stack for each layer, whose results are not the same
// whatever is set; it says what has to be set. `reading`: a file of the other framework's into a
// model of this config, else the reverse.
std::vector<std::string> conversion_notes(const ModelConfig& config, bool reading);

}  // namespace gnnmg::nn
