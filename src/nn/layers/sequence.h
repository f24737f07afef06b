// Recurrent networks over the neighbors of each target, in the order of its edges.
#pragma once

#include <vector>

#include "nn/layers/parameters.h"
#include "nn/ops/functions.h"

namespace gnnmg::nn {

// One direction of one layer, as in LibTorch: gates i, f, g, o.
struct Lstm {
  at::Tensor weight_ih, weight_hh, bias_ih, bias_hh;
  // Keys weight_ih_l0, ...; with `reverse` those of the other direction.
  void declare(ParameterList& list, const std::string& name, int64_t in, int64_t hidden,
               bool reverse = false);
};

// Returns [num_targets, hidden]: the state after the last step. All sequences are padded with rows
// of zeros to the largest in-degree of the block, or to `least_steps` if that is more, and the
// network runs over the padding too (PyG).
at::Tensor lstm_padded(const at::Tensor& x, const Lstm& lstm, const sample::BlockView& block,
                       int64_t least_steps, const Execution& execution);

// The same without padding: the state after a target's last edge, 0 without edges (DGL).
at::Tensor lstm_packed(const at::Tensor& x, const Lstm& lstm, const sample::BlockView& block,
                       const Execution& execution);

// Jumping knowledge by attention over the layers: scores from a bidirectional network over the
// sequence of a row's layers, and the weighted sum of these layers.
struct LayerAttention {
  Lstm forward, backward;
  Linear score;
  void declare(ParameterList& list, const std::string& name, int64_t width, int64_t layers);
  // Each layer is [N, width].
  at::Tensor operator()(const std::vector<at::Tensor>& layers) const;
};

}  // namespace gnnmg::nn
