// Tests of the fake itself: it computes NCCL's results, also in pieces, and planned faults occur.
#include "fake_nccl/fake_nccl.h"

#include <functional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "comm/collective_checks.h"
#include "comm/host_ranks.h"

namespace gnnmg::test {
namespace {

using base::Status;
using comm::Collectives;
using comm::nccl::Result;
using fake_nccl::Fault;

class FakeNccl : public testing::TestWithParam<int> {
 protected:
  const int world = GetParam();
  HostRanks ranks{world};
};

TEST_P(FakeNccl, EveryCollective) {
  const auto outcomes = ranks.run([](Collectives& comm) {
    // The last count is more than one piece, and not a multiple of it.
    for (const int64_t count : {1, 3, 1000, 70'001})
      check_collectives(comm, count, [] { return within_ms(60'000); });
    comm.shutdown(within_ms(60'000));
  });
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
  HostRanks::expect_clean();
  EXPECT_EQ(fake_nccl::count().made, world);
  EXPECT_EQ(fake_nccl::count().destroyed, world);
}

// Each kind of fault at a call of the last rank in the middle of the work: it ends in time, with
// the text of the affected rank.
TEST_P(FakeNccl, WhatIsPlannedComesToPass) {
  for (const Fault::Kind kind : {Fault::kFails, Fault::kPollFails, Fault::kHangs, Fault::kBreaks}) {
    const HostRanks fresh(world);
    fake_nccl::plan({kind, world - 1, 3, Result::kInternalError});
    const auto outcomes = fresh.run([&](Collectives& comm) {
      // The time of the one that hangs passes first.
      const bool hangs = kind == Fault::kHangs && comm.rank() == world - 1;
      for (int i = 0; i < 5; ++i) comm.barrier(within_ms(hangs ? 400 : 60'000));
    });
    const Outcome& hurt = outcomes.back();
    EXPECT_EQ(hurt.status, kind == Fault::kHangs ? Status::kTimeout : Status::kInternal)
        << hurt.text;
    for (const Outcome& outcome : outcomes) {
      EXPECT_NE(outcome.status, Status::kOk);
      EXPECT_EQ(outcome.text, hurt.text);
      EXPECT_LT(outcome.seconds, 4);
    }
    EXPECT_GE(fake_nccl::calls(world - 1), 3);
    HostRanks::expect_clean();
  }
}

TEST_P(FakeNccl, ALostDeviceIsSaid) {
  const auto outcomes = ranks.run([&](Collectives& comm) {
    comm.barrier(within_ms(60'000));
    if (comm.rank() == 0) fake_gpu::lose(0);
    comm.barrier(within_ms(60'000));
  });
  EXPECT_EQ(outcomes[0].status, Status::kDeviceLost) << outcomes[0].text;
  for (int r = 1; r < world; ++r) EXPECT_EQ(outcomes[r].status, Status::kAborted);
  HostRanks::expect_clean();
}

INSTANTIATE_TEST_SUITE_P(Worlds, FakeNccl, testing::Values(1, 2, 4, 8));

TEST(FakeNcclFaults, AreReadFromWords) {
  const auto faults =
      fake_nccl::parse_faults("rank=1,call=7,kind=hangs;call=9,kind=breaks,result=6");
  ASSERT_EQ(faults.size(), 2u);
  EXPECT_EQ(faults[0].rank, 1);
  EXPECT_EQ(faults[0].call, 7);
  EXPECT_EQ(faults[0].kind, Fault::kHangs);
  EXPECT_EQ(faults[1].rank, 0);
  EXPECT_EQ(faults[1].kind, Fault::kBreaks);
  EXPECT_EQ(faults[1].result, Result::kRemoteError);
  for (const char* bad : {"rank=1", "call=x", "call=1,kind=melts", "call=1,size=3"})
    EXPECT_THROW(fake_nccl::parse_faults(bad), std::exception) << bad;
}

// Rules whose violation would crash or hang a real NCCL.
TEST(FakeNcclRules, AreWatched) {
  const HostRanks one(1);
  const comm::nccl::Table& nccl = fake_nccl::table(fake_gpu::devices());
  comm::nccl::Id id;
  ASSERT_EQ(nccl.unique_id(&id), Result::kSuccess);
  comm::nccl::Communicator* comm = nullptr;
  ASSERT_EQ(nccl.init_rank(&comm, 1, &id, 0, 0), Result::kInProgress);
  float value = 2;
  const auto reduce = [&] {
    return nccl.all_reduce(&value, &value, 1, comm::nccl::Type::kF32, comm::nccl::Reduction::kSum,
                           comm, nullptr);
  };
  EXPECT_EQ(reduce(), Result::kInvalidArgument);
  EXPECT_THAT(fake_nccl::violations(), testing::ElementsAre("an operation while in progress"));
  nccl.abort(comm);
  reduce();
  EXPECT_THAT(fake_nccl::violations(),
              testing::Contains("an operation on a communicator that is gone"));
}

std::vector<std::function<bool()>> put_off;

// Operations of a stream: the calls return, and the operations end when the stream has run them; a
// hanging one ends by an abort.
TEST(FakeNcclLater, OperationsAreAStreams) {
  const HostRanks one(1);
  const comm::nccl::Table& nccl = fake_nccl::table(fake_gpu::devices());
  fake_nccl::put_off_operations(
      [](void*, std::function<bool()> work) { put_off.push_back(std::move(work)); });
  fake_nccl::plan({Fault::kHangs, 0, 4, Result::kSuccess});
  comm::nccl::Id id;
  ASSERT_EQ(nccl.unique_id(&id), Result::kSuccess);
  comm::nccl::Communicator* comm = nullptr;
  ASSERT_EQ(nccl.init_rank(&comm, 1, &id, 0, 0), Result::kInProgress);
  Result state = Result::kInProgress;
  while (state == Result::kInProgress) nccl.async_error(comm, &state);
  ASSERT_EQ(state, Result::kSuccess);
  const float value = 2;
  float sums[2] = {};
  for (float& sum : sums) {
    EXPECT_EQ(nccl.all_reduce(&value, &sum, 1, comm::nccl::Type::kF32, comm::nccl::Reduction::kSum,
                              comm, nullptr),
              Result::kSuccess);
    nccl.async_error(comm, &state);
    EXPECT_EQ(state, Result::kSuccess);
    EXPECT_EQ(sum, 0);
  }
  ASSERT_EQ(put_off.size(), 2u);
  EXPECT_TRUE(put_off[0]());
  EXPECT_EQ(sums[0], 2);
  EXPECT_FALSE(put_off[1]());
  EXPECT_FALSE(put_off[1]());
  nccl.abort(comm);
  EXPECT_TRUE(put_off[1]());
  EXPECT_EQ(sums[1], 0);
  put_off.clear();
  HostRanks::expect_clean();
}

}  // namespace
}  // namespace gnnmg::test
