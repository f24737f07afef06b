// What models of any kind do with a mini-batch before their layers: checks, the rows that the first
// layer reads, and what the edges carry.
#pragma once

#include <vector>

#include "nn/category_encoder.h"
#include "nn/conv/conv.h"
#include "nn/graph_facts.h"
#include "nn/model.h"

namespace gnnmg::nn {

// Error(kInvalidArgument), kRange or kUnsupported where rows and blocks fit neither each other nor
// the model. What lies on a device is not read.
void check_input(const ModelConfig& config, const ForwardArgs& args, const Device* device);

// What stands in front of the first layer.
struct InputLayer {
  const ModelConfig& config;
  const CategoryEncoder& nodes;
  const at::Tensor& embedding;  // [input_dim, hidden_dim] of Input::kEmbedding
  const Dropout& dropout;
  const Execution& execution;
};
// With Input::kNodes there are ids and no rows.
ConvInput first_input(const InputLayer& layer, const ForwardArgs& args);

// What the edges of each block carry as the layers read it, categories as rows; empty: nothing.
std::vector<EdgeValues> edges_of(KnownGraph& known_graph, const CategoryEncoder& encoder,
                                 const ForwardArgs& args, const Execution& execution);

}  // namespace gnnmg::nn
