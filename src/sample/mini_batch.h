// What a sampler returns: a list of nodes, seeds first, and one bipartite block a layer, all in
// memory that is kept from batch to batch. Where the seeds are whole graphs, the nodes stand graph
// by graph instead, and every layer has the same block of all of them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/memory.h"
#include "graph/elsewhere.h"

namespace gnnmg::sample {

// The edges that one layer of a model sends along. Sources are the first num_sources nodes of the
// list, targets the first num_targets, so targets are the first rows of the sources. Row t holds
// the sources of target t: indices[indptr[t]] .. indices[indptr[t+1]-1], as positions in the node
// list.
struct BlockView {
  int64_t num_targets = 0;
  int64_t num_sources = 0;
  int64_t num_edges = 0;              // indptr[num_targets]
  const int32_t* indptr = nullptr;    // [num_targets + 1]
  const int32_t* indices = nullptr;   // [num_edges]
  const int64_t* edge_ids = nullptr;  // [num_edges], or null when not asked for
  // The same edges by source, for gradients: the targets that source s sends to, ascending. The
  // lists may go on with targets >= num_targets, which belong to other layers: stop there. Null
  // when not asked for, or not for this block.
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
  // By column of Sample::edge_columns: its rows of the edges, one after the other.
  std::vector<base::PageVector<uint8_t>> edge_rows;
};

// Edges of the whole graph that come into a node, and those of them that leave it too.
struct NodeDegree {
  int64_t edges, loops;
};

// One sampled neighbourhood. Used again and again: sampling into it keeps its pages.
struct Sample {
  int64_t num_seeds = 0;
  base::PageVector<int64_t> node_ids;  // seeds, then nodes by hop in order of first appearance
  std::vector<int64_t>
      hop_ends;  // [num_hops + 1]: nodes known after hop h; hop_ends[0] = num_seeds
  // Of whole graphs: where the nodes of each seed begin, [num_seeds + 1]; hop_ends are then all the
  // number of nodes. Empty: the seeds are nodes.
  base::PageVector<int64_t> graph_ptr;
  // Of a sampler over parts that was asked for them (Sampler::with_degrees()): of each node. Else
  // empty: they are the graph's to tell.
  base::PageVector<NodeDegree> degrees;
  // Of a sampler over parts: the columns of edges whose rows the stores have. Else null: they are
  // the graph's to tell.
  std::shared_ptr<const std::vector<graph::EdgeColumn>> edge_columns;
  std::vector<BlockView> blocks;  // in the order of the layers: blocks[0] reads the input, the last
                                  // one yields the seeds
  std::vector<BlockStore> stores;  // what the views point into; with expansion "once" all layers
                                   // share stores[0], as do all of whole graphs
  int64_t num_nodes() const { return node_ids.size(); }
  // What blocks[layer] points into.
  const BlockStore& store_of(size_t layer) const { return stores[stores.size() == 1 ? 0 : layer]; }
  int64_t num_edges_drawn() const;  // distinct stored edges
};

}  // namespace gnnmg::sample
