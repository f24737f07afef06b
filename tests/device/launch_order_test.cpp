// Memory calls and operations of ranks take turns in the whole process, and nobody waits forever.
#include "device/launch_order.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "device/wait.h"

namespace gnnmg::device {
namespace {

void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

// A separate thread between begin() and end(), and whether it has begun.
class Caller {
 public:
  Caller(std::shared_ptr<LaunchOrder> gate, const std::function<void(Caller&)>& call)
      : thread_([this, gate = std::move(gate), call] {
          LaunchOrder::set_current(gate);
          call(*this);
        }) {}
  ~Caller() { end(); }
  void begun() {
    begun_ = true;
    while (!leave_) sleep_ms(1);
  }
  bool has_begun() {
    for (int i = 0; i < 20 && !begun_; ++i) sleep_ms(1);
    return begun_;
  }
  void await() {
    while (!begun_) sleep_ms(1);
  }
  void end() {
    leave_ = true;
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::atomic<bool> begun_{false}, leave_{false};
  std::thread thread_;
};

void call_memory(Caller& caller) {
  const MemoryCall call;
  const MemoryCall within;  // part of the outer call
  caller.begun();
}
void grow(Caller& caller) {
  begin_growth();
  caller.begun();
  end_growth();
}

TEST(LaunchOrder, ACallWaitsForTheOperationsOfItsOwnAndHoldsUpTheNext) {
  const auto gate = std::make_shared<LaunchOrder>(2);
  ASSERT_TRUE(gate->try_enter());
  ASSERT_TRUE(gate->try_launch(1, false));
  Caller caller(gate, call_memory);
  EXPECT_FALSE(caller.has_begun());
  // A rank may enter if another rank's kernel waits for its kernel.
  EXPECT_TRUE(gate->try_enter());
  EXPECT_TRUE(gate->try_launch(1, false));
  gate->note_launch(1);
  EXPECT_FALSE(gate->all_launched(1));
  gate->note_launch(1);
  EXPECT_TRUE(gate->all_launched(1));
  gate->leave();
  EXPECT_FALSE(caller.has_begun());
  gate->leave();
  caller.await();
  EXPECT_FALSE(gate->try_enter());
  caller.end();
  EXPECT_TRUE(gate->try_enter());
  EXPECT_TRUE(gate->try_launch(2, false));
  gate->leave();
}

// Threads with another gate or none wait for the remaining launches and not for their end; nothing
// is launched during their memory calls.
TEST(LaunchOrder, CallsOfOthersWaitForLaunches) {
  for (const auto& other : {std::shared_ptr<LaunchOrder>(), std::make_shared<LaunchOrder>(2)}) {
    for (void (*call)(Caller&) : {call_memory, grow}) {
      const auto gate = std::make_shared<LaunchOrder>(2);
      ASSERT_TRUE(gate->try_enter());
      ASSERT_TRUE(gate->try_launch(1, false));
      gate->note_launch(1);
      Caller caller(other, call);
      EXPECT_FALSE(caller.has_begun());
      std::atomic<bool> let_in{false};
      std::thread sibling([&] {
        ASSERT_TRUE(gate->try_enter());
        let_in = gate->try_launch(1, false);
        gate->note_launch(1);
        gate->leave();
      });
      sibling.join();
      EXPECT_TRUE(let_in);
      caller.await();
      EXPECT_FALSE(gate->try_launch(2, false));
      caller.end();
      EXPECT_TRUE(gate->try_launch(2, false));
      gate->leave();  // failed: nobody waits for that launch
      Caller(other, call).await();
    }
  }
}

TEST(LaunchOrder, AnOperationIsNoCallWithinAnother) {
  LaunchOrder gate(1);
  ASSERT_TRUE(gate.try_enter());
  ASSERT_TRUE(gate.try_launch(1, false));
  { const MemoryCall call; }
  begin_growth();
  { const MemoryCall at_its_end(gate, std::chrono::milliseconds(5000)); }
  end_growth();
  gate.note_launch(1);
  gate.leave();
  // A growth without an end is over when the thread continues.
  begin_growth();
  ASSERT_TRUE(gate.try_enter());
  EXPECT_TRUE(gate.try_launch(2, false));
  gate.leave();
}

TEST(LaunchOrder, ALaunchMayBeAlone) {
  LaunchOrder one(2), other(2);
  ASSERT_TRUE(one.try_enter());
  ASSERT_TRUE(other.try_enter());
  ASSERT_TRUE(one.try_launch(1, false));
  EXPECT_FALSE(other.try_launch(1, true));
  one.note_launch(1);
  one.note_launch(1);
  EXPECT_FALSE(one.try_launch(2, false));  // the turn belongs to `other`
  EXPECT_TRUE(other.try_launch(1, true));
  EXPECT_TRUE(other.try_launch(1, true));  // the second rank of the other gate
  EXPECT_FALSE(one.try_launch(2, false));
  other.note_launch(1);
  other.note_launch(1);
  EXPECT_TRUE(one.try_launch(2, false));
  EXPECT_TRUE(other.try_launch(2, false));
  one.leave();
  other.leave();
}

// Neither the call of a failed library nor a launch that waits for another process blocks others
// for good.
TEST(LaunchOrder, PatienceEnds) {
  using Clock = std::chrono::steady_clock;
  LaunchOrder gate(2);
  auto start = Clock::now();
  std::atomic<bool> begun{false}, leave{false};
  std::thread failed([&] {
    begin_growth();
    begun = true;
    while (!leave) sleep_ms(1);
  });
  while (!begun) sleep_ms(1);
  ASSERT_TRUE(gate.try_enter());
  while (!gate.try_launch(1, false)) sleep_ms(10);
  EXPECT_GE(Clock::now() - start, LaunchOrder::kPatience - std::chrono::milliseconds(100));
  EXPECT_LT(Clock::now() - start, 2 * LaunchOrder::kPatience);
  start = Clock::now();
  gate.note_launch(1);

  std::thread([&] { const MemoryCall call; }).join();  // the other rank's launch is missing
  EXPECT_GE(Clock::now() - start, LaunchOrder::kPatience - std::chrono::milliseconds(100));
  EXPECT_LT(Clock::now() - start, 2 * LaunchOrder::kPatience);
  start = Clock::now();
  std::thread([&] { const MemoryCall call; }).join();  // nobody waits for it again
  EXPECT_LT(Clock::now() - start, LaunchOrder::kPatience / 2);
  leave = true;
  failed.join();

  start = Clock::now();
  gate.note_launch(1);
  EXPECT_TRUE(gate.try_launch(2, false));  // succeeds at once: the failed call is ignored
  gate.leave();
}

// The library's own memory calls end, however long they take: launches wait.
TEST(LaunchOrder, LaunchesWaitForCallsThatTakeLong) {
  using Clock = std::chrono::steady_clock;
  LaunchOrder gate(1);
  const auto start = Clock::now();
  std::atomic<bool> begun{false};
  std::thread pins([&] {
    const MemoryCall call;
    begun = true;
    std::this_thread::sleep_for(LaunchOrder::kPatience + std::chrono::milliseconds(500));
  });
  while (!begun) sleep_ms(1);
  ASSERT_TRUE(gate.try_enter());
  while (!gate.try_launch(1, false)) sleep_ms(10);
  EXPECT_GE(Clock::now() - start, LaunchOrder::kPatience + std::chrono::milliseconds(100));
  gate.note_launch(1);
  gate.leave();
  pins.join();
}

// A thread with a hung driver stays in its operation; threads that free memory elsewhere continue.
TEST(LaunchOrder, CallsLeaveAFailedOperationAlone) {
  using Clock = std::chrono::steady_clock;
  const auto gate = std::make_shared<LaunchOrder>(2);
  ASSERT_TRUE(gate->try_enter());
  std::thread([&] {
    LaunchOrder::set_current(gate);
    const auto start = Clock::now();
    gate->note_failure();
    { const MemoryCall call; }
    EXPECT_GE(Clock::now() - start, LaunchOrder::kPatience - std::chrono::milliseconds(100));
    EXPECT_LT(Clock::now() - start, 4 * LaunchOrder::kPatience);
    LaunchOrder::set_current(nullptr);
  }).join();
  gate->leave();
}

// After its device is given up, calls of its own threads and of others do not wait, except for
// communicators that have not failed.
TEST(LaunchOrder, CallsDoNotWaitForAThreadInADeviceThatIsGivenUp) {
  using Clock = std::chrono::steady_clock;
  const auto hangs = std::make_shared<LaunchOrder>(2), works = std::make_shared<LaunchOrder>(2);
  for (const auto& gate : {hangs, works}) {
    ASSERT_TRUE(gate->try_enter());
    ASSERT_TRUE(gate->try_launch(1, false));
    gate->note_launch(1);
  }
  hangs->note_failure();
  Caller own(hangs, call_memory);
  EXPECT_FALSE(own.has_begun());
  const auto start = Clock::now();
  Table table;
  quarantine(table, 3, "does not answer");
  EXPECT_FALSE(own.has_begun());  // waits for the other one's launch
  works->note_launch(1);
  own.await();
  own.end();
  std::thread([&] { const MemoryCall call; }).join();
  EXPECT_LT(Clock::now() - start, LaunchOrder::kPatience / 2);
  EXPECT_TRUE(quarantined(table, 3));
  hangs->leave();
  works->leave();
}

// A library's thread that has failed once takes its turns again later.
TEST(LaunchOrder, AGrowthBehindOneThatWasGivenUp) {
  LaunchOrder gate(1);
  begin_growth();  // never ended
  std::thread([&] {
    ASSERT_TRUE(gate.try_enter());
    while (!gate.try_launch(1, false)) sleep_ms(10);
    gate.note_launch(1);
    gate.leave();
  }).join();
  begin_growth();
  std::thread([&] {
    ASSERT_TRUE(gate.try_enter());
    EXPECT_FALSE(gate.try_launch(2, false));
    gate.leave();
  }).join();
  end_growth();
  ASSERT_TRUE(gate.try_enter());
  EXPECT_TRUE(gate.try_launch(2, false));
  gate.note_launch(2);
  gate.leave();
}

TEST(LaunchOrder, AThreadWithoutOneIsOfNone) {
  EXPECT_EQ(LaunchOrder::current(), nullptr);
  const auto gate = std::make_shared<LaunchOrder>(2);
  ASSERT_TRUE(gate->try_enter());
  std::thread([] { const MemoryCall call; }).join();  // no launch is in progress
  gate->leave();
}

// The ranks of two communicators meet before each operation, while threads with either gate and
// without one make memory calls.
TEST(LaunchOrder, TheTwoNeverOverlap) {
  constexpr int kOperations = 300;
  struct Group {
    std::shared_ptr<LaunchOrder> gate = std::make_shared<LaunchOrder>(2);
    std::atomic<int> come{0}, open{0}, at_work{0};
  };
  Group groups[2];
  std::atomic<int> calls{0}, overlaps{0};
  std::atomic<int64_t> num_calls{0};
  std::atomic<bool> over{false};
  std::vector<std::thread> ranks, callers;
  for (Group& group : groups)
    for (int rank = 0; rank < 2; ++rank)
      ranks.emplace_back([&] {
        for (int i = 1; i <= kOperations; ++i) {
          // Slow enough that the other threads get their turns.
          while (num_calls < i / 6) std::this_thread::yield();
          ++group.come;
          while (group.come < 2 * i) std::this_thread::yield();
          while (!group.gate->try_enter()) std::this_thread::yield();
          while (!group.gate->try_launch(i, i % 7 == 0)) std::this_thread::yield();
          if (calls > 0) ++overlaps;
          ++group.at_work;
          ++group.open;
          std::this_thread::yield();
          if (calls > 0) ++overlaps;
          --group.open;
          group.gate->note_launch(i);
          while (!group.gate->all_launched(i)) std::this_thread::yield();
          --group.at_work;
          group.gate->leave();
        }
      });
  for (int k = 0; k < 3; ++k)
    callers.emplace_back([&, own = k < 2 ? &groups[k] : nullptr] {
      LaunchOrder::set_current(own ? own->gate : nullptr);
      while (!over) {
        {
          const MemoryCall call;
          ++calls;
          if (groups[0].open > 0 || groups[1].open > 0) ++overlaps;
          if (own && own->at_work > 0) ++overlaps;
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
}  // namespace gnnmg::device
