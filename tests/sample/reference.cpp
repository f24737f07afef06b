#include "sample/reference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace gnnmg::test {

using base::Tensor;

graph::GraphRef skewed_graph(int64_t num_nodes, int64_t hub, uint64_t seed) {
  base::Stream stream(base::stream_key(seed, base::Purpose::kGenerator), 0);
  std::vector<std::pair<int64_t, int64_t>> edges;
  for (int64_t v = 0; v < num_nodes; ++v) {
    int64_t degree = v == 0 ? hub : 0;
    if (v > 0 && stream.below(10) > 0) degree = 1 + static_cast<int64_t>(stream.below(30));
    for (int64_t i = 0; i < degree; ++i)
      edges.emplace_back(static_cast<int64_t>(stream.below(num_nodes)), v);
  }
  for (size_t i = edges.size(); i > 1; --i) std::swap(edges[i - 1], edges[stream.below(i)]);
  std::vector<int64_t> sources, targets;
  for (const auto& [source, target] : edges) {
    sources.push_back(source);
    targets.push_back(target);
  }
  base::ThreadPool pool(1);
  graph::GraphParts parts;
  parts.num_nodes = {num_nodes};
  parts.topology.push_back(graph::csc_from_coo(Tensor::copy_of<int64_t>(sources).view(),
                                               Tensor::copy_of<int64_t>(targets).view(), num_nodes,
                                               num_nodes, pool));
  return graph::Graph::create(std::move(parts));
}

graph::GraphRef graph_of(const std::vector<int64_t>& indptr, const std::vector<int32_t>& sources) {
  graph::Csc csc;
  csc.num_targets = static_cast<int64_t>(indptr.size()) - 1;
  csc.num_sources = csc.num_targets;
  csc.indptr = Tensor::copy_of<int64_t>(indptr);
  csc.indices = Tensor::copy_of<int32_t>(sources);
  graph::GraphParts parts;
  parts.num_nodes = {csc.num_targets};
  parts.topology.push_back(std::move(csc));
  return graph::Graph::create(std::move(parts));
}

std::vector<int64_t> reference_picks(base::Key key, int64_t node, int64_t degree, int64_t fanout,
                                     bool replace) {
  std::vector<int64_t> picks;
  const auto word = [&](int64_t i) {
    return uint64_t{base::draw(key, static_cast<uint64_t>(node), static_cast<uint32_t>(i))};
  };
  if (fanout < 0 || (!replace && degree <= fanout)) {
    for (int64_t i = 0; i < degree; ++i) picks.push_back(i);
  } else if (replace) {
    for (int64_t i = 0; i < fanout && degree > 0; ++i)
      picks.push_back(static_cast<int64_t>(word(i) * static_cast<uint64_t>(degree) >> 32));
  } else {
    for (int64_t i = 0; i < fanout; ++i) {
      const int64_t j = degree - fanout + i;
      const int64_t t = static_cast<int64_t>(word(i) * static_cast<uint64_t>(j + 1) >> 32);
      picks.push_back(std::find(picks.begin(), picks.end(), t) == picks.end() ? t : j);
    }
  }
  return picks;
}

namespace {

// An independent implementation of labor.h.
std::vector<int64_t> labor_picks(const graph::Csc& csc, base::Key key, int64_t node,
                                 int64_t fanout) {
  const auto number = [&](uint64_t source) {
    uint64_t a = source & 0xFFFFFFFF, b = (source >> 32) ^ key[1], k = key[0];
    for (int round = 0; round < 7; ++round, k = (k + 0x9E3779B9) & 0xFFFFFFFF) {
      const uint64_t product = a * 0xD256D193;
      a = (product >> 32) ^ k ^ b;
      b = product & 0xFFFFFFFF;
    }
    return a;
  };
  const int64_t begin = csc.indptr.as<const int64_t>()[node], degree = csc.in_degree(node);
  std::vector<int64_t> picks;
  for (int64_t i = 0; i < degree; ++i)
    if (fanout < 0 || degree <= fanout ||
        number(static_cast<uint64_t>(csc.source(begin + i))) <
            (static_cast<uint64_t>(fanout) << 32) / static_cast<uint64_t>(degree))
      picks.push_back(i);
  return picks;
}

std::vector<int64_t> picks_of(const graph::Csc& csc, const sample::NeighborConfig& config,
                              const sample::BatchKey& key, size_t hop, int64_t node) {
  const int64_t fanout = config.fanouts[hop];
  switch (config.draw) {
    case sample::Draw::kLabor:
      return labor_picks(csc, key.hop(hop), node, fanout);
    case sample::Draw::kLaborOnce:
      return labor_picks(csc, key.hop(0), node, fanout);
    case sample::Draw::kUniform:
      break;
  }
  return reference_picks(key.hop(hop), node, csc.in_degree(node), fanout, config.replace);
}

}  // namespace

