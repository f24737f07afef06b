// Represents a graph of which this process holds only some parts, in place of its topology and its
// node columns. Higher rooms implement it, and the samplers and stores that it creates.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/tensor.h"
#include "graph/weight_sums.h"

namespace gnnmg::sample {
class EdgeSink;
class Sampler;
struct HopDraw;
struct NeighborConfig;
struct NodeDegree;
}  // namespace gnnmg::sample
namespace gnnmg::feature {
class FeatureStore;
}

namespace gnnmg::graph {

// A dense edge column whose rows are in other parts.
struct EdgeColumn {
  std::string name;
  base::DType dtype = base::DType::kF32;
  int64_t num_cols = 0;  // elements of a row
  int64_t row_bytes() const { return num_cols * base::dtype_size(dtype); }
};

// A graph with one node type and one edge type. Immutable. Any thread.
class Elsewhere {
 public:
  virtual ~Elsewhere() = default;
  // Lists the local parts for error texts, to follow "the graph lies in parts, and this process
  // has": "parts 0, 2 of 4".
  virtual std::string describe() const = 0;
  virtual int64_t num_edges() const = 0;
  // Elements per row of a node column; -1 if there is no such column.
  virtual int64_t column_width(std::string_view name) const = 0;
  // The rows of a column for all nodes; null if there is no such column.
  virtual std::shared_ptr<const feature::FeatureStore> store(std::string_view name) const = 0;
  // Arguments and errors are those of sample::make_neighbor_sampler().
  virtual std::unique_ptr<sample::Sampler> sampler(const sample::NeighborConfig& config,
                                                   int32_t edge_type) const = 0;
  // The dense edge columns. A sampler with edge ids adds their rows to each sample.
  virtual std::span<const EdgeColumn> edge_columns() const = 0;
  // Does sample::sample_neighbors() for targets that are nodes. Waits for other processes.
  virtual void sample_neighbors(std::span<const int64_t> targets, const sample::HopDraw& draw,
                                int32_t edge_type, sample::EdgeSink& sink) const = 0;
  // Writes the degrees of nodes. A sampler with degrees returns them with its samples instead.
  // Waits for other processes.
  virtual void degrees(std::span<const int64_t> nodes, sample::NodeDegree* out) const = 0;
  // Writes the sums of the edges' weights, which are the numbers of this edge column.
  // Error(kNotFound) if there is no such column with one number per edge. A sampler with weight
  // sums returns them with its samples instead. Waits for other processes.
  virtual void weight_sums(std::string_view column, std::span<const int64_t> nodes,
                           WeightSums* out) const = 0;
};

}  // namespace gnnmg::graph
