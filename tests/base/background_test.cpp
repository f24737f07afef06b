// Work on threads of its own: waited for, failed, and left.
#include "base/background.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/memory.h"

namespace gnnmg::base {
namespace {

using namespace std::chrono_literals;

void wait_until(const std::function<bool()>& ready) {
  for (int i = 0; i < 10'000 && !ready(); ++i) std::this_thread::sleep_for(1ms);
}

TEST(Background, IsOverOnceItsCapturesAreGone) {
  const auto held = std::make_shared<int>(1);
  std::atomic<bool> go{false};
  Background work([held, &go] { wait_until([&] { return go.load(); }); });
  EXPECT_FALSE(work.over(2ms));
  int asked = 0;
  EXPECT_FALSE(work.over_unless([&] { return ++asked == 2; }));
  EXPECT_EQ(asked, 2);
  go = true;
  EXPECT_TRUE(work.over_unless([] { return false; }));
  EXPECT_EQ(held.use_count(), 1);
}

TEST(Background, ThrowsItsFailureWhereItIsFinished) {
  const auto failing = [] { fail(Status::kIo, "the disk is gone"); };
  Background work(failing);
  try {
    work.finish();
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kIo);
    EXPECT_EQ(std::string(error.what()), "the disk is gone");
  }
  const Background dropped(failing);
}

TEST(Background, ChargesTheBudgetOfItsMaker) {
  const auto budget = std::make_shared<MemoryBudget>(1000);
  const BudgetScope charged(budget);
  std::shared_ptr<MemoryBudget> found;
  Background([&] { found = current_budget(); }).finish();
  EXPECT_EQ(found, budget);
}

TEST(Background, IsCountedOnceItIsLeft) {
  std::atomic<bool> go{false};
  std::atomic<int> ended{0};
  const auto until_told = [&] {
    wait_until([&] { return go.load(); });
    ++ended;
  };
  {
    Background work(until_told);
    EXPECT_EQ(num_left(), 0);
    work.leave();
  }
  leave_in_background(until_told);
  EXPECT_EQ(num_left(), 2);
  go = true;
  wait_until([] { return num_left() == 0; });
  EXPECT_EQ(num_left(), 0);
  EXPECT_EQ(ended, 2);
  Background over([] {});
  EXPECT_TRUE(over.over(10s));
  over.leave();
  EXPECT_EQ(num_left(), 0);
}

}  // namespace
}  // namespace gnnmg::base
