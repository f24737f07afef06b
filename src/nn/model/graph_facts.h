// The data that layers read from the graph of their blocks: degrees of nodes, and data of edges,
// found among the edge tensors by name. Made once per graph.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "feature/store.h"
#include "graph/graph.h"
#include "nn/conv/conv.h"
#include "nn/model/model.h"

namespace gnnmg::nn {

// The edge data that a model's layers read.
struct EdgeNeeds {
  bool weights = false;
  int64_t features = 0;  // columns
  // If not empty, features are categories: number of values per column.
  std::vector<int64_t> vocabulary;
  int64_t types = 0;  // number of relations
  // Weight of loops that GCN adds to weighted edges, the smallest one.
  double loop_weight = 1;
  bool any() const { return weights || features > 0 || types > 0; }
};
EdgeNeeds edge_needs(const ModelConfig& config);

// Returns the names of the columns for these needs, among the columns of a graph in parts.
// Error(kNotFound) names a missing column, kInvalidArgument one of another shape or type.
std::vector<std::string> edge_columns_read(const EdgeNeeds& needs,
                                           std::span<const graph::EdgeColumn> columns);
// Returns the edge data of each block of a sample, from the rows that a sampler over parts added;
// empty if the sample has no such rows or the config needs none. Values of the same type are views
// of the sample, which must outlive them. With a device they are there. Errors are those of
// edge_columns_read(), and kRange for an edge with an invalid type.
std::vector<EdgeValues> told_edges(const ModelConfig& config, const sample::Sample& sample,
                                   const Device* device);

// Returns the first edge tensor of these names, or null.
const graph::Column* edge_column(const graph::Graph& graph, std::span<const char* const> names);

// Returns the name of the column with the weights of edges, among the columns of a graph in parts.
// Error(kNotFound) if there is none.
std::string weights_column(std::span<const graph::EdgeColumn> columns);
// Returns degrees() with `weighted` for nodes with known sums and degrees. Error(kInvalidArgument)
// for a negative sum.
at::Tensor weighted_degrees_of(std::span<const graph::WeightSums> sums,
                               std::span<const sample::NodeDegree> degrees, Degrees kind,
                               double loop_weight, std::span<const int64_t> node_ids,
                               at::ScalarType type);

class GraphFacts {
 public:
  // `graph` has one node type and one edge type, else kUnsupported. It is read during the call,
  // except mapped tensors, which it must outlive. For a graph in parts only the columns are
  // checked. Error(kNotFound) names a missing edge tensor, kInvalidArgument one of another shape or
  // type, kRange an edge with an invalid type or category. With a device, which must outlive the
  // object, edge data is copied there, and all arguments and results are on the device;
  // Error(kNoMemory) if it does not fit.
  GraphFacts(const graph::Graph& graph, const EdgeNeeds& needs, at::ScalarType type,
             const Device* device = nullptr);

  // Returns [num_nodes] of `type`: numbers of edges. With `weighted`, [num_nodes, 3] for incoming
  // edges: the sum of their weights, their number, and, if loops are excluded from both, the weight
  // of the loop, NaN without one. Error(kInvalidArgument) for a node with several loops in that
  // case, and, with a device, for a negative sum: layers there read no number back. Any thread.
  at::Tensor degrees(const graph::Graph& graph, Degrees kind, bool weighted);

  // Returns the data of these edges, by id; undefined for data that is not needed. The ids are on
  // the host.
  EdgeValues of_edges(std::span<const int64_t> ids) const;
  // Returns the data of each block's edges, by its edge ids. Error(kInvalidArgument) if a block has
  // none or the graph is in parts, kRange for an id that the graph does not have.
  std::vector<EdgeValues> of_blocks(std::span<const sample::BlockView> blocks) const;

 private:
  void check_ids(std::span<const int64_t> ids) const;
  at::Tensor weighted_degrees(const graph::Csc& csc, Degrees kind) const;
  at::Tensor gather(const feature::FeatureStore& store, std::span<const int64_t> ids,
                    at::ScalarType type) const;
  // The same from the device's copy `all`, if that is defined.
  EdgeValues rows_at(const at::Tensor& ids) const;
  at::Tensor all_on_device(const feature::FeatureStore& store, int64_t num_edges,
                           at::ScalarType type, const char* what) const;
  at::ScalarType feature_type() const { return needs_.vocabulary.empty() ? type_ : at::kLong; }

  EdgeNeeds needs_;
  at::ScalarType type_;
  bool elsewhere_;
  Execution execution_;  // the device of the tensors
  std::unique_ptr<const feature::FeatureStore> weights_, features_, types_;
  EdgeValues on_device_;                              // data of all edges, by id
  std::mutex mutex_;                                  // guards degrees_
  std::array<std::array<at::Tensor, 2>, 4> degrees_;  // degrees by kind, weighted or not
};

// The facts of the most recent graph. Copies share them.
class KnownGraph {
 public:
  // Tensors are on the device, which must outlive the object; null: on the CPU.
  KnownGraph(EdgeNeeds needs, at::ScalarType type, const Device* device = nullptr)
      : needs_(std::move(needs)), type_(type), device_(device) {}
  const EdgeNeeds& needs() const { return needs_; }
  GraphFacts& of(const graph::GraphRef& graph);

 private:
  EdgeNeeds needs_;
  at::ScalarType type_;
  const Device* device_;
  std::weak_ptr<const graph::Graph> graph_;
  std::shared_ptr<GraphFacts> facts_;
};

}  // namespace gnnmg::nn
