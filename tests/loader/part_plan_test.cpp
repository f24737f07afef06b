// The epoch plan over parts: for many numbers of ids, parts, ranks and mini-batches per step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "base/philox.h"
#include "loader/part_shares.h"
#include "loader/plan.h"

namespace gnnmg {
namespace {

using loader::EpochPlan;
using loader::Partition;
using loader::PlanConfig;

// Nodes 0 .. count - 1 in parts, where higher parts have more nodes; part 1 of three or more has
// none.
std::shared_ptr<const partition::Book> uneven_book(int64_t count, int32_t num_parts) {
  std::vector<uint16_t> parts(count);
  base::Stream stream(base::stream_key(5, base::Purpose::kGenerator), 0);
  for (uint16_t& part : parts) {
    const auto most = std::max(stream.below(num_parts), stream.below(num_parts));
    part = static_cast<uint16_t>(num_parts > 2 && most == 1 ? 2 : most);
  }
  return std::make_shared<partition::Book>(partition::Book::from_parts(parts, num_parts));
}

// Returns every second node.
std::vector<int64_t> ids_of(const partition::Book& book) {
  std::vector<int64_t> ids;
  for (int64_t id = 0; id < book.num_nodes(); id += 2) ids.push_back(id);
  return ids;
}

PlanConfig by_parts(std::shared_ptr<const partition::Book> book, int64_t batch_size) {
  PlanConfig config;
  config.partition = Partition::kParts;
  config.batch_size = batch_size;
  config.book = std::move(book);
  return config;
}

std::vector<int64_t> all_ids(const EpochPlan& plan) {
  std::vector<int64_t> ids;
  for (int64_t number = 0; number < plan.num_batches(); ++number)
    ids.insert(ids.end(), plan.batch(number).begin(), plan.batch(number).end());
  return ids;
}

// Checks for each shape of a world: every mini-batch of a step belongs to one rank, ranks have as
// many as under the global plan, and each rank's are in ascending order.
void expect_shared_out(const std::vector<int64_t>& ids, PlanConfig config) {
  std::vector<EpochPlan> plans;
  for (config.rank = 0; config.rank < config.world_size; ++config.rank)
    plans.emplace_back(ids, config, 4);
  std::set<int64_t> numbers;
  for (int64_t step = 0; step < plans[0].num_steps(); ++step) {
    int64_t seeds = 0;
    for (int32_t rank = 0; rank < config.world_size; ++rank) {
      const std::vector<int64_t> own = plans[rank].own_batches(step);
      EXPECT_EQ(static_cast<int64_t>(own.size()), plans[rank].num_own(step));
      EXPECT_TRUE(std::is_sorted(own.begin(), own.end()));
      for (const int64_t number : own) {
        if (number < 0) {
          EXPECT_EQ(own.size(), 1u);
          continue;
        }
        EXPECT_EQ(number / plans[0].batches_per_step(), step);
        EXPECT_TRUE(numbers.insert(number).second) << number;
        seeds += static_cast<int64_t>(plans[rank].batch(number).size());
      }
    }
    EXPECT_EQ(seeds, plans[0].step_seeds(step));
  }
  EXPECT_EQ(static_cast<int64_t>(numbers.size()), plans[0].num_batches());
}

TEST(PartPlan, EveryIdIsUsedExactlyOnceWhateverTheWorld) {
  for (const int64_t count : {0, 1, 7, 64, 201}) {
    for (const int32_t num_parts : {1, 2, 5}) {
      const auto book = uneven_book(count, num_parts);
      const std::vector<int64_t> ids = ids_of(*book);
      for (const int64_t batch_size : {1, 3, 16, 1000}) {
        PlanConfig config = by_parts(book, batch_size);
        std::vector<int64_t> used = all_ids(EpochPlan(ids, config, 4));
        std::sort(used.begin(), used.end());
        ASSERT_EQ(used, ids) << count << " " << num_parts << " " << batch_size;
        for (const int32_t world : {1, 2, 3, 7}) {
          for (const int64_t group : {0, 1, 4, 12}) {
            config.world_size = world;
            config.batches_per_step = group;
            config.process_of_rank.clear();
            expect_shared_out(ids, config);
            for (int32_t rank = 0; rank < world; ++rank) config.process_of_rank.push_back(rank / 2);
            expect_shared_out(ids, config);
          }
        }
      }
    }
  }
}

TEST(PartPlan, AMiniBatchIsOfOnePart) {
  const auto book = uneven_book(500, 4);
  const std::vector<int64_t> ids = ids_of(*book);
  const EpochPlan plan(ids, by_parts(book, 8), 2);
  std::vector<int64_t> batches(4), short_ones(4);
  for (int64_t number = 0; number < plan.num_batches(); ++number) {
    const auto batch = plan.batch(number);
    const int32_t part = book->part_of(batch[0]);
    for (const int64_t id : batch) EXPECT_EQ(book->part_of(id), part);
    ++batches[part];
    short_ones[part] += batch.size() < 8;
  }
  EXPECT_EQ(batches[1], 0);
  for (const int64_t count : short_ones) EXPECT_LE(count, 1);
}

// Before any mini-batch each part has had its proportion of all earlier ones, up to one mini-batch
// and the deviations of the other parts.
TEST(PartPlan, PartsAreSpreadInProportion) {
  for (const std::vector<int64_t>& counts :
       {std::vector<int64_t>{10, 10, 10, 10}, {1, 5, 30}, {7, 0, 3, 100, 1}, {4}}) {
    const std::vector<uint16_t> parts = loader::spread_evenly(counts);
    const auto all = static_cast<double>(std::accumulate(counts.begin(), counts.end(), int64_t{0}));
    ASSERT_EQ(static_cast<double>(parts.size()), all);
    std::vector<int64_t> had(counts.size());
    for (size_t i = 0; i < parts.size(); ++i) {
      ++had[parts[i]];
      for (size_t p = 0; p < counts.size(); ++p) {
        const double share = static_cast<double>(counts[p]) / all;
        const double due = share * static_cast<double>(i + 1);
        const double off = 0.5 + share * static_cast<double>(counts.size()) / 2;
        EXPECT_LE(std::abs(static_cast<double>(had[p]) - due), off) << p << " after " << i;
      }
    }
    EXPECT_EQ(had, counts);
  }
  EXPECT_EQ(loader::spread_evenly(std::vector<int64_t>{2, 2, 2}),
            (std::vector<uint16_t>{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(loader::spread_evenly(std::vector<int64_t>{1, 3}), (std::vector<uint16_t>{1, 0, 1, 1}));
}

TEST(PartPlan, MiniBatchesFollowFromSeedEpochAndBookAlone) {
  const auto book = uneven_book(300, 3);
  const std::vector<int64_t> ids = ids_of(*book);
  PlanConfig config = by_parts(book, 7);
  const auto order = [&](uint64_t seed, uint64_t epoch) {
    config.seed = seed;
    return all_ids(EpochPlan(ids, config, epoch));
  };
  const std::vector<int64_t> first = order(1, 0);
  EXPECT_NE(first, order(1, 1));
  EXPECT_NE(first, order(2, 0));
  config.world_size = 4;
  config.rank = 2;
  config.batches_per_step = 6;
  config.process_of_rank = {0, 0, 1, 1};
  EXPECT_EQ(first, order(1, 0));

  // An independent Fisher-Yates shuffle of each part's ids, with the part's number.
  std::vector<std::vector<int64_t>> expected(3), found(3);
  for (const int64_t id : ids) expected[book->part_of(id)].push_back(id);
  for (size_t part = 0; part < expected.size(); ++part) {
    base::Stream stream(base::stream_key(1, base::Purpose::kPermutation, 0), part);
    for (size_t i = expected[part].size(); i > 1; --i)
      std::swap(expected[part][i - 1], expected[part][stream.below(i)]);
  }
  for (const int64_t id : first) found[book->part_of(id)].push_back(id);
  EXPECT_EQ(found, expected);

  config.shuffle = false;
  for (auto& list : found) list.clear();
  for (const int64_t id : order(9, 9)) found[book->part_of(id)].push_back(id);
  for (const auto& list : found) EXPECT_TRUE(std::is_sorted(list.begin(), list.end()));
}

TEST(PartPlan, DropLastLeavesOutEachPartsShortOne) {
  const auto book = uneven_book(300, 3);
  const std::vector<int64_t> ids = ids_of(*book);
  PlanConfig config = by_parts(book, 8);
  config.drop_last = true;
  const EpochPlan plan(ids, config, 1);
  std::vector<int64_t> counts(3);
  for (const int64_t id : ids) ++counts[book->part_of(id)];
  EXPECT_EQ(plan.num_batches(), counts[0] / 8 + counts[2] / 8);
  for (int64_t number = 0; number < plan.num_batches(); ++number)
    EXPECT_EQ(plan.batch(number).size(), 8u);
}

TEST(PartPlan, RanksTakeTheirOwnPartsFirst) {
  using Parts = std::vector<uint16_t>;
  using Ranks = std::vector<int32_t>;
  const auto ranks = [](const Parts& parts, int32_t world, const Ranks& processes = {},
                        const Ranks& of_parts = {}) {
    return loader::ranks_of_batches(parts, world, processes, of_parts);
  };
  EXPECT_EQ(ranks({1, 0, 3, 2}, 4), (Ranks{1, 0, 3, 2}));
  EXPECT_EQ(ranks({1, 1, 0, 0}, 2), (Ranks{1, 1, 0, 0}));
  EXPECT_EQ(ranks({2, 3, 1, 0}, 2), (Ranks{0, 1, 1, 0}));  // parts 0 and 2, 1 and 3
  EXPECT_EQ(ranks({1, 1, 1, 0}, 2), (Ranks{1, 1, 0, 0}));  // a rank takes no more than its share
  EXPECT_EQ(ranks({1, 1, 1}, 2), (Ranks{1, 0, 0}));        // rank 1 takes one of the three
  EXPECT_EQ(ranks({1, 0, 1, 0}, 4, {0, 0, 1, 1}), (Ranks{2, 0, 3, 1}));
  EXPECT_EQ(ranks({0}, 3), (Ranks{0}));
  EXPECT_EQ(ranks({2}, 3), (Ranks{0}));  // a single mini-batch is rank 0's
  EXPECT_EQ(ranks({}, 3), Ranks{});
  // Processes with other parts than p, p + P, ...
  EXPECT_EQ(ranks({0, 1, 2, 3}, 2, {}, {1, 1, 0, 0}), (Ranks{1, 1, 0, 0}));
  EXPECT_EQ(ranks({0, 1, 2, 3}, 4, {0, 0, 1, 1}, {1, 0, 1, 0}), (Ranks{2, 0, 3, 1}));
}

TEST(PartPlan, WhatDoesNotGoWithPartsIsNamed) {
  const auto book = uneven_book(20, 2);
  const auto error = [&](auto change, const std::vector<int64_t>& ids = {}) -> std::string {
    PlanConfig config = by_parts(book, 4);
    change(config);
    try {
      EpochPlan(ids, config, 0);
    } catch (const base::Error& thrown) {
      return base::text(static_cast<int>(thrown.status()), " ", thrown.what());
    }
    return "nothing thrown";
  };
  using testing::HasSubstr;
  EXPECT_THAT(error([](PlanConfig& c) { c.book = nullptr; }), HasSubstr("does not lie in parts"));
  EXPECT_THAT(error([](PlanConfig& c) { c.process_of_rank = {0, 1}; }),
              HasSubstr("processes of 2 ranks, expected 1"));
  EXPECT_THAT(error([](PlanConfig& c) { c.process_of_part = {0}; }),
              HasSubstr("processes of 1 parts, expected 2"));
  EXPECT_THAT(error([](PlanConfig& c) { c.batch_nodes = 3; }), HasSubstr("batch_nodes is 3"));
  EXPECT_THAT(error([](PlanConfig&) {}, {20}), HasSubstr("node 20"));
  // Any number of mini-batches per step is valid.
  EXPECT_EQ(error([](PlanConfig& c) { c.batches_per_step = 5; }), "nothing thrown");
}

TEST(PartPlan, HugeNumbersDoNotOverflow) {
  const auto book = uneven_book(30, 3);
  const std::vector<int64_t> ids = ids_of(*book);
  PlanConfig config = by_parts(book, INT64_MAX);
  config.batches_per_step = INT64_MAX;
  std::vector<int64_t> used = all_ids(EpochPlan(ids, config, 0));
  std::sort(used.begin(), used.end());
  EXPECT_EQ(used, ids);
}

}  // namespace
}  // namespace gnnmg
