// Communicators of one process next to each other and to threads that allocate memory: no memory
// call happens while a rank's kernel waits for another rank's kernel, which the call could block.
#include <atomic>
#include <chrono>
#include <functional>

#include "comm/device_buffer.h"
#include "comm/spread_ranks.h"
#include "device/launch_order.h"

namespace gnnmg::test {
namespace {

using base::Status;
using comm::Collectives;
using comm::ReduceOp;

void sleep_us(int us) { std::this_thread::sleep_for(std::chrono::microseconds(us)); }

// Makes memory calls again and again until it is destroyed, like threads without a communicator.
// Each call takes a while, in which other threads continue.
class Callers {
 public:
  Callers() {
    run([] {
      const device::MemoryCall call;
      check("a thread takes memory");
    });
    run([] {
      fake_nccl::begin_growth();
      check("LibTorch takes memory");
      fake_nccl::end_growth();
    });
  }
  ~Callers() {
    over_ = true;
    for (std::thread& thread : threads_) thread.join();
    EXPECT_GT(calls_, 10);
  }

 private:
  static void check(const char* what) {
    fake_nccl::check_memory_call(what);
    sleep_us(300);
    fake_nccl::check_memory_call(what);
  }
  void run(const std::function<void()>& call) {
    threads_.emplace_back([this, call] {
      while (!over_) {
        call();
        ++calls_;
        sleep_us(200);
      }
    });
  }
  std::atomic<bool> over_{false};
  std::atomic<int> calls_{0};
  std::vector<std::thread> threads_;
};

// Work of ranks in which none of them is in step with the others.
void work(Collectives& comm, int steps) {
  const DeviceBuffer buffer(fake_gpu::devices(), comm.rank(), 64);
  std::vector<float> ones(64, 1.0f);
  buffer.write(ones);
  for (int i = 0; i < steps; ++i) {
    sleep_us(100 * ((comm.rank() + i) % comm.world_size()));
    comm.queued()->all_reduce(buffer.view(1 + i % 64), ReduceOp::kMean, buffer.queue(),
                              within_ms(60'000));
    if (i % 5 == 0) comm.barrier(within_ms(60'000));
  }
  comm.queued()->finish(buffer.queue(), within_ms(60'000));
  comm.shutdown(within_ms(60'000));
}

TEST(NcclGate, ThreadsOfNoCommunicatorWaitForLaunches) {
  const HostRanks ranks(3);
  {
    const auto made = ranks.group();  // LibTorch's allocations are reported from now on
    const Callers callers;
    for (const Outcome& outcome : ranks.run([](Collectives& comm) { work(comm, 60); }))
      EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
  }
  HostRanks::expect_clean();
}

// The second communicator starts, ends, and connects for operations of new sizes while the first
// one works.
TEST(NcclGate, CommunicatorsBesideEachOther) {
  const HostRanks ranks(2);
  {
    const auto made = ranks.group();
    const Callers callers;
    std::thread beside([&] {
      for (int i = 0; i < 4; ++i)
        for (const Outcome& outcome : ranks.run([](Collectives& comm) { work(comm, 20); }))
          EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
    });
    for (const Outcome& outcome : ranks.run([](Collectives& comm) { work(comm, 80); }))
      EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
    beside.join();
  }
  HostRanks::expect_clean();
}

// A rank that comes late to a step finds no kernel of the others running.
TEST(NcclGate, NothingIsStartedBeforeAllRanksHaveCome) {
  for (const std::vector<int>& processes : {std::vector<int>{3}, {2, 1}}) {
    const SpreadRanks spread(processes);
    const auto outcomes = spread.run([](Collectives& comm) {
      const DeviceBuffer buffer(fake_gpu::devices(), comm.rank(), 8);
      std::vector<float> ones(8, 1.0f), found(8);
      buffer.write(ones);
      for (int step = 0; step < 12; ++step) {
        if (comm.rank() == step % 2) {
          sleep_us(3000);
          fake_nccl::check_memory_call("a rank takes memory");
        }
        comm.queued()->all_reduce(buffer.view(), ReduceOp::kMean, buffer.queue(),
                                  within_ms(60'000));
      }
      comm.queued()->finish(buffer.queue(), within_ms(60'000));
      buffer.read(found);
      expect_each(found, 1.0f, "mean of ones");
    });
    for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
    // Ranks of other processes are threads of this process here, and wait for each other anyway.
    if (processes.size() == 1) HostRanks::expect_clean();
  }
}

// A failed rank blocks no unrelated communicator.
TEST(NcclGate, ARankThatFailsHoldsUpNobody) {
  const HostRanks ranks(2);
  fake_nccl::plan({fake_nccl::Fault::kFails, 1, 4, comm::nccl::Result::kInternalError});
  const auto outcomes = ranks.run([](Collectives& comm) { work(comm, 10); });
  for (const Outcome& outcome : outcomes) EXPECT_NE(outcome.status, Status::kOk);
  const double most = std::chrono::duration<double>(device::LaunchOrder::kPatience).count() / 2;
  EXPECT_LT(attempt([] { const device::MemoryCall call; }).seconds, most);
  HostRanks::expect_clean();
}

}  // namespace
}  // namespace gnnmg::test
