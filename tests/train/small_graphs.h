// Many small graphs of two classes, and a training on them.
#pragma once

#include <algorithm>
#include <cmath>

#include "data/graphs.h"
#include "data/split.h"
#include "nn/model/model.h"
#include "train/fixture.h"

namespace gnnmg::test {

// Rings and stars of 3 to 11 nodes in turn, whose nodes know their degrees.
inline data::DatasetRef rings_and_stars(int64_t num_train, int64_t num_graphs = 160) {
  base::ThreadPool pool(1);
  std::vector<int64_t> sources, targets, starts{0}, classes;
  for (int64_t g = 0; g < num_graphs; ++g) {
    const int64_t first = starts.back(), nodes = 3 + g * 7 % 9;
    const bool ring = g % 2 == 0;
    for (int64_t i = ring ? 0 : 1; i < nodes; ++i) {
      const int64_t u = first + i, v = ring ? first + (i + 1) % nodes : first;
      sources.insert(sources.end(), {u, v});
      targets.insert(targets.end(), {v, u});
    }
    starts.push_back(first + nodes);
    classes.push_back(ring);
  }
  graph::GraphParts parts;
  parts.num_nodes = {starts.back()};
  parts.topology.push_back(graph::csc_from_coo(base::Tensor::copy_of<int64_t>(sources).view(),
                                               base::Tensor::copy_of<int64_t>(targets).view(),
                                               starts.back(), starts.back(), pool));
  std::vector<int64_t> ids(num_graphs);
  for (int64_t i = 0; i < num_graphs; ++i) ids[i] = i * 7 % num_graphs;
  const std::span<const int64_t> all(ids);
  data::Split split =
      data::split_from_ids(all.first(num_train), all.subspan(num_train, 20),
                           all.subspan(num_train + 20), num_graphs, "main", 0, "split", "graph");
  return data::make_dataset_of_graphs(
      data::with_degree_features(*graph::Graph::create(std::move(parts))),
      base::Tensor::copy_of<int64_t>(starts), "x", "y", base::Tensor::copy_of<int64_t>(classes),
      false, {split});
}

inline Recipe gin(data::DatasetRef dataset) {
  Recipe setup;
  setup.dataset = std::move(dataset);
  setup.model.architecture = nn::Architecture::kGin;
  setup.model.num_layers = 3;
  setup.model.readout = nn::Readout::kSum;
  setup.model.jumping = nn::Jumping::kScores;
  setup.model.dtype = base::DType::kF64;
  setup.trainer.batch_size = 16;
  setup.trainer.batches_per_step = 4;
  setup.trainer.eval_batch_size = 7;
  return setup;
}

// Differences of numbers above 1 are relative: sums over the neighbors of four layers give batch
// norm variances of thousands.
inline double difference(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> scaled_a = a, scaled_b = b;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double scale = std::max(1.0, std::abs(b[i]));
    scaled_a[i] /= scale;
    scaled_b[i] /= scale;
  }
  return largest_difference(scaled_a, scaled_b);
}

}  // namespace gnnmg::test
