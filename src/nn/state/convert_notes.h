// The conditions under which layers compute the same after their weights were converted between
// PyG's form and DGL's. Separate from the conversion, which is exact: these conditions concern
// options and graphs, which no file of weights records.
#pragma once

#include <string>
#include <vector>

#include "nn/config/config.h"

namespace gnnmg::nn {

// Returns a sentence for each kind of layer, in a stack for each layer, whose results can differ;
// it names the required settings. `reading`: from a file of the other framework into a model of
// this config, else the reverse.
std::vector<std::string> conversion_notes(const ModelConfig& config, bool reading);

}  // namespace gnnmg::nn
