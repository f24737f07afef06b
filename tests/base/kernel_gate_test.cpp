// Calls for memory and operations of ranks take turns, and nobody waits for ever.
#include "base/kernel_gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace gnnmg::base {
namespace {

void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

TEST(KernelGate, ACallWaitsForAllOperationsAndHoldsUpTheNext) {
  const auto gate = std::make_shared<KernelGate>();
  ASSERT_TRUE(gate->try_start());
  std::atomic<bool> called{false}, leave{false};
  std::thread caller([&] {
    KernelGate::set_current(gate);
    const MemoryCall call;
    const MemoryCall within;  // a part of it
    called = true;
    while (!leave) sleep_ms(1);
  });
  sleep_ms(20);
  EXPECT_FALSE(called);
  // A rank whose kernel another one's waits for is let in all the same.
  EXPECT_TRUE(gate->try_start());
  gate->finish();
  sleep_ms(20);
  EXPECT_FALSE(called);
  gate->finish();
  while (!called) sleep_ms(1);
  EXPECT_FALSE(gate->try_start());
  leave = true;
  caller.join();
  EXPECT_TRUE(gate->try_start());
  gate->finish();
}

TEST(KernelGate, AThreadWithoutOneWaitsForNothing) {
  const auto gate = std::make_shared<KernelGate>();
  ASSERT_TRUE(gate->try_start());
  EXPECT_EQ(KernelGate::current(), nullptr);
  { const MemoryCall call; }
  gate->finish();
}

// Two ranks meet before each operation, as those of a communicator do, and threads call for memory
// meanwhile.
TEST(KernelGate, TheTwoNeverOverlap) {
  const auto gate = std::make_shared<KernelGate>();
  constexpr int kOperations = 300;
  std::atomic<int> kernels{0}, calls{0}, overlaps{0}, come{0};
  std::atomic<int64_t> num_calls{0};
  std::atomic<bool> over{false};
  std::vector<std::thread> ranks, callers;
  for (int rank = 0; rank < 2; ++rank)
    ranks.emplace_back([&] {
      for (int i = 1; i <= kOperations; ++i) {
        // Slow enough that the others get their turns.
        while (num_calls < i / 6) std::this_thread::yield();
        ++come;
        while (come < 2 * i) std::this_thread::yield();
        while (!gate->try_start()) std::this_thread::yield();
        ++kernels;
        if (calls > 0) ++overlaps;
        --kernels;
        gate->finish();
      }
    });
  for (int k = 0; k < 2; ++k)
    callers.emplace_back([&] {
      KernelGate::set_current(gate);
      while (!over) {
        {
          const MemoryCall call;
          ++calls;
          if (kernels > 0) ++overlaps;
          --calls;
          ++num_calls;
        }
        sleep_ms(1);
      }
    });
  for (std::thread& rank : ranks) rank.join();
  over = true;
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(overlaps, 0);
  EXPECT_GE(num_calls, kOperations / 6);
}

}  // namespace
}  // namespace gnnmg::base
