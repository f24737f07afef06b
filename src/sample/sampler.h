// Samplers: from seeds to neighbourhoods, as a pure function of (seed, epoch, mini-batch, hop,
// node).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/philox.h"
#include "graph/graph.h"
#include "sample/mini_batch.h"

namespace gnnmg::sample {

enum class Expansion : int32_t {
  kOnce = 0,  // a node is expanded at the hop where it first appears; layers share one edge set and
              // are trimmed
  kEveryLayer = 1,  // each layer draws afresh for all its targets; one block a layer
};

// How the neighbors of a row are drawn.
enum class Draw : int32_t {
  kUniform = 0,    // each row for itself: draw.h
  kLabor = 1,      // by one number a source and hop: labor.h
  kLaborOnce = 2,  // by one number a source for all hops of a mini-batch
};

inline constexpr int kMaxHops = 16;

struct NeighborConfig {
  std::vector<int64_t> fanouts;  // nearest to the seeds first; -1: all, 0: none
  Expansion expansion = Expansion::kOnce;
  Draw draw = Draw::kUniform;
  bool replace = false;    // with uniform draws
  bool edge_ids = false;   // fill BlockView::edge_ids
  bool transpose = false;  // fill BlockView::out_*
  // With `transpose`: of blocks[0], the one next to the input, as well. Gradients need it only
  // where they go on to what the first layer's edges read (nn::Model::reads_input_by_source()).
  bool transpose_input = true;
  bool outgoing = false;  // follow edges from source to target instead

  // Whether the fan-out bounds the edges of each row at a hop.
  bool bounds(size_t hop) const { return draw == Draw::kUniform && fanouts[hop] >= 0; }
  // Hops, from the seeds on, whose blocks have lists by source.
  int num_transposed() const {
    const int hops = static_cast<int>(fanouts.size());
    return transpose ? hops - !transpose_input : 0;
  }
};

// Error(kInvalidArgument) for LABOR with replacement.
inline void check_draw(const NeighborConfig& config) {
  if (config.replace && config.draw != Draw::kUniform)
    base::fail(base::Status::kInvalidArgument,
               "LABOR draws without replacement: set replace to 0, or take uniform draws");
}

// Names the draws of one mini-batch.
struct BatchKey {
  uint64_t seed = 0;
  base::Purpose purpose = base::Purpose::kSample;
  uint64_t epoch = 0;
  uint64_t batch = 0;
  // The key of one hop; the draw for a node uses words of counter (node, slot).
  base::Key hop(uint64_t hop, uint64_t edge_type = 0) const {
    return base::stream_key(seed, purpose, epoch, batch, hop, edge_type);
  }
};

// The key by which a sampler of this configuration draws at a hop.
inline base::Key hop_key(const NeighborConfig& config, const BatchKey& key, uint64_t hop,
                         uint64_t edge_type) {
  return key.hop(config.draw == Draw::kLaborOnce ? 0 : hop, edge_type);
}

// Tables and buffers of one sampling thread, kept from batch to batch.
class Workspace {
 public:
  Workspace();
  ~Workspace();
  Workspace(Workspace&&) noexcept;
  struct State;
  State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

// What a neighbour sampler draws from and how: enough for another to draw alike. Points into the
// sampler.
struct NeighborLaw {
  const graph::Csc* csc = nullptr;  // in the direction of sampling
  const NeighborConfig* config = nullptr;
  int32_t edge_type = 0;
};

class Sampler {
 public:
  virtual ~Sampler() = default;
  virtual int num_layers() const = 0;
  virtual int64_t num_nodes() const = 0;
  // Seeds are in [0, num_ids()): nodes, or graphs.
  virtual int64_t num_ids() const { return num_nodes(); }
  virtual bool of_graphs() const { return false; }
  // How it draws, in words: equal for samplers that draw alike, as far as a sampler can tell.
  virtual std::string describe() const = 0;
  // The same sampler, but without lists by source of blocks[0]; null where layers share them.
  virtual std::shared_ptr<const Sampler> without_input_lists() const { return nullptr; }
  // The same sampler, which fills Sample::degrees too; null where whoever has the graph can tell
  // them, since all of it is here.
  virtual std::shared_ptr<const Sampler> with_degrees() const { return nullptr; }
  // The columns of edges whose rows it tells with a sample, since the graph cannot tell them; none
  // where it can.
  virtual std::span<const graph::EdgeColumn> edge_columns() const { return {}; }
  // The same sampler, which tells of these columns those of the given names alone; null where it
  // tells none.
  virtual std::shared_ptr<const Sampler> with_edge_columns(std::span<const std::string>) const {
    return nullptr;
  }
  // Of a neighbour sampler; nothing for all others.
  virtual std::optional<NeighborLaw> neighbors() const { return std::nullopt; }
  // Samples for `seeds`; a repeated seed gets a row of its own with the same draws, and edges from
  // that node come from its first row. Concurrent calls are fine with workspaces and samples of
  // their own. No allocation once the buffers have grown. Error(kRange) for a seed that is no node
  // or a mini-batch of more than 2^30 nodes or 2^31 - 1 edges a layer, kCancelled between two
  // chunks of rows.
  virtual void sample(std::span<const int64_t> seeds, const BatchKey& key, Workspace& workspace,
                      Sample& out, const base::CancelToken& cancel) const = 0;
};

// Draws uniformly from each node's neighbourhood, as draw.h defines it. Error(kInvalidArgument) for
// fan-outs below -1, none or more than kMaxHops of them, an edge type that does not exist or joins
// two node types; kUnsupported for a node of 2^32 or more neighbours. Over a graph of which parts
// are elsewhere the sampler asks for their picks: graph/elsewhere.h.
std::unique_ptr<Sampler> make_neighbor_sampler(graph::GraphRef graph, const NeighborConfig& config,
                                               int32_t edge_type = 0);

struct GraphsConfig {
  int num_layers = 1;
  bool edge_ids = false;   // fill BlockView::edge_ids
  bool transpose = false;  // fill BlockView::out_*
};

// Seeds are graphs that stand side by side in `graph`, nodes graph_ptr[g] .. graph_ptr[g + 1] - 1
// being those of graph g, which no edge leaves (see data::check_graph_ptr()). A sample is them
// whole, nodes and edges in the order they have there; a repeated seed is a graph of its own each
// time. Error(kInvalidArgument) for a graph of several types or numbers of layers.
std::unique_ptr<Sampler> make_graphs_sampler(graph::GraphRef graph, base::Tensor graph_ptr,
                                             const GraphsConfig& config);

// Where a custom sampler puts the edges of one layer: ids of the graph, any order of sources,
// grouped or not by target. One thread at a time.
class EdgeSink {
 public:
  static constexpr int64_t kNoId = INT64_MIN;

