// Runs a body on every rank of a new NCCL group over host GPUs and the fake NCCL of all processes.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/background.h"
#include "comm/nccl/thread_group.h"
#include "comm/ranks.h"
#include "fake_gpu/fake_gpu.h"
#include "fake_nccl/fake_nccl.h"

namespace gnnmg::test {

// One GPU per rank, without planned faults.
class HostRanks {
 public:
  explicit HostRanks(int world) : world_(world) {
    fake_nccl::reset();
    fake_gpu::set_devices(world);
  }
  std::shared_ptr<comm::ThreadGroup> group() const {
    std::vector<int> devices(static_cast<size_t>(world_));
    std::iota(devices.begin(), devices.end(), 0);
    return comm::nccl::make_thread_group(fake_nccl::table(fake_gpu::devices()), fake_gpu::devices(),
                                         devices);
  }
  std::vector<Outcome> run(const std::function<void(comm::Collectives&)>& body,
                           int64_t connect_ms = 60'000) const {
    const auto ranks = group();
    std::vector<Outcome> outcomes(static_cast<size_t>(world_));
    std::vector<std::thread> threads;
    for (int r = 0; r < world_; ++r)
      threads.emplace_back([&, r] {
        outcomes[static_cast<size_t>(r)] =
            attempt([&] { body(*ranks->connect(r, within_ms(connect_ms))); });
      });
    for (std::thread& thread : threads) thread.join();
    return outcomes;
  }
  // Checks that every communicator has ended once, nothing is held, and no rule of NCCL was broken.
  static void expect_clean() {
    for (int i = 0; i < 2000 && base::num_left() > 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const fake_nccl::Count count = fake_nccl::count();
    EXPECT_EQ(count.made, count.aborted + count.destroyed);
    EXPECT_EQ(count.streams, 0);
    EXPECT_EQ(fake_gpu::num_held(), 0);
    EXPECT_EQ(base::num_left(), 0);
    EXPECT_THAT(fake_nccl::violations(), testing::IsEmpty());
  }

 private:
  const int world_;
};

}  // namespace gnnmg::test
