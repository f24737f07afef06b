// Threads of loops and of LibTorch's operators: how many there are, and that they sleep.
#include "nn/torch/parallel.h"

#include <ATen/Parallel.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <functional>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "nn/torch/intraop.h"

namespace gnnmg::nn {
namespace {

constexpr int kThreads = 3;
constexpr double kLarge = 1e9;

// Runs `test` on a thread of its own, which LibTorch gives kThreads.
void with_threads(const std::function<void()>& test) {
  std::thread([&] {
    set_intraop_threads(kThreads);
    test();
  }).join();
}

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Adds 1 to each of `count` numbers; each range waits for a moment, so that every thread takes
// some.
std::set<std::thread::id> threads_of_loop(int64_t count) {
  std::vector<std::atomic<int>> visits(count);
  std::mutex mutex;
  std::set<std::thread::id> threads;
  for_ranges(nullptr, count, 1, [&](int64_t begin, int64_t end) {
    EXPECT_EQ(end, begin + 1);
    EXPECT_EQ(at::get_num_threads(), 1);
    ++visits[begin];
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
  });
  for (const std::atomic<int>& visit : visits) EXPECT_EQ(visit, 1);
  return threads;
}

TEST(Parallel, LoopsHaveTheThreadsOfTheScope) {
  with_threads([] {
    EXPECT_LE(threads_of_loop(1).size(), 1u);
    EXPECT_EQ(threads_of_loop(20).size(), kThreads);
    EXPECT_EQ(at::get_num_threads(), kThreads);
    {
      const IntraopScope many(Loops::kMany);
      EXPECT_FALSE(many.refused());
      EXPECT_EQ(at::get_num_threads(), 1);
      EXPECT_EQ(threads_of_loop(20).size(), kThreads);
      const IntraopScope one(Loops::kOne);
      EXPECT_EQ(threads_of_loop(20).size(), 1u);
    }
    EXPECT_EQ(at::get_num_threads(), kThreads);
    set_loop_threads(2);
    EXPECT_EQ(threads_of_loop(20).size(), 2u);
  });
}

TEST(Parallel, FewLoopsStartNoThreads) {
  with_threads([] {
    const IntraopScope few(Loops::kFew);
    EXPECT_EQ(threads_of_loop(20).size(), 1u);
  });
}

TEST(Parallel, LoopsInsideALoopStayOnItsThread) {
  with_threads([] {
    for_ranges(nullptr, 6, 1, [](int64_t, int64_t) { EXPECT_EQ(threads_of_loop(3).size(), 1u); });
  });
}

TEST(Parallel, TheErrorOfABodyIsThrown) {
  with_threads([] {
    EXPECT_THROW(for_ranges(nullptr, 100, 1,
                            [](int64_t begin, int64_t) {
                              if (begin == 37) throw std::runtime_error("37");
                            }),
                 std::runtime_error);
    EXPECT_EQ(at::get_num_threads(), kThreads);
  });
}

TEST(Parallel, OnlyLargeWorkOfLibTorchHasThreads) {
  with_threads([] {
    const IntraopScope many(Loops::kMany);
    TorchThreads::take_largest();
    {
      const TorchThreads small(1000);
      EXPECT_EQ(at::get_num_threads(), 1);
    }
    {
      const TorchThreads large(at::ones({1}), kLarge);
      EXPECT_EQ(at::get_num_threads(), kThreads);
      const TorchThreads within(kLarge);
      EXPECT_EQ(at::get_num_threads(), kThreads);
      threads_of_loop(4);
    }
    EXPECT_EQ(at::get_num_threads(), 1);
    EXPECT_EQ(TorchThreads::take_largest(), kLarge);
    EXPECT_EQ(TorchThreads::take_largest(), 0);
    const IntraopScope one(Loops::kOne);
    const TorchThreads large(kLarge);
    EXPECT_EQ(at::get_num_threads(), 1);
  });
}

// OpenMP's threads spin for milliseconds after a loop; these sleep.
TEST(Parallel, ThreadsSleepBetweenLoops) {
  with_threads([] {
    double least = 1;  // another program may keep the threads from sleeping once
    for (int round = 0; round < 20; ++round) {
      threads_of_loop(6);
      const double before = cpu_seconds();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      least = std::min(least, cpu_seconds() - before);
    }
    EXPECT_LT(least, 0.001);
  });
}

TEST(Parallel, AForkedChildLoopsAlone) {
  with_threads([] {
    threads_of_loop(6);
    const pid_t child = fork();
    if (child == 0) _exit(threads_of_loop(3).size() == 1 ? 0 : 1);
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  });
}

using std::chrono::microseconds;

void spin(microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) continue;
}

TEST(Parallel, SmallLoopsStayOnTheirThread) {
  with_threads([] {
    std::mutex mutex;
    std::set<std::thread::id> threads;
    int on_several = 0;
    for (int round = 0; round < 50; ++round) {
      threads.clear();
      for_ranges(nullptr, 10, 1, [&](int64_t, int64_t) {
        spin(microseconds(1));
        const std::lock_guard lock(mutex);
        threads.insert(std::this_thread::get_id());
      });
      on_several += threads.size() > 1;
    }
    EXPECT_LE(on_several, 10);  // the thread may lose its core, which makes a loop long
  });
}

// A loop that is slower on other threads goes back to its own, and tries the others now and then.
TEST(Parallel, LoopsThatAreSlowerOnSeveralThreadsStayOnOne) {
  with_threads([] {
    const std::thread::id own = std::this_thread::get_id();
    std::atomic<int> elsewhere{0};
    const auto rounds = [&](int count, microseconds time_elsewhere) {
      elsewhere = 0;
      for (int round = 0; round < count; ++round)
        for_ranges(nullptr, 6, 1, [&](int64_t, int64_t) {
          const bool here = std::this_thread::get_id() == own;
          elsewhere += !here;
          if (here)
            spin(microseconds(300));
          else
            std::this_thread::sleep_for(time_elsewhere);
        });
      return elsewhere.load();
    };
    int taken = 0;  // the first tries may find no free core
    for (int tries = 0; tries < 100 && taken <= 10; ++tries) taken += rounds(10, microseconds(300));
    EXPECT_GT(taken, 10);
    rounds(10, microseconds(30'000));
    EXPECT_LE(rounds(50, microseconds(30'000)), 10);
  });
}

}  // namespace
}  // namespace gnnmg::nn
