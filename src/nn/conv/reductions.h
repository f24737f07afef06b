// Several reductions of the same messages at once, which share common parts. PNA and PyG's
// GraphSAGE use it.
#pragma once

#include <vector>

#include "nn/config/config.h"
#include "nn/ops/edge_functions.h"

namespace gnnmg::nn {

struct Messages {
  at::Tensor rows;        // rows of the sources or of the edges
  bool of_edges = false;  // `rows` are those of the edges
  at::Tensor shift;  // row of each target that is added to its messages; only with rows of sources
};

// Returns the result of each reduction, [num_targets, F]; 0 for targets without messages.
std::vector<at::Tensor> reduce_messages(const Messages& messages,
                                        const std::vector<PnaReduction>& reductions,
                                        const sample::BlockView& block, const Execution& execution);

// Returns [num_targets, 1]: in-degrees in the type of `like`.
at::Tensor in_degrees(const sample::BlockView& block, const at::Tensor& like,
                      const Execution& execution);

}  // namespace gnnmg::nn
