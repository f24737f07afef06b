// The real NCCL with one rank per GPU in threads, at least one: created, used, ended in every way
// and created again. multi_test.cpp has the tests that need several GPUs.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <numeric>

#include "comm/device_buffer.h"
#include "comm/nccl/thread_group.h"
#include "comm/ranks.h"
#include "device/plugin.h"
#include "support/plugin.h"

namespace gnnmg::test {
namespace {

using base::Status;
using comm::Collectives;
using comm::ReduceOp;

class GpuNccl : public testing::Test {
 protected:
  void SetUp() override {
    if (!device::has_driver()) GTEST_SKIP() << "no driver, hence no GPU";
    static const device::Plugin plugin = device::open_plugin_at(plugin_path());
    ASSERT_TRUE(plugin.table) << plugin.why;
    table = plugin.table;
    if (table->num_devices() == 0) GTEST_SKIP() << "no GPU";
  }
  std::vector<Outcome> run(int world, const std::function<void(Collectives&)>& body) const {
    std::vector<int> devices(static_cast<size_t>(world));
    std::iota(devices.begin(), devices.end(), 0);
    const auto group =
        comm::nccl::make_thread_group(*table->of<comm::nccl::Table>(), *table, devices);
    std::vector<Outcome> outcomes(devices.size());
    std::vector<std::thread> threads;
    for (int r = 0; r < world; ++r)
      threads.emplace_back([&, r] {
        outcomes[static_cast<size_t>(r)] =
            attempt([&] { body(*group->connect(r, within_ms(120'000))); });
      });
    for (std::thread& thread : threads) thread.join();
    return outcomes;
  }
  void expect(const std::vector<Outcome>& outcomes, Status status) const {
    for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.status, status) << outcome.text;
  }
  const device::Table* table = nullptr;
};

TEST_F(GpuNccl, MadeUsedShutDownAndMadeAgain) {
  for (int round = 0; round < 2; ++round)
    expect(run(table->num_devices(),
               [&](Collectives& comm) {
                 const auto wait = [] { return within_ms(60'000); };
                 for (const int64_t count : {1, 1000, 70'001}) check_collectives(comm, count, wait);
                 check_queued(comm, *table, comm.rank(), wait);
                 comm.shutdown(wait());
               }),
           Status::kOk);
}

TEST_F(GpuNccl, AbortedAndMadeAgain) {
  expect(run(table->num_devices(),
             [](Collectives& comm) {
               comm.barrier(within_ms(60'000));
               comm.abort("enough");
               EXPECT_TRUE(comm.spent());
               comm.barrier(within_ms(60'000));
             }),
         Status::kAborted);
  expect(run(table->num_devices(), [](Collectives& comm) { comm.barrier(within_ms(60'000)); }),
         Status::kOk);
}

// With one rank in its queue, the deadline of finish() would report work that does not end. Here
// the work ends, and the wait ends with it.
TEST_F(GpuNccl, WhatIsQueuedIsWaitedForOnceAStep) {
  expect(run(1,
             [&](Collectives& comm) {
               constexpr int64_t kCount = 16 << 20;
               const DeviceBuffer buffer(*table, 0, kCount);
               std::vector<float> ones(kCount, 1.0f), found(kCount);
               buffer.write(ones);
               for (int i = 0; i < 10; ++i)
                 comm.queued()->all_reduce(buffer.view(), ReduceOp::kSum, buffer.queue(),
                                           within_ms(60'000));
               buffer.read(found);
               comm.queued()->finish(buffer.queue(), within_ms(60'000));
               expect_each(found, 1.0f, "sums of one rank");
             }),
         Status::kOk);
}

// Two communicators concurrently, and a thread that allocates and frees memory, which waits for
// kernels of all GPUs.
TEST_F(GpuNccl, BesideEachOtherWhileMemoryIsTaken) {
  std::atomic<bool> over{false};
  std::thread caller([&] {
    for (int64_t i = 0; !over; ++i) {
      const int device = static_cast<int>(i % table->num_devices());
      for (const device::Placement placement :
           {device::Placement::kPinned, device::Placement::kDevice})
        table->release(device, placement,
                       table->allocate(device, placement, (1 + i % 64) * (int64_t{1} << 20)));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  const auto work = [&] {
    expect(run(table->num_devices(),
               [&](Collectives& comm) {
                 for (int round = 0; round < 5; ++round)
                   check_queued(comm, *table, comm.rank(), [] { return within_ms(60'000); });
                 comm.shutdown(within_ms(60'000));
               }),
           Status::kOk);
  };
  std::thread other(work);
  work();
  other.join();
  over = true;
  caller.join();
}

TEST_F(GpuNccl, TwoRanksOnOneGpuAreRefused) {
  const auto group = comm::nccl::make_thread_group(*table->of<comm::nccl::Table>(), *table, {0, 0});
  std::vector<Outcome> outcomes(2);
  std::vector<std::thread> threads;
  for (int r = 0; r < 2; ++r)
    threads.emplace_back([&, r] {
      outcomes[static_cast<size_t>(r)] = attempt([&] { group->connect(r, within_ms(60'000)); });
    });
  for (std::thread& thread : threads) thread.join();
  expect(outcomes, Status::kInvalidArgument);
}

TEST_F(GpuNccl, ADeadlineIsKeptWhileConnecting) {
  const auto group = comm::nccl::make_thread_group(*table->of<comm::nccl::Table>(), *table, {0, 0});
  const Outcome outcome = attempt([&] { group->connect(0, within_ms(300)); });
  EXPECT_EQ(outcome.status, Status::kTimeout) << outcome.text;
  EXPECT_LT(outcome.seconds, 1.3 + 10);  // the first use of a GPU creates its context
}

}  // namespace
}  // namespace gnnmg::test
