// Runs a body on every rank of a new group over fake GPUs, and checks that nothing is left.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/background.h"
#include "comm/fake_gpus.h"
#include "comm/nccl/thread_group.h"
#include "comm/ranks.h"

namespace gnnmg::test {

inline std::shared_ptr<comm::ThreadGroup> nccl_group(int world) {
  std::vector<int> devices(static_cast<size_t>(world));
  std::iota(devices.begin(), devices.end(), 0);
  return comm::nccl::make_thread_group(FakeGpus::nccl(), FakeGpus::devices(), devices);
}

inline std::vector<Outcome> run_nccl_ranks(
    const std::shared_ptr<comm::ThreadGroup>& group,
    const std::function<void(comm::Collectives&)>& body,
    const std::function<comm::Wait(int rank)>& wait_of = [](int) { return within_ms(60'000); }) {
  std::vector<Outcome> outcomes(static_cast<size_t>(group->world_size()));
  std::vector<std::thread> threads;
  for (int r = 0; r < group->world_size(); ++r)
    threads.emplace_back([&, r] {
      fake_nccl::act_as(r);
      outcomes[r] = attempt([&] { body(*group->connect(r, wait_of(r))); });
    });
  for (std::thread& thread : threads) thread.join();
  return outcomes;
}

// Checks that every communicator has ended once, and no device resource is held.
inline void expect_clean() {
  for (int i = 0; i < 2000 && base::num_left() > 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const fake_nccl::Count count = fake_nccl::count();
  EXPECT_EQ(count.made, count.aborted + count.destroyed);
  EXPECT_EQ(count.streams, 0);
  EXPECT_EQ(fake_gpu::num_held(), 0);
  EXPECT_EQ(base::num_left(), 0);
  EXPECT_THAT(fake_nccl::violations(), testing::IsEmpty());
}

}  // namespace gnnmg::test
