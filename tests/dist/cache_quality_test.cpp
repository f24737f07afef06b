// Hits of the rows that a process keeps of other parts, as its store counts them, and of those with
// the most reads in mini-batches drawn before, in relation to the best possible rows for the
// mini-batches that were drawn after.
#include <gtest/gtest.h>

#include <algorithm>

#include "data/split.h"
#include "dist/part_fixture.h"
#include "feature/hotness.h"
#include "graph/generate.h"
#include "loader/keep_rows.h"
#include "loader/loader.h"
#include "partition/assign.h"
#include "support/data.h"
#include "support/temp_dir.h"

namespace gnnmg {
namespace {

using loader::Partition;

constexpr int32_t kParts = 4;
constexpr int64_t kBatch = 32;  // equal to that of save_in_parts()
constexpr uint64_t kEpochs = 30;
const std::vector<int64_t> kFanouts = {10, 5};

// The processes of a job, and their plan.
struct Setting {
  const char* name;
  Partition plan;
  bool own;  // each process has a part
  int32_t processes;
};
constexpr Setting kSettings[] = {
    {"global, parts of its own", Partition::kGlobal, true, kParts},
    {"global, client of servers", Partition::kGlobal, false, 1},
    {"by parts, parts of its own", Partition::kParts, true, kParts},
    {"by parts, client of servers", Partition::kParts, false, kParts},
};

// Every tenth node is a training id, and the row of a node is its id.
class CacheQuality {
 public:
  explicit CacheQuality(const graph::GraphRef& graph) {
    const int64_t num_nodes = graph->num_nodes();
    for (int64_t v = 0; v < num_nodes; v += 10) train_.push_back(v);
    const std::vector<int64_t> validation = {1}, test = {2};
    partition::Config config;
    config.num_parts = kParts;
    part_of_ = partition::assign_parts(graph->csc(), train_, config, {});
    graph::GraphParts with_rows;
    with_rows.num_nodes = {num_nodes};
    with_rows.topology = {graph->csc()};
    base::Tensor rows = base::Tensor::empty(base::DType::kF32, {num_nodes, 1});
    for (int64_t v = 0; v < num_nodes; ++v) rows.as<float>()[v] = static_cast<float>(v);
    with_rows.node_columns = {{{"x", rows}}};
    const data::DatasetRef set = data::make_dataset(
        graph::Graph::create(std::move(with_rows)), "x", "", false,
        {data::split_from_ids(train_, validation, test, num_nodes, "main", 0, "the test's split")});
    test::save_in_parts(*set, part_of_, kParts, folder_.file("parts"), kFanouts);
    sample::NeighborConfig sampling;
    sampling.fanouts = kFanouts;
    sampler_ = sample::make_neighbor_sampler(set->graph, sampling);
    book_ = std::make_shared<const partition::Book>(partition::Book::from_parts(part_of_, kParts));
  }

  struct Hits {
    double formula = 0, counting = 0;
  };
  // Hits in relation to those of the best rows, for shares of all rows; mean over the processes.
  std::vector<Hits> of(const Setting& setting, std::span<const double> shares) {
    std::vector<Hits> all(shares.size());
    for (int32_t process = 0; process < setting.processes; ++process) {
      const std::vector<double> before = reads(setting, process, batches(setting, process, 0));
      const Batches drawn = batches(setting, process, 1);
      const std::vector<double> after = reads(setting, process, drawn);
      const auto hits = [&](std::span<const double> hotness, double share) {
        double sum = 0;
        for (const int64_t row : feature::hottest(hotness, rows_of(share))) sum += after[row];
        return sum;
      };
      for (size_t i = 0; i < shares.size(); ++i) {
        const double best = hits(after, shares[i]) * setting.processes;
        all[i].formula += counted_hits(setting, process, drawn, shares[i]) / best;
        all[i].counting += hits(before, shares[i]) / best;
      }
    }
    return all;
  }

 private:
  using Batches = std::vector<std::vector<int64_t>>;

