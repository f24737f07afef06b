// Steps before the layers in all models: checks, the input rows of the first layer, and the edges'
// data.
#pragma once

#include <vector>

#include "nn/conv/conv.h"
#include "nn/layers/category_encoder.h"
#include "nn/model/graph_facts.h"
#include "nn/model/model.h"

namespace gnnmg::nn {

// Error(kInvalidArgument), kRange or kUnsupported if rows and blocks match neither each other nor
// the model. Data on a device is not read.
void check_input(const ModelConfig& config, const ForwardArgs& args, const Device* device);

// The step before the first layer.
struct InputLayer {
  const ModelConfig& config;
  const CategoryEncoder& nodes;
  const at::Tensor& embedding;  // [input_dim, hidden_dim], for Input::kEmbedding
  const Dropout& dropout;
  const Execution& execution;
};
// With Input::kNodes there are ids and no rows.
ConvInput first_input(const InputLayer& layer, const ForwardArgs& args);

// Returns the edge data of each block in the form that layers read, categories as rows; empty if
// there is none.
std::vector<EdgeValues> edges_of(KnownGraph& known_graph, const CategoryEncoder& encoder,
                                 const ForwardArgs& args, const Execution& execution);

}  // namespace gnnmg::nn
