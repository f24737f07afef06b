// The epoch plan's guarantees, for many numbers of ids, ranks and mini-batches per step.
#include "loader/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "base/philox.h"

namespace gnnmg {
namespace {

using loader::EpochPlan;
using loader::Partition;
using loader::PlanConfig;

std::vector<int64_t> some_ids(int64_t count) {
  std::vector<int64_t> ids(count);
  std::iota(ids.begin(), ids.end(), 1000);
  return ids;
}

std::vector<int64_t> list(std::span<const int64_t> ids) { return {ids.begin(), ids.end()}; }

// Returns the ids of each rank in the whole epoch, after checks that hold for every plan.
std::vector<std::vector<int64_t>> walk(const std::vector<int64_t>& ids, PlanConfig config,
                                       uint64_t epoch) {
  std::vector<std::vector<int64_t>> by_rank(config.world_size);
  std::vector<EpochPlan> plans;
  for (int32_t rank = 0; rank < config.world_size; ++rank) {
    config.rank = rank;
    plans.emplace_back(ids, config, epoch);
    EXPECT_EQ(plans[rank].num_steps(), plans[0].num_steps());
    EXPECT_EQ(plans[rank].num_batches(), plans[0].num_batches());
  }
  std::set<int64_t> numbers;
  for (int64_t step = 0; step < plans[0].num_steps(); ++step) {
    int64_t seeds = 0;
    for (int32_t rank = 0; rank < config.world_size; ++rank) {
      const EpochPlan& plan = plans[rank];
      EXPECT_EQ(plan.step_seeds(step), plans[0].step_seeds(step));
      const std::vector<int64_t> own = plan.own_batches(step);
      EXPECT_EQ(static_cast<int64_t>(own.size()), plan.num_own(step));
      EXPECT_GE(own.size(), 1u);
      for (size_t i = 0; i < own.size(); ++i) {
        EXPECT_EQ(own[i], plan.own_batch(step, static_cast<int64_t>(i)));
        if (own[i] < 0) continue;
        EXPECT_EQ(own[i] / plan.batches_per_step(), step);
        EXPECT_EQ(own[i] % plan.batches_per_step() % config.world_size, rank);
        EXPECT_TRUE(numbers.insert(own[i]).second) << own[i];
        EXPECT_EQ(list(plan.batch(own[i])), list(plans[0].batch(own[i])));
        EXPECT_FALSE(plan.batch(own[i]).empty());
        EXPECT_LE(static_cast<int64_t>(plan.batch(own[i]).size()), config.batch_size);
        seeds += static_cast<int64_t>(plan.batch(own[i]).size());
        by_rank[rank].insert(by_rank[rank].end(), plan.batch(own[i]).begin(),
                             plan.batch(own[i]).end());
      }
    }
    EXPECT_EQ(seeds, plans[0].step_seeds(step));
    EXPECT_GT(seeds, 0);
  }
  EXPECT_TRUE(plans[0].batch(-1).empty());
  EXPECT_TRUE(plans[0].batch(plans[0].num_batches()).empty());
  EXPECT_EQ(plans[0].step_seeds(plans[0].num_steps()), 0);
  return by_rank;
}

std::vector<int64_t> sorted_union(const std::vector<std::vector<int64_t>>& lists) {
  std::vector<int64_t> all;
  for (const auto& part : lists) all.insert(all.end(), part.begin(), part.end());
  std::sort(all.begin(), all.end());
  return all;
}

TEST(EpochPlan, EveryIdIsUsedExactlyOnceWhateverTheWorld) {
  for (const int64_t count : {0, 1, 2, 7, 31, 32, 33, 100}) {
    for (const int64_t batch_size : {1, 3, 8, 32, 1000}) {
      for (const int32_t world : {1, 2, 3, 4, 7}) {
        for (const int64_t group : {0, 1, 2, 4, 5, 12}) {
          for (const bool shuffle : {false, true}) {
            PlanConfig config;
            config.batch_size = batch_size;
            config.world_size = world;
            config.batches_per_step = group;
            config.shuffle = shuffle;
            const std::vector<int64_t> ids = some_ids(count);
            ASSERT_EQ(sorted_union(walk(ids, config, 3)), ids)
                << count << " " << batch_size << " " << world << " " << group;
            config.drop_last = true;
            ASSERT_EQ(static_cast<int64_t>(sorted_union(walk(ids, config, 3)).size()),
                      count / batch_size * batch_size);
          }
        }
      }
    }
  }
}

// The steps equal those of one rank, which makes training independent of the world size.
TEST(EpochPlan, StepsAreTheSameAtAnyWorldSize) {
  const std::vector<int64_t> ids = some_ids(101);
  for (const int64_t group : {1, 4, 6}) {
    std::vector<std::vector<std::vector<int64_t>>> steps;  // per world size
    for (const int32_t world : {1, 2, 4, 5}) {
      PlanConfig config;
      config.batch_size = 9;
      config.batches_per_step = group;
      config.world_size = world;
      const EpochPlan plan(ids, config, 1);
      steps.emplace_back();
      for (int64_t number = 0; number < plan.num_batches(); ++number)
        steps.back().push_back(list(plan.batch(number)));
      EXPECT_EQ(plan.num_steps(), (plan.num_batches() + group - 1) / group);
      EXPECT_EQ(steps.back(), steps[0]);
    }
  }
}

TEST(EpochPlan, TheOrderFollowsFromSeedAndEpoch) {
  const std::vector<int64_t> ids = some_ids(500);
  const auto order = [&](uint64_t seed, uint64_t epoch) {
    PlanConfig config;
    config.seed = seed;
    return walk(ids, config, epoch)[0];
  };
  EXPECT_EQ(order(1, 0), order(1, 0));
  EXPECT_NE(order(1, 0), order(1, 1));
  EXPECT_NE(order(1, 0), order(2, 0));

  // An independent Fisher-Yates shuffle from the end.
  std::vector<int64_t> expected = ids;
  base::Stream stream(base::stream_key(1, base::Purpose::kPermutation, 5), 0);
  for (int64_t i = 499; i > 0; --i)
    std::swap(expected[i], expected[stream.below(static_cast<uint64_t>(i) + 1)]);
  EXPECT_EQ(order(1, 5), expected);

  PlanConfig config;
  config.shuffle = false;
  EXPECT_EQ(walk(ids, config, 7)[0], ids);
}

// Each of the 120 orders of five ids is as frequent as the others.
TEST(EpochPlan, OrdersAreUniform) {
  const std::vector<int64_t> ids = some_ids(5);
  std::map<std::vector<int64_t>, int> counts;
  constexpr int kEpochs = 60000;
  for (int epoch = 0; epoch < kEpochs; ++epoch)
    ++counts[list(EpochPlan(ids, PlanConfig{}, epoch).batch(0))];
  EXPECT_EQ(counts.size(), 120u);
  double chi_square = 0;
  for (const auto& [order, count] : counts)
    chi_square += (count - kEpochs / 120.0) * (count - kEpochs / 120.0) / (kEpochs / 120.0);
  EXPECT_LT(chi_square, 190);  // 119 degrees of freedom: p < 5e-5
  EXPECT_GT(chi_square, 65);
}

// PyTorch's DistributedSampler without shuffling: indices are padded by repetition, rank r takes
// every W-th from the r-th on.
TEST(EpochPlan, DistributedSamplerPadsAndDeals) {
  for (const int64_t count : {1, 2, 5, 10, 11, 12}) {
    for (const int32_t world : {1, 2, 3, 4, 9}) {
      PlanConfig config;
      config.partition = Partition::kDistributedSampler;
      config.shuffle = false;
      config.batch_size = 2;
      config.world_size = world;
      const std::vector<int64_t> ids = some_ids(count);
      std::vector<int64_t> padded = ids;
      while (padded.size() % world) padded.push_back(ids[(padded.size() - count) % count]);
      const auto by_rank = walk(ids, config, 0);
      for (int32_t rank = 0; rank < world; ++rank) {
        std::vector<int64_t> expected;
        for (size_t i = rank; i < padded.size(); i += world) expected.push_back(padded[i]);
        EXPECT_EQ(by_rank[rank], expected) << count << " ids, rank " << rank << " of " << world;
      }
      config.shuffle = true;  // all ranks the same number, every id at least once
      const auto shuffled = walk(ids, config, 2);
      for (const auto& part : shuffled) EXPECT_EQ(part.size(), padded.size() / world);
      std::vector<int64_t> all = sorted_union(shuffled);
      all.erase(std::unique(all.begin(), all.end()), all.end());
      EXPECT_EQ(all, ids);
    }
  }
}

TEST(EpochPlan, ContiguousSlicesArePermutedApart) {
  const std::vector<int64_t> ids = some_ids(11);
  PlanConfig config;
  config.partition = Partition::kContiguous;
  config.batch_size = 2;
  config.world_size = 4;
  config.shuffle = false;
  using Lists = std::vector<std::vector<int64_t>>;
  const Lists slices = {{1000, 1001, 1002}, {1003, 1004, 1005}, {1006, 1007, 1008}, {1009, 1010}};
  EXPECT_EQ(walk(ids, config, 0), slices);
  config.shuffle = true;
  Lists shuffled = walk(ids, config, 0);
  for (auto& part : shuffled) std::sort(part.begin(), part.end());
  EXPECT_EQ(shuffled, slices);
  EXPECT_NE(walk(some_ids(100), config, 0), walk(some_ids(100), config, 1));
  config.drop_last = true;
  for (const auto& part : walk(ids, config, 0)) EXPECT_EQ(part.size(), 2u);
}

// Graph g has 1 + g * 7 % 12 nodes.
base::Tensor graphs(int64_t count) {
  base::Tensor ptr = base::Tensor::zeros(base::DType::kI64, {count + 1});
  const auto values = ptr.as<int64_t>();
  for (int64_t g = 0; g < count; ++g) values[g + 1] = values[g] + 1 + g * 7 % 12;
  return ptr;
}

// Every graph appears once; only mini-batches of a single graph have more nodes than allowed, and
// none has room for the next graph.
TEST(EpochPlan, MiniBatchesByNodesAreFull) {
  for (const int64_t count : {0, 1, 2, 33, 100})
    for (const int64_t most : {1, 11, 40, 100000})
      for (const int64_t batch_size : {1, 5, 1000}) {
        std::vector<int64_t> ids(count);
        std::iota(ids.begin(), ids.end(), 0);
        PlanConfig config;
        config.batch_size = batch_size;
        config.batch_nodes = most;
        config.graph_ptr = graphs(count);
        config.batches_per_step = 3;
        const auto ptr = config.graph_ptr.as<const int64_t>();
        const auto nodes_of = [&](int64_t graph) { return ptr[graph + 1] - ptr[graph]; };
        for (const int32_t world : {1, 2, 4}) {
          config.world_size = world;
          EXPECT_EQ(sorted_union(walk(ids, config, 3)), ids);
        }
        config.world_size = 1;
        const EpochPlan plan(ids, config, 3);
        for (int64_t number = 0; number < plan.num_batches(); ++number) {
          const auto batch = plan.batch(number);
          int64_t nodes = 0;
          for (int64_t graph : batch) nodes += nodes_of(graph);
          EXPECT_TRUE(nodes <= most || batch.size() == 1) << nodes;
          if (number + 1 == plan.num_batches()) break;
          const int64_t next = plan.batch(number + 1)[0];
          EXPECT_TRUE(nodes + nodes_of(next) > most ||
                      static_cast<int64_t>(batch.size()) == batch_size);
        }
      }
}

TEST(EpochPlan, MiniBatchesByNodesFollowTheOrderOfTheEpoch) {
  std::vector<int64_t> ids(60);
  std::iota(ids.begin(), ids.end(), 0);
  PlanConfig config;
  config.batch_size = 7;
  const auto order_of = [&](uint64_t epoch) {
    const EpochPlan plan(ids, config, epoch);
    std::vector<int64_t> order;
    for (int64_t number = 0; number < plan.num_batches(); ++number) {
      const auto batch = plan.batch(number);
      order.insert(order.end(), batch.begin(), batch.end());
    }
    return order;
  };
  const std::vector<int64_t> by_count = order_of(2);
  config.batch_nodes = 30;
  config.graph_ptr = graphs(60);
  EXPECT_EQ(order_of(2), by_count);
  EXPECT_NE(order_of(3), by_count);
}

TEST(EpochPlan, WrongConfigsAreNamed) {
  const auto message = [](auto change) -> std::string {
    PlanConfig config;
    change(config);
    try {
      EpochPlan({}, config, 0);
    } catch (const base::Error& error) {
      const bool of_rank = std::string_view(error.what()).starts_with("rank is");
      EXPECT_EQ(error.status(), of_rank ? base::Status::kNotFound : base::Status::kInvalidArgument);
      return error.what();
    }
    return "nothing thrown";
  };
  using testing::HasSubstr;
  EXPECT_THAT(message([](PlanConfig& c) { c.batch_size = 0; }), HasSubstr("batch_size is 0"));
  EXPECT_THAT(message([](PlanConfig& c) { c.world_size = 0; }), HasSubstr("world_size is 0"));
  EXPECT_THAT(message([](PlanConfig& c) { c.rank = 1; }), HasSubstr("rank is 1, expected 0 to 0"));
  EXPECT_THAT(message([](PlanConfig& c) { c.rank = -1; }), HasSubstr("rank is -1"));
  EXPECT_THAT(message([](PlanConfig& c) { c.batches_per_step = -1; }),
              HasSubstr("batches_per_step is -1"));
  EXPECT_THAT(message([](PlanConfig& c) { c.partition = static_cast<Partition>(4); }),
              HasSubstr("partition is 4, expected 0 to 3"));
  EXPECT_THAT(message([](PlanConfig& c) { c.partition = static_cast<Partition>(-1); }),
              HasSubstr("partition is -1"));
  EXPECT_THAT(message([](PlanConfig& c) {
                c.partition = Partition::kContiguous;
                c.batches_per_step = 4;
                c.world_size = 2;
              }),
              HasSubstr("batches_per_step is 4, expected 2"));
  EXPECT_THAT(message([](PlanConfig& c) { c.batch_nodes = -1; }), HasSubstr("batch_nodes is -1"));
  EXPECT_THAT(message([](PlanConfig& c) { c.batch_nodes = 5; }), HasSubstr("not of graphs"));
  EXPECT_THAT(message([](PlanConfig& c) {
                c.batch_nodes = 5;
                c.graph_ptr = graphs(3);
                c.drop_last = true;
              }),
              HasSubstr("not with drop_last"));
  EXPECT_THAT(message([](PlanConfig& c) {
                c.batch_nodes = 5;
                c.graph_ptr = graphs(3);
                c.partition = Partition::kContiguous;
              }),
              HasSubstr("plan=global alone"));
}

TEST(EpochPlan, HugeNumbersDoNotOverflow) {
  PlanConfig config;
  config.batch_size = INT64_MAX;
  config.batches_per_step = INT64_MAX;
  const std::vector<int64_t> ids = some_ids(10);
  EXPECT_EQ(sorted_union(walk(ids, config, 0)), ids);
  config.partition = Partition::kContiguous;
  config.batches_per_step = 0;
  config.world_size = 3;
  EXPECT_EQ(sorted_union(walk(ids, config, 0)), ids);
}

}  // namespace
}  // namespace gnnmg
