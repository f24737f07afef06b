#include "base/log.h"

#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <thread>
#include <vector>

namespace gnnmg::base {
namespace {

TEST(Log, GivesRecordsInOrderAndThenNothing) {
  Log log;
  EXPECT_FALSE(log.next());
  const int64_t before =
      std::chrono::system_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  log.add(LogLevel::kInfo, "first");
  log.add(LogLevel::kError, "second");
  const auto first = log.next(), second = log.next();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->text, "first");
  EXPECT_EQ(first->level, LogLevel::kInfo);
  EXPECT_EQ(first->dropped_before, 0);
  EXPECT_GE(first->unix_time_ns, before);
  EXPECT_LE(first->unix_time_ns, second->unix_time_ns);
  EXPECT_EQ(second->text, "second");
  EXPECT_EQ(second->level, LogLevel::kError);
  EXPECT_FALSE(log.next());
}

TEST(Log, DropsTheOldestWhenFullAndSaysHowMany) {
  Log log(3);
  for (int i = 0; i < 10; ++i) log.add(LogLevel::kDebug, std::to_string(i));
  auto record = log.next();
  ASSERT_TRUE(record);
  EXPECT_EQ(record->text, "7");
  EXPECT_EQ(record->dropped_before, 7);
  record = log.next();
  ASSERT_TRUE(record);
  EXPECT_EQ(record->text, "8");
  EXPECT_EQ(record->dropped_before, 0);
}

TEST(Log, HoldsOneRecordAtLeast) {
  Log log(0);
  log.add(LogLevel::kInfo, "a");
  log.add(LogLevel::kInfo, "b");
  const auto record = log.next();
  ASSERT_TRUE(record);
  EXPECT_EQ(record->text, "b");
  EXPECT_EQ(record->dropped_before, 1);
}

TEST(Log, LosesNothingAmongThreads) {
  constexpr int kThreads = 4, kEach = 2000;
  Log log(kThreads * kEach);
  std::set<std::string> seen;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i)
        log.add(LogLevel::kInfo, std::to_string(t) + "/" + std::to_string(i));
    });
  while (seen.size() < kThreads * kEach) {
    if (auto record = log.next())
      EXPECT_TRUE(seen.insert(record->text).second);
    else
      std::this_thread::yield();
  }
  for (auto& thread : threads) thread.join();
  EXPECT_FALSE(log.next());
}

}  // namespace
}  // namespace gnnmg::base
