// The graph of benchmarks and their peers: a folder of .npy files, written once. Shared, so that
// every program measures on the same graph, and reads clocks in the same way.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace gnnmg::bench {

inline constexpr int64_t kBatchSize = 1024;

// Returns the first `count` nodes of a fixed random order.
std::vector<int64_t> random_seeds(int64_t num_nodes, int64_t count);

// Writes the products-shaped graph of `num_nodes` nodes: indptr.npy (i64), indices.npy (i32), x.npy
// (f32 [N, 100]), y.npy (i64), and train.npy (i64): 8.03 % of the nodes in random order.
void export_folder(const std::string& folder, int64_t num_nodes);

struct Folder {
  graph::GraphRef graph;  // has node tensors "x" and "y" on request
  base::Tensor train;
  std::span<const int64_t> train_ids() const { return train.as<const int64_t>(); }
  // Returns the seeds of mini-batch `number`, cyclically.
  std::span<const int64_t> seeds(int64_t number) const;
};
Folder read_folder(const std::string& folder, bool with_columns);

struct Times {
  double wall = 0, cpu = 0;  // seconds; CPU time is that of all threads of the process
  Times operator-(const Times& start) const { return {wall - start.wall, cpu - start.cpu}; }
};
Times now();

}  // namespace gnnmg::bench
