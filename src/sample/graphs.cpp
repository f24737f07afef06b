// The sampler of whole graphs: each mini-batch has some graphs of a larger disjoint union, with all
// their nodes and edges. Nothing is drawn or relabeled; rows are copied with an offset.
#include <algorithm>

#include "graph/homogeneous.h"
#include "sample/workspace.h"

namespace gnnmg::sample {
namespace {

using base::fail;
using base::Status;

class GraphsSampler final : public Sampler {
 public:
  GraphsSampler(graph::GraphRef graph, base::Tensor graph_ptr, const GraphsConfig& config)
      : graph_(std::move(graph)),
        ptr_(std::move(graph_ptr)),
        starts_(ptr_.as<const int64_t>()),
        csc_(graph_->csc()),
        config_(config) {}

  int num_layers() const override { return config_.num_layers; }
  int64_t num_nodes() const override { return csc_.num_targets; }
  int64_t num_ids() const override { return static_cast<int64_t>(starts_.size()) - 1; }
  bool of_graphs() const override { return true; }
  std::string describe() const override {
    return base::text("whole graphs, ", config_.num_layers, " layers");
  }

  void sample(std::span<const int64_t> seeds, const BatchKey&, Workspace&, Sample& out,
              const base::CancelToken& cancel) const override {
    cancel.check("sampling");
    const auto indptr = csc_.indptr.as<const int64_t>();
    const int64_t count = static_cast<int64_t>(seeds.size());
    out.num_seeds = count;
    out.graph_ptr.resize_discard(count + 1);
    out.graph_ptr[0] = 0;
    int64_t nodes = 0, edges = 0;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t graph = seeds[i];
      if (graph < 0 || graph >= num_ids())
        fail(Status::kRange, "seed ", i, " is graph ", graph, ", expected 0 to ", num_ids() - 1);
      nodes += starts_[graph + 1] - starts_[graph];
      edges += indptr[starts_[graph + 1]] - indptr[starts_[graph]];
      out.graph_ptr[i + 1] = nodes;
      if (nodes > kMaxBatchNodes)
        fail(Status::kRange, "a mini-batch of ", count, " graphs has more than ", kMaxBatchNodes,
             " nodes; take smaller mini-batches");
      if (edges > kMaxBlockEdges)
        fail(Status::kRange, "a mini-batch of ", count, " graphs has more than ", kMaxBlockEdges,
             " edges; take smaller mini-batches");
    }

    out.stores.resize(1);
    BlockStore& store = out.stores[0];
    clear(store);
    out.node_ids.resize_discard(nodes);
    store.indptr.resize_keep(nodes + 1);
    store.indices.resize_discard(edges);
    store.edge_ids.resize_discard(config_.edge_ids ? edges : 0);
    graph::visit_indices(csc_, [&](auto sources) { copy_rows(seeds, sources, out, store); });
    if (config_.transpose) transpose(store, nodes, nodes);

    // One block for all layers, because no layer can leave anything out.
    out.hop_ends.assign(config_.num_layers + 1, nodes);
    out.blocks.assign(config_.num_layers,
                      view_of(store, nodes, nodes, config_.edge_ids, config_.transpose));
  }

 private:
  template <typename Sources>
  void copy_rows(std::span<const int64_t> seeds, Sources sources, Sample& out,
                 BlockStore& store) const {
    const auto indptr = csc_.indptr.as<const int64_t>();
    int64_t edge = 0;
    for (size_t i = 0; i < seeds.size(); ++i) {
      const int64_t first = starts_[seeds[i]], last = starts_[seeds[i] + 1];
      const int64_t node = out.graph_ptr[static_cast<int64_t>(i)];
      const int64_t begin = indptr[first], end = indptr[last];
      for (int64_t v = first; v < last; ++v) {
        out.node_ids[node + v - first] = v;
        store.indptr[node + v - first + 1] = static_cast<int32_t>(edge + indptr[v + 1] - begin);
      }
      int32_t* to = store.indices.data() + edge;
      for (int64_t e = begin; e < end; ++e)
        *to++ = static_cast<int32_t>(static_cast<int64_t>(sources[e]) - first + node);
      if (config_.edge_ids)
        for (int64_t e = begin; e < end; ++e) store.edge_ids[edge + e - begin] = csc_.edge_id(e);
      edge += end - begin;
    }
  }

  graph::GraphRef graph_;
  base::Tensor ptr_;
  std::span<const int64_t> starts_;
  const graph::Csc& csc_;
  GraphsConfig config_;
};

}  // namespace

std::unique_ptr<Sampler> make_graphs_sampler(graph::GraphRef graph, base::Tensor graph_ptr,
                                             const GraphsConfig& config) {
  if (config.num_layers < 1 || config.num_layers > kMaxHops)
    fail(Status::kInvalidArgument, "a sampler of graphs for ", config.num_layers,
         " layers, expected 1 to ", kMaxHops);
  graph::expect_homogeneous(*graph, "samplers of graphs");
  if (!graph_ptr.defined() || graph_ptr.rows() < 1 ||
      graph_ptr.as<const int64_t>().back() != graph->num_nodes())
    fail(Status::kInvalidArgument, "graph_ptr: expected to end with ", graph->num_nodes(),
         ", the number of nodes");
  return std::make_unique<GraphsSampler>(std::move(graph), std::move(graph_ptr), config);
}

}  // namespace gnnmg::sample
