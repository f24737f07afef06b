// Makes the convolutions of a model from its config.
#pragma once

#include <memory>

#include "nn/config/config.h"
#include "nn/config/layer_list.h"
#include "nn/conv/conv.h"

namespace gnnmg::nn {

struct ConvWidths {
  int64_t in = 0, out = 0;
  bool mean_of_heads = false;  // average the heads even if the config concatenates them
  bool nodes = false;          // the layer reads the nodes themselves, and `in` is their number
  bool own_norm = false;       // DGL's GIN: `norm` is inside the network, not between layers
};

using MakeConv = std::unique_ptr<Conv> (*)(const ModelConfig& config, const ConvWidths& widths,
                                           at::Tensor* prelu);
// Each kind of nn/config/layer_list.h has its maker in the file of its convolution.
namespace makers {
#define GNNMG_KIND(constant, ...) extern const MakeConv constant;
GNNMG_LAYER_KINDS(GNNMG_KIND)
#undef GNNMG_KIND
}  // namespace makers

// Helpers of the makers.
Reduce reduce_of(Aggregation aggregation);
int64_t heads_of(const ModelConfig& config, const ConvWidths& widths);

// `prelu` is the model's slope, which networks inside a layer use too.
std::unique_ptr<Conv> make_conv(const ModelConfig& config, const ConvWidths& widths,
                                at::Tensor* prelu);

}  // namespace gnnmg::nn
