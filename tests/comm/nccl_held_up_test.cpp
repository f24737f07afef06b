// Ranks whose threads are blocked after they have queued an exchange, as by a driver with a full
// launch queue: they check nothing until the queue makes progress. Ranks of one process with late
// GPUs; for several processes: train/gpu_process_fault_test.cpp.
#include <atomic>

#include "comm/device_buffer.h"
#include "comm/nccl_ranks.h"

namespace gnnmg::test {
namespace {

using base::Status;
using comm::Collectives;
using comm::ReduceOp;
using comm::nccl::Result;
using testing::HasSubstr;

// Milliseconds after which the test has failed and the rank goes on.
constexpr int64_t kTooLong = 10'000;

// Returns false if the queue is still busy after `ms`.
bool hold_up(const device::Table& table, device::Queue* queue, int64_t ms = kTooLong) {
  const base::Deadline until = base::Deadline::after_ms(ms);
  while (!table.finished(queue)) {
    if (until.passed()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

class NcclHeldUp : public testing::TestWithParam<int> {
 protected:
  // After a successful step the next exchange hangs on the last rank, and each rank runs
  // `meanwhile` and is blocked until the exchange ends. Returns the outcomes.
  std::vector<Outcome> run(const comm::Wait& wait,
                           const std::function<void(Collectives&)>& meanwhile = {}) {
    return run_nccl_ranks(nccl_group(world), [&](Collectives& comm) {
      const int me = comm.rank();
      const device::Table& table = FakeGpus::devices();
      const DeviceBuffer buffer(table, me, 100);
      comm.queued()->all_reduce(buffer.view(), ReduceOp::kSum, buffer.queue(), within_ms(60'000));
      comm.queued()->finish(buffer.queue(), within_ms(60'000));
      if (me == world - 1) gpus.plan({Fault::kHangs, me, gpus.calls(me) + 1, Result::kSuccess});
      comm.queued()->all_reduce(buffer.view(), ReduceOp::kSum, buffer.queue(), wait);
      Outcome outcome = attempt([&] {
        if (meanwhile) meanwhile(comm);
        EXPECT_TRUE(hold_up(table, buffer.queue())) << "rank " << me;
      });
      const double seconds = outcome.seconds;
      EXPECT_LT(seconds, kTooLong / 2000.0) << "rank " << me;
      if (outcome.status == Status::kOk)
        outcome = attempt([&] {
          comm.queued()->all_reduce(buffer.view(), ReduceOp::kSum, buffer.queue(),
                                    within_ms(60'000));
        });
      EXPECT_LT(outcome.seconds, 5);
      const Outcome again = attempt([&] { comm.barrier(within_ms(60'000)); });
      EXPECT_EQ(again.status, Status::kAborted) << again.text;
      throw base::Error(outcome.status, outcome.text);
    });
  }
  const int world = GetParam();
  FakeGpus gpus{world};
};
INSTANTIATE_TEST_SUITE_P(Worlds, NcclHeldUp, testing::Values(2, 4));

TEST_P(NcclHeldUp, UntilTheDeadline) {
  for (const Outcome& outcome : run(within_ms(500))) {
    EXPECT_EQ(outcome.status, Status::kTimeout) << outcome.text;
    EXPECT_THAT(outcome.text, HasSubstr("all_reduce: not done after "));
    EXPECT_THAT(outcome.text, HasSubstr(" s, though all ranks came"));
  }
  expect_clean();
}

TEST_P(NcclHeldUp, UntilItIsCancelled) {
  const comm::Wait wait = within_ms(60'000);
  std::atomic<int> held{0};
  std::thread canceller([&] {
    while (held < world) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    wait.cancel.cancel();
  });
  const auto outcomes = run(wait, [&](Collectives&) { ++held; });
  canceller.join();
  for (const Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.status, Status::kAborted) << outcome.text;
    EXPECT_THAT(outcome.text, HasSubstr("was canceled"));
  }
  expect_clean();
}

TEST_P(NcclHeldUp, UntilAnotherRankFails) {
  const auto outcomes = run(within_ms(60'000), [&](Collectives& comm) {
    if (comm.rank() != 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    comm.abort("rank 0 has had enough");
  });
  for (const Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.status, Status::kAborted) << outcome.text;
    EXPECT_EQ(outcome.text, "rank 0 has had enough");
  }
  expect_clean();
}

// An exchange that is done in time is never interrupted, however long its rank does something else.
TEST_P(NcclHeldUp, ByNothingButItself) {
  const auto outcomes = run_nccl_ranks(nccl_group(world), [&](Collectives& comm) {
    const DeviceBuffer buffer(FakeGpus::devices(), comm.rank(), 100);
    for (int step = 0; step < 2; ++step) {
      comm.barrier(within_ms(60'000));  // scheduling delays until here do not count
      comm.queued()->all_reduce(buffer.view(), ReduceOp::kSum, buffer.queue(), within_ms(500));
      std::this_thread::sleep_for(std::chrono::milliseconds(900));
      comm.queued()->finish(buffer.queue(), within_ms(60'000));
    }
  });
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
  expect_clean();
}

// While ranks are late for a good reason the deadline does not run, up to the stall limit.
TEST_P(NcclHeldUp, ByWhatIsExcused) {
  comm::Wait wait = within_ms(200);
  const auto begun = base::SteadyClock::now();
  wait.excused = [begun] {
    return base::SteadyClock::now() < begun + std::chrono::milliseconds(1000);
  };
  wait.stall = base::Deadline::after_ms(60'000);
  for (const Outcome& outcome : run(wait)) {
    EXPECT_EQ(outcome.status, Status::kTimeout) << outcome.text;
    EXPECT_THAT(outcome.text, testing::ContainsRegex("not done after [0-9.]+ s"));
  }
  EXPECT_FALSE(wait.excused());
  expect_clean();
}

}  // namespace
}  // namespace gnnmg::test
