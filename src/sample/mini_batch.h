// The result of a sampler: a list of nodes, seeds first, and one bipartite block per layer, in
// memory that is reused from batch to batch. If the seeds are whole graphs, nodes are listed graph
// by graph instead, and every layer has the same block of all nodes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/memory.h"
#include "graph/elsewhere.h"

namespace gnnmg::sample {

// The edges that one layer of a model uses. Sources are the first num_sources nodes of the list and
// targets the first num_targets, so the targets are the first rows of the sources. Row t holds the
// sources of target t: indices[indptr[t]] .. indices[indptr[t+1]-1], as positions in the node list.
struct BlockView {
  int64_t num_targets = 0;
  int64_t num_sources = 0;
  int64_t num_edges = 0;              // indptr[num_targets]
  const int32_t* indptr = nullptr;    // [num_targets + 1]
  const int32_t* indices = nullptr;   // [num_edges]
  const int64_t* edge_ids = nullptr;  // [num_edges], or null if not requested
  // The same edges by source, for gradients: the targets that source s sends to, ascending. The
  // lists may continue with targets >= num_targets, which belong to other layers: stop there. Null
  // if not requested, or not for this block.
  const int32_t* out_indptr = nullptr;  // [num_sources + 1]
  const int32_t* out_targets = nullptr;
};

// The storage of one block.
struct BlockStore {
  base::PageVector<int32_t> indptr;
  base::PageVector<int32_t> indices;
  base::PageVector<int64_t> edge_ids;
  base::PageVector<int32_t> out_indptr;
  base::PageVector<int32_t> out_targets;
  // For each column of Sample::edge_columns its rows, one per edge.
  std::vector<base::PageVector<uint8_t>> edge_rows;
};

// In-degree of a node in the whole graph, and the number of those edges whose source is the node.
struct NodeDegree {
  int64_t edges, loops;
};

// One sampled neighborhood. Reuse it: sampling into it keeps its pages.
struct Sample {
  int64_t num_seeds = 0;
  base::PageVector<int64_t> node_ids;  // seeds, then nodes by hop in order of first appearance
  std::vector<int64_t>
      hop_ends;  // [num_hops + 1]: nodes known after hop h; hop_ends[0] = num_seeds
  // For whole graphs: the first node of each seed, [num_seeds + 1]; every hop_ends is then the
  // number of nodes. Empty if the seeds are nodes.
  base::PageVector<int64_t> graph_ptr;
  // Degrees of the nodes, from a sampler over parts with degrees (Sampler::with_degrees()).
  // Otherwise empty: the graph has them.
  base::PageVector<NodeDegree> degrees;
  // The same for the weights of the edges into the nodes (Sampler::with_weight_sums()).
  base::PageVector<graph::WeightSums> weight_sums;
  // The edge columns whose rows are in the stores, from a sampler over parts. Otherwise null: the
  // graph has them.
  std::shared_ptr<const std::vector<graph::EdgeColumn>> edge_columns;
  std::vector<BlockView> blocks;   // blocks[0] reads the input, the last one computes the seeds
  std::vector<BlockStore> stores;  // storage of the views; with expansion "once", and for whole
                                   // graphs, all layers share stores[0]
  int64_t num_nodes() const { return node_ids.size(); }
  // The storage of blocks[layer].
  const BlockStore& store_of(size_t layer) const { return stores[stores.size() == 1 ? 0 : layer]; }
  int64_t num_edges_drawn() const;  // distinct stored edges
};

}  // namespace gnnmg::sample
