// The exchange of a step in a queue of the caller, with and without faults: for ranks of one
// process with late GPUs, and for ranks of a job.
#include <tuple>

#include "comm/device_buffer.h"
#include "comm/nccl_ranks.h"
#include "comm/spread_ranks.h"
#include "support/sanitized.h"

namespace gnnmg::test {
namespace {

using base::Status;
using comm::Collectives;
using comm::ReduceOp;
using comm::nccl::Result;
using testing::HasSubstr;
using SpreadFault = fake_nccl::Fault;

constexpr double kAtOnce = 20;  // s: far below the deadlines, and more than a loaded machine takes

void step(Collectives& comm, const DeviceBuffer& buffer, const comm::Wait& wait) {
  comm.queued()->all_reduce(buffer.view(), ReduceOp::kSum, buffer.queue(), wait);
  comm.queued()->finish(buffer.queue(), wait);
}

TEST(NcclQueued, AcrossProcesses) {
  for (const std::vector<int>& ranks :
       {std::vector<int>{1, 1}, {2, 2}, {1, 3}, {3}, {1}, {2, 1, 1}, {4, 4}}) {
    const SpreadRanks spread(ranks);
    const auto outcomes = spread.run([](Collectives& comm) {
      check_queued(comm, fake_gpu::devices(), comm.rank(), [] { return within_ms(60'000); });
      check_collectives(comm, 1000, [] { return within_ms(60'000); });
      comm.shutdown(within_ms(60'000));
    });
    for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
    HostRanks::expect_clean();
    EXPECT_EQ(fake_nccl::count().destroyed, spread.world());
  }
}

// More queued operations than the buffer has places for digests.
TEST(NcclQueued, ManyBeforeTheHostLooks) {
  const SpreadRanks spread({2, 1});
  const auto outcomes = spread.run([](Collectives& comm) {
    const DeviceBuffer buffer(fake_gpu::devices(), comm.rank(), 8);
    std::vector<float> ones(8, 1.0f), found(8);
    buffer.write(ones);
    for (int i = 0; i < 40; ++i)
      comm.queued()->all_reduce(buffer.view(), ReduceOp::kMean, buffer.queue(), within_ms(60'000));
    buffer.read(found);
    comm.queued()->finish(buffer.queue(), within_ms(60'000));
    expect_each(found, 1.0f, "mean of ones");
  });
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
  HostRanks::expect_clean();
}

// The host checks each step after the next one has started: nothing waits for the whole queue, and
// places for digests become free anyway.
TEST(NcclQueued, OneStepLate) {
  for (const std::vector<int>& ranks : {std::vector<int>{2, 1}, {1, 1}, {3}}) {
    const SpreadRanks spread(ranks);
    const auto outcomes = spread.run([](Collectives& comm) {
      const device::Table& table = fake_gpu::devices();
      const DeviceBuffer buffer(table, comm.rank(), 8), done(table, comm.rank(), 1);
      std::vector<float> mine(8), found(8);
      for (int step = 0; step < 60; ++step) {
        std::fill(mine.begin(), mine.end(), static_cast<float>(step));
        buffer.write(mine);
        comm.queued()->all_reduce(buffer.view(), ReduceOp::kMean, buffer.queue(),
                                  within_ms(60'000));
        buffer.read(found);
        if (step > 0)
          comm.queued()->await([&] { return table.finished(done.queue()); }, within_ms(60'000));
        table.wait(done.queue(), buffer.queue());
        if (step % 7 == 0) comm.barrier(within_ms(60'000));
      }
      comm.queued()->await([&] { return table.finished(done.queue()); }, within_ms(60'000));
      expect_each(found, 59.0f, "mean");
      comm.barrier(within_ms(60'000));
    });
    for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
    HostRanks::expect_clean();
  }
}

// Ranks of other processes that queue a different operation are found; the error names both.
TEST(NcclQueued, DifferentCallsAreRefusedEverywhere) {
  const std::vector<std::pair<const char*, std::function<void(Collectives&)>>> others = {
      {"f32 [7], sum, queued",
       [](Collectives& comm) {
         const DeviceBuffer buffer(fake_gpu::devices(), comm.rank(), 7);
         step(comm, buffer, within_ms(60'000));
       }},
      {"f32 [8], mean, queued",
       [](Collectives& comm) {
         const DeviceBuffer buffer(fake_gpu::devices(), comm.rank(), 8);
         comm.queued()->all_reduce(buffer.view(), ReduceOp::kMean, buffer.queue(),
                                   within_ms(60'000));
         comm.queued()->finish(buffer.queue(), within_ms(60'000));
       }},
      {"barrier", [](Collectives& comm) { comm.barrier(within_ms(60'000)); }}};
  for (const auto& [words, other] : others) {
    const SpreadRanks spread({1, 2});
    const auto outcomes = spread.run([&, &other = other](Collectives& comm) {
      if (comm.rank() == 2) return other(comm);
      const DeviceBuffer buffer(fake_gpu::devices(), comm.rank(), 8);
      step(comm, buffer, within_ms(60'000));
    });
    for (const Outcome& outcome : outcomes) {
      EXPECT_EQ(outcome.status, Status::kMismatch) << outcome.text;
      EXPECT_THAT(outcome.text, HasSubstr(words));
      EXPECT_THAT(outcome.text, HasSubstr("all_reduce(f32 [8], sum, queued)"));
      EXPECT_LT(outcome.seconds, kAtOnce);
    }
    HostRanks::expect_clean();
  }
}

// The host's call is part of the comparison.
TEST(NcclQueued, CallersThatDifferAreNamed) {
  const SpreadRanks spread({1, 1});
  const auto outcomes = spread.run([](Collectives& comm) {
    comm.set_caller(comm.rank() == 0 ? "train" : "evaluate");
    const DeviceBuffer buffer(fake_gpu::devices(), comm.rank(), 8);
    step(comm, buffer, within_ms(60'000));
  });
  for (const Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.status, Status::kMismatch) << outcome.text;
    EXPECT_THAT(outcome.text, HasSubstr("train"));
    EXPECT_THAT(outcome.text, HasSubstr("evaluate"));
  }
  HostRanks::expect_clean();
}

// One fault at the n-th call of one rank of three in two processes, in training steps and in every
// other operation, for every n until all ranks succeed.
void sweep(SpreadFault::Kind kind, Result result, int64_t deadline_ms, Status expected) {
  for (int hurt : {0, 2}) {
    int n = 1;
    for (bool well = false; !well; n += kSanitized ? 3 : 1) {
      ASSERT_LT(n, 200);
      const SpreadRanks spread({1, 2});
      fake_nccl::plan({kind, hurt, n, result});
      const auto body = [&](Collectives& comm) {
        const DeviceBuffer buffer(fake_gpu::devices(), comm.rank(), 8);
        const Outcome first = attempt([&] {
          for (int i = 0; i < 2; ++i) step(comm, buffer, within_ms(deadline_ms));
          check_collectives(comm, 3, [&] { return within_ms(deadline_ms); });
        });
        if (first.status == Status::kOk) return;
        for (const Outcome& again :
             {attempt([&] { step(comm, buffer, within_ms(60'000)); }),
              attempt([&] { comm.queued()->finish(buffer.queue(), within_ms(60'000)); })}) {
          EXPECT_EQ(again.status, Status::kAborted) << again.text;
          EXPECT_EQ(again.text, first.text);
          EXPECT_LT(again.seconds, kAtOnce);
        }
        throw base::Error(first.status, first.text);
      };
      // The end of a job may take until the next heartbeat.
      const auto outcomes =
          spread.run(body, [](comm::JoinConfig& config) { config.heartbeat_ms = 20; });
      HostRanks::expect_clean();
      well = std::ranges::all_of(
          outcomes, [](const Outcome& outcome) { return outcome.status == Status::kOk; });
      if (well) {
        EXPECT_LE(fake_nccl::calls(hurt), n);  // no error for a fault in the end itself
        break;
      }
      if (outcomes[static_cast<size_t>(hurt)].text.starts_with("rendezvous")) {
        // A fault while connecting has another deadline: all ranks fail, and the others name the
        // reason.
        for (const Outcome& outcome : outcomes) EXPECT_NE(outcome.status, Status::kOk);
        continue;
      }
      for (size_t r = 0; r < outcomes.size(); ++r) {
        EXPECT_LT(outcomes[r].seconds, kAtOnce) << "rank " << r << " at call " << n;
        if (static_cast<int>(r) == hurt) {
          EXPECT_EQ(outcomes[r].status, expected) << outcomes[r].text;
        } else {
          EXPECT_THAT(outcomes[r].status, testing::AnyOf(Status::kAborted, expected))
              << outcomes[r].text;
        }
        EXPECT_EQ(outcomes[r].text, outcomes[static_cast<size_t>(hurt)].text);
      }
      ASSERT_FALSE(testing::Test::HasFailure()) << "rank " << hurt << ", call " << n;
    }
    std::printf("[ FIGURE   ] rank %d of 3: faults at calls up to %d\n", hurt, n - 1);
  }
}

TEST(NcclQueuedFault, FailsAtEveryCall) {
  sweep(SpreadFault::kFails, Result::kInternalError, 30'000, Status::kInternal);
}
TEST(NcclQueuedFault, RefusesAnArgumentAtEveryCall) {
  sweep(SpreadFault::kFails, Result::kInvalidArgument, 30'000, Status::kInternal);
}
TEST(NcclQueuedFault, BreaksAtEveryCall) {
  sweep(SpreadFault::kBreaks, Result::kUnhandledCudaError, 30'000, Status::kInternal);
}
TEST(NcclQueuedFault, FailsItsNextQuestionAtEveryCall) {
  sweep(SpreadFault::kPollFails, Result::kInternalError, 30'000, Status::kInternal);
}

// A broken connection has a reason elsewhere; if no rank knows it, the error comes in time anyway.
TEST(NcclQueuedFault, ALostConnectionIsALostPeer) {
  const SpreadRanks spread({1, 1});
  const auto outcomes = spread.run([](Collectives& comm) {
    const DeviceBuffer buffer(fake_gpu::devices(), comm.rank(), 8);
    step(comm, buffer, within_ms(60'000));
    if (comm.rank() == 1)
      fake_nccl::plan({SpreadFault::kBreaks, 1, fake_nccl::calls(1) + 1, Result::kRemoteError});
    step(comm, buffer, within_ms(60'000));
  });
  EXPECT_EQ(outcomes[1].status, Status::kPeerLost) << outcomes[1].text;
  for (const Outcome& outcome : outcomes) EXPECT_LT(outcome.seconds, kAtOnce);
  HostRanks::expect_clean();
}

// GPUs of one process that work late: errors appear where the host waits. Parameters: the world,
// and whether the host waits for a point of the queue instead of all of it.
class NcclQueuedLater : public testing::TestWithParam<std::tuple<int, bool>> {
 protected:
  // The last rank's kernel of the second step fails; rank 0 is canceled after it has waited for
  // `cancel_ms`, unless that is 0.
  std::vector<Outcome> run(Fault::Kind kind, int64_t deadline_ms, int64_t cancel_ms = 0) {
    const int64_t ends_ms = cancel_ms > 0 ? cancel_ms : deadline_ms;
    const double waited_s = kind == Fault::kHangs ? static_cast<double>(ends_ms) / 1000 : 0;
    return run_nccl_ranks(nccl_group(world), [&](Collectives& comm) {
      const int me = comm.rank();
      const DeviceBuffer buffer(FakeGpus::devices(), me, 100);
      step(comm, buffer, within_ms(60'000));
      if (me == world - 1) gpus.plan({kind, me, gpus.calls(me) + 1, Result::kInternalError});
      comm.queued()->all_reduce(buffer.view(), ReduceOp::kSum, buffer.queue(), within_ms(60'000));
      const comm::Wait wait = within_ms(deadline_ms);
      std::thread canceller;
      if (me == 0 && cancel_ms > 0)
        canceller = std::thread([&] {
          std::this_thread::sleep_for(std::chrono::milliseconds(cancel_ms));
          wait.cancel.cancel();
        });
      const Outcome outcome = attempt([&] {
        if (!std::get<1>(GetParam())) return comm.queued()->finish(buffer.queue(), wait);
        comm.queued()->await([&] { return FakeGpus::devices().finished(buffer.queue()); }, wait);
      });
      if (canceller.joinable()) canceller.join();
      EXPECT_LT(outcome.seconds, waited_s + 3);
      if (outcome.status != Status::kOk) throw base::Error(outcome.status, outcome.text);
    });
  }
  const int world = std::get<0>(GetParam());
  FakeGpus gpus{world};
};

TEST_P(NcclQueuedLater, AKernelThatHangs) {
  for (const Outcome& outcome : run(Fault::kHangs, world == 2 ? 400 : 100)) {
    EXPECT_EQ(outcome.status, Status::kTimeout) << outcome.text;
    EXPECT_THAT(outcome.text, HasSubstr("s, though all ranks came"));
  }
  expect_clean();
}

TEST_P(NcclQueuedLater, AKernelThatBreaks) {
  const auto outcomes = run(Fault::kBreaks, 60'000);
  EXPECT_EQ(outcomes.back().status, Status::kInternal) << outcomes.back().text;
  for (const Outcome& outcome : outcomes) {
    EXPECT_NE(outcome.status, Status::kOk);
    EXPECT_EQ(outcome.text, outcomes.back().text);
  }
  expect_clean();
}

TEST_P(NcclQueuedLater, ACancelIsHeardWhileAKernelHangs) {
  const auto outcomes = run(Fault::kHangs, 60'000, 50);
  EXPECT_EQ(outcomes[0].status, Status::kCancelled) << outcomes[0].text;
  for (int r = 1; r < world; ++r) {
    EXPECT_EQ(outcomes[r].status, Status::kAborted) << outcomes[r].text;
    EXPECT_THAT(outcomes[r].text, HasSubstr("rank 0 was canceled"));
  }
  expect_clean();
}

INSTANTIATE_TEST_SUITE_P(Worlds, NcclQueuedLater,
                         testing::Combine(testing::Values(1, 2, 4), testing::Bool()));

}  // namespace
}  // namespace gnnmg::test
