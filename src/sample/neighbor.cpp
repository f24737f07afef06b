// The built-in neighbor sampler and its one-hop call: reads the sources that the picker selected,
// numbers them, writes the blocks.
#include "base/error.h"
#include "base/thread_pool.h"
#include "graph/transform.h"
#include "sample/workspace.h"

namespace gnnmg::sample {
namespace {

using base::fail;
using base::Status;

void check_degree(const graph::Csc& csc, int64_t node) {
  if (csc.in_degree(node) >= int64_t{1} << 32)
    fail(Status::kUnsupported, "node ", node, " has ", csc.in_degree(node),
         " neighbors, fewer than 4294967296 can be sampled from");
}

void check_edge_type(const graph::Graph& graph, int32_t edge_type) {
  const auto& types = graph.schema().edge_types;
  if (edge_type < 0 || edge_type >= static_cast<int64_t>(types.size()))
    fail(Status::kInvalidArgument, "edge type is ", edge_type, ", expected 0 to ",
         types.size() - 1);
  if (types[edge_type].source != types[edge_type].target)
    fail(Status::kInvalidArgument, "edge type '", types[edge_type].name,
         "' joins two node types; a neighbor sampler needs one that joins nodes of one type");
}

graph::Csc topology(const graph::Graph& graph, const NeighborConfig& config, int32_t edge_type) {
  if (!config.outgoing) return graph.csc(edge_type);
  base::ThreadPool pool;
  return graph::reversed(graph.csc(edge_type), pool);
}

class NeighborSampler : public Sampler {
 public:
  NeighborSampler(graph::GraphRef graph, const NeighborConfig& config, int32_t edge_type)
      : graph_(std::move(graph)),
        config_(config),
        edge_type_(edge_type),
        csc_(topology(*graph_, config, edge_type)) {
    // Only a graph with that many edges can have such a node.
    if (csc_.num_edges() < int64_t{1} << 32) return;
    for (int64_t node = 0; node < csc_.num_targets; ++node) check_degree(csc_, node);
  }

  int num_layers() const override { return static_cast<int>(config_.fanouts.size()); }
  std::string describe() const override { return describe_neighbors(config_); }
  int64_t num_nodes() const override { return csc_.num_targets; }
  std::optional<NeighborLaw> neighbors() const override {
    return NeighborLaw{&csc_, &config_, edge_type_};
  }
  std::shared_ptr<const Sampler> without_input_lists() const override {
    auto other = std::make_shared<NeighborSampler>(*this);
    other->config_.transpose_input = false;
    return other;
  }

  void sample(std::span<const int64_t> seeds, const BatchKey& key, Workspace& workspace,
              Sample& out, const base::CancelToken& cancel) const override {
    if (csc_.wide())
      run<WideTable>(seeds, key, workspace.state(), out, cancel);
    else
      run<NarrowTable>(seeds, key, workspace.state(), out, cancel);
  }

 private:
  template <typename Table>
  void run(std::span<const int64_t> seeds, const BatchKey& key, Workspace::State& state,
           Sample& out, const base::CancelToken& cancel) const {
    sample_hops<Table>(seeds, num_nodes(), key, config_, edge_type_, state, out,
                       [&](int64_t first, int64_t last, const HopDraw& draw, BlockStore& store) {
                         expand<Table>(first, last, draw, state, out, store, cancel);
                       });
  }

  // Appends rows first .. last - 1 of the node list to the store, chunk by chunk, and their sources
  // to the node list. Each stage of a chunk prefetches the next stage's input.
  template <typename Table>
  void expand(int64_t first, int64_t last, const HopDraw& draw, Workspace::State& state,
              Sample& out, BlockStore& store, const base::CancelToken& cancel) const {
    using Key = typename Table::Key;
    const Key* graph_sources = static_cast<const Key*>(csc_.indices.data());
    Table& table = state.table<Table>();
    auto& sources = state.sources<Table>();
    store.indptr.resize_keep(last + 1);
    for (int64_t row = first; row < last;) {
      cancel.check("sampling");
      Picker& picker = state.picker;
      const std::span<const int64_t> nodes(out.node_ids.data() + row, last - row);
      const int64_t num_rows = picker.pick(csc_, nodes, nodes, draw);
      const int64_t num_picks = picker.num_picks();
      const int64_t* places = picker.places();
      const int64_t edges = store.indices.size();
      check_block_edges(edges + num_picks);
      sources.resize_discard(num_picks);
      for (int64_t i = 0; i < num_picks; ++i) {
        sources[i] = graph_sources[places[i]];
        table.prefetch(sources[i]);
      }
      store.indices.resize_keep(edges + num_picks);
      number_sources<Table>(sources.span(), table, out, store.indices.data() + edges);
      if (config_.edge_ids) {
        store.edge_ids.resize_keep(edges + num_picks);
        read_edge_ids(csc_, {places, static_cast<size_t>(num_picks)},
                      store.edge_ids.data() + edges);
      }
      for (int64_t r = 0; r < num_rows; ++r)
        store.indptr[row + r + 1] = static_cast<int32_t>(edges + picker.ends()[r]);
      row += num_rows;
    }
  }

  graph::GraphRef graph_;
  NeighborConfig config_;
  int32_t edge_type_;
  graph::Csc csc_;  // shares the graph's tensors, or holds its reverse
};

}  // namespace

std::unique_ptr<Sampler> make_neighbor_sampler(graph::GraphRef graph, const NeighborConfig& config,
                                               int32_t edge_type) {
  check_fanouts(config.fanouts);
  check_draw(config);
  check_edge_type(*graph, edge_type);
  if (graph->elsewhere()) return graph->elsewhere()->sampler(config, edge_type);
  return std::make_unique<NeighborSampler>(std::move(graph), config, edge_type);
}

void sample_neighbors(const graph::Graph& graph, std::span<const int64_t> targets, int64_t fanout,
                      bool replace, base::Key key, EdgeSink& sink, int32_t edge_type) {
  check_fanout(fanout, "fan-out");
  check_edge_type(graph, edge_type);
  const int64_t num_targets = graph.num_nodes(graph.schema().edge_types[edge_type].target);
  for (size_t i = 0; i < targets.size(); ++i)
    if (targets[i] < 0 || targets[i] >= num_targets)
      fail(Status::kRange, "target ", i, " is node ", targets[i], ", expected 0 to ",
           num_targets - 1);
  const HopDraw draw{key, fanout, replace};
  if (graph.elsewhere()) return graph.elsewhere()->sample_neighbors(targets, draw, edge_type, sink);
  const graph::Csc& csc = graph.csc(edge_type);
  for (const int64_t target : targets) check_degree(csc, target);
  const auto picker = std::make_unique<Picker>();
  for (size_t row = 0; row < targets.size();) {
    const int64_t num_rows = picker->pick(csc, targets.subspan(row), targets.subspan(row), draw);
    const int64_t num_picks = picker->num_picks();
    const int64_t* places = picker->places();
    const int64_t edges = sink.sources.size();
    sink.sources.resize_keep(edges + num_picks);
    sink.targets.resize_keep(edges + num_picks);
    sink.edge_ids.resize_keep(edges + num_picks);
    for (int64_t i = 0; i < num_picks; ++i) sink.sources[edges + i] = csc.source(places[i]);
    read_edge_ids(csc, {places, static_cast<size_t>(num_picks)}, sink.edge_ids.data() + edges);
    for (int64_t r = 0, i = 0; r < num_rows; ++r) {
      for (; i < picker->ends()[r]; ++i) sink.targets[edges + i] = targets[row + r];
    }
    row += num_rows;
  }
}

}  // namespace gnnmg::sample
