#include "nn/thinned_batch.h"

#include <algorithm>

#include "base/philox.h"
#include "nn/kernels/kernels.h"
#include "nn/tensors.h"

namespace gnnmg::nn {
namespace {

// Numbers among the layers of dropout: of nodes, and of the edges of the first layer.
constexpr uint64_t kNodes = 2048, kEdges = 2049;

// Whether each of the items 0 .. count - 1 is dropped: item i by half word i mod 8 of the Philox
// block with counter i / 8.
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

at::Tensor rows_of(const at::Tensor& values, std::span<const int64_t> kept) {
  return values.defined() ? values.index_select(0, as_tensor(kept)) : values;
}

}  // namespace

ThinnedBatch::ThinnedBatch(const ForwardArgs& batch, double edge_rate, double node_rate)
    : args_(batch) {
  const auto dropout = [&](double rate, uint64_t number) {
    const DropoutKey& key = batch.dropout;
    return kernels::make_dropout(rate, key.seed, key.epoch, key.batch, number);
  };
  // The sources of every layer are the first nodes of the first one's.
  const int64_t nodes = batch.blocks.empty() ? 0 : batch.blocks[0].num_sources;
  const std::vector<uint8_t> gone = drawn(dropout(node_rate, kNodes), nodes);
  for (size_t i = 0; i < batch.blocks.size(); ++i) {
    const sample::BlockView& block = batch.blocks[i];
    const std::vector<uint8_t> dropped = drawn(dropout(edge_rate, kEdges + i), block.num_edges);
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
      layer.edge_ids.reserve(kept.size() + 1);  // not null, even of no edges
      for (int64_t e : kept) layer.edge_ids.push_back(block.edge_ids[e]);
      blocks_.back().edge_ids = layer.edge_ids.data();
    }
    if (!batch.edges.empty()) {
      const EdgeValues& of_block = batch.edges[i];
      edges_.push_back({rows_of(of_block.weight, kept), rows_of(of_block.features, kept),
                        rows_of(of_block.type, kept)});
    }
    layers_.push_back(std::move(layer));
  }
  args_.blocks = blocks_;
  args_.edges = edges_;
}

}  // namespace gnnmg::nn
