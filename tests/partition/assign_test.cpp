// Whole partitions: their bounds on graphs of every shape, their cuts, and their errors.
#include "partition/assign.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "graph/generate.h"
#include "partition/graphs.h"
#include "partition/metis.h"
#include "partition/quality.h"
#include "support/sanitized.h"

namespace gnnmg {
namespace {

using namespace partition_test;
using partition::assign_parts;
using partition::Config;
using partition::CscRows;
using partition::Load;
using partition::Method;
using partition::Quality;
using ::testing::HasSubstr;

// Checks that every node has a part and no part exceeds its bounds.
Quality expect_bounded(const graph::Csc& csc, const std::vector<int64_t>& train,
                       const Config& config, const char* what) {
  const std::vector<uint16_t> parts = assign_parts(csc, train, config, {});
  EXPECT_EQ(static_cast<int64_t>(parts.size()), csc.num_targets) << what;
  for (const uint16_t part : parts) EXPECT_LT(part, config.num_parts) << what;
  const CscRows rows(csc, train);
  const Quality quality = quality_of(rows, parts, config.num_parts, {});
  const Load bound = bound_of(total_of(rows), largest_of(rows), config.slack, config.num_parts);
  for (size_t p = 0; p < quality.loads.size(); ++p) {
    EXPECT_LE(quality.loads[p].nodes, bound.nodes) << what << ", part " << p;
    EXPECT_LE(quality.loads[p].edges, bound.edges) << what << ", part " << p;
    EXPECT_LE(quality.loads[p].train, bound.train) << what << ", part " << p;
  }
  return quality;
}

struct Shape {
  const char* name;
  graph::Csc csc;
  std::vector<int64_t> train;
};

std::vector<Shape> hostile_shapes() {
  std::vector<Shape> shapes;
  const auto add = [&](const char* name, int64_t nodes, const Pairs& pairs,
                       std::vector<int64_t> train) {
    shapes.push_back({name, csc_of(nodes, pairs), std::move(train)});
  };
  add("no nodes", 0, {}, {});
  add("one node", 1, {}, {0});
  add("isolated nodes", 1000, {}, each_of(0, 10));
  Pairs loops, multi, in_star, out_star, path, pairs_only, many_hubs;
  for (int64_t v = 0; v < 100; ++v) loops.add(v, v);
  add("loops", 100, loops, each_of(0, 100));
  for (int64_t i = 0; i < 5000; ++i) multi.add(i % 3, 3 + i % 2);
  add("repeated edges", 40, multi, {3});
  for (int64_t v = 1; v < 2000; ++v) in_star.add(v, 0);
  add("star into a hub", 2000, in_star, each_of(1, 2000, 3));
  for (int64_t v = 1; v < 2000; ++v) out_star.add(0, v);
  add("star out of a hub", 2000, out_star, each_of(1, 2000, 3));
  for (int64_t v = 1; v < 3000; ++v) path.add(v - 1, v);
  add("a path in one direction", 3000, path, each_of(0, 3000, 7));
  for (int64_t v = 0; v < 4000; v += 2) pairs_only.add_both(v, v + 1);
  add("pairs", 4000, pairs_only, each_of(0, 4000, 2));
  for (int64_t v = 8; v < 1500; ++v)
    for (int64_t hub = 0; hub < 8; ++hub) many_hubs.add(v, hub);
  add("eight hubs that have all edges", 1500, many_hubs, each_of(0, 8));
  const Pairs cliques = ring_of_cliques(20, 30);
  std::vector<int64_t> one_clique = each_of(3, 600, 20);
  add("all training ids in one community", 600, cliques, one_clique);
  add("all nodes are training ids", 600, cliques, each_of(0, 600));
  return shapes;
}

TEST(AssignParts, KeepTheirBoundsOnGraphsOfEveryShape) {
  for (const Shape& shape : hostile_shapes())
    for (const int32_t num_parts : {1, 2, 3, 8, 100})
      for (uint64_t seed = 0; seed < (test::kSanitized ? 1 : 2); ++seed) {
        Config config;
        config.num_parts = num_parts;
        config.seed = seed;
        expect_bounded(shape.csc, shape.train, config, shape.name);
      }
}

TEST(AssignParts, KeepBoundsWithoutAnySlack) {
  for (const Shape& shape : hostile_shapes()) {
    Config config;
    config.num_parts = 7;
    config.slack = {1, 1, 1};
    expect_bounded(shape.csc, shape.train, config, shape.name);
  }
}

TEST(AssignParts, KeepBoundsOnRandomGraphsWithHubs) {
  base::ThreadPool pool(1);
  for (uint64_t seed = 0; seed < (test::kSanitized ? 3 : 5); ++seed) {
    graph::RmatConfig rmat;
    rmat.scale = 8 + static_cast<int32_t>(seed);
    rmat.num_edges = int64_t{12} << rmat.scale;
    rmat.seed = seed;
    const graph::GraphRef made = graph::rmat(rmat, pool);
    Config config;
    config.num_parts = 2 + 3 * static_cast<int32_t>(seed);
    config.seed = seed;
    expect_bounded(made->csc(), each_of(0, made->num_nodes() / 3), config, "R-MAT");
  }
}

TEST(AssignParts, CutNoMoreThanTheBridgesOfCliques) {
  const graph::Csc csc = csc_of(64 * 12, ring_of_cliques(64, 12));
  Config config;
  config.num_parts = 4;
  for (config.seed = 0; config.seed < 5; ++config.seed) {
    const Quality quality = expect_bounded(csc, each_of(0, 64), config, "cliques");
    // Four arcs of a ring are cut at four bridges, in both directions. A few more are tolerated; a
    // cut clique has 22 edges or more.
    EXPECT_LE(quality.total_cut, 20);
  }
}

TEST(AssignParts, AreTheSameForASeedAndOthersForAnother) {
  base::ThreadPool pool(1);
  graph::LogNormalConfig shape;
  shape.num_nodes = 1500;
  shape.num_features = 0;
  const graph::GraphRef made = graph::log_normal(shape, pool);
  Config config;
  config.num_parts = 5;
  const auto parts = assign_parts(made->csc(), each_of(0, 400), config, {});
  EXPECT_EQ(assign_parts(made->csc(), each_of(0, 400), config, {}), parts);
  config.seed = 1;
  EXPECT_NE(assign_parts(made->csc(), each_of(0, 400), config, {}), parts);
}

TEST(AssignParts, AreTheSameForWideIds) {
  graph::Csc csc = csc_of(600, ring_of_cliques(20, 30));
  Config config;
  config.num_parts = 4;
  const auto parts = assign_parts(csc, {}, config, {});
  const auto narrow = csc.indices.as<const int32_t>();
  const std::vector<int64_t> wide(narrow.begin(), narrow.end());
  csc.indices = base::Tensor::copy_of<int64_t>(wide);
  EXPECT_EQ(assign_parts(csc, {}, config, {}), parts);
}

TEST(AssignParts, KeepTheirBoundsWithLittleMemory) {
  base::ThreadPool pool(1);
  graph::RmatConfig rmat;
  rmat.scale = 15;
  rmat.num_edges = 1 << 19;
  const graph::GraphRef made = graph::rmat(rmat, pool);
  Config config;
  config.num_parts = 4;
  config.memory_limit = 5 << 20;
  expect_bounded(made->csc(), each_of(0, 1000), config, "little memory");
  config.memory_limit = 1 << 20;
  try {
    assign_parts(made->csc(), {}, config, {});
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.status(), base::Status::kNoMemory);
    EXPECT_THAT(error.what(), HasSubstr("memory_limit is 1048576"));
  }
}

TEST(AssignParts, RangesAreEqualAndHashesSpread) {
  const graph::Csc csc = csc_of(1000, {});
  Config config;
  config.num_parts = 3;
  config.method = Method::kRange;
  const auto ranges = assign_parts(csc, {}, config, {});
  EXPECT_TRUE(std::is_sorted(ranges.begin(), ranges.end()));
  EXPECT_EQ(std::count(ranges.begin(), ranges.end(), 0), 333);
  EXPECT_EQ(std::count(ranges.begin(), ranges.end(), 2), 334);
  config.method = Method::kHash;
  const auto hashed = assign_parts(csc, {}, config, {});
  for (int part = 0; part < 3; ++part)
    EXPECT_GT(std::count(hashed.begin(), hashed.end(), part), 280);
  config.seed = 9;
  EXPECT_NE(assign_parts(csc, {}, config, {}), hashed);
}

TEST(AssignParts, RefuseWhatCannotBe) {
  const graph::Csc csc = csc_of(10, {});
  const auto refused = [&](const Config& config, std::vector<int64_t> train, base::Status status,
                           const char* text) {
    try {
      assign_parts(csc, train, config, {});
      ADD_FAILURE() << text;
    } catch (const base::Error& error) {
      EXPECT_EQ(error.status(), status);
      EXPECT_THAT(error.what(), HasSubstr(text));
    }
  };
  Config config;
  const auto with = [&](auto change) {
    Config changed = config;
    change(changed);
    return changed;
  };
  constexpr auto kInvalid = base::Status::kInvalidArgument;
  refused(with([](Config& c) { c.num_parts = 0; }), {}, kInvalid, "num_parts is 0");
  refused(with([](Config& c) { c.num_parts = 65536; }), {}, kInvalid, "num_parts is 65536");
  refused(with([](Config& c) { c.passes = 0; }), {}, kInvalid, "passes is 0");
  refused(with([](Config& c) { c.slack.edges = 0.9; }), {}, kInvalid, "edge_slack is 0.9");
  refused(with([](Config& c) { c.slack.train = NAN; }), {}, kInvalid, "train_slack is");
  refused(config, {10}, base::Status::kRange, "training id 0 is node 10");
  refused(with([](Config& c) { c.method = Method::kMetis; }), {},
          partition::why_no_metis().empty() ? kInvalid : base::Status::kDependency, "METIS");
}

TEST(AssignParts, StopWhenCancelled) {
  base::ThreadPool pool(1);
  graph::ErdosRenyiConfig random;
  random.num_nodes = 1000;
  random.num_edges = 6000;
  const graph::GraphRef made = graph::erdos_renyi(random, pool);
  std::set<std::string> steps;
  Config config;
  config.num_parts = 3;
  assign_parts(made->csc(), {}, config,
               {base::CancelToken(), [&](const std::string& step) { steps.insert(step); }});
  EXPECT_GE(steps.size(), 4u);
  for (const std::string& step : steps) {  // canceled at the beginning of each
    partition::Work work;
    work.report = [&](const std::string& begun) {
      if (begun == step) work.cancel.cancel();
    };
    try {
      assign_parts(made->csc(), {}, config, work);
      ADD_FAILURE() << step;
    } catch (const base::Error& error) {
      EXPECT_EQ(error.status(), base::Status::kCancelled);
    }
  }
}

}  // namespace
}  // namespace gnnmg
