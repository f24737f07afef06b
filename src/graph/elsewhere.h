// A graph of which this process has some parts alone: what stands in for its topology and for the
// columns of its nodes. The kinds are of higher rooms, as are the samplers and stores they make.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace gnnmg::sample {
class Sampler;
struct NeighborConfig;
struct NodeDegree;
}  // namespace gnnmg::sample
namespace gnnmg::feature {
class FeatureStore;
}

namespace gnnmg::graph {

// Of a graph with one node type and one edge type. Immutable. Any thread.
class Elsewhere {
 public:
  virtual ~Elsewhere() = default;
  // What is here, after "the graph lies in parts, and this process has": "parts 0, 2 of 4".
  virtual std::string describe() const = 0;
  virtual int64_t num_edges() const = 0;
  // Elements of a row of a column of nodes; -1: there is no such column.
  virtual int64_t column_width(std::string_view name) const = 0;
  // The rows of a column of all nodes; null: there is no such column.
  virtual std::shared_ptr<const feature::FeatureStore> store(std::string_view name) const = 0;
  // As of sample::make_neighbor_sampler().
  virtual std::unique_ptr<sample::Sampler> sampler(const sample::NeighborConfig& config,
                                                   int32_t edge_type) const = 0;
  // The degrees of nodes, which a sampler that was asked for them tells with its samples. Waits for
  // others.
  virtual void degrees(std::span<const int64_t> nodes, sample::NodeDegree* out) const = 0;
};

}  // namespace gnnmg::graph
