// Blocks that layers make, so that the graph's kernels also gather and sum rows of edges, or of
// groups of edges.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "nn/ops/functions.h"

namespace gnnmg::nn {

// A block with its storage and both orders of its edges. The view is valid for its lifetime.
class MadeBlock {
 public:
  // Target t reads the sources indices[indptr[t]] .. indices[indptr[t + 1] - 1].
  MadeBlock(int64_t num_sources, std::vector<int32_t> indptr, std::vector<int32_t> indices);
  // The same on a device, from i32 tensors there; edges after the last list belong to no list.
  // Lists by source are made if the execution has gradients.
  MadeBlock(const Execution& execution, int64_t num_sources, const at::Tensor& indptr,
            const at::Tensor& indices);
  MadeBlock(const MadeBlock&) = delete;
  MadeBlock& operator=(const MadeBlock&) = delete;
  const sample::BlockView& view() const { return view_; }

 private:
  std::vector<int32_t> indptr_, indices_, out_indptr_, out_targets_;
  std::vector<at::Tensor> on_device_;
  sample::BlockView view_;
};

// Makes a block from the edges of `block`, in its order, to its targets.
std::shared_ptr<const MadeBlock> edges_to_targets(const sample::BlockView& block,
                                                  const Execution& execution);

// The same without the edges from source first_own + t to target t.
std::shared_ptr<const MadeBlock> edges_without_loops(const sample::BlockView& block,
                                                     int64_t first_own, const Execution& execution);

// Makes a block from the ends of the edges to the edges: sources are those of `block`, or, with
// `targets`, those followed by its targets. Edge e reads its source, and with `targets` its target.
std::shared_ptr<const MadeBlock> ends_to_edges(const sample::BlockView& block, bool targets,
                                               const Execution& execution);

// Returns [num_edges]: the target of each edge of a block on the CPU.
std::vector<int32_t> target_of_edges(const sample::BlockView& block);

}  // namespace gnnmg::nn
