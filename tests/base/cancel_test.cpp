#include "base/cancel.h"

#include <gtest/gtest.h>

#include <limits>
#include <thread>

namespace gnnmg::base {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

TEST(Deadline, NeverPassesByDefault) {
  const Deadline deadline;
  EXPECT_TRUE(deadline.never());
  EXPECT_FALSE(deadline.passed());
  EXPECT_EQ(deadline.remaining_ms(), kNever);
  EXPECT_EQ(deadline.at(), SteadyClock::time_point::max());
  EXPECT_TRUE(Deadline::after_ms(-1).never());
  EXPECT_TRUE(Deadline::after_ms(std::numeric_limits<int64_t>::min()).never());
}

TEST(Deadline, PassesAfterItsTime) {
  const Deadline now = Deadline::after_ms(0);
  EXPECT_TRUE(now.passed());
  EXPECT_EQ(now.remaining_ms(), 0);
  const auto begin = SteadyClock::now();
  const Deadline soon = Deadline::after_ms(20);
  EXPECT_LE(soon.remaining_ms(), 20);
  std::this_thread::sleep_until(soon.at());
  EXPECT_TRUE(soon.passed());
  EXPECT_GE(SteadyClock::now() - begin, std::chrono::milliseconds(20));
}

TEST(Deadline, RoundsWhatIsLeftUpSoThatAWaitDoesNotSpin) {
  const Deadline deadline = Deadline::after_ms(1000);
  while (!deadline.passed()) {
    const int64_t left = deadline.remaining_ms();
    if (SteadyClock::now() < deadline.at()) {
      ASSERT_GE(left, 1);
      break;
    }
  }
}

TEST(Deadline, SurvivesTheLargestTimeout) {
  const Deadline deadline = Deadline::after_ms(kNever);
  EXPECT_FALSE(deadline.never());
  EXPECT_FALSE(deadline.passed());
  EXPECT_GT(deadline.remaining_ms(), int64_t{365} * 24 * 3600 * 1000);
}

TEST(Deadline, TakesTheEarlierOfTwo) {
  const Deadline never, soon = Deadline::after_ms(10), later = Deadline::after_ms(100000);
  EXPECT_EQ(Deadline::earlier(soon, later).at(), soon.at());
  EXPECT_EQ(Deadline::earlier(later, soon).at(), soon.at());
  EXPECT_EQ(Deadline::earlier(never, later).at(), later.at());
  EXPECT_TRUE(Deadline::earlier(never, never).never());
}

TEST(CancelToken, IsSharedAmongItsCopiesAndNeverGoesBack) {
  const CancelToken token, other;
  const CancelToken copy = token;
  EXPECT_FALSE(token.cancelled());
  EXPECT_NO_THROW(token.check("training"));
  copy.cancel();
  copy.cancel();
  EXPECT_TRUE(token.cancelled());
  EXPECT_FALSE(other.cancelled());
  try {
    token.check("training");
    FAIL() << "a canceled token let work go on";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kCancelled);
    EXPECT_STREQ(error.what(), "training was canceled");
  }
}

TEST(CancelToken, ReachesAnotherThread) {
  const CancelToken token;
  int written = 0;
  std::thread worker([token, &written] {
    while (!token.cancelled()) std::this_thread::yield();
    EXPECT_EQ(written, 7);  // writes before cancel() are visible after it
  });
  written = 7;
  token.cancel();
  worker.join();
}

}  // namespace
}  // namespace gnnmg::base
