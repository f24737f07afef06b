// Samplers with a callback that supplies the edges: the sink that it fills, and the block made from
// that.
#include <algorithm>

#include "base/error.h"
#include "graph/homogeneous.h"
#include "sample/workspace.h"

namespace gnnmg::sample {

using base::fail;
using base::Status;

void EdgeSink::add(std::span<const int64_t> from, std::span<const int64_t> to,
                   std::span<const int64_t> ids) {
  if (from.size() != to.size())
    fail(Status::kInvalidArgument, to.size(), " targets, expected ", from.size(),
         ", the number of sources");
  if (!ids.empty() && ids.size() != from.size())
    fail(Status::kInvalidArgument, ids.size(), " edge ids, expected ", from.size(),
         ", the number of sources, or none");
  const int64_t old = sources.size();
  const int64_t count = old + static_cast<int64_t>(from.size());
  sources.resize_keep(count);
  targets.resize_keep(count);
  edge_ids.resize_keep(count);
  std::copy(from.begin(), from.end(), sources.data() + old);
  std::copy(to.begin(), to.end(), targets.data() + old);
  if (ids.empty())
    std::fill(edge_ids.data() + old, edge_ids.data() + count, kNoId);
  else
    std::copy(ids.begin(), ids.end(), edge_ids.data() + old);
}

void EdgeSink::clear() {
  sources.clear();
  targets.clear();
  edge_ids.clear();
}

namespace {

class CustomSampler : public Sampler {
 public:
  CustomSampler(graph::GraphRef graph, int num_layers, bool edge_ids, bool transpose,
                LayerFunction function)
      : graph_(std::move(graph)),
        num_layers_(num_layers),
        edge_ids_(edge_ids),
        transpose_(transpose),
        function_(std::move(function)) {}

  int num_layers() const override { return num_layers_; }
  std::string describe() const override { return base::text("custom, ", num_layers_, " layers"); }
  int64_t num_nodes() const override { return graph_->num_nodes(); }
  std::shared_ptr<const Sampler> without_input_lists() const override {
    auto other = std::make_shared<CustomSampler>(*this);
    other->transpose_input_ = false;
    return other;
  }

  void sample(std::span<const int64_t> seeds, const BatchKey& key, Workspace& workspace,
              Sample& out, const base::CancelToken& cancel) const override {
    if (num_nodes() > INT32_MAX)
      run<WideTable>(seeds, key, workspace.state(), out, cancel);
    else
      run<NarrowTable>(seeds, key, workspace.state(), out, cancel);
  }

 private:
  bool transposes(int hop) const {
    return transpose_ && (transpose_input_ || hop < num_layers_ - 1);
  }

  template <typename Table>
  void run(std::span<const int64_t> seeds, const BatchKey& key, Workspace::State& state,
           Sample& out, const base::CancelToken& cancel) const {
    Table& table = state.table<Table>();
    const bool repeated = begin_sample(seeds, num_nodes(), table, out);
    out.hop_ends.resize(num_layers_ + 1);
    out.hop_ends[0] = out.num_seeds;
    out.blocks.resize(num_layers_);
    out.stores.resize(num_layers_);
    for (int hop = 0; hop < num_layers_; ++hop) {
      cancel.check("sampling");
      BlockStore& store = out.stores[num_layers_ - 1 - hop];
      const int64_t num_targets = out.num_nodes();
      if (num_targets > 0) {
        LayerRequest request;
        request.epoch = key.epoch;
        request.batch = key.batch;
        request.layer = hop;
        request.targets = repeated ? distinct_targets(table, state, out) : out.node_ids.span();
        request.key = key.hop(hop);
        request.cancel = &cancel;
        state.sink.clear();
        function_(request, state.sink);
      } else {
        state.sink.clear();
      }
      build<Table>(hop, num_targets, repeated, state, out, store);
      out.hop_ends[hop + 1] = out.num_nodes();
      if (transposes(hop)) transpose(store, num_targets, out.num_nodes());
    }
    for (int hop = 0; hop < num_layers_; ++hop) {
      const int layer = num_layers_ - 1 - hop;
      out.blocks[layer] = view_of(out.stores[layer], out.hop_ends[hop], out.hop_ends[hop + 1],
                                  edge_ids_, transposes(hop));
    }
  }

  // The node list without repeated seeds.
  template <typename Table>
  static std::span<const int64_t> distinct_targets(const Table& table, Workspace::State& state,
                                                   const Sample& out) {
    state.distinct.resize_discard(out.num_nodes());
    int64_t count = 0;
    for (int64_t row = 0; row < out.num_nodes(); ++row) {
      const int64_t node = out.node_ids[row];
      if (row >= out.num_seeds || table.find(static_cast<typename Table::Key>(node)) == row)
        state.distinct[count++] = node;
    }
    return {state.distinct.data(), static_cast<size_t>(count)};
  }

