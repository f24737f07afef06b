// Which options each architecture has. Apart from the checks of their values, which stand with the
// config: here is a table of names.
#pragma once

#include "nn/config.h"

namespace gnnmg::nn {

// Layers with heads and attention.
constexpr bool attends(Architecture architecture) {
  return architecture == Architecture::kGat || architecture == Architecture::kGatv2 ||
         architecture == Architecture::kTransformer;
}

// Layers whose networks have the model's activation, and its norm, inside.
constexpr bool has_network(const ModelConfig& config) {
  return config.architecture == Architecture::kGin || config.architecture == Architecture::kGine ||
         (config.architecture == Architecture::kEdge && config.framework == Framework::kPyg);
}

// What users call it, as "GraphSAGE".
const char* name_of(Architecture architecture);

// The constant of gnnmg.h that stands for a value, as "GNNMG_AGGREGATION_MEAN".
const char* constant_of(Aggregation aggregation);
const char* constant_of(DegreeNorm norm);
const char* constant_of(LoopFill fill);
const char* constant_of(Readout readout);

// Error(kInvalidArgument) naming an option that is not left at its default and means nothing to
// this architecture, framework, norm or readout.
void check_options(const ModelConfig& config);

// The same of a norm's options, and of numbers that they cannot have. `field` stands in front of
// their names.
void check_norm_options(Norm norm, const NormOptions& options, const char* field);

}  // namespace gnnmg::nn
