#include "nn/model/thinned_batch.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "base/philox.h"
#include "nn/kernels/kernels.h"
#include "nn/ops/device_lists.h"
#include "nn/ops/tensors.h"

namespace gnnmg::nn {
namespace {

// Numbers among the dropout layers: for nodes, and for the edges of the first layer.
constexpr uint64_t kNodes = 2048, kEdges = 2049;

// Returns whether each of the items 0 .. count - 1 is dropped: item i by half word i mod 8 of the
// Philox block with counter i / 8.
std::vector<uint8_t> drawn(const kernels::Dropout& dropout, int64_t count) {
  std::vector<uint8_t> dropped(count);
  if (!dropout.active()) return dropped;
  for (int64_t begin = 0; begin < count; begin += 8) {
    const base::Counter words =
        base::philox({static_cast<uint32_t>(begin / 8), 0, 0, 0}, dropout.key);
    for (int64_t i = begin; i < std::min(begin + 8, count); ++i)
      dropped[i] = (words[(i - begin) / 2] >> (i % 2 * 16) & 0xFFFF) < dropout.threshold;
  }
  return dropped;
}

// The same as bools on a device. These are the dropout bits of a matrix whose row r has items 8 r,
// 8 r + 1, ... in the columns 0, 16, ..., 112; a block holds the first bits of all sixteen columns
// of a run, so the kernel for sparse rows draws them.
at::Tensor drawn_on_device(const kernels::Dropout& dropout, int64_t count,
                           const Execution& execution) {
  if (!dropout.active() || count == 0) return at::zeros({count}, options_of(execution, at::kBool));
  const at::TensorOptions numbers = options_of(execution, at::kLong);
  const int64_t rows = (count + 7) / 8;
  const at::Tensor indptr = at::arange(rows + 1, numbers).mul_(8).clamp_max_(count);
  const at::Tensor columns = at::arange(count, numbers).remainder_(8).mul_(16).to(at::kInt);
  const at::Tensor ones = at::ones({count}, options_of(execution, at::kFloat));
  const at::Tensor kept = at::empty_like(ones);
  const Device& device = *execution.device;
  device.layers<float>().sparse_dropout(
      device.queue,
      {indptr.const_data_ptr<int64_t>(), columns.const_data_ptr<int32_t>(),
       ones.const_data_ptr<float>()},
      dropout, kept.mutable_data_ptr<float>(), rows);
  return kept == 0;
}

at::Tensor kept_of(const at::Tensor& values, const at::Tensor& kept) {
  return values.defined() ? values.index_select(0, kept) : values;
}

}  // namespace

ThinnedBatch::ThinnedBatch(const ForwardArgs& batch, double edge_rate, double node_rate,
                           const Execution& execution)
    : args_(batch) {
  const auto dropout = [&](double rate, uint64_t number) {
    const DropoutKey& key = batch.dropout;
    return kernels::make_dropout(rate, key.seed, key.epoch, key.batch, number);
  };
  std::vector<Dropout> edges;
  for (size_t i = 0; i < batch.blocks.size(); ++i) edges.push_back(dropout(edge_rate, kEdges + i));
  const Dropout nodes = dropout(node_rate, kNodes);
  if (execution.device)
    thin_on_device(nodes, edges, execution);
  else
    thin(nodes, edges);
  args_.blocks = blocks_;
  args_.edges = edges_;
}

void ThinnedBatch::thin(const Dropout& nodes, const std::vector<Dropout>& edges) {
  // The sources of every layer are the first nodes of the first layer.
  const int64_t num_nodes = args_.blocks.empty() ? 0 : args_.blocks[0].num_sources;
  const std::vector<uint8_t> gone = drawn(nodes, num_nodes);
  for (size_t i = 0; i < args_.blocks.size(); ++i) {
    const sample::BlockView& block = args_.blocks[i];
    const std::vector<uint8_t> dropped = drawn(edges[i], block.num_edges);
    std::vector<int32_t> indptr{0}, indices;
    std::vector<int64_t> kept;
    indptr.reserve(block.num_targets + 1);
    indices.reserve(block.num_edges);
    kept.reserve(block.num_edges);
    for (int64_t t = 0; t < block.num_targets; ++t) {
      for (int64_t e = block.indptr[t]; e < block.indptr[t + 1]; ++e) {
        if (dropped[e] || gone[t] || gone[block.indices[e]]) continue;
        indices.push_back(block.indices[e]);
        kept.push_back(e);
      }
      indptr.push_back(static_cast<int32_t>(kept.size()));
    }
    Layer layer;
    layer.block =
        std::make_unique<MadeBlock>(block.num_sources, std::move(indptr), std::move(indices));
    blocks_.push_back(layer.block->view());
    if (block.edge_ids) {
      layer.edge_ids.reserve(kept.size() + 1);  // not null, even without edges
      for (int64_t e : kept) layer.edge_ids.push_back(block.edge_ids[e]);
      blocks_.back().edge_ids = layer.edge_ids.data();
    }
    if (!args_.edges.empty()) {
      const EdgeValues& of_block = args_.edges[i];
      const at::Tensor places = as_tensor(kept);
      edges_.push_back({kept_of(of_block.weight, places), kept_of(of_block.features, places),
                        kept_of(of_block.type, places)});
    }
    layers_.push_back(std::move(layer));
  }
}

void ThinnedBatch::thin_on_device(const Dropout& nodes, const std::vector<Dropout>& edges,
                                  const Execution& execution) {
  const int64_t num_nodes = args_.blocks.empty() ? 0 : args_.blocks[0].num_sources;
  const at::Tensor gone = drawn_on_device(nodes, num_nodes, execution);
  std::vector<at::Tensor> ends;  // per layer: number of kept edges up to each edge
  std::vector<at::Tensor> counts;
  for (size_t i = 0; i < args_.blocks.size(); ++i) {
    const sample::BlockView& block = args_.blocks[i];
    const at::Tensor dropped =
        drawn_on_device(edges[i], block.num_edges, execution)
            .logical_or(gone.index_select(0, sources_of_edges(block, execution)))
            .logical_or(gone.index_select(0, targets_of_edges(block, execution)));
    ends.push_back(at::cat(
        {at::zeros({1}, options_of(execution, at::kLong)), dropped.logical_not().cumsum(0)}));
    counts.push_back(ends.back().narrow(0, block.num_edges, 1));
  }
  if (counts.empty()) return;
  // The sizes of later tensors: the only value that the host waits for.
  const at::Tensor left = at::cat(counts).cpu();
  for (size_t i = 0; i < args_.blocks.size(); ++i) {
    const sample::BlockView& block = args_.blocks[i];
    const int64_t count = left.const_data_ptr<int64_t>()[i];
    const at::Tensor kept =
        at::searchsorted(ends[i].narrow(0, 1, block.num_edges),
                         at::arange(1, count + 1, options_of(execution, at::kLong)));
    Layer layer;
    layer.block = std::make_unique<MadeBlock>(
        execution, block.num_sources,
        ends[i].index_select(0, indptr_of(block, execution)).to(at::kInt),
        sources_of_edges(block, execution).index_select(0, kept));
    blocks_.push_back(layer.block->view());
    if (block.edge_ids) {
      layer.ids_on_device =
          view_on(execution, block.edge_ids, {block.num_edges}).index_select(0, kept);
      // Not null, even without edges.
      blocks_.back().edge_ids =
          count > 0 ? layer.ids_on_device.const_data_ptr<int64_t>() : block.edge_ids;
    }
    if (!args_.edges.empty()) {
      const EdgeValues& of_block = args_.edges[i];
      edges_.push_back({kept_of(of_block.weight, kept), kept_of(of_block.features, kept),
                        kept_of(of_block.type, kept)});
    }
    layers_.push_back(std::move(layer));
  }
}

}  // namespace gnnmg::nn
