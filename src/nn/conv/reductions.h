// Several reductions of the same messages at once, which share what they have in common. Apart from
// the layers because PNA and PyG's GraphSAGE have the same.
#pragma once

#include <vector>

#include "nn/config.h"
#include "nn/edge_functions.h"

namespace gnnmg::nn {

struct Messages {
  at::Tensor rows;        // of the sources, or of the edges
  bool of_edges = false;  // the latter
  at::Tensor shift;       // of sources: a row of each target that is added to its messages
};

// Each of these reductions, [num_targets, F]; 0 where there is no message.
std::vector<at::Tensor> reduce_messages(const Messages& messages,
                                        const std::vector<PnaReduction>& reductions,
                                        const sample::BlockView& block, const Execution& execution);

// [num_targets, 1]: numbers of edges, in the type of `like`.
at::Tensor in_degrees(const sample::BlockView& block, const at::Tensor& like,
                      const Execution& execution);

}  // namespace gnnmg::nn
