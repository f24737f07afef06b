// The table of each architecture's options. The checks of their values are with the config.
#pragma once

#include "nn/config/config.h"

namespace gnnmg::nn {

// True for layers with heads and attention.
constexpr bool attends(Architecture architecture) {
  return architecture == Architecture::kGat || architecture == Architecture::kGatv2 ||
         architecture == Architecture::kTransformer;
}

// True for layers with networks that contain the model's activation and norm.
constexpr bool has_network(const ModelConfig& config) {
  return config.architecture == Architecture::kGin || config.architecture == Architecture::kGine ||
         (config.architecture == Architecture::kEdge && config.framework == Framework::kPyg);
}

// Returns the users' name of an architecture, as "GraphSAGE".
const char* name_of(Architecture architecture);
// True if DGL has the layer as well.
bool of_dgl(Architecture architecture);

// Error(kInvalidArgument) for a value outside its range.
void check_range(const char* field, int64_t value, int64_t low, int64_t high);
// The same for the linear layers of a network inside a layer.
void check_network(const ModelConfig& config);

// Error(kInvalidArgument) names an option that differs from its default and has no meaning for this
// architecture, framework, norm or readout.
void check_options(const ModelConfig& config);

// The same for a norm's options, with a check of their ranges. `field` is the prefix of their
// names.
void check_norm_options(Norm norm, const NormOptions& options, const char* field);

}  // namespace gnnmg::nn
