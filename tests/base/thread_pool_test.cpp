#include "base/thread_pool.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <limits>
#include <map>
#include <mutex>
#include <stdexcept>
#include <vector>

namespace gnnmg::base {
namespace {

using Ranges = std::map<int64_t, int64_t>;

Ranges ranges_of(ThreadPool& pool, int64_t count, int64_t grain) {
  Ranges ranges;
  std::mutex mutex;
  pool.parallel_for(count, grain, [&](int64_t begin, int64_t end) {
    const std::lock_guard lock(mutex);
    EXPECT_TRUE(ranges.emplace(begin, end).second) << "range " << begin << " came twice";
  });
  return ranges;
}

TEST(ThreadPool, CoversEveryItemOnceInTheSameRangesForAnyNumberOfThreads) {
  ThreadPool one(1), two(2), seven(7);
  EXPECT_EQ(one.num_threads(), 1);
  EXPECT_EQ(seven.num_threads(), 7);
  for (const int64_t count : {0, 1, 2, 7, 64, 1000, 1001})
    for (const int64_t grain : {-3, 0, 1, 3, 64, 1000, 5000}) {
      const Ranges ranges = ranges_of(one, count, grain);
      int64_t next = 0;
      for (const auto& [begin, end] : ranges) {
        EXPECT_EQ(begin, next);
        EXPECT_GT(end, begin);
        EXPECT_LE(end - begin, std::max<int64_t>(1, grain));
        next = end;
      }
      EXPECT_EQ(next, count);
      EXPECT_EQ(ranges_of(two, count, grain), ranges) << count << " by " << grain;
      EXPECT_EQ(ranges_of(seven, count, grain), ranges) << count << " by " << grain;
    }
}

TEST(ThreadPool, DoesNothingForNegativeCounts) {
  ThreadPool pool(3);
  EXPECT_TRUE(ranges_of(pool, -5, 1).empty());
}

TEST(ThreadPool, SurvivesCountsAtTheEdge) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  ThreadPool one(1), many(5);
  const Ranges expected{{0, kMax / 2}, {kMax / 2, kMax - 1}, {kMax - 1, kMax}};
  EXPECT_EQ(ranges_of(one, kMax, kMax / 2), expected);
  EXPECT_EQ(ranges_of(many, kMax, kMax / 2), expected);
}

TEST(ThreadPool, UsesItsThreads) {
  ThreadPool pool(3);
  std::atomic<int> inside{0};
  // Each range waits until all three have begun: only three threads can end this.
  pool.parallel_for(3, 1, [&](int64_t, int64_t) {
    ++inside;
    while (inside < 3) std::this_thread::yield();
  });
  EXPECT_EQ(inside, 3);
}

TEST(ThreadPool, RethrowsAnExceptionAfterAllHaveEndedAndGoesOn) {
  for (const int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    for (int64_t bad = 0; bad < 50; ++bad) {
      std::atomic<int> running{0};
      try {
        pool.parallel_for(50, 1, [&](int64_t begin, int64_t) {
          ++running;
          if (begin == bad) {
            --running;
            throw std::runtime_error("item " + std::to_string(begin));
          }
          --running;
        });
        FAIL() << "the exception was lost";
      } catch (const std::runtime_error& error) {
        EXPECT_EQ(error.what(), "item " + std::to_string(bad));
      }
      EXPECT_EQ(running, 0);
    }
    std::atomic<int64_t> sum{0};
    pool.parallel_for(100, 7, [&](int64_t begin, int64_t end) { sum += end - begin; });
    EXPECT_EQ(sum, 100);
  }
}

TEST(ThreadPool, RethrowsOneExceptionWhenAllThrow) {
  ThreadPool pool(4);
  for (int i = 0; i < 100; ++i)
    EXPECT_THROW(pool.parallel_for(64, 1, [](int64_t, int64_t) { throw std::runtime_error("x"); }),
                 std::runtime_error);
}

TEST(ThreadPool, RunsNestedCalls) {
  ThreadPool pool(4);
  std::vector<std::atomic<int>> hits(64 * 64);
  pool.parallel_for(64, 1, [&](int64_t i, int64_t) {
    pool.parallel_for(64, 5, [&](int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; ++j) ++hits[i * 64 + j];
    });
  });
  for (const auto& hit : hits) ASSERT_EQ(hit, 1);
}

TEST(ThreadPool, PassesExceptionsOutOfNestedCalls) {
  ThreadPool pool(3);
  EXPECT_THROW(pool.parallel_for(8, 1,
                                 [&](int64_t i, int64_t) {
                                   pool.parallel_for(8, 1, [&](int64_t j, int64_t) {
                                     if (i == 5 && j == 6) throw std::out_of_range("inner");
                                   });
                                 }),
               std::out_of_range);
}

TEST(ThreadPool, ServesCallsFromSeveralThreads) {
  ThreadPool pool(3);
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t)
    callers.emplace_back([&] {
      for (int i = 0; i < 500; ++i)
        pool.parallel_for(40, 3, [&](int64_t begin, int64_t end) { sum += end - begin; });
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, 4 * 500 * 40);
}

TEST(ThreadPool, ShowsTheCallerWhatTheWorkersWrote) {
  ThreadPool pool(4);
  std::vector<int> values(10000);  // not atomic, so that TSan reports a missing barrier as a race
  for (int round = 1; round <= 20; ++round) {
    pool.parallel_for(10000, 100, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) values[i] += round;
    });
    ASSERT_EQ(values[9999], round * (round + 1) / 2);
  }
}

TEST(AvailableCores, FollowsTheAffinityOfTheProcess) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(available_cores(), CPU_COUNT(&before));
  EXPECT_EQ(ThreadPool().num_threads(), available_cores());
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &before)) {
      CPU_SET(cpu, &one);
      break;
    }
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(available_cores(), 1);
  EXPECT_EQ(ThreadPool(0).num_threads(), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

}  // namespace
}  // namespace gnnmg::base
