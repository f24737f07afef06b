// The rows that a process keeps of other parts, and those with the most reads in mini-batches drawn
// before, compared with the best possible rows for the mini-batches that were drawn after.
#include <gtest/gtest.h>

#include <algorithm>

#include "data/split.h"
#include "dist/part_cache.h"
#include "dist/part_fixture.h"
#include "feature/hotness.h"
#include "graph/generate.h"
#include "loader/hotness.h"
#include "partition/assign.h"
#include "support/data.h"
#include "support/temp_dir.h"

namespace gnnmg {
namespace {

using loader::Partition;

constexpr int32_t kParts = 4;
constexpr int64_t kBatch = 32;  // equal to that of save_in_parts()
constexpr int64_t kEpochs = 30;
const std::vector<int64_t> kFanouts = {10, 5};

// Every tenth node is a training id.
class CacheQuality {
 public:
  explicit CacheQuality(graph::GraphRef graph) : graph_(std::move(graph)) {
    const int64_t num_nodes = graph_->num_nodes();
    for (int64_t v = 0; v < num_nodes; v += 10) train_.push_back(v);
    std::vector<int64_t> validation = {1}, test = {2};
    partition::Config config;
    config.num_parts = kParts;
    part_of_ = partition::assign_parts(graph_->csc(), train_, config, {});
    graph::GraphParts bare;
    bare.num_nodes = {num_nodes};
    bare.topology = {graph_->csc()};
    const data::DatasetRef set = data::make_dataset(
        graph::Graph::create(std::move(bare)), "", "", false,
        {data::split_from_ids(train_, validation, test, num_nodes, "main", 0, "the test's split")});
    test::save_in_parts(*set, part_of_, kParts, folder_.file("parts"), kFanouts);
    base::Log log;
    set_ = data::open_dataset(folder_.file("parts"), {}, {pool_, log, {}});
    sample::NeighborConfig sampling;
    sampling.fanouts = kFanouts;
    sampler_ = sample::make_neighbor_sampler(set_->graph, sampling);
  }

  // Hits in relation to those of the best rows, mean over the processes: [by formula, by counting].
  // Each process has a part, and mini-batches of its seeds; or one process has no part, and
  // mini-batches of all seeds.
  std::array<double, 2> of(Partition plan, double share) {
    const auto keep = static_cast<int64_t>(share * static_cast<double>(part_of_.size()));
    const int32_t processes = plan == Partition::kParts ? kParts : 1;
    std::array<double, 2> sums{};
    for (int32_t part = 0; part < processes; ++part) {
      const std::vector<double> after = reads(plan, part, 1);
      std::vector<int32_t> own;
      if (plan == Partition::kParts) own = {part};
      const auto hits = [&](const std::vector<int64_t>& rows) {
        double sum = 0;
        for (const int64_t row : rows) sum += after[row];
        return sum;
      };
      const double best = hits(feature::hottest(after, keep));
      const auto kept =
          dist::choose_cached_rows(*set_->parts, own, 4, {.share = share}, base::CancelToken());
      sums[0] += hits(kept.nodes) / best / processes;
      sums[1] += hits(feature::hottest(reads(plan, part, 0), keep)) / best / processes;
    }
    return sums;
  }

 private:
  // Reads of each row that is not here. The draws of two seeds are independent.
  std::vector<double> reads(Partition plan, int32_t part, uint64_t seed) {
    std::vector<int64_t> seeds;
    for (const int64_t id : train_)
      if (plan == Partition::kGlobal || part_of_[id] == part) seeds.push_back(id);
    loader::LoaderConfig config;
    config.plan.batch_size = kBatch;
    config.plan.seed = config.sample_seed = seed;
    const auto batches = (static_cast<int64_t>(seeds.size()) - 1) / kBatch + 1;
    std::vector<double> counted =
        loader::hotness_by_sampling(seeds, *sampler_, config, kEpochs * batches, pool_, {});
    for (size_t v = 0; v < counted.size(); ++v)
      if (plan == Partition::kParts && part_of_[v] == part) counted[v] = 0;
    return counted;
  }

  graph::GraphRef graph_;
  base::ThreadPool pool_{2};
  const test::TempDir folder_;
  std::vector<int64_t> train_;
  std::vector<uint16_t> part_of_;
  data::DatasetRef set_;
  std::shared_ptr<const sample::Sampler> sampler_;
};

void expect_good(graph::GraphRef graph) {
  CacheQuality quality(std::move(graph));
  for (const Partition plan : {Partition::kGlobal, Partition::kParts})
    for (const double share : {0.05, 0.1, 0.2}) {
      const auto [formula, counting] = quality.of(plan, share);
      std::printf("[ FIGURE   ] plan %s, %2.0f %% of the rows: by formula %.3f, by counting %.3f\n",
                  plan == Partition::kGlobal ? "global" : "parts ", 100 * share, formula, counting);
      EXPECT_GE(formula, 0.93);
      EXPECT_GE(counting, 0.96);
    }
}

graph::GraphRef data_set(const std::string& name) {
  base::ThreadPool pool(2);
  base::Log log;
  return data::open_dataset(test::data_path(name), {}, {pool, log, base::CancelToken()})->graph;
}

TEST(CacheQuality, CoauthorPhysics) {
  GNNMG_NEEDS_DATA("coauthor-physics");
  expect_good(data_set("coauthor-physics"));
}

TEST(CacheQuality, AmazonPhoto) {
  GNNMG_NEEDS_DATA("amazon-photo");
  expect_good(data_set("amazon-photo"));
}

TEST(CacheQuality, Communities) {
  base::ThreadPool pool(2);
  graph::LogNormalConfig config;
  config.num_nodes = 20'000;
  config.mean_degree = 30;
  config.num_features = 0;
  config.num_classes = 47;
  config.homophily = 0.5;
  expect_good(graph::log_normal(config, pool));
}

TEST(CacheQuality, Hubs) {
  base::ThreadPool pool(2);
  graph::RmatConfig config;
  config.scale = 15;
  config.num_edges = 500'000;
  expect_good(graph::rmat(config, pool));
}

}  // namespace
}  // namespace gnnmg
