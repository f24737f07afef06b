// The sampler over parts against the definition of the sampler over the whole graph, whatever the
// parts and their owners.
#include "dist/part_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <thread>

#include "dist/parts_of.h"
#include "sample/reference.h"

namespace gnnmg {
namespace {

using dist::Parts;
using sample::NeighborConfig;

constexpr sample::BatchKey kBatch{7, base::Purpose::kSample, 1, 5};

std::vector<int64_t> some_seeds(int64_t count) {
  std::vector<int64_t> seeds(count);
  std::iota(seeds.begin(), seeds.end(), 0);
  seeds.back() = seeds.front();  // a repeated one
  return seeds;
}

// All combinations of the options, by the bits of a number.
NeighborConfig config_of(std::vector<int64_t> fanouts, int bits) {
  NeighborConfig config;
  config.fanouts = std::move(fanouts);
  config.expansion = bits & 1 ? sample::Expansion::kEveryLayer : sample::Expansion::kOnce;
  config.replace = bits & 2;
  config.edge_ids = bits & 4;
  config.transpose = bits & 8;
  config.transpose_input = bits & 16;
  return config;
}

void expect_whole(std::shared_ptr<const Parts> parts, const graph::Graph& graph,
                  const NeighborConfig& config, std::span<const int64_t> seeds) {
  const auto sampler = dist::make_part_sampler(std::move(parts), config);
  sample::Workspace workspace;
  sample::Sample sample;
  for (const uint64_t batch : {5, 6}) {  // the second reuses the buffers of the first
    const sample::BatchKey key{7, base::Purpose::kSample, 1, batch};
    sampler->sample(seeds, key, workspace, sample, {});
    test::expect_equal(sample, test::reference_sample(graph.csc(), config, seeds, key), config);
  }
}

TEST(PartSampler, DrawsAsOverTheWholeGraph) {
  const graph::GraphRef graph = test::skewed_graph(400, 700, 1);
  const std::vector<int64_t> seeds = some_seeds(60);
  for (const int32_t num_parts : {1, 4, 300}) {
    const auto part_of = test::hashed_parts(400, num_parts, 3);
    for (const auto& own : {std::vector<int32_t>{}, {num_parts - 1, 0}}) {
      const auto parts = test::parts_of(*graph, part_of, num_parts, own);
      for (const auto& fanouts :
           {std::vector<int64_t>{15, 10, 5}, {-1}, {3, 0, 4}, {33, 2}, {300, 1}}) {
        for (const int bits : {4, 1 | 2 | 4 | 8})
          expect_whole(parts, *graph, config_of(fanouts, bits), seeds);
        if (HasFailure())
          FAIL() << num_parts << " parts, of which " << own.size() << " here, "
                 << testing::PrintToString(fanouts);
      }
    }
  }
}

TEST(PartSampler, EveryOptionDrawsAsOverTheWholeGraph) {
  const graph::GraphRef graph = test::skewed_graph(400, 700, 1);
  const auto parts = test::parts_of(*graph, test::hashed_parts(400, 4, 3), 4, {0});
  for (int bits = 0; bits < 32; ++bits)
    expect_whole(parts, *graph, config_of({15, 10, 5}, bits), some_seeds(60));
}

TEST(PartSampler, LaborDrawsAsOverTheWholeGraph) {
  const graph::GraphRef graph = test::skewed_graph(400, 700, 1);
  const auto parts = test::parts_of(*graph, test::hashed_parts(400, 4, 3), 4, {0});
  for (const sample::Draw draw : {sample::Draw::kLabor, sample::Draw::kLaborOnce})
    for (const auto& fanouts : {std::vector<int64_t>{15, 10, 5}, {3, -1}, {2, 0, 4}})
      for (const int bits : {4, 1 | 4 | 8}) {
        NeighborConfig config = config_of(fanouts, bits);
        config.draw = draw;
        expect_whole(parts, *graph, config, some_seeds(60));
      }
}

// Every edge of every block has the rows that the whole graph has for its id.
void expect_edge_rows(const sample::Sample& sample, const graph::Graph& graph) {
  ASSERT_NE(sample.edge_columns, nullptr);
  for (size_t layer = 0; layer < sample.blocks.size(); ++layer) {
    const sample::BlockView& block = sample.blocks[layer];
    const std::span<const int64_t> ids(block.edge_ids, static_cast<size_t>(block.num_edges));
    for (size_t i = 0; i < sample.edge_columns->size(); ++i) {
      const graph::EdgeColumn& column = (*sample.edge_columns)[i];
      const auto& rows = sample.store_of(layer).edge_rows[i];
      std::vector<uint8_t> expected(ids.size() * column.row_bytes());
      feature::make_store(*graph.edge_column(column.name))->gather(ids, expected.data(), nullptr);
      ASSERT_GE(rows.size(), static_cast<int64_t>(expected.size()));
      EXPECT_EQ(std::memcmp(rows.data(), expected.data(), expected.size()), 0)
          << column.name << " of layer " << layer;
    }
  }
}

TEST(PartSampler, TellsTheRowsOfTheEdges) {
  const graph::GraphRef graph = test::with_edge_columns(*test::skewed_graph(400, 700, 1));
  const auto parts = test::parts_of(*graph, test::hashed_parts(400, 4, 3), 4, {0});
  for (int bits = 0; bits < 32; ++bits) {
    const NeighborConfig config = config_of({15, 10, 5}, bits | 4);
    const auto sampler = dist::make_part_sampler(parts, config);
    ASSERT_EQ(sampler->edge_columns().size(), 2u);
    sample::Workspace workspace;
    sample::Sample sample;
    for (const uint64_t batch : {5, 6}) {
      sampler->sample(some_seeds(60), {7, base::Purpose::kSample, 1, batch}, workspace, sample, {});
      expect_edge_rows(sample, *graph);
    }
  }
}

TEST(PartSampler, TellsTheEdgeColumnsThatAreAskedForAlone) {
  const graph::GraphRef graph = test::with_edge_columns(*test::skewed_graph(400, 700, 1));
  const auto parts = test::parts_of(*graph, test::hashed_parts(400, 4, 3), 4, {});
  const std::vector<std::string> names = {"edge_weight", "none"};
  const auto sampler = dist::make_part_sampler(parts, config_of({5, 5}, 4));
  const auto narrow = sampler->with_edge_columns(names);
  ASSERT_EQ(narrow->edge_columns().size(), 1u);
  EXPECT_EQ(narrow->edge_columns()[0].name, "edge_weight");
  const auto bytes_of = [&](const sample::Sampler& one) {
    sample::Workspace workspace;
    sample::Sample sample;
    const int64_t before = parts->traffic().answered_bytes;
    one.sample(some_seeds(60), kBatch, workspace, sample, {});
    if (sample.edge_columns) expect_edge_rows(sample, *graph);
    return std::pair(parts->traffic().answered_bytes - before, sample.num_edges_drawn());
  };
  const auto [all, edges] = bytes_of(*sampler);
  EXPECT_EQ(all - bytes_of(*narrow).first, 12 * edges);
  const auto none = narrow->with_edge_columns({});
  EXPECT_TRUE(none->edge_columns().empty());
  EXPECT_EQ(all - bytes_of(*none).first, 20 * edges);
  EXPECT_TRUE(dist::make_part_sampler(parts, config_of({5, 5}, 0))->edge_columns().empty())
      << "without edge ids";
}

TEST(PartSampler, PartsMayBeEmptyAndOneMayHaveAll) {
  const graph::GraphRef graph = test::skewed_graph(300, 1000, 2);
  const std::vector<uint16_t> all_in_two(300, 2);
  const NeighborConfig config = config_of({5, 5}, 4);
  for (const auto& own : {std::vector<int32_t>{}, {2}, {0, 1, 3}})
    expect_whole(test::parts_of(*graph, all_in_two, 4, own), *graph, config, some_seeds(50));
}

TEST(PartSampler, NothingIsAskedOfPartsThatHaveNoNode) {
  const graph::GraphRef graph = test::skewed_graph(300, 1000, 2);
  const std::vector<uint16_t> all_in_two(300, 2);
  const auto parts = test::parts_of(*graph, all_in_two, 4, {});
  expect_whole(parts, *graph, config_of({5, 5, 5}, 0), some_seeds(50));
  EXPECT_EQ(parts->traffic().questions, 2 * 3);  // mini-batches, hops
}

// docs/formats.md has the sizes of messages: 4 bytes an id asked, one a count, 4 a source.
TEST(PartSampler, TakesFourBytesAnEdgeAndFiveANode) {
  const graph::GraphRef graph = test::skewed_graph(5000, 2000, 3);
  const auto parts = test::parts_of(*graph, std::vector<uint16_t>(5000, 0), 1, {});
  const NeighborConfig config = config_of({15, 10, 5}, 0);
  const auto sampler = dist::make_part_sampler(parts, config);
  sample::Workspace workspace;
  sample::Sample sample;
  sampler->sample(some_seeds(500), kBatch, workspace, sample, {});
  const int64_t asked = sample.hop_ends[2];  // the nodes of the last hop are not asked about
  const int64_t heads = 3 * dist::kHeadBytes;
  EXPECT_EQ(parts->traffic().asked_bytes, heads + 4 * asked);
  EXPECT_EQ(parts->traffic().answered_bytes, heads + asked + 4 * sample.num_edges_drawn());
}

TEST(PartSampler, ThreadsShareIt) {
  const graph::GraphRef graph = test::skewed_graph(900, 4000, 1);
  const auto parts = test::parts_of(*graph, test::hashed_parts(900, 4, 3), 4, {1});
  const NeighborConfig config = config_of({5, 5}, 4);
  const auto sampler = dist::make_part_sampler(parts, config);
  const std::vector<int64_t> seeds = some_seeds(100);
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      sample::Workspace workspace;
      sample::Sample sample;
      for (uint64_t batch = 8 * t; batch < 8 * t + 8; ++batch) {
        const sample::BatchKey key{7, base::Purpose::kSample, 1, batch};
        sampler->sample(seeds, key, workspace, sample, {});
        test::expect_equal(sample, test::reference_sample(graph->csc(), config, seeds, key),
                           config);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(PartSampler, SaysWhatItCannotDo) {
  const graph::GraphRef graph = test::skewed_graph(100, 100, 1);
  const auto parts = test::parts_of(*graph, std::vector<uint16_t>(100, 0), 1, {});
  NeighborConfig outgoing = config_of({5}, 0);
  outgoing.outgoing = true;
  EXPECT_EQ(test::status_of([&] { dist::make_part_sampler(parts, outgoing); }),
            base::Status::kUnsupported);
  EXPECT_EQ(test::status_of([&] { dist::make_part_sampler(parts, config_of({}, 0)); }),
            base::Status::kInvalidArgument);
  const auto sampler = dist::make_part_sampler(parts, config_of({5}, 0));
  sample::Workspace workspace;
  sample::Sample sample;
  EXPECT_EQ(test::status_of(
                [&] { sampler->sample(std::vector<int64_t>{100}, kBatch, workspace, sample, {}); }),
            base::Status::kRange);
  base::CancelToken cancelled;
  cancelled.cancel();
  EXPECT_EQ(test::status_of([&] {
              sampler->sample(std::vector<int64_t>{1}, kBatch, workspace, sample, cancelled);
            }),
            base::Status::kCancelled);
  sampler->sample(std::vector<int64_t>{1}, kBatch, workspace, sample, {});  // and goes on
}

}  // namespace
}  // namespace gnnmg