ReferenceSample reference_sample(const graph::Csc& csc, const sample::NeighborConfig& config,
                                 std::span<const int64_t> seeds, const sample::BatchKey& key) {
  const auto* indptr = static_cast<const int64_t*>(csc.indptr.data());
  const bool once = config.expansion == sample::Expansion::kOnce;
  ReferenceSample result;
  std::map<int64_t, int64_t> numbers;
  for (const int64_t seed : seeds) {
    numbers.emplace(seed, static_cast<int64_t>(result.nodes.size()));
    result.nodes.push_back(seed);
  }
  result.hop_ends.push_back(static_cast<int64_t>(seeds.size()));
  ReferenceBlock shared;
  shared.indptr = {0};
  for (size_t hop = 0; hop < config.fanouts.size(); ++hop) {
    ReferenceBlock block;
    block.indptr = {0};
    if (once) block = shared;
    const int64_t known = static_cast<int64_t>(result.nodes.size());
    for (int64_t row = static_cast<int64_t>(block.indptr.size()) - 1; row < known; ++row) {
      const int64_t node = result.nodes[row];
      for (const int64_t pick : picks_of(csc, config, key, hop, node)) {
        const int64_t place = indptr[node] + pick;
        const auto [at, added] =
            numbers.emplace(csc.source(place), static_cast<int64_t>(result.nodes.size()));
        if (added) result.nodes.push_back(csc.source(place));
        block.indices.push_back(at->second);
        block.edge_ids.push_back(csc.edge_id(place));
      }
      block.indptr.push_back(static_cast<int64_t>(block.indices.size()));
    }
    block.num_targets = known;
    block.num_sources = static_cast<int64_t>(result.nodes.size());
    result.hop_ends.push_back(block.num_sources);
    shared = block;
    result.blocks.insert(result.blocks.begin(), std::move(block));
  }
  return result;
}

namespace {

void expect_transposed(const sample::BlockView& block) {
  std::vector<std::vector<int32_t>> expected(block.num_sources);
  for (int64_t t = 0; t < block.num_targets; ++t) {
    for (int32_t e = block.indptr[t]; e < block.indptr[t + 1]; ++e)
      expected[block.indices[e]].push_back(static_cast<int32_t>(t));
  }
  for (int64_t s = 0; s < block.num_sources; ++s) {
    std::vector<int32_t> found;
    for (int32_t e = block.out_indptr[s]; e < block.out_indptr[s + 1]; ++e) {
      if (block.out_targets[e] >= block.num_targets) break;
      found.push_back(block.out_targets[e]);
    }
    ASSERT_EQ(found, expected[s]) << "source " << s;
  }
}

}  // namespace

void expect_equal(const sample::Sample& found, const ReferenceSample& expected,
                  const sample::NeighborConfig& config) {
  const auto vector = [](const auto* data, int64_t count) {
    return std::vector<int64_t>(data, data + count);
  };
  EXPECT_EQ(vector(found.node_ids.data(), found.node_ids.size()), expected.nodes);
  EXPECT_EQ(found.hop_ends, expected.hop_ends);
  EXPECT_EQ(found.num_seeds, expected.hop_ends[0]);
  ASSERT_EQ(found.blocks.size(), expected.blocks.size());
  int64_t edges = 0;
  for (size_t i = 0; i < found.blocks.size(); ++i) {
    const sample::BlockView& block = found.blocks[i];
    const ReferenceBlock& wanted = expected.blocks[i];
    ASSERT_EQ(block.num_targets, wanted.num_targets) << "block " << i;
    EXPECT_EQ(block.num_sources, wanted.num_sources) << "block " << i;
    EXPECT_EQ(vector(block.indptr, block.num_targets + 1), wanted.indptr) << "block " << i;
    ASSERT_EQ(block.num_edges, static_cast<int64_t>(wanted.indices.size())) << "block " << i;
    EXPECT_EQ(vector(block.indices, block.num_edges), wanted.indices) << "block " << i;
    ASSERT_EQ(block.edge_ids != nullptr, config.edge_ids);
    if (config.edge_ids) {
      EXPECT_EQ(vector(block.edge_ids, block.num_edges), wanted.edge_ids) << "block " << i;
    }
    const bool listed = config.transpose && (i > 0 || config.transpose_input);
    ASSERT_EQ(block.out_indptr != nullptr, listed) << "block " << i;
    ASSERT_EQ(block.out_targets != nullptr, listed) << "block " << i;
    if (listed) expect_transposed(block);
    edges = config.expansion == sample::Expansion::kOnce ? std::max(edges, block.num_edges)
                                                         : edges + block.num_edges;
  }
  EXPECT_EQ(found.num_edges_drawn(), edges);
}

}  // namespace gnnmg::test
