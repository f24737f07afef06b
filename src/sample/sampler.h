// Samplers: from seeds to neighborhoods, as a pure function of (seed, epoch, mini-batch, hop,
// node).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/philox.h"
#include "graph/graph.h"
#include "sample/mini_batch.h"

namespace gnnmg::sample {

enum class Expansion : int32_t {
  kOnce = 0,  // expand a node once, at the hop of its first appearance; layers share one trimmed
              // edge set
  kEveryLayer = 1,  // each layer draws anew for all its targets; one block per layer
};

// The rule by which neighbors of a row are drawn.
enum class Draw : int32_t {
  kUniform = 0,    // independently for each row: draw.h
  kLabor = 1,      // one number per source and hop: labor.h
  kLaborOnce = 2,  // one number per source for all hops of a mini-batch
};

inline constexpr int kMaxHops = 16;

struct NeighborConfig {
  std::vector<int64_t> fanouts;  // hop next to the seeds first; -1: all, 0: none
  Expansion expansion = Expansion::kOnce;
  Draw draw = Draw::kUniform;
  bool replace = false;    // only with uniform draws
  bool edge_ids = false;   // fill BlockView::edge_ids
  bool transpose = false;  // fill BlockView::out_*
  // With `transpose`: also for blocks[0], next to the input. Gradients need these lists only if
  // they continue to the rows that the first layer's edges read
  // (nn::Model::reads_input_by_source()).
  bool transpose_input = true;
  bool outgoing = false;  // follows edges from source to target instead

  // True if the fan-out bounds the edges of each row at a hop.
  bool bounds(size_t hop) const { return draw == Draw::kUniform && fanouts[hop] >= 0; }
  // Number of hops, from the seeds on, whose blocks have lists by source.
  int num_transposed() const {
    const int hops = static_cast<int>(fanouts.size());
    return transpose ? hops - !transpose_input : 0;
  }
};

// Error(kInvalidArgument) for LABOR with replacement.
inline void check_draw(const NeighborConfig& config) {
  if (config.replace && config.draw != Draw::kUniform)
    base::fail(base::Status::kInvalidArgument,
               "LABOR draws without replacement: set replace to 0, or use uniform draws");
}

// Identifies the draws of one mini-batch.
struct BatchKey {
  uint64_t seed = 0;
  base::Purpose purpose = base::Purpose::kSample;
  uint64_t epoch = 0;
  uint64_t batch = 0;
  // Returns the key of one hop; the draws of a node use the counters (node, slot).
  base::Key hop(uint64_t hop, uint64_t edge_type = 0) const {
    return base::stream_key(seed, purpose, epoch, batch, hop, edge_type);
  }
};

// Returns the key for the draws of a sampler of this configuration at a hop.
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

// The graph and the rules of a neighbor sampler, from which another one can draw the same. Points
// into the sampler.
struct NeighborLaw {
  const graph::Csc* csc = nullptr;  // edges in the direction of sampling
  const NeighborConfig* config = nullptr;
  int32_t edge_type = 0;
};

class Sampler {
 public:
  virtual ~Sampler() = default;
  virtual int num_layers() const = 0;
  virtual int64_t num_nodes() const = 0;
  // Seeds are in [0, num_ids()): nodes or graphs.
  virtual int64_t num_ids() const { return num_nodes(); }
  virtual bool of_graphs() const { return false; }
  // Describes the draws in words: equal for samplers that draw alike, as far as a sampler can tell.
  virtual std::string describe() const = 0;
  // Returns the same sampler without lists by source for blocks[0], or null if layers share them.
  virtual std::shared_ptr<const Sampler> without_input_lists() const { return nullptr; }
  // Returns the same sampler with Sample::degrees filled in, or null if the graph has the degrees
  // because all of it is here.
  virtual std::shared_ptr<const Sampler> with_degrees() const { return nullptr; }
  // The same for Sample::weight_sums, of the weights in this edge column. Error(kNotFound) if a
  // graph in parts has no such column with one number per edge.
  virtual std::shared_ptr<const Sampler> with_weight_sums(std::string_view) const {
    return nullptr;
  }
  // The edge columns whose rows are added to each sample, for a graph in parts; otherwise empty.
  virtual std::span<const graph::EdgeColumn> edge_columns() const { return {}; }
  // Returns the same sampler with only these edge columns, or null if it has none.
  virtual std::shared_ptr<const Sampler> with_edge_columns(std::span<const std::string>) const {
    return nullptr;
  }
  // The rules of a neighbor sampler; nullopt for other samplers.
  virtual std::optional<NeighborLaw> neighbors() const { return std::nullopt; }
  // Samples for `seeds`. A repeated seed gets a row of its own with the same draws; edges from that
  // node refer to its first row. Concurrent calls need separate workspaces and samples. Allocates
  // nothing once the buffers have grown. Error(kRange) for a seed that is not a node or for a
  // mini-batch of more than 2^30 nodes or 2^31 - 1 edges per layer; kCancelled between two chunks
  // of rows.
  virtual void sample(std::span<const int64_t> seeds, const BatchKey& key, Workspace& workspace,
                      Sample& out, const base::CancelToken& cancel) const = 0;
};

// Creates a sampler that draws uniformly from each node's neighborhood, as defined in draw.h.
// Error(kInvalidArgument) for fan-outs below -1, none or more than kMaxHops of them, an edge type
// that does not exist or joins two node types; kUnsupported for a node of 2^32 or more neighbors.
// For a graph with parts elsewhere the sampler requests their picks: graph/elsewhere.h.
std::unique_ptr<Sampler> make_neighbor_sampler(graph::GraphRef graph, const NeighborConfig& config,
                                               int32_t edge_type = 0);

struct GraphsConfig {
  int num_layers = 1;
  bool edge_ids = false;   // fill BlockView::edge_ids
  bool transpose = false;  // fill BlockView::out_*
};

// Creates a sampler of whole graphs. Seeds are graphs of a disjoint union: nodes graph_ptr[g] ..
// graph_ptr[g + 1] - 1 of `graph` are those of graph g, and no edge joins two graphs (see
// data::check_graph_ptr()). A sample has all their nodes and edges in the original order; each
// repetition of a seed is a separate graph. Error(kInvalidArgument) for a graph of several types or
// an invalid number of layers.
std::unique_ptr<Sampler> make_graphs_sampler(graph::GraphRef graph, base::Tensor graph_ptr,
                                             const GraphsConfig& config);

// Receives the edges of one layer from a custom sampler: ids of the graph, with sources in any
// order, grouped by target or not. One thread at a time.
class EdgeSink {
 public:
  static constexpr int64_t kNoId = INT64_MIN;

