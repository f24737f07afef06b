// Makes the convolutions of a model from its config: the only code that maps architectures to
// convolutions.
#pragma once

#include <memory>

#include "nn/config.h"
#include "nn/conv/conv.h"

namespace gnnmg::nn {

struct ConvWidths {
  int64_t in = 0, out = 0;
  bool mean_of_heads = false;  // average the heads even if the config concatenates them
  bool nodes = false;          // the layer reads the nodes themselves, and `in` is their number
  bool own_norm = false;       // DGL's GIN: `norm` is inside the network, not between layers
};

// `prelu` is the model's slope, which networks inside a layer use too.
std::unique_ptr<Conv> make_conv(const ModelConfig& config, const ConvWidths& widths,
                                at::Tensor* prelu);

}  // namespace gnnmg::nn
