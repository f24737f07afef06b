// One GraphSAGE convolution as PyG defines it, on a block.
#pragma once

#include "nn/conv/conv.h"

namespace gnnmg::nn {

struct SageConvWeights {
  at::Tensor lin, lin_bias;  // projection of the sources [in, in], [in]; undefined: no projection
  at::Tensor lin_l, lin_l_bias;  // [out, in], [out]; the bias may be undefined
  at::Tensor lin_r;              // [out, columns of targets]; undefined: no root weight
  at::Tensor skip, skip_bias;    // a linear layer beside the convolution; undefined: none
};

struct SageConvOptions {
  Reduce reduce = Reduce::kMean;
  bool normalize = false;
};

// finish(conv(x) + skip(x)), [num_targets, out].
at::Tensor sage_conv(const SageConvWeights& weights, const ConvInput& input,
                     const sample::BlockView& block, const SageConvOptions& options,
                     const Finish& finish, const Execution& execution);

// The weights of own rows, root and skip together, and all biases together, for use if no operation
// comes between convolution and skip. Undefined if there are none.
at::Tensor own_weight(const SageConvWeights& weights);
at::Tensor whole_bias(const SageConvWeights& weights);

// True if multiplying the rows before the aggregation can ever be cheaper: it must make them
// narrower.
inline bool may_transform_first(Reduce reduce, int64_t in, int64_t out) {
  return reduce != Reduce::kMax && out < in;
}
// True if multiplying the rows before the aggregation is cheaper: it must make them narrower, and
// there must not be many more sources than targets.
bool transforms_first(Reduce reduce, const sample::BlockView& block, int64_t in, int64_t out);

}  // namespace gnnmg::nn
