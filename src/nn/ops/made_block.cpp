#include "nn/ops/made_block.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/stack.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "nn/ops/device_lists.h"
#include "nn/ops/tensors.h"

namespace gnnmg::nn {

MadeBlock::MadeBlock(int64_t num_sources, std::vector<int32_t> indptr, std::vector<int32_t> indices)
    : indptr_(std::move(indptr)),
      indices_(std::move(indices)),
      out_indptr_(num_sources + 1),
      out_targets_(indices_.size()) {
  const int64_t num_targets = static_cast<int64_t>(indptr_.size()) - 1;
  for (int32_t source : indices_) ++out_indptr_[source + 1];
  std::partial_sum(out_indptr_.begin(), out_indptr_.end(), out_indptr_.begin());
  // Each list is filled from its front, so that its start moves to the next list's start.
  for (int64_t t = 0; t < num_targets; ++t)
    for (int32_t e = indptr_[t]; e < indptr_[t + 1]; ++e)
      out_targets_[out_indptr_[indices_[e]]++] = static_cast<int32_t>(t);
  std::copy_backward(out_indptr_.begin(), out_indptr_.end() - 1, out_indptr_.end());
  out_indptr_[0] = 0;
  view_.num_targets = num_targets;
  view_.num_sources = num_sources;
  view_.num_edges = static_cast<int64_t>(indices_.size());
  view_.indptr = indptr_.data();
  view_.indices = indices_.data();
  view_.out_indptr = out_indptr_.data();
  view_.out_targets = out_targets_.data();
}

MadeBlock::MadeBlock(const Execution& execution, int64_t num_sources, const at::Tensor& indptr,
                     const at::Tensor& indices)
    : on_device_{indptr, indices} {
  view_.num_targets = indptr.numel() - 1;
  view_.num_sources = num_sources;
  view_.num_edges = indices.numel();
  view_.indptr = indptr.const_data_ptr<int32_t>();
  view_.indices = indices.const_data_ptr<int32_t>();
  if (!execution.gradients) return;
  const Transposed by_source = transposed(indptr, indices, num_sources, execution);
  on_device_.insert(on_device_.end(), {by_source.indptr, by_source.lists});
  view_.out_indptr = by_source.indptr.const_data_ptr<int32_t>();
  view_.out_targets = by_source.lists.const_data_ptr<int32_t>();
}

std::shared_ptr<const MadeBlock> edges_to_targets(const sample::BlockView& block,
                                                  const Execution& execution) {
  if (execution.device)
    return std::make_shared<MadeBlock>(
        execution, block.num_edges, indptr_of(block, execution),
        at::arange(block.num_edges, options_of(execution, at::kInt)));
  std::vector<int32_t> indices(block.num_edges);
  std::iota(indices.begin(), indices.end(), 0);
  return std::make_shared<MadeBlock>(
      block.num_edges, std::vector<int32_t>(block.indptr, block.indptr + block.num_targets + 1),
      std::move(indices));
}

std::shared_ptr<const MadeBlock> edges_without_loops(const sample::BlockView& block,
                                                     int64_t first_own,
                                                     const Execution& execution) {
  if (execution.device) {
    // Loops come after all others, in no list, since their number is unknown here.
    const int64_t n = block.num_targets;
    const at::Tensor targets = targets_of_edges(block, execution);
    const at::Tensor lists =
        targets.masked_fill(sources_of_edges(block, execution) == targets + first_own, n);
    const at::Tensor order = stable_order(lists);
    return std::make_shared<MadeBlock>(
        execution, block.num_edges, starts_of(lists.index_select(0, order), n), order.to(at::kInt));
  }
  std::vector<int32_t> indptr{0}, indices;
  for (int64_t t = 0; t < block.num_targets; ++t) {
    for (int32_t e = block.indptr[t]; e < block.indptr[t + 1]; ++e)
      if (block.indices[e] != first_own + t) indices.push_back(e);
    indptr.push_back(static_cast<int32_t>(indices.size()));
  }
  return std::make_shared<MadeBlock>(block.num_edges, std::move(indptr), std::move(indices));
}

std::vector<int32_t> target_of_edges(const sample::BlockView& block) {
  std::vector<int32_t> targets(block.num_edges);
  for (int64_t t = 0; t < block.num_targets; ++t)
    std::fill(targets.begin() + block.indptr[t], targets.begin() + block.indptr[t + 1],
              static_cast<int32_t>(t));
  return targets;
}

std::shared_ptr<const MadeBlock> ends_to_edges(const sample::BlockView& block, bool targets,
                                               const Execution& execution) {
  const int32_t ends = targets ? 2 : 1;
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (block.num_edges > kMost / ends || block.num_sources > kMost - block.num_targets)
    base::fail(base::Status::kUnsupported, "a block of ", block.num_edges, " edges and ",
               block.num_sources, " sources is too large for a layer with rows of its edges");
  if (execution.device) {
    at::Tensor read = sources_of_edges(block, execution);
    if (targets)
      read =
          at::stack({read, targets_of_edges(block, execution) + block.num_sources}, 1).view({-1});
    return std::make_shared<MadeBlock>(
        execution, block.num_sources + (targets ? block.num_targets : 0),
        at::arange(block.num_edges + 1, options_of(execution, at::kInt)) * ends, read);
  }
  std::vector<int32_t> indptr(block.num_edges + 1), indices(block.num_edges * ends);
  for (int64_t e = 0; e <= block.num_edges; ++e) indptr[e] = static_cast<int32_t>(e) * ends;
  for (int64_t e = 0; e < block.num_edges; ++e) indices[e * ends] = block.indices[e];
  if (targets)
    for (int64_t t = 0; t < block.num_targets; ++t)
      for (int64_t e = block.indptr[t]; e < block.indptr[t + 1]; ++e)
        indices[2 * e + 1] = static_cast<int32_t>(block.num_sources + t);
  return std::make_shared<MadeBlock>(block.num_sources + (targets ? block.num_targets : 0),
                                     std::move(indptr), std::move(indices));
}

}  // namespace gnnmg::nn
