// Synthetic graphs, each a pure function of its seed, whatever the number of threads.
#pragma once

#include <array>
#include <cstdint>

#include "base/thread_pool.h"
#include "graph/graph.h"

namespace gnnmg::graph {

// Nodes are divided into classes of equal size; features are a class center plus noise. The graph
// is simple and undirected: repeated edges are merged, so the mean degree is a little below the
// configured one. Node tensors: "x" f32 [N, F], "y" i64 [N].
struct PlantedPartitionConfig {
  int64_t num_nodes = 50000;
  int32_t num_classes = 10;
  double mean_degree = 16;  // directed edges per node; each edge is present in both directions
  double intra_probability = 0.5;  // probability that an edge joins two nodes of one class
  int32_t num_features = 64;
  double center_scale = 0.15;  // centers ~ N(0, scale^2) per coordinate
  double noise = 1.0;          // features = center + N(0, noise^2)
  double label_noise = 0.05;   // share of labels that are replaced by another class at the end
  uint64_t seed = 1;
};
GraphRef planted_partition(const PlantedPartitionConfig& config, base::ThreadPool& pool);
base::Tensor class_centres(const PlantedPartitionConfig& config);  // f32 [num_classes, F]

// The best accuracy that is possible for the default config: the share of visible labels that the
// generator's own likelihoods predict correctly from the features of the node alone, of nodes up to
// one hop away, up to two hops away, and at any distance (belief propagation, as
// tests/bench/ceiling.cpp prints it).
inline constexpr std::array<double, 4> kPlantedPartitionCeiling = {0.391, 0.740, 0.909, 0.935};

// In-degrees are round(lognormal(mu, sigma)) with the given mean, at least 1 and at most N/20. A
// source is drawn with weight = its own degree, from its target's community with probability
// `homophily`, else from all nodes. Communities have Zipf sizes; x = center * center_scale +
// N(0,1); a share of the labels is replaced at random.
struct LogNormalConfig {
  int64_t num_nodes = 2449029;
  double mean_degree = 50.5;
  double sigma = 1.45;
  int32_t num_features = 100;  // 0: no features
  int32_t num_classes = 47;    // 0: no labels, no communities
  double zipf = 0.8;
  double homophily = 0.5;
  double center_scale = 0.1;
  double label_noise = 0.05;
  uint64_t seed = 1;
};
GraphRef log_normal(const LogNormalConfig& config, base::ThreadPool& pool);
base::Tensor class_centres(const LogNormalConfig& config);  // f32 [num_classes, F]

// The sizes of a graph of bought-together products (the default config), and of a denser one of
// posts in forums; `scale` multiplies the number of nodes and nothing else.
LogNormalConfig products_shaped(double scale = 1);
LogNormalConfig reddit_shaped(double scale = 1);

// Like kPlantedPartitionCeiling, for products_shaped(0.1), along in-edges.
inline constexpr std::array<double, 4> kProductsShapedTenthCeiling = {0.229, 0.608, 0.882, 0.889};

// R-MAT (Chakrabarti, Zhan, Faloutsos, SDM 2004): 2^scale nodes, `num_edges` directed edges,
// quadrant probabilities a (both ids' next bit 0), b (target's 1),
// c (source's 1), 1-a-b-c. Self-loops and duplicates stay.
struct RmatConfig {
  int32_t scale = 16;
  int64_t num_edges = 1 << 20;
  double a = 0.57, b = 0.19, c = 0.19;
  uint64_t seed = 1;
};
GraphRef rmat(const RmatConfig& config, base::ThreadPool& pool);

// Erdos-Renyi G(n, m): `num_edges` directed edges, source and target uniform, self-loops and
// duplicates allowed.
struct ErdosRenyiConfig {
  int64_t num_nodes = 10000;
  int64_t num_edges = 100000;
  uint64_t seed = 1;
};
GraphRef erdos_renyi(const ErdosRenyiConfig& config, base::ThreadPool& pool);

}  // namespace gnnmg::graph
