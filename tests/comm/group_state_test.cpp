// Waiting ranks learn of late, lost and different ranks; without a network, so that the thread
// sanitizer can run it.
#include "comm/group_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

namespace gnnmg::comm {
namespace {

using base::Deadline;
using base::Error;
using base::Status;
using testing::HasSubstr;

Wait within_ms(int64_t ms) {
  Wait wait;
  wait.deadline = Deadline::after_ms(ms);
  return wait;
}

// Returns status and text of the exception of `body`.
std::pair<Status, std::string> failure(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return {error.status(), error.what()};
  }
  return {Status::kOk, ""};
}

double seconds_of(const std::function<void()>& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(GroupState, AllMeet) {
  GroupState state(4);
  std::vector<std::thread> threads;
  std::atomic<int> met{0};
  for (int r = 0; r < 4; ++r)
    threads.emplace_back([&, r] {
      for (uint64_t operation = 0; operation < 200; ++operation)
        state.meet(r, operation, "meeting", within_ms(20'000));
      ++met;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(met, 4);
  EXPECT_FALSE(state.ended());
}

TEST(GroupState, DeadlineNamesTheMissing) {
  GroupState state(4);
  std::vector<std::pair<Status, std::string>> seen(4);
  std::vector<std::thread> threads;
  std::array<double, 2> seconds{};
  for (int r : {0, 1}) state.enter(r, 1);
  for (int r : {0, 1})
    threads.emplace_back([&, r] {
      const Wait wait = within_ms(r == 0 ? 100 : 20'000);
      seconds[r] = seconds_of([&] {
        seen[r] = failure([&] { state.wait(r, 1, "all_reduce", wait, [] { return false; }); });
      });
    });
  for (std::thread& thread : threads) thread.join();
  // Rank 1 had a longer deadline, but waited for the same ranks.
  for (int r : {0, 1}) {
    EXPECT_EQ(seen[r].first, Status::kTimeout);
    EXPECT_THAT(
        seen[r].second,
        testing::ContainsRegex("all_reduce: 2 of 4 ranks came within [0-9.]+ s, missing: 2, 3"));
    EXPECT_LT(seconds[r], 5);
  }
  // The late ranks get the cause and do not time out themselves.
  const auto late = failure([&] { state.meet(3, 1, "all_reduce", within_ms(60'000)); });
  EXPECT_EQ(late.first, Status::kAborted);
  EXPECT_EQ(late.second, seen[0].second);
}

TEST(GroupState, CancelEndsOneAndCallsOffTheOthers) {
  GroupState state(2);
  Wait wait = within_ms(20'000);
  std::pair<Status, std::string> peer;
  std::thread other([&] {
    peer = failure([&] { state.wait(1, 1, "barrier", within_ms(20'000), [] { return false; }); });
  });
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    wait.cancel.cancel();
  });
  std::pair<Status, std::string> own;
  const double seconds = seconds_of(
      [&] { own = failure([&] { state.wait(0, 1, "barrier", wait, [] { return false; }); }); });
  canceller.join();
  other.join();
  EXPECT_EQ(own.first, Status::kCancelled);
  EXPECT_LT(seconds, 5);
  EXPECT_EQ(peer.first, Status::kAborted);
  EXPECT_THAT(peer.second, HasSubstr("rank 0 was canceled"));
}

// A rank that comes after the end must not complete an operation for other processes.
TEST(GroupState, NobodyComesAfterTheEnd) {
  GroupState state(2);
  state.enter(0, 1);
  state.end({Status::kCallback, "rank 1: the sampler returned 3", 1, 0, {}});
  EXPECT_TRUE(state.enter(1, 1));
  EXPECT_LT(state.report(1).operation, 1);
  EXPECT_EQ(failure([&] { state.meet(1, 1, "barrier", within_ms(60'000)); }).first,
            Status::kAborted);
}

TEST(GroupState, ARankThatLeftIsNamedAtOnce) {
  GroupState state(3);
  for (int r = 0; r < 3; ++r) state.enter(r, 1);
  state.leave(2);
  // Rank 2 took part in operation 1, so that operation succeeds.
  state.wait(0, 1, "all_gather", within_ms(60'000), [] { return true; });
  state.enter(0, 2);
  const auto seen =
      failure([&] { state.wait(0, 2, "all_gather", within_ms(60'000), [] { return false; }); });
  EXPECT_EQ(seen.first, Status::kPeerLost);
  EXPECT_EQ(seen.second, "all_gather: rank 2 has left the communicator");

  // No rank waited for rank 1, so it gets the loss as its own error.
  const auto late = failure([&] { state.throw_cause(1, 2); });
  EXPECT_EQ(late, seen);
}

TEST(GroupState, CallsThatDiffer) {
  GroupState state(3);
  state.enter(0, 1, {"all_reduce", "f32 [8], sum"});
  state.enter(1, 1, {"all_reduce", "f32 [7], sum"});
  for (int r : {0, 1, 2}) {
    const auto seen =
        failure([&] { state.wait(r, 1, "all_reduce", within_ms(60'000), [] { return false; }); });
    EXPECT_EQ(seen.first, Status::kMismatch);
    EXPECT_EQ(seen.second,
              "rank 1 calls all_reduce(f32 [7], sum), but rank 0 calls all_reduce(f32 [8], sum)");
  }
}

// The host's call is compared before the operations in it.
TEST(GroupState, CallersThatDiffer) {
  GroupState state(2);
  state.enter(0, 1, {"barrier", "", {}, {}, "run"});
  state.enter(1, 1, {"barrier", "", {}, {}, "evaluate"});
  ASSERT_TRUE(state.ended());
  EXPECT_EQ(state.cause()->status, Status::kMismatch);
  EXPECT_EQ(state.cause()->text, "rank 1 calls evaluate, but rank 0 calls run");
}

TEST(GroupState, ExchangesThatDiffer) {
  GroupState good(2);
  good.enter(0, 1, {"all_to_all", "f32", {4, 8}, {4, 12}});
  good.enter(1, 1, {"all_to_all", "f32", {12, 0}, {8, 0}});
  EXPECT_FALSE(good.ended());
  GroupState bad(2);
  bad.enter(0, 1, {"all_to_all", "f32", {4, 8}, {4, 12}});
  bad.enter(1, 1, {"all_to_all", "f32", {16, 0}, {8, 0}});
  ASSERT_TRUE(bad.ended());
  EXPECT_EQ(bad.cause()->text,
            "all_to_all: rank 1 sends 16 elements of f32 to rank 0, which expects 12");
  for (const bool first : {true, false}) {  // impossible for correct ranks: sizes on one side only
    GroupState odd(2);
    odd.enter(first ? 0 : 1, 1, {"all_to_all", "f32", {4, 8}, {4, 12}});
    odd.enter(first ? 1 : 0, 1, {"all_to_all", "f32"});
    ASSERT_TRUE(odd.ended());
    EXPECT_EQ(odd.cause()->status, Status::kMismatch);
  }
}

// A condition without notification is polled without the lock, often enough to cost no time.
TEST(GroupState, WatchingLooksByItself) {
  GroupState state(1);
  state.enter(0, 1);
  int looks = 0;  // polls after the spinning phase
  const Deadline later = Deadline::after_ms(10);
  const double seconds = seconds_of([&] {
    state.watch(0, 1, "all_reduce", within_ms(60'000), [&] {
      looks += later.passed();
      return state.ended() || looks == 30;  // takes the lock
    });
  });
  EXPECT_EQ(looks, 30);
  EXPECT_LT(seconds, 3);
  const auto late =
      failure([&] { state.watch(0, 1, "all_reduce", within_ms(50), [] { return false; }); });
  EXPECT_EQ(late.first, Status::kTimeout);
  EXPECT_THAT(late.second, HasSubstr("all_reduce: not done after"));
  EXPECT_THAT(late.second, HasSubstr("though all ranks came"));
}

TEST(GroupState, WhatTheWatcherThrowsEndsTheWaitAlone) {
  GroupState state(1);
  state.enter(0, 1);
  const auto seen = failure([&] {
    state.watch(0, 1, "all_reduce", {}, []() -> bool { throw Error(Status::kIo, "broken"); });
  });
  EXPECT_EQ(seen.first, Status::kIo);
  EXPECT_FALSE(state.ended());
}

TEST(GroupState, WhoWithdrawsIsMissingUntilItComesAgain) {
  GroupState state(2);
  state.enter(0, 1, {"all_reduce", "f32 [8], sum"});
  state.withdraw(0, 1);
  state.enter(1, 1, {"all_reduce", "f32 [7], sum"});  // compared with no other call
  EXPECT_FALSE(state.ended());
  EXPECT_EQ(state.report(0).operation, 0);
  EXPECT_TRUE(state.enter(0, 1, {"all_reduce", "f32 [7], sum"}));
  state.wait(1, 1, "all_reduce", within_ms(60'000), [] { return true; });
  EXPECT_EQ(state.report(0).operation, 1);
}

TEST(GroupState, AnExcusePutsTheDeadlineOff) {
  GroupState state(2);
  std::atomic<bool> in_callback{true};
  Wait wait = within_ms(50);
  wait.excused = [&] { return in_callback.load(); };
  wait.stall = Deadline::after_ms(20'000);
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    state.enter(1, 1);
    in_callback = false;
  });
  EXPECT_EQ(failure([&] { state.meet(0, 1, "barrier", wait); }).first, Status::kOk);
  other.join();
}

// The waits of one call share its deadline: excused time that the first one needed is not taken
// from the next one.
TEST(GroupState, AnExcusePutsTheDeadlineOffForTheWholeCall) {
  GroupState state(2);
  Wait wait = within_ms(100);
  wait.excused = [&] { return !wait.deadline.passed(); };
  wait.stall = Deadline::after_ms(60'000);
  std::thread other([&] {
    while (!wait.deadline.passed()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    state.enter(1, 1);
  });
  EXPECT_EQ(failure([&] { state.meet(0, 1, "all_reduce", wait); }).first, Status::kOk);
  other.join();
  EXPECT_TRUE(wait.deadline.passed());
  int looks = 0;
  const auto second =
      failure([&] { state.watch(0, 1, "all_reduce", wait, [&] { return ++looks == 3; }); });
  EXPECT_EQ(second.first, Status::kOk) << second.second;
  const auto third = failure([&] { state.watch(0, 1, "all_reduce", wait, [] { return false; }); });
  EXPECT_EQ(third.first, Status::kTimeout);  // the call as a whole still ends
}

// A rank may be slow to leave an operation to which all have come.
TEST(GroupState, AnEndInTheNextOperationIsFoundThere) {
  GroupState state(2);
  for (const int rank : {0, 1}) state.enter(rank, 1);
  state.end({Status::kPeerLost, "barrier: rank 1 has left the communicator", 1, 2, {1}});
  EXPECT_EQ(failure([&] { state.meet(0, 1, "barrier", within_ms(1000)); }).first, Status::kOk);
  EXPECT_EQ(failure([&] { state.meet(0, 2, "barrier", within_ms(1000)); }).first,
            Status::kPeerLost);
}

TEST(GroupState, AnEndOfAllOperationsIsFoundAtOnce) {
  GroupState state(2);
  for (const int rank : {0, 1}) state.enter(rank, 1);
  state.end(abort_cause("enough", -1, kEveryOperation));
  EXPECT_EQ(failure([&] { state.meet(0, 1, "barrier", within_ms(1000)); }).first, Status::kAborted);
}

TEST(GroupState, AnExcuseEndsWithTheStallLimit) {
  GroupState state(2);
  Wait wait = within_ms(50);
  wait.excused = [] { return true; };
  std::pair<Status, std::string> seen;
  const double seconds = seconds_of([&] {
    wait.stall = Deadline::after_ms(200);
    seen = failure([&] { state.meet(0, 1, "barrier", wait); });
  });
  EXPECT_EQ(seen.first, Status::kTimeout);
  EXPECT_GE(seconds, 0.19);
  EXPECT_LT(seconds, 2);
}

}  // namespace
}  // namespace gnnmg::comm