  int64_t rows_of(double share) const {
    return static_cast<int64_t>(share * static_cast<double>(part_of_.size()));
  }
  bool here(const Setting& setting, int32_t process, int64_t node) const {
    return setting.own && part_of_[node] == process;
  }

  loader::LoaderConfig config_of(const Setting& setting, int32_t process, uint64_t seed) const {
    loader::LoaderConfig config;
    config.num_threads = 0;
    config.plan.batch_size = kBatch;
    config.plan.seed = config.sample_seed = seed;
    config.plan.rank = process;
    config.plan.world_size = setting.processes;
    config.plan.partition = setting.plan;
    config.plan.book = book_;
    for (int32_t p = 0; p < setting.processes; ++p) config.plan.process_of_rank.push_back(p);
    return config;
  }

  // Nodes of the mini-batches of a process. The draws of two seeds are independent.
  Batches batches(const Setting& setting, int32_t process, uint64_t seed) const {
    loader::Loader loader(train_, sampler_, nullptr, config_of(setting, process, seed), nullptr);
    Batches all;
    for (uint64_t epoch = 0; epoch < kEpochs; ++epoch) {
      loader.start_epoch(epoch);
      while (const loader::BatchRef batch = *loader.next({})) {
        const auto nodes = batch->sample.node_ids.span();
        all.emplace_back(nodes.begin(), nodes.end());
      }
    }
    return all;
  }

  // Reads of each row that is not here.
  std::vector<double> reads(const Setting& setting, int32_t process, const Batches& drawn) const {
    std::vector<double> counted(part_of_.size());
    for (const auto& nodes : drawn)
      for (const int64_t node : nodes) counted[node] += !here(setting, process, node);
    return counted;
  }

  // Hits of mini-batches in the rows that a process keeps once a loader has started.
  double counted_hits(const Setting& setting, int32_t process, const Batches& drawn, double share) {
    std::vector<int32_t> own;
    if (setting.own) own = {process};
    const data::DatasetRef set =
        test::open_in_parts(folder_.file("parts"), {.own = own, .cache = {.share = share}});
    const auto store = feature::make_store(*set->graph, "x");
    loader::LoaderConfig config = config_of(setting, process, 1);
    base::Log log;
    config.prepare = loader::keep_rows(set, config.plan, log);
    loader::Loader loader(train_, sampler_, store, config, nullptr);
    loader.start_epoch(0);
    EXPECT_NE(*loader.next({}), nullptr);
    const auto parts = dist::parts_here(*set);
    EXPECT_EQ(parts->kept_rows, rows_of(share));
    const dist::Traffic& traffic = parts->parts->traffic();
    const int64_t hits_before = traffic.cached_rows;
    std::vector<float> rows;
    for (const auto& nodes : drawn) {
      rows.assign(nodes.size(), -1);
      store->gather(nodes, reinterpret_cast<uint8_t*>(rows.data()), nullptr);
      EXPECT_TRUE(std::ranges::equal(rows, nodes));
    }
    return static_cast<double>(traffic.cached_rows - hits_before);
  }

  const test::TempDir folder_;
  std::vector<int64_t> train_;
  std::vector<uint16_t> part_of_;
  std::shared_ptr<const partition::Book> book_;
  std::shared_ptr<const sample::Sampler> sampler_;
};

void expect_good(const graph::GraphRef& graph) {
  CacheQuality quality(graph);
  constexpr double kShares[] = {0.05, 0.1, 0.2};
  for (const Setting& setting : kSettings) {
    const auto hits = quality.of(setting, kShares);
    for (size_t i = 0; i < hits.size(); ++i) {
      std::printf("[ FIGURE   ] %s, %2.0f %% of the rows: by formula %.3f, by counting %.3f\n",
                  setting.name, 100 * kShares[i], hits[i].formula, hits[i].counting);
      EXPECT_GE(hits[i].formula, 0.93) << setting.name;
      EXPECT_GE(hits[i].counting, 0.96) << setting.name;
    }
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