  // Appends edges. `edge_ids` may be empty: kNoId is stored. Error(kInvalidArgument) for lists of
  // unequal length.
  void add(std::span<const int64_t> sources, std::span<const int64_t> targets,
           std::span<const int64_t> edge_ids);
  void clear();
  base::PageVector<int64_t> sources, targets, edge_ids;
};

// What a custom sampler is asked for: the edges of one layer. Layers are asked for from the seeds
// outwards; the targets of the next layer are all nodes found so far (expansion every_layer).
struct LayerRequest {
  uint64_t epoch = 0;
  uint64_t batch = 0;
  int32_t layer = 0;                          // 0 is next to the seeds
  std::span<const int64_t> targets;           // node ids, in the order of the node list, each once
  base::Key key;                              // the built-in sampler's key of this hop
  const base::CancelToken* cancel = nullptr;  // of the work that asks; never null in a call
};
using LayerFunction = std::function<void(const LayerRequest&, EdgeSink&)>;

// Calls `function` for each layer, relabels its edges and builds the blocks: sources are numbered
// in the order in which they first appear by target row, then in the order added. `function` is
// called by several threads at once and must allow it; what it throws goes through. Edges to nodes
// that are no targets, from nodes that do not exist, or, with `edge_ids`, with ids of no edge:
// Error(kCallback) naming layer, edge and node. The graph must have one node and one edge type.
std::unique_ptr<Sampler> make_custom_sampler(graph::GraphRef graph, int num_layers, bool edge_ids,
                                             bool transpose, LayerFunction function);

// The one-hop draw for custom samplers: for each target up to `fanout` in-neighbours (-1: all)
// without or with replacement, the same picks in the same order as the built-in sampler's with this
// key. Appends to `sink`. Error(kRange) for a target that is no node, kInvalidArgument for a
// fan-out below -1. Over a graph of which parts are elsewhere it asks for their picks.
void sample_neighbors(const graph::Graph& graph, std::span<const int64_t> targets, int64_t fanout,
                      bool replace, base::Key key, EdgeSink& sink, int32_t edge_type = 0);

}  // namespace gnnmg::sample
