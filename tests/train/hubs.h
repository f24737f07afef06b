// A graph whose nodes differ in their neighborhoods, and a training on it, not shuffled, whose
// mini-batches so differ in size: captured ones take passes of every shape.
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "data/split.h"
#include "nn/model/model.h"
#include "train/fixture.h"

namespace gnnmg::test {

constexpr int64_t kHubBatch = 16;
// The number of hubs among the seeds of each mini-batch; the last one is short and has none.
constexpr int64_t kHubSeeds[] = {0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 16, 2, 0, 6};
constexpr int64_t kHubBatches = std::size(kHubSeeds) + 1;
// Mini-batches of an epoch over each of the three shapes.
constexpr int64_t kHubShapes[] = {11, 2, 2};

// Seeds have 2 neighbors in a ring of 400 nodes, or 12 among 2000 that have 12 there themselves:
// hubs, whose features are NaN where `nan_hubs` says so.
inline data::DatasetRef make_hubs(bool nan_hubs = false) {
  constexpr int64_t kRing = 400, kHubs = 2000, kMany = 12, kShort = 5, kFeatures = 8;
  const int64_t seeds = (kHubBatches - 1) * kHubBatch + kShort;
  const int64_t ring = seeds, hubs = seeds + kRing, nodes = hubs + kHubs;
  std::vector<int64_t> sources, targets;
  const auto join = [&](int64_t source, int64_t target) {
    sources.push_back(source);
    targets.push_back(target);
  };
  const auto join_hubs = [&](int64_t target) {
    for (int64_t i = 0; i < kMany; ++i) join(hubs + (target * 37 + i * 163 + 11) % kHubs, target);
  };
  for (int64_t t = 0; t < seeds; ++t) {
    const int64_t batch = t / kHubBatch;
    if (batch < kHubBatches - 1 && t % kHubBatch < kHubSeeds[batch]) {
      join_hubs(t);
    } else {
      join(ring + 2 * t % kRing, t);
      join(ring + (2 * t + 1) % kRing, t);
    }
  }
  for (int64_t i = 0; i < kRing; ++i) {
    join(ring + (i + 1) % kRing, ring + i);
    join(ring + (i + kRing - 1) % kRing, ring + i);
  }
  for (int64_t i = 0; i < kHubs; ++i) join_hubs(hubs + i);

  base::Tensor x = base::Tensor::empty(base::DType::kF32, {nodes, kFeatures});
  base::Tensor y = base::Tensor::empty(base::DType::kI64, {nodes});
  for (int64_t n = 0; n < nodes; ++n) {
    y.as<int64_t>()[n] = n * 7 / 3 % 4;
    for (int64_t c = 0; c < kFeatures; ++c)
      x.as<float>()[n * kFeatures + c] =
          nan_hubs && n >= hubs ? std::numeric_limits<float>::quiet_NaN()
                                : 0.01f * static_cast<float>((n * 31 + c * 17) % 200 - 100) +
                                      (c == y.as<int64_t>()[n] ? 0.5f : 0.0f);
  }
  base::ThreadPool pool(1);
  graph::GraphParts parts;
  parts.num_nodes = {nodes};
  parts.topology.push_back(graph::csc_from_coo(base::Tensor::copy_of<int64_t>(sources).view(),
                                               base::Tensor::copy_of<int64_t>(targets).view(),
                                               nodes, nodes, pool));
  parts.node_columns.emplace_back();
  parts.node_columns[0].emplace("x", std::move(x));
  parts.node_columns[0].emplace("y", std::move(y));
  std::vector<int64_t> ids(static_cast<size_t>(nodes));
  for (int64_t i = 0; i < nodes; ++i) ids[i] = i;
  const std::span<const int64_t> all(ids);
  return data::make_dataset(
      graph::Graph::create(std::move(parts)), "x", "y", false,
      {data::split_from_ids(all.first(seeds), all.subspan(seeds, 20), all.subspan(seeds + 20, 20),
                            nodes, "main", 0, "the test's split")},
      4);
}

inline Recipe hub_recipe() {
  Recipe setup;
  setup.dataset = make_hubs();
  setup.sampler.fanouts = {8, 8};
  setup.trainer.batch_size = kHubBatch;
  setup.trainer.shuffle = false;
  setup.trainer.evaluate_every = 0;
  return setup;
}

}  // namespace gnnmg::test
