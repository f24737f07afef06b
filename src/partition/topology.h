// The two graphs that are partitioned, with one interface for steps that take either: the graph of
// the data set, whose rows are read in order, and the small graph of clusters.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/csc.h"
#include "partition/load.h"

namespace gnnmg::partition {

// A graph of one node type with its training ids. Edges appear only in the row of their target.
class CscRows {
 public:
  static constexpr bool kSymmetric = false;

  // `csc` must outlive the object and join nodes of one type.
  CscRows(const graph::Csc& csc, std::span<const int64_t> train)
      : csc_(csc), train_((csc.num_targets + 63) / 64) {
    for (const int64_t id : train) train_[id / 64] |= uint64_t{1} << id % 64;
  }
  const graph::Csc& csc() const { return csc_; }
  int64_t size() const { return csc_.num_targets; }
  int64_t degree(int64_t v) const { return csc_.in_degree(v); }
  bool trains(int64_t v) const { return train_[v / 64] >> v % 64 & 1; }
  Load weight(int64_t v) const { return {1, degree(v), trains(v)}; }
  // Calls f(source, 1) for each edge into `v`.
  template <typename F>
  void for_each(int64_t v, F&& f) const {
    const auto* starts = static_cast<const int64_t*>(csc_.indptr.data());
    if (csc_.wide()) {
      const auto* sources = static_cast<const int64_t*>(csc_.indices.data());
      for (int64_t e = starts[v]; e < starts[v + 1]; ++e)
        f(static_cast<uint32_t>(sources[e]), int64_t{1});
    } else {
      const auto* sources = static_cast<const int32_t*>(csc_.indices.data());
      for (int64_t e = starts[v]; e < starts[v + 1]; ++e)
        f(static_cast<uint32_t>(sources[e]), int64_t{1});
    }
  }

 private:
  const graph::Csc& csc_;
  std::vector<uint64_t> train_;  // one bit per node
};

// A weighted graph whose edges are in the rows of both ends. No loops, no repeated edges.
struct SmallGraph {
  static constexpr bool kSymmetric = true;

  std::vector<int64_t> starts{0};
  std::vector<uint32_t> ends;
  std::vector<uint32_t> weights;  // each at most 2^32 - 1
  std::vector<Load> loads;

  int64_t size() const { return static_cast<int64_t>(loads.size()); }
  int64_t degree(int64_t v) const { return starts[v + 1] - starts[v]; }
  const Load& weight(int64_t v) const { return loads[v]; }
  template <typename F>
  void for_each(int64_t v, F&& f) const {
    for (int64_t e = starts[v]; e < starts[v + 1]; ++e) f(ends[e], int64_t{weights[e]});
  }
};

template <typename Rows>
Load total_of(const Rows& rows) {
  Load total;
  for (int64_t v = 0; v < rows.size(); ++v) total += rows.weight(v);
  return total;
}

// Returns the largest of each weight over all rows.
template <typename Rows>
Load largest_of(const Rows& rows) {
  Load largest;
  for (int64_t v = 0; v < rows.size(); ++v) {
    const Load row = rows.weight(v);
    largest = {std::max(largest.nodes, row.nodes), std::max(largest.edges, row.edges),
               std::max(largest.train, row.train)};
  }
  return largest;
}

// Returns a hash of seed and item, which differs for every pair; breaks ties.
inline uint64_t mixed(uint64_t seed, uint64_t item) {
  uint64_t x = seed + item * 0x9E3779B97F4A7C15u;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}

}  // namespace gnnmg::partition
