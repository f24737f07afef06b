// Sums of the weights of edges, from parts, against plain sums over the whole graph.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "data/split.h"
#include "dist/part_fixture.h"
#include "dist/parts_of.h"
#include "graph/weight_sums.h"
#include "sample/reference.h"
#include "sample/sampler.h"
#include "support/temp_dir.h"

namespace gnnmg {
namespace {

using base::DType;
using base::Tensor;
using graph::WeightSums;
using testing::HasSubstr;

constexpr int64_t kWeightedNodes = 400;

// The weight of an edge, exact in every type.
double weight_of(int64_t edge) { return static_cast<double>(edge * 37 % 101); }

Tensor weights(DType dtype, int64_t edges) {
  Tensor column = Tensor::empty(dtype, {edges});
  auto* bytes = static_cast<uint8_t*>(column.data());
  const auto put = [&](int64_t edge, auto value) {
    std::memcpy(bytes + edge * static_cast<int64_t>(sizeof value), &value, sizeof value);
  };
  for (int64_t e = 0; e < edges; ++e) {
    const double weight = weight_of(e);
    if (dtype == DType::kF32) put(e, static_cast<float>(weight));
    if (dtype == DType::kF64) put(e, weight);
    if (dtype == DType::kF16) put(e, base::f32_to_f16(static_cast<float>(weight)));
    if (dtype == DType::kBF16) put(e, base::f32_to_bf16(static_cast<float>(weight)));
    if (dtype == DType::kI64) put(e, static_cast<int64_t>(weight));
    if (dtype == DType::kI32) put(e, static_cast<int32_t>(weight));
    if (dtype == DType::kU8) put(e, static_cast<uint8_t>(weight));
  }
  return column;
}

const std::map<std::string, DType> kColumns = {
    {"f32", DType::kF32}, {"f64", DType::kF64}, {"f16", DType::kF16}, {"bf16", DType::kBF16},
    {"i64", DType::kI64}, {"i32", DType::kI32}, {"u8", DType::kU8}};

class PartWeights : public testing::Test {
 protected:
  PartWeights() {
    graph::GraphParts parts = test::skewed_graph(kWeightedNodes, 700, 1)->parts();
    const int64_t edges = parts.topology[0].num_edges();
    parts.edge_columns.resize(1);
    for (const auto& [name, dtype] : kColumns)
      parts.edge_columns[0].emplace(name, weights(dtype, edges));
    parts.edge_columns[0].emplace("wide", Tensor::zeros(DType::kF32, {edges, 3}));
    parts.node_columns = {{{"x", Tensor::zeros(DType::kF32, {kWeightedNodes, 1})},
                           {"y", Tensor::zeros(DType::kI64, {kWeightedNodes})}}};
    whole_ = graph::Graph::create(std::move(parts));
    const std::vector<int64_t> train = {0, 1, 2};
    const data::DatasetRef dataset = data::make_dataset(
        whole_, "x", "y", false,
        {data::split_from_ids(train, {}, {}, kWeightedNodes, "main", 0, "the test's split")}, 1);
    test::save_in_parts(*dataset, test::hashed_parts(kWeightedNodes, 3, 3), 3,
                        folder_.file("parts"));
  }
  // The sums of a node, edge by edge. Those of whole numbers are exact in any order.
  WeightSums expected(int64_t node) const {
    const graph::Csc& csc = whole_->csc();
    const int64_t* starts = static_cast<const int64_t*>(csc.indptr.data());
    WeightSums sums{0, 0, std::numeric_limits<double>::quiet_NaN()};
    int64_t last = -1;
    for (int64_t e = starts[node]; e < starts[node + 1]; ++e) {
      const double weight = weight_of(csc.edge_id(e));
      (csc.source(e) == node ? sums.loops : sums.others) += weight;
      if (csc.source(e) != node || csc.edge_id(e) < last) continue;
      last = csc.edge_id(e);
      sums.last_loop = weight;
    }
    return sums;
  }
  void expect_sums(std::span<const int64_t> nodes, std::span<const WeightSums> found) const {
    ASSERT_EQ(found.size(), nodes.size());
    int64_t loops = 0;
    for (size_t i = 0; i < nodes.size(); ++i) {
      const WeightSums sums = expected(nodes[i]);
      EXPECT_EQ(found[i].others, sums.others) << nodes[i];
      EXPECT_EQ(found[i].loops, sums.loops) << nodes[i];
      const bool has_loop = !std::isnan(sums.last_loop);
      EXPECT_TRUE(has_loop ? found[i].last_loop == sums.last_loop : std::isnan(found[i].last_loop))
          << nodes[i];
      loops += has_loop;
    }
    EXPECT_GT(loops, 0);
  }

  const test::TempDir folder_;
  graph::GraphRef whole_;
};

TEST_F(PartWeights, AreSummedByWhoeverHasTheRows) {
  std::vector<int64_t> nodes(kWeightedNodes);
  std::iota(nodes.begin(), nodes.end(), 0);
  std::swap(nodes[3], nodes[300]);
  for (const auto& own : std::vector<std::vector<int32_t>>{{}, {1}, {0, 1, 2}}) {
    const data::DatasetRef some = test::open_in_parts(folder_.file("parts"), {.own = own});
    for (const auto& [name, dtype] : kColumns) {
      std::vector<WeightSums> found(nodes.size());
      some->graph->elsewhere()->weight_sums(name, nodes, found.data());
      expect_sums(nodes, found);
    }
  }
}

TEST_F(PartWeights, ComeWithSamples) {
  const data::DatasetRef some = test::open_in_parts(folder_.file("parts"), {.own = {1}});
  sample::NeighborConfig config;
  config.fanouts = {3, 2};
  EXPECT_EQ(sample::make_neighbor_sampler(whole_, config)->with_weight_sums("f32"), nullptr);
  const auto sampler = sample::make_neighbor_sampler(some->graph, config)->with_weight_sums("f32");
  ASSERT_NE(sampler, nullptr);
  const std::vector<int64_t> seeds = {0, 1, 2, 3, 100, 200, 300};
  sample::Workspace workspace;
  sample::Sample sample;
  for (const auto& one : {sampler, sampler->with_degrees(), sampler->without_input_lists()}) {
    one->sample(seeds, {.seed = 7}, workspace, sample, {});
    expect_sums(sample.node_ids.span(), sample.weight_sums.span());
  }
  sample::make_neighbor_sampler(some->graph, config)
      ->sample(seeds, {.seed = 7}, workspace, sample, {});
  EXPECT_EQ(sample.weight_sums.size(), 0);
}

TEST_F(PartWeights, OtherColumnsAreRefused) {
  const data::DatasetRef some = test::open_in_parts(folder_.file("parts"), {.own = {1}});
  sample::NeighborConfig config;
  config.fanouts = {3};
  const auto sampler = sample::make_neighbor_sampler(some->graph, config);
  for (const char* const name : {"wide", "missing"}) {
    try {
      (void)sampler->with_weight_sums(name);
      ADD_FAILURE() << name;
    } catch (const base::Error& error) {
      EXPECT_EQ(error.status(), base::Status::kNotFound);
      EXPECT_THAT(error.what(), HasSubstr(base::text("'", name, "' with one number per edge")));
    }
  }
}

}  // namespace
}  // namespace gnnmg
