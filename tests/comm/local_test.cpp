// Ranks of one process exchange through memory: the order of sums, many ranks, and one alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstring>
#include <random>

#include "comm/collective_checks.h"
#include "comm/engine.h"
#include "support/leftovers.h"

namespace gnnmg::test {
namespace {

using base::Status;
using comm::Collectives;

// The sizes are below, at and above one piece, so that one rank adds all or several share the sum.
TEST(Local, SumsAreInTheOrderOfRanks) {
  for (const int world : {2, 3, 8})
    for (const int64_t count : {1, 16'384, 100'003}) {
      std::vector<std::vector<float>> values(world);
      for (int r = 0; r < world; ++r) {
        std::mt19937 random(r + 1);
        std::normal_distribution<float> normal;
        values[r].resize(count);
        for (float& value : values[r]) value = normal(random);
      }
      std::vector<float> expected = values[0];
      for (int r = 1; r < world; ++r)
        for (int64_t i = 0; i < count; ++i) expected[i] += values[r][i];
      expect_all_well(run_ranks(comm::ThreadGroup::create(world), [&](Collectives& comm) {
        for (int round = 0; round < 20; ++round) {
          std::vector<float> sums = values[comm.rank()];
          comm.all_reduce(view_of(sums), comm::ReduceOp::kSum, within_ms(60'000));
          ASSERT_EQ(std::memcmp(sums.data(), expected.data(), count * sizeof(float)), 0);
        }
      }));
    }
}

TEST(Local, IntegersWrap) {
  expect_all_well(run_ranks(comm::ThreadGroup::create(2), [](Collectives& comm) {
    std::vector<int32_t> most{INT32_MAX};
    comm.all_reduce(view_of(most), comm::ReduceOp::kSum, within_ms(60'000));
    EXPECT_THAT(most, testing::ElementsAre(-2));
    std::vector<uint8_t> bytes{200};
    comm.all_reduce(view_of(bytes), comm::ReduceOp::kSum, within_ms(60'000));
    EXPECT_THAT(bytes, testing::ElementsAre(144));
  }));
}

// The limit leaves no descriptor free.
TEST(Local, ManyRanksNeedNoDescriptor) {
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(Leftovers::open_files());
  setrlimit(RLIMIT_NOFILE, &none);
  const auto outcomes = run_ranks(comm::ThreadGroup::create(64), [](Collectives& comm) {
    check_collectives(comm, 100, [] { return within_ms(60'000); });
  });
  setrlimit(RLIMIT_NOFILE, &before);
  expect_all_well(outcomes);
}

TEST(Local, RefusesBadSizes) {
  for (const int world : {0, -1, 257})
    EXPECT_EQ(attempt([&] { comm::ThreadGroup::create(world); }).status, Status::kInvalidArgument);
}

TEST(Local, ARankThatIsAloneCopiesAndEndsAsTheOthers) {
  const std::unique_ptr<Collectives> comm = comm::ThreadGroup::create(1)->connect(0, {});
  std::vector<float> from{1, 2, 3}, to(3, 0);
  const base::TensorView input{from.data(), base::DType::kF32, {3}};
  const base::TensorView output{to.data(), base::DType::kF32, {3}};
  comm->all_reduce(input, comm::ReduceOp::kMean, {});
  EXPECT_THAT(from, testing::ElementsAre(1, 2, 3));
  comm->all_gather(input, {{output}}, {});
  EXPECT_EQ(to, from);
  to.assign(3, 0);
  comm->all_to_all({{input}}, {{output}}, {});
  EXPECT_EQ(to, from);
  comm->broadcast(input, 0, {});
  comm->barrier({});
  EXPECT_FALSE(comm->spent());
  comm->abort("enough");
  EXPECT_TRUE(comm->spent());
  const auto seen = attempt([&] { comm->barrier({}); });
  EXPECT_EQ(seen.status, Status::kAborted);
  EXPECT_EQ(seen.text, "enough");
}

TEST(Local, ARankThatIsAloneIsCanceled) {
  const std::unique_ptr<Collectives> comm = comm::ThreadGroup::create(1)->connect(0, {});
  comm::Wait wait;
  wait.cancel.cancel();
  EXPECT_EQ(attempt([&] { comm->barrier(wait); }).status, Status::kCancelled);
  EXPECT_EQ(attempt([&] { comm->barrier({}); }).status, Status::kAborted);
}

}  // namespace
}  // namespace gnnmg::test
