// Calls of the GPU's sampler, and comparisons with the CPU's samples.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "sample/device.h"

namespace gnnmg::cuda {

// Seeds and keys of a call.
struct Batches {
  Batches(std::vector<std::vector<int64_t>> lists, int64_t seed_stride, int num_hops)
      : Batches(std::move(lists), seed_stride, {.fanouts = std::vector<int64_t>(num_hops)}) {}
  Batches(std::vector<std::vector<int64_t>> lists, int64_t seed_stride,
          const sample::NeighborConfig& config)
      : seed_lists(std::move(lists)), stride(seed_stride) {
    seeds.assign(seed_lists.size() * stride, -7);  // entries after a list are not read
    for (size_t m = 0; m < seed_lists.size(); ++m) {
      std::copy(seed_lists[m].begin(), seed_lists[m].end(), seeds.begin() + m * stride);
      num_seeds.push_back(static_cast<int32_t>(seed_lists[m].size()));
      batch_keys.push_back({11, base::Purpose::kSample, 3, 100 + m});
      for (size_t h = 0; h < config.fanouts.size(); ++h) {
        const base::Key key = sample::hop_key(config, batch_keys[m], h, 0);
        keys.insert(keys.end(), key.begin(), key.end());
      }
    }
  }
  sample::DeviceBatches view(bool on_host = false) const {
    return {static_cast<int32_t>(seed_lists.size()),
            seeds.data(),
            stride,
            num_seeds.data(),
            keys.data(),
            on_host};
  }
  std::vector<std::vector<int64_t>> seed_lists;
  int64_t stride;
  std::vector<int64_t> seeds;
  std::vector<int32_t> num_seeds;
  std::vector<uint32_t> keys;
  std::vector<sample::BatchKey> batch_keys;
};

template <typename T>
std::vector<T> list_of(const T* data, int64_t count) {
  return {data, data + count};
}

// Returns source s's targets in the block; lists that layers share continue with targets of other
// layers.
inline std::vector<int32_t> targets_of(const sample::BlockView& block, int64_t s) {
  std::vector<int32_t> targets = list_of(block.out_targets + block.out_indptr[s],
                                         block.out_indptr[s + 1] - block.out_indptr[s]);
  std::erase_if(targets, [&](int32_t target) { return target >= block.num_targets; });
  return targets;
}

// Compares every array in order. `parted`: layers of the first sample share no lists, though those
// of the second may.
inline void expect_same(const sample::Sample& found, const sample::Sample& expected,
                        const sample::NeighborConfig& config, bool parted = false) {
  EXPECT_EQ(found.num_seeds, expected.num_seeds);
  EXPECT_EQ(found.hop_ends, expected.hop_ends);
  ASSERT_EQ(list_of(found.node_ids.data(), found.num_nodes()),
            list_of(expected.node_ids.data(), expected.num_nodes()));
  ASSERT_EQ(found.blocks.size(), expected.blocks.size());
  if (!parted) {
    EXPECT_EQ(found.num_edges_drawn(), expected.num_edges_drawn());
  }
  for (size_t layer = 0; layer < found.blocks.size(); ++layer) {
    const sample::BlockView &a = found.blocks[layer], &b = expected.blocks[layer];
    ASSERT_EQ(a.num_targets, b.num_targets);
    ASSERT_EQ(a.num_sources, b.num_sources);
    ASSERT_EQ(a.num_edges, b.num_edges);
    EXPECT_EQ(list_of(a.indptr, a.num_targets + 1), list_of(b.indptr, b.num_targets + 1));
    EXPECT_EQ(list_of(a.indices, a.num_edges), list_of(b.indices, b.num_edges));
    ASSERT_EQ(a.edge_ids != nullptr, config.edge_ids);
    if (config.edge_ids) {
      EXPECT_EQ(list_of(a.edge_ids, a.num_edges), list_of(b.edge_ids, b.num_edges));
    }
    const bool listed = config.transpose && (layer > 0 || config.transpose_input);
    ASSERT_EQ(a.out_indptr != nullptr, listed);
    ASSERT_EQ(a.out_targets != nullptr, listed);
    if (listed && parted) {
      EXPECT_EQ(a.out_indptr[a.num_sources], a.num_edges);
      for (int64_t s = 0; s < a.num_sources; ++s) ASSERT_EQ(targets_of(a, s), targets_of(b, s));
    } else if (listed) {
      EXPECT_EQ(list_of(a.out_indptr, a.num_sources + 1), list_of(b.out_indptr, b.num_sources + 1));
      const int64_t sent = b.out_indptr[b.num_sources];
      EXPECT_EQ(list_of(a.out_targets, sent), list_of(b.out_targets, sent));
    }
  }
}

}  // namespace gnnmg::cuda
