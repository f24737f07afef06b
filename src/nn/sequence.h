// Recurrent networks over the neighbors of each target, in the order of its edges.
#pragma once

#include <vector>

#include "nn/functions.h"
#include "nn/parameters.h"

namespace gnnmg::nn {

// One direction of one layer, as LibTorch has it: gates i, f, g, o.
struct Lstm {
  at::Tensor weight_ih, weight_hh, bias_ih, bias_hh;
  // Keys weight_ih_l0, ...; with `reverse` those of the other direction.
  void declare(ParameterList& list, const std::string& name, int64_t in, int64_t hidden,
               bool reverse = false);
};

// [num_targets, hidden]: the state behind the last step, where all sequences are padded with rows
// of zeros to the largest in-degree of the block, or to `least_steps` where that is more, the
// padding being gone through as well (PyG).
at::Tensor lstm_padded(const at::Tensor& x, const Lstm& lstm, const sample::BlockView& block,
                       int64_t least_steps, const Execution& execution);

// The same without padding: the state behind a target's last edge, 0 where it has none (DGL).
at::Tensor lstm_packed(const at::Tensor& x, const Lstm& lstm, const sample::BlockView& block,
                       const Execution& execution);

// Jumping knowledge by attention over the layers: scores from a network in both directions over the
// sequence of a row's layers, and the weighted sum of these.
struct LayerAttention {
  Lstm forward, backward;
  Linear score;
  void declare(ParameterList& list, const std::string& name, int64_t width, int64_t layers);
  // [N, width] each.
  at::Tensor operator()(const std::vector<at::Tensor>& layers) const;
};

}  // namespace gnnmg::nn