  // Groups the sink's edges by target row in their order, numbers the sources and writes the block.
  template <typename Table>
  void build(int layer, int64_t num_targets, bool repeated, Workspace::State& state, Sample& out,
             BlockStore& store) const {
    using Key = typename Table::Key;
    Table& table = state.table<Table>();
    const EdgeSink& sink = state.sink;
    const int64_t num_added = sink.sources.size();
    if (num_added > kMaxBlockEdges)
      fail(Status::kCallback, "custom sampler, layer ", layer, ": ", num_added,
           " edges, expected at most ", kMaxBlockEdges);

    // The number of edges of each row.
    state.starts.resize_discard(num_targets + 1);
    std::fill(state.starts.begin(), state.starts.end(), 0);
    state.rows.resize_discard(num_added);
    for (int64_t e = 0; e < num_added; ++e) {
      check_edge(layer, e, sink);
      const int64_t target = sink.targets[e];
      const int64_t row =
          target < 0 || target >= num_nodes() ? -1 : table.find(static_cast<Key>(target));
      if (row < 0)
        fail(Status::kCallback, "custom sampler, layer ", layer, ": edge ", e, " goes to node ",
             target, ", which is not among the targets");
      state.rows[e] = static_cast<int32_t>(row);
      ++state.starts[row + 1];
    }
    for (int64_t row = 0; row < num_targets; ++row) state.starts[row + 1] += state.starts[row];
    state.order.resize_discard(num_added);
    state.first_row.resize_discard(num_targets);  // holds cursors first
    std::copy(state.starts.begin(), state.starts.end() - 1, state.first_row.begin());
    for (int64_t e = 0; e < num_added; ++e)
      state.order[state.first_row[state.rows[e]]++] = static_cast<int32_t>(e);

    // The row of a repeated seed is a copy of the row of the node's first seed.
    clear(store);
    store.indptr.resize_keep(num_targets + 1);
    int64_t num_edges = 0;
    for (int64_t row = 0; row < num_targets; ++row) {
      const int64_t first =
          repeated && row < out.num_seeds ? table.find(static_cast<Key>(out.node_ids[row])) : row;
      state.first_row[row] = static_cast<int32_t>(first);
      num_edges += state.starts[first + 1] - state.starts[first];
      if (num_edges > kMaxBlockEdges)
        fail(Status::kRange, "a mini-batch has more than ", kMaxBlockEdges,
             " edges in one layer; take smaller mini-batches");
      store.indptr[row + 1] = static_cast<int32_t>(num_edges);
    }
    auto& sources = state.sources<Table>();
    sources.resize_discard(num_edges);
    store.indices.resize_discard(num_edges);
    store.edge_ids.resize_discard(edge_ids_ ? num_edges : 0);
    for (int64_t row = 0, to = 0; row < num_targets; ++row) {
      const int64_t first = state.first_row[row];
      for (int64_t i = state.starts[first]; i < state.starts[first + 1]; ++i, ++to) {
        const int64_t e = state.order[i];
        sources[to] = static_cast<Key>(sink.sources[e]);
        if (edge_ids_) store.edge_ids[to] = sink.edge_ids[e];
      }
    }
    number_sources<Table>(sources.span(), table, out, store.indices.data());
  }

  void check_edge(int layer, int64_t e, const EdgeSink& sink) const {
    const int64_t source = sink.sources[e];
    if (source < 0 || source >= num_nodes())
      fail(Status::kCallback, "custom sampler, layer ", layer, ": edge ", e, " comes from node ",
           source, ", expected 0 to ", num_nodes() - 1);
    if (!edge_ids_) return;
    const int64_t id = sink.edge_ids[e];
    if (id == EdgeSink::kNoId)
      fail(Status::kCallback, "custom sampler, layer ", layer, ": edge ", e,
           " came without an edge id, which the sampler's config asks for");
    if (id < 0 || id >= graph_->num_edges())
      fail(Status::kCallback, "custom sampler, layer ", layer, ": edge ", e, " has edge id ", id,
           ", expected 0 to ", graph_->num_edges() - 1);
  }

  graph::GraphRef graph_;
  int num_layers_;
  bool edge_ids_, transpose_, transpose_input_ = true;
  LayerFunction function_;
};

}  // namespace

std::unique_ptr<Sampler> make_custom_sampler(graph::GraphRef graph, int num_layers, bool edge_ids,
                                             bool transpose, LayerFunction function) {
  if (num_layers < 1 || num_layers > kMaxHops)
    fail(Status::kInvalidArgument, "a custom sampler of ", num_layers, " layers, expected 1 to ",
         kMaxHops);
  graph::expect_homogeneous(*graph, "custom samplers");
  if (!function) fail(Status::kInvalidArgument, "a custom sampler needs a function");
  return std::make_unique<CustomSampler>(std::move(graph), num_layers, edge_ids, transpose,
                                         std::move(function));
}

}  // namespace gnnmg::sample
