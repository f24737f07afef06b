// Every failure of NCCL, its GPUs and its ranks, on fake GPUs: each rank's error and its delay.
// Every communicator ends once, on its own thread, and is never destroyed after an error.
#include <algorithm>
#include <array>
#include <atomic>
#include <optional>

#include "base/background.h"
#include "comm/nccl_ranks.h"
#include "support/sanitized.h"

namespace gnnmg::test {
namespace {

using base::DType;
using base::Status;
using base::TensorView;
using comm::Collectives;
using comm::ReduceOp;
using comm::nccl::Result;
using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

void sleep_ms(int64_t ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

void all_reduce(Collectives& comm, const comm::Wait& wait, int64_t count = 100) {
  std::vector<float> values(static_cast<size_t>(count), 1.0f);
  comm.all_reduce({values.data(), DType::kF32, {count}}, ReduceOp::kSum, wait);
  EXPECT_THAT(values, testing::Each(static_cast<float>(comm.world_size())));
}

using Waits = std::function<comm::Wait()>;

// Runs and checks every operation once, each with its own `wait`.
void everything(Collectives& comm, const Waits& wait) {
  const int world = comm.world_size(), me = comm.rank();
  // Repeats a call that NCCL has refused.
  const auto insist = [&](const std::function<void()>& body) {
    const Outcome first = attempt(body);
    if (first.status == Status::kInvalidArgument && !comm.spent()) return body();
    if (first.status != Status::kOk) throw base::Error(first.status, first.text);
  };
  insist([&] { all_reduce(comm, wait()); });
  std::array<int32_t, 3> word{me == 0 ? 7 : 0};
  insist([&] { comm.broadcast({word.data(), DType::kI32, {3}}, 0, wait()); });
  EXPECT_EQ(word[0], 7);
  for (const bool even : {true, false}) {
    std::vector<std::vector<int32_t>> parts;
    std::vector<TensorView> views;
    for (int r = 0; r < world; ++r) parts.emplace_back(even ? 2 : r + 1, r);
    for (auto& part : parts)
      views.push_back({part.data(), DType::kI32, {static_cast<int64_t>(part.size())}});
    std::vector<int32_t> mine = parts[me];
    insist([&] {
      comm.all_gather({mine.data(), DType::kI32, {static_cast<int64_t>(mine.size())}}, views,
                      wait());
    });
    for (int r = 0; r < world; ++r) EXPECT_THAT(parts[r], testing::Each(r));
  }
  std::vector<int64_t> out(world, me), in(world, -1);
  std::vector<TensorView> inputs, outputs;
  for (int r = 0; r < world; ++r) {
    inputs.push_back({&out[r], DType::kI64, {1}});
    outputs.push_back({&in[r], DType::kI64, {1}});
  }
  insist([&] { comm.all_to_all(inputs, outputs, wait()); });
  for (int r = 0; r < world; ++r) EXPECT_EQ(in[r], r);
  insist([&] { comm.barrier(wait()); });
  insist([&] { comm.shutdown(wait()); });
}

void everything(Collectives& comm, int64_t ms) {
  everything(comm, [=] { return within_ms(ms); });
}

struct Case {
  Fault::Kind kind;
  Result result;
  const char* name;
};

class NcclFault : public testing::TestWithParam<int> {
 protected:
  const int world = GetParam();
};

Status expected_status(const Case& c) {
  if (c.kind == Fault::kStuck || c.kind == Fault::kHangs) return Status::kTimeout;
  return c.result == Result::kRemoteError   ? Status::kPeerLost
         : c.result == Result::kSystemError ? Status::kIo
                                            : Status::kInternal;
}

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int64_t kHang = 600;  // ms
constexpr int64_t kShortHang = 150;
#else
constexpr int64_t kHang = 250;
constexpr int64_t kShortHang = 30;
#endif
constexpr int64_t kLong = 60'000;
constexpr double kAtOnce = 20;      // s: far below kLong, and more than a loaded machine takes
constexpr double kCancelled = 0.1;  // s, as docs/promises.md says, in one of a few tries

// A rank that has lost a peer waits for the reason until its deadline at most, even with an excuse.
// This wait leaves no time for a reason, and never runs out on a loaded machine.
comm::Wait impatient() {
  comm::Wait wait = within_ms(1);
  wait.excused = [] { return true; };
  wait.stall = base::Deadline::after_ms(kLong);
  return wait;
}

// One fault at the n-th call of one rank, for every n, until all ranks succeed. Returns the number
// of calls with a fault.
int sweep(int world, int hurt, const Case& c,
          const std::function<comm::Wait(int rank, int n)>& wait_of) {
  for (int n = 1;; ++n) {
    FakeGpus gpus(world);
    gpus.plan({c.kind, hurt, n, c.result});
    const auto outcomes = run_nccl_ranks(
        nccl_group(world),
        [&](Collectives& comm) {
          const Outcome first =
              attempt([&] { everything(comm, [&] { return wait_of(comm.rank(), n); }); });
          if (first.status == Status::kOk) return;
          // A spent communicator throws at once, with the first cause.
          const Outcome again = attempt([&] { comm.barrier(within_ms(kLong)); });
          // A late rank reaches the operation of the lost peer only now.
          EXPECT_THAT(again.status, AnyOf(Status::kAborted, Status::kPeerLost));
          EXPECT_EQ(again.text, first.text);
          EXPECT_LT(again.seconds, kAtOnce);  // long before its deadline
          throw base::Error(first.status, first.text);
        },
        [&](int rank) { return wait_of(rank, n); });
    expect_clean();
    bool well = true;
    for (const Outcome& outcome : outcomes) well = well && outcome.status == Status::kOk;
    // The start of a group is refused without a communicator, so the communicator stays usable.
    if (well && c.kind == Fault::kFails && c.result == Result::kInvalidArgument &&
        gpus.calls(hurt) >= n)
      continue;
    if (well) {
      // The last call queues no work that could hang.
      const bool last = c.kind == Fault::kHangs || c.kind == Fault::kBreaks;
      EXPECT_LT(gpus.calls(hurt), n + last) << c.name << " does not strike at call " << n;
      return n - 1;
    }
    for (int r = 0; r < world; ++r) {
      const Outcome& outcome = outcomes[r];
      EXPECT_LT(outcome.seconds, 2 * kHang / 1000.0 + kAtOnce);  // connecting and calling
      if (r == hurt)
        EXPECT_EQ(outcome.status, expected_status(c)) << outcome.text;
      else if (outcome.status == Status::kOk)  // success: the rank had finished the very last call
        EXPECT_THAT(outcomes[hurt].text, StartsWith("shutdown: "));
      else
        EXPECT_THAT(outcome.status, AnyOf(Status::kAborted, expected_status(c))) << outcome.text;
      if (outcome.status == Status::kAborted) {
        EXPECT_EQ(outcome.text, outcomes[hurt].text);
      }
      if (testing::Test::HasFailure()) {
        ADD_FAILURE() << c.name << ", world " << world << ", rank " << hurt << ", call " << n
                      << ": rank " << r << " says " << outcome.text;
        return 0;
      }
    }
  }
}

TEST_P(NcclFault, ErrorsAtEveryCall) {
  // The status follows from the result alone; the ways of a local and of a lost peer's differ.
  std::vector<Result> results{Result::kUnhandledCudaError, Result::kRemoteError};
  if (!kSanitized)
    results.insert(results.end(), {Result::kSystemError, Result::kInternalError,
                                   Result::kInvalidArgument, Result::kInvalidUsage});
  constexpr Fault::Kind kWaitsLong = Fault::kPollFails;
  int points = 0;
  std::vector<int> victims{world - 1};
  if (world == 2) victims.push_back(0);  // rank 0 makes the id
  for (const int hurt : victims)
    for (const Result result : results)
      for (const Case& c :
           {Case{Fault::kFails, result, "fails"}, Case{Fault::kPollFails, result, "poll fails"},
            Case{Fault::kLater, result, "fails later"}, Case{Fault::kBreaks, result, "breaks"}}) {
        // Only one case waits the full time for the reason of a lost peer.
        const bool brief =
            result == Result::kRemoteError && !(world == 2 && hurt == 1 && c.kind == kWaitsLong);
        const int struck = sweep(world, hurt, c, [&](int rank, int) {
          return brief && rank == hurt ? impatient() : within_ms(kLong);
        });
        ASSERT_GT(struck, world > 1 ? 8 : 5) << c.name;
        points += struck;
      }
  std::printf("[ FIGURE   ] %d ranks: %d errors at calls\n", world, points);
}

class NcclHang : public NcclFault {};

TEST_P(NcclHang, HangsAtEveryCall) {
  int points = 0;
  for (const Case& c : {Case{Fault::kStuck, Result::kSuccess, "stuck"},
                        Case{Fault::kHangs, Result::kSuccess, "hangs"}}) {
    // The deadline of the hanging rank passes first, also on a loaded machine: otherwise the others
    // would name it as missing. At some calls it is longer.
    const int struck = sweep(world, world - 1, c, [&](int rank, int n) {
      if (rank < world - 1) return within_ms(kLong);
      return within_ms(n % 4 == 0 ? kHang : kShortHang);
    });
    ASSERT_GT(struck, 5) << c.name;
    points += struck;
  }
  std::printf("[ FIGURE   ] %d ranks: %d hangs at calls\n", world, points);
}

// The GPU is lost at each of its uses.
TEST_P(NcclFault, ALostDeviceIsLostForGood) {
  const int hurt = world - 1;
  for (int n = 1;; n += n < 40 ? 1 : 17) {
    FakeGpus gpus(world);
    fake_gpu::lose_at(hurt, n);
    std::optional<Outcome> again;
    const auto outcomes = run_nccl_ranks(nccl_group(world), [&](Collectives& comm) {
      const Outcome outcome = attempt([&] { everything(comm, kLong); });
      if (comm.rank() == hurt && comm.spent())
        again = attempt([&] { comm.barrier(within_ms(kLong)); });
      if (outcome.status != Status::kOk) throw base::Error(outcome.status, outcome.text);
    });
    expect_clean();
    if (outcomes[hurt].status == Status::kOk) {
      EXPECT_GT(n, 20);
      break;
    }
    EXPECT_EQ(outcomes[hurt].status, Status::kDeviceLost) << outcomes[hurt].text;
    EXPECT_THAT(outcomes[hurt].text, HasSubstr("fake GPU "));
    if (again) {
      EXPECT_EQ(again->status, Status::kDeviceLost);
      EXPECT_EQ(again->text, outcomes[hurt].text);
    }
    for (int r = 0; r < hurt; ++r) {
      // Ranks that have finished the last operation get no error.
      EXPECT_THAT(outcomes[r].status, AnyOf(Status::kAborted, Status::kOk)) << outcomes[r].text;
      if (outcomes[r].status != Status::kOk) {
        EXPECT_EQ(outcomes[r].text, outcomes[hurt].text);
      }
      EXPECT_LT(outcomes[r].seconds, kAtOnce);
    }
    ASSERT_FALSE(HasFailure()) << "at use " << n;
  }
}

TEST_P(NcclFault, NoMemoryLeavesTheCommunicatorUsable) {
  FakeGpus gpus(world);
  const auto outcomes = run_nccl_ranks(nccl_group(world), [&](Collectives& comm) {
    comm.barrier(within_ms(kLong));
    if (comm.rank() == world - 1) {
      fake_gpu::fail_allocation(comm.rank(), 0);
      const Outcome outcome = attempt([&] { all_reduce(comm, within_ms(kLong), 100'000); });
      EXPECT_EQ(outcome.status, Status::kNoMemory);
      EXPECT_THAT(outcome.text, HasSubstr("no staging memory: fake GPU"));
      EXPECT_FALSE(comm.spent());
    }
    all_reduce(comm, within_ms(kLong), 100'000);
    everything(comm, kLong);
  });
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
  expect_clean();
}

// If NCCL keeps the communicator usable, the call can be repeated.
TEST_P(NcclFault, ARefusedArgumentLeavesTheCommunicatorUsable) {
  constexpr int kConnecting = 3;  // calls of rank 0
  int n = kConnecting + 1;
  for (bool well = true; well; ++n) {
    FakeGpus gpus(world);
    gpus.plan({Fault::kFails, 0, n, Result::kInvalidArgument});
    fake_nccl::forgive_refusals();
    const auto outcomes =
        run_nccl_ranks(nccl_group(world), [](Collectives& comm) { everything(comm, kLong); });
    expect_clean();
    for (const Outcome& outcome : outcomes) well = well && outcome.status == Status::kOk;
    ASSERT_GE(gpus.calls(0), n);
    if (well) continue;
    // Only the last call has no second try.
    EXPECT_EQ(outcomes[0].status, Status::kInternal);
    EXPECT_THAT(outcomes[0].text, StartsWith("shutdown: NCCL fails on rank 0: invalid argument"));
    EXPECT_EQ(gpus.calls(0), n);
  }
  EXPECT_GT(n, 9);
}

TEST_P(NcclFault, CancelReturnsAtOnceAndCallsOffThePeers) {
  for (const bool running : {false, true}) {  // some ranks wait for a late rank, or a kernel hangs
    if (world == 1 && !running) continue;
    double quickest = kAtOnce;
    for (int round = 0; round < 5 && quickest > kCancelled; ++round) {
      FakeGpus gpus(world);
      const comm::Wait wait = within_ms(60'000);
      std::atomic<std::chrono::steady_clock::time_point> at{};
      std::atomic<bool> given_up{false};
      std::vector<double> after(world);
      const auto outcomes = run_nccl_ranks(nccl_group(world), [&](Collectives& comm) {
        const int me = comm.rank();
        comm.barrier(within_ms(kLong));
        if (running && me == world - 1)
          gpus.plan({Fault::kHangs, me, gpus.calls(me) + 1, Result::kSuccess});
        if (!running && me == world - 1) {
          while (!given_up) sleep_ms(1);
          return all_reduce(comm, within_ms(60'000));
        }
        std::thread canceller;
        if (me == 0)
          canceller = std::thread([&] {
            sleep_ms(40);
            at = std::chrono::steady_clock::now();
            wait.cancel.cancel();
          });
        try {
          all_reduce(comm, me == 0 ? wait : within_ms(60'000));
        } catch (const base::Error&) {
          after[me] =
              std::chrono::duration<double>(std::chrono::steady_clock::now() - at.load()).count();
          if (me == 0) given_up = true;
          if (canceller.joinable()) canceller.join();
          throw;
        }
      });
      EXPECT_EQ(outcomes[0].status, Status::kCancelled) << outcomes[0].text;
      for (int r = 0; r < world; ++r) {
        EXPECT_LT(after[r], kAtOnce);
        if (r > 0) {
          EXPECT_EQ(outcomes[r].status, Status::kAborted);
          EXPECT_THAT(outcomes[r].text, HasSubstr("rank 0 was canceled"));
        }
      }
      quickest = std::min(quickest, after[0]);
      expect_clean();
    }
    EXPECT_LT(quickest, kCancelled);
  }
}

// A slow GPU keeps memory that it may still write, and no rank waits for it.
TEST_P(NcclFault, NobodyWaitsForASlowEnd) {
  FakeGpus gpus(world);
  fake_nccl::set_slow_ends(kLong);
  const auto outcomes = run_nccl_ranks(nccl_group(world), [&](Collectives& comm) {
    const int me = comm.rank();
    comm.barrier(within_ms(kLong));
    if (me == 0) gpus.plan({Fault::kHangs, 0, gpus.calls(0) + 1, Result::kSuccess});
    const comm::Wait wait = within_ms(60'000);
    std::thread canceller;
    if (me == 0)
      canceller = std::thread([&] {
        sleep_ms(100);
        wait.cancel.cancel();
      });
    const Outcome outcome = attempt([&] { all_reduce(comm, wait); });
    if (canceller.joinable()) canceller.join();
    throw base::Error(outcome.status, outcome.text);
  });
  EXPECT_EQ(outcomes[0].status, Status::kCancelled);
  for (const Outcome& outcome : outcomes) EXPECT_LT(outcome.seconds, kAtOnce);
  EXPECT_GT(fake_gpu::num_held(), 0);
  EXPECT_GT(base::num_left(), 0);
  fake_nccl::set_slow_ends(0);
  expect_clean();
}

TEST_P(NcclFault, AbortWakesEverybodyAndStays) {
  FakeGpus gpus(world);
  const auto group = nccl_group(world);
  std::atomic<int> waiting{0};
  std::thread aborter([&] {
    while (waiting < world) sleep_ms(1);
    sleep_ms(50);
    group->abort("the data set is gone");
    group->abort("and nobody hears this");
  });
  const auto outcomes = run_nccl_ranks(group, [&](Collectives& comm) {
    const int me = comm.rank();
    comm.barrier(within_ms(kLong));
    if (me == 0) gpus.plan({Fault::kHangs, 0, gpus.calls(0) + 1, Result::kSuccess});
    ++waiting;
    const Outcome first = attempt([&] { all_reduce(comm, within_ms(60'000)); });
    EXPECT_EQ(first.status, Status::kAborted);
    EXPECT_LT(first.seconds, kAtOnce);
    EXPECT_TRUE(comm.spent());
    const Outcome again = attempt([&] { comm.barrier(within_ms(60'000)); });
    EXPECT_LT(again.seconds, kAtOnce);
    throw base::Error(again.status, again.text);
  });
  aborter.join();
  for (const Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.status, Status::kAborted);
    EXPECT_EQ(outcome.text, "the data set is gone");
  }
  expect_clean();
  EXPECT_EQ(fake_nccl::count().aborted, world);
  // The same devices serve a new communicator.
  for (const Outcome& outcome :
       run_nccl_ranks(nccl_group(world), [](Collectives& comm) { everything(comm, kLong); }))
    EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
  expect_clean();
  EXPECT_EQ(fake_nccl::count().destroyed, world);
}

// NCCL's error after an abort does not replace the cause of the abort.
TEST_P(NcclFault, AnAbortIsTheCauseWhateverNcclSaysOfIt) {
  for (const Result seen : {Result::kRemoteError, Result::kSystemError, Result::kInternalError}) {
    FakeGpus gpus(world);
    fake_nccl::set_peers_see(seen);
    const auto group = nccl_group(world);
    std::atomic<int> waiting{0};
    std::thread aborter([&] {
      while (waiting < world) sleep_ms(1);
      sleep_ms(50);
      group->abort("the data set is gone");
    });
    const auto outcomes = run_nccl_ranks(group, [&](Collectives& comm) {
      comm.barrier(within_ms(kLong));
      if (comm.rank() == 0) gpus.plan({Fault::kHangs, 0, gpus.calls(0) + 1, Result::kSuccess});
      ++waiting;
      all_reduce(comm, within_ms(60'000));
    });
    aborter.join();
    for (const Outcome& outcome : outcomes) {
      EXPECT_EQ(outcome.status, Status::kAborted) << outcome.text;
      EXPECT_EQ(outcome.text, "the data set is gone");
    }
    expect_clean();
  }
}

// Abort and cancel at any moment of connecting.
TEST_P(NcclFault, AbortAndCancelWhileTheRanksConnect) {
  int connecting = 0;  // rounds in which the end came while connecting
  for (int round = 0; round < 40; ++round) {
    FakeGpus gpus(world);
    const auto group = nccl_group(world);
    const base::CancelToken cancel;
    const bool cancels = round % 2 == 0;
    std::thread ender([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(40 * round));
      if (cancels)
        cancel.cancel();
      else
        group->abort("enough");
    });
    if (round < 2) ender.join();  // earlier than any connection
    const auto wait = [&](int r) {
      comm::Wait wait = within_ms(30'000);
      if (r == 0) wait.cancel = cancel;
      return wait;
    };
    std::atomic<bool> connected{false};
    const auto outcomes = run_nccl_ranks(
        group,
        [&](Collectives& comm) {
          connected = true;
          while (true) comm.barrier(wait(comm.rank()));  // repeats until the communicator ends
        },
        wait);
    if (ender.joinable()) ender.join();
    connecting += connected ? 0 : 1;
    for (int r = 0; r < world; ++r) {
      EXPECT_LT(outcomes[r].seconds, kAtOnce) << outcomes[r].text;
      EXPECT_EQ(outcomes[r].status, cancels && r == 0 ? Status::kCancelled : Status::kAborted)
          << "round " << round << ", rank " << r << ": " << outcomes[r].text;
      EXPECT_THAT(outcomes[r].text, HasSubstr(cancels ? "canceled" : "enough"));
    }
    expect_clean();
  }
  EXPECT_GT(connecting, 0);
}

std::vector<int> worlds() {
  if (kSanitized) return {1, 2, 4};
  return {1, 2, 4, 8};
}
INSTANTIATE_TEST_SUITE_P(Worlds, NcclFault, testing::ValuesIn(worlds()));
INSTANTIATE_TEST_SUITE_P(Worlds, NcclHang, testing::Values(1, 4));

TEST(NcclMeeting, DeadlineNamesTheMissingRank) {
  FakeGpus gpus(4);
  std::atomic<int> given_up{0}, waiting{0};
  const auto outcomes = run_nccl_ranks(nccl_group(4), [&](Collectives& comm) {
    all_reduce(comm, within_ms(kLong));
    comm.set_position({.epoch = 4, .step = 118, .phase = comm::Phase::kSampling});
    while (comm.rank() == 2 && given_up < 3) sleep_ms(1);
    const Outcome outcome = attempt([&] { all_reduce(comm, within_ms_together(200, waiting, 3)); });
    ++given_up;
    throw base::Error(outcome.status, outcome.text);
  });
  for (int r : {0, 1, 3}) {
    EXPECT_EQ(outcomes[r].status, Status::kTimeout) << r;
    EXPECT_THAT(outcomes[r].text, HasSubstr("all_reduce: 3 of 4 ranks came within"));
    EXPECT_THAT(outcomes[r].text, HasSubstr("missing: 2; rank 2 epoch 4 step 118, sampling"));
    EXPECT_LT(outcomes[r].seconds, 0.2 + 2);
  }
  EXPECT_EQ(outcomes[2].status, Status::kAborted);
  expect_clean();
}

// A rank comes after the deadline of another one, which excuses it until then. The rest of the
// operation has the time that the other rank did not need.
TEST(NcclMeeting, ExcusedTimeIsNotTakenFromTheOperation) {
  FakeGpus gpus(2);
  const auto outcomes = run_nccl_ranks(nccl_group(2), [&](Collectives& comm) {
    comm.barrier(within_ms(kLong));
    comm::Wait wait = within_ms(kHang);
    wait.excused = [&] { return !wait.deadline.passed(); };
    wait.stall = base::Deadline::after_ms(kLong);
    if (comm.rank() == 1) {
      while (!wait.deadline.passed()) sleep_ms(1);
      sleep_ms(20);  // lets the deadline of rank 0 pass too
      wait = within_ms(kLong);
    }
    all_reduce(comm, wait);
    all_reduce(comm, within_ms(kLong));
  });
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
  expect_clean();
}

TEST(NcclMeeting, ARankThatLeavesIsNamed) {
  FakeGpus gpus(3);
  std::atomic<int> through{0};  // ranks still in the first operation would be aborted
  const auto outcomes = run_nccl_ranks(nccl_group(3), [&](Collectives& comm) {
    all_reduce(comm, within_ms(kLong));
    ++through;
    while (comm.rank() == 1 && through < 3) sleep_ms(1);
    if (comm.rank() == 1) throw base::Error(Status::kCallback, "the sampler threw");
    all_reduce(comm, within_ms(60'000));
  });
  EXPECT_EQ(outcomes[1].status, Status::kCallback);
  for (int r : {0, 2}) {
    EXPECT_EQ(outcomes[r].status, Status::kPeerLost);
    EXPECT_EQ(outcomes[r].text, "all_reduce: rank 1 has left the communicator");
    EXPECT_LT(outcomes[r].seconds, kAtOnce);
  }
  expect_clean();
}

TEST(NcclMeeting, RendezvousNamesTheMissingRanks) {
  FakeGpus gpus(3);
  const auto group = nccl_group(3);
  const Outcome outcome = attempt([&] { group->connect(1, within_ms(200)); });
  EXPECT_EQ(outcome.status, Status::kTimeout);
  EXPECT_THAT(outcome.text, HasSubstr("rendezvous: 1 of 3 ranks came within"));
  EXPECT_THAT(outcome.text, HasSubstr("missing: 0, 2"));
  expect_clean();
  EXPECT_EQ(fake_nccl::count().made, 0);
}

// Different calls never meet within NCCL, even if one rank could finish before another.
TEST(NcclMeeting, DifferentCallsAreRefusedEverywhere) {
  for (const bool early : {false, true}) {
    FakeGpus gpus(3);
    const auto outcomes = run_nccl_ranks(nccl_group(3), [&](Collectives& comm) {
      std::vector<float> values(comm.rank() == 2 ? 7 : 8);
      const TensorView view{values.data(), DType::kF32, {static_cast<int64_t>(values.size())}};
      if (comm.rank() == 2) sleep_ms(50);
      if (early)
        comm.broadcast(view, 0, within_ms(kLong));
      else
        comm.all_reduce(view, ReduceOp::kSum, within_ms(kLong));
    });
    for (const Outcome& outcome : outcomes) {
      EXPECT_EQ(outcome.status, Status::kMismatch) << outcome.text;
      EXPECT_THAT(outcome.text, HasSubstr("f32 [7]"));
      EXPECT_THAT(outcome.text, HasSubstr("f32 [8]"));
    }
    expect_clean();
  }
}

TEST(NcclMeeting, TwoRanksOnOneGpuAreRefused) {
  FakeGpus gpus(3);
  fake_gpu::set_bus_id(2, "0000:01:00.0");
  for (const Outcome& outcome : run_nccl_ranks(nccl_group(3), [](Collectives&) {})) {
    EXPECT_EQ(outcome.status, Status::kInvalidArgument);
    EXPECT_THAT(outcome.text,
                StartsWith("rendezvous: ranks 0 and 2 are both on the GPU at 0000:01:00.0 (fake "
                           "GPU): NCCL needs a GPU of its own for each rank, because"));
  }
  EXPECT_EQ(fake_nccl::count().made, 0);
  expect_clean();
}

TEST(NcclMeeting, VersionsThatDiffer) {
  FakeGpus gpus(3);
  fake_nccl::set_version(1, 22005);
  for (const Outcome& outcome : run_nccl_ranks(nccl_group(3), [](Collectives&) {})) {
    EXPECT_EQ(outcome.status, Status::kMismatch);
    EXPECT_EQ(outcome.text,
              "rendezvous: rank 1 has loaded NCCL 2.20.5, but rank 0 NCCL 2.28.9: all ranks need "
              "the same version");
  }
  EXPECT_EQ(fake_nccl::count().made, 0);
  expect_clean();
}

TEST(NcclMeeting, AVersionThatIsTooOld) {
  FakeGpus gpus(2);
  for (int r : {0, 1}) fake_nccl::set_version(r, 2803);
  for (const Outcome& outcome : run_nccl_ranks(nccl_group(2), [](Collectives&) {})) {
    EXPECT_EQ(outcome.status, Status::kDependency);
    EXPECT_THAT(outcome.text, HasSubstr("NCCL 2.8.3 is loaded, expected 2.28.9 or later"));
  }
  expect_clean();
}

TEST(NcclMeeting, ARankConnectsOnceAndIsOneOfThem) {
  FakeGpus gpus(1);
  const auto group = nccl_group(1);
  const auto end = group->connect(0, within_ms(kLong));
  EXPECT_EQ(attempt([&] { group->connect(0, within_ms(kLong)); }).status, Status::kInvalidArgument);
  EXPECT_EQ(attempt([&] { group->connect(1, within_ms(kLong)); }).status, Status::kInvalidArgument);
  end->barrier(within_ms(kLong));
}

// An abandoned call has read its input and never writes to it.
TEST(NcclMeeting, AGivenUpOperationWritesNothingLater) {
  FakeGpus gpus(2);
  std::vector<float> values(10'000, 1.0f);
  std::atomic<bool> given_up{false}, called{false};
  const auto outcomes = run_nccl_ranks(nccl_group(2), [&](Collectives& comm) {
    if (comm.rank() == 1) {
      while (!given_up) sleep_ms(1);
      const Outcome outcome = attempt([&] { all_reduce(comm, within_ms(kLong), 10'000); });
      called = true;
      throw base::Error(outcome.status, outcome.text);
    }
    try {
      comm.all_reduce({values.data(), DType::kF32, {10'000}}, ReduceOp::kSum, within_ms(100));
    } catch (const base::Error&) {
      std::ranges::fill(values, 3.0f);
      given_up = true;
      while (!called) sleep_ms(1);
      sleep_ms(100);
      throw;
    }
  });
  EXPECT_EQ(outcomes[0].status, Status::kTimeout);
  EXPECT_THAT(values, testing::Each(3.0f));
  expect_clean();
}

}  // namespace
}  // namespace gnnmg::test
