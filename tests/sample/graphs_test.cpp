// Mini-batches of whole graphs: every node and edge of each, in order, and the errors.
#include <gtest/gtest.h>

#include "sample/sampler.h"

namespace gnnmg {
namespace {

using base::Tensor;
using Ids = std::vector<int64_t>;

// Graphs of 3, 1, 2 and 4 nodes. Edges by id: 0 -> 1, 2 -> 1, 4 -> 5, 5 -> 4, 4 -> 5 again, 9 -> 6,
// 8 -> 6, 6 -> 9, 7 -> 7, 1 -> 0.
graph::GraphRef four_graphs() {
  base::ThreadPool pool(1);
  const Tensor sources = Tensor::copy_of<int64_t>(Ids{0, 2, 4, 5, 4, 9, 8, 6, 7, 1});
  const Tensor targets = Tensor::copy_of<int64_t>(Ids{1, 1, 5, 4, 5, 6, 6, 9, 7, 0});
  graph::GraphParts parts;
  parts.num_nodes = {10};
  parts.topology.push_back(graph::csc_from_coo(sources.view(), targets.view(), 10, 10, pool));
  return graph::Graph::create(std::move(parts));
}

Tensor four_starts() { return Tensor::copy_of<int64_t>(Ids{0, 3, 4, 6, 10}); }

template <typename T>
Ids list(const T* data, int64_t count) {
  return {data, data + count};
}

TEST(GraphsSampler, TakesGraphsWhole) {
  const auto sampler = sample::make_graphs_sampler(
      four_graphs(), four_starts(), {.num_layers = 3, .edge_ids = true, .transpose = true});
  EXPECT_EQ(sampler->num_layers(), 3);
  EXPECT_EQ(sampler->num_nodes(), 10);
  EXPECT_EQ(sampler->num_ids(), 4);
  EXPECT_TRUE(sampler->of_graphs());
  sample::Workspace workspace;
  sample::Sample out;
  for (int round = 0; round < 2; ++round) {  // reuses the memory
    sampler->sample(Ids{3, 1, 2}, {}, workspace, out, {});
    EXPECT_EQ(out.num_seeds, 3);
    EXPECT_EQ(list(out.graph_ptr.data(), out.graph_ptr.size()), (Ids{0, 4, 5, 7}));
    EXPECT_EQ(list(out.node_ids.data(), out.num_nodes()), (Ids{6, 7, 8, 9, 3, 4, 5}));
    EXPECT_EQ(out.hop_ends, (Ids{7, 7, 7, 7}));
    EXPECT_EQ(out.num_edges_drawn(), 7);
    ASSERT_EQ(out.blocks.size(), 3u);
    for (const sample::BlockView& block : out.blocks) {
      EXPECT_EQ(block.num_targets, 7);
      EXPECT_EQ(block.num_sources, 7);
      ASSERT_EQ(block.num_edges, 7);
      EXPECT_EQ(list(block.indptr, 8), (Ids{0, 2, 3, 3, 4, 4, 5, 7}));
      EXPECT_EQ(list(block.indices, 7), (Ids{3, 2, 1, 0, 6, 5, 5}));
      EXPECT_EQ(list(block.edge_ids, 7), (Ids{5, 6, 8, 7, 3, 2, 4}));
      EXPECT_EQ(list(block.out_indptr, 8), (Ids{0, 1, 2, 3, 4, 4, 6, 7}));
      EXPECT_EQ(list(block.out_targets, 7), (Ids{3, 1, 0, 0, 6, 6, 5}));
    }
    sampler->sample(Ids{1}, {}, workspace, out, {});
    EXPECT_EQ(out.num_nodes(), 1);
    EXPECT_EQ(out.blocks[2].num_edges, 0);
  }
}

TEST(GraphsSampler, RepeatedAndNoSeeds) {
  const auto sampler = sample::make_graphs_sampler(four_graphs(), four_starts(), {});
  sample::Workspace workspace;
  sample::Sample out;
  sampler->sample(Ids{2, 2}, {}, workspace, out, {});
  EXPECT_EQ(list(out.node_ids.data(), out.num_nodes()), (Ids{4, 5, 4, 5}));
  EXPECT_EQ(list(out.blocks[0].indices, 6), (Ids{1, 0, 0, 3, 2, 2}));
  EXPECT_EQ(out.blocks[0].edge_ids, nullptr);
  EXPECT_EQ(out.blocks[0].out_indptr, nullptr);
  sampler->sample(Ids{}, {}, workspace, out, {});
  EXPECT_EQ(out.num_nodes(), 0);
  EXPECT_EQ(list(out.graph_ptr.data(), out.graph_ptr.size()), (Ids{0}));
  EXPECT_EQ(out.blocks[0].indptr[0], 0);
}

TEST(GraphsSampler, Refuses) {
  const auto status_of = [](const auto& body) {
    try {
      body();
    } catch (const base::Error& error) {
      return error.status();
    }
    return base::Status::kOk;
  };
  const auto sampler = sample::make_graphs_sampler(four_graphs(), four_starts(), {});
  sample::Workspace workspace;
  sample::Sample out;
  for (const int64_t bad : {int64_t{-1}, int64_t{4}})
    EXPECT_EQ(status_of([&] { sampler->sample(Ids{0, bad}, {}, workspace, out, {}); }),
              base::Status::kRange);
  const base::CancelToken cancel;
  cancel.cancel();
  EXPECT_EQ(status_of([&] { sampler->sample(Ids{0}, {}, workspace, out, cancel); }),
            base::Status::kCancelled);
  for (const int layers : {0, sample::kMaxHops + 1})
    EXPECT_EQ(status_of([&] {
                sample::make_graphs_sampler(four_graphs(), four_starts(), {.num_layers = layers});
              }),
              base::Status::kInvalidArgument);
  EXPECT_EQ(status_of([&] {
              sample::make_graphs_sampler(four_graphs(), Tensor::copy_of<int64_t>(Ids{0, 9}), {});
            }),
            base::Status::kInvalidArgument);
}

}  // namespace
}  // namespace gnnmg