  // Appends edges. If `edge_ids` is empty, kNoId is stored. Error(kInvalidArgument) for lists of
  // unequal length.
  void add(std::span<const int64_t> from, std::span<const int64_t> to,
           std::span<const int64_t> edge_ids);
  void clear();
  base::PageVector<int64_t> sources, targets, edge_ids;
};

// A request to a custom sampler for the edges of one layer. Layers are requested from the seeds
// outward; the targets of the next layer are all nodes found so far (expansion every_layer).
struct LayerRequest {
  uint64_t epoch = 0;
  uint64_t batch = 0;
  int32_t layer = 0;                          // 0 is next to the seeds
  std::span<const int64_t> targets;           // distinct node ids in the order of the node list
  base::Key key;                              // the built-in sampler's key of this hop
  const base::CancelToken* cancel = nullptr;  // the caller's token; never null in a call
};
using LayerFunction = std::function<void(const LayerRequest&, EdgeSink&)>;

// Creates a sampler that calls `function` for each layer, relabels its edges and builds the blocks.
// Sources are numbered in the order of their first appearance by target row, then in the order
// added. Several threads may call `function` at once; its exceptions pass through. Error(kCallback)
// names layer, edge and node for edges to nodes that are not targets, edges from nodes that do not
// exist, and, with `edge_ids`, ids of edges that do not exist. The graph must have one node and one
// edge type.
std::unique_ptr<Sampler> make_custom_sampler(graph::GraphRef graph, int num_layers, bool edge_ids,
                                             bool transpose, LayerFunction function);

// The one-hop draw for custom samplers: for each target up to `fanout` in-neighbors (-1: all)
// without or with replacement, the same picks in the same order as the built-in sampler's with this
// key. Appends to `sink`. Error(kRange) for a target that is not a node, kInvalidArgument for a
// fan-out below -1. For a graph in parts the picks of other parts are requested.
void sample_neighbors(const graph::Graph& graph, std::span<const int64_t> targets, int64_t fanout,
                      bool replace, base::Key key, EdgeSink& sink, int32_t edge_type = 0);

}  // namespace gnnmg::sample
