// Late, missing, canceled and aborted ranks over any engine: each rank's error and its delay.
// Nothing may be left: no thread, no descriptor, no line on standard error, no late write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "comm/group_faults.h"

namespace gnnmg::test {
namespace {

using base::DType;
using base::Status;
using comm::Collectives;
using comm::ReduceOp;
using testing::HasSubstr;

constexpr double kAtOnce = 20;  // s: far below a minute, and more than a loaded machine takes
// Seconds, as docs/promises.md says, in one of a few tries.
constexpr double kCancelled = 0.1, kAborted = 0.5;

TEST_F(GroupFault, CancelReturnsAtOnceAndCallsOffThePeers) {
  for (int world : {2, 4}) {
    double quickest = kAtOnce;
    for (int round = 0; round < 5 && quickest > kCancelled; ++round) {
      comm::Wait wait = within_ms(60'000);
      std::atomic<std::chrono::steady_clock::time_point> at{};
      std::atomic<bool> given_up{false};
      std::vector<double> after(world);
      const auto outcomes = run_ranks(make_ranks(world), [&](Collectives& comm) {
        const int me = comm.rank();
        if (me == world - 1) {  // enters a communicator that has ended
          while (!given_up) sleep_ms(1);
          all_reduce(comm, within_ms(60'000));
          return;
        }
        std::thread canceller;
        if (me == 0)
          canceller = std::thread([&] {
            sleep_ms(50);
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
      EXPECT_EQ(outcomes[0].status, Status::kCancelled);
      EXPECT_LT(after[0], kAtOnce);
      for (int r = 1; r < world; ++r) {
        EXPECT_EQ(outcomes[r].status, Status::kAborted) << r;
        EXPECT_THAT(outcomes[r].text, HasSubstr("rank 0 was canceled"));
        if (r < world - 1) {
          EXPECT_LT(after[r], kAtOnce);
        }
      }
      quickest = std::min(quickest, after[0]);
    }
    EXPECT_LT(quickest, kCancelled);
  }
}

TEST_F(GroupFault, DeadlineNamesTheMissingRank) {
  std::atomic<int> given_up{0}, waiting{0};
  const auto outcomes = run_ranks(make_ranks(4), [&](Collectives& comm) {
    all_reduce(comm, within_ms(60'000));
    while (comm.rank() == 2 && given_up < 3) sleep_ms(1);
    const Outcome outcome = attempt([&] { all_reduce(comm, within_ms_together(300, waiting, 3)); });
    ++given_up;
    throw base::Error(outcome.status, outcome.text);
  });
  for (int r : {0, 1, 3}) {
    EXPECT_EQ(outcomes[r].status, Status::kTimeout) << r;
    EXPECT_THAT(outcomes[r].text, HasSubstr("all_reduce: 3 of 4 ranks came within"));
    EXPECT_THAT(outcomes[r].text, HasSubstr("missing: 2"));
  }
  EXPECT_EQ(outcomes[2].status, Status::kAborted);
}

TEST_F(GroupFault, RendezvousNamesTheMissingRanks) {
  const auto group = make_ranks(3);
  const Outcome outcome = attempt([&] { group->connect(1, within_ms(200)); });
  EXPECT_EQ(outcome.status, Status::kTimeout);
  EXPECT_THAT(outcome.text, HasSubstr("rendezvous: 1 of 3 ranks came within"));
  EXPECT_THAT(outcome.text, HasSubstr("missing: 0, 2"));
  EXPECT_LT(outcome.seconds, 0.2 + 2);
}

TEST_F(GroupFault, AbortWakesEverybody) {
  double quickest = kAtOnce;
  for (int round = 0; round < 5 && quickest > kAborted; ++round) {
    std::vector<Collectives*> ends(4);
    std::atomic<int> waiting{0};
    std::atomic<std::chrono::steady_clock::time_point> at{};
    std::vector<double> after(4);
    std::thread aborter([&] {
      while (waiting < 3) sleep_ms(1);
      sleep_ms(100);
      at = std::chrono::steady_clock::now();
      ends[3]->abort("the data set is gone");  // rank 3 keeps its end until this thread is done
      ends[3]->abort("and nobody hears this");
    });
    const auto outcomes = run_ranks(make_ranks(4), [&](Collectives& comm) {
      const int me = comm.rank();
      ends[me] = &comm;
      comm.barrier(within_ms(60'000));
      if (me == 3) aborter.join();  // keeps its end until then
      ++waiting;
      try {
        all_reduce(comm, within_ms(60'000));
      } catch (const base::Error&) {
        after[me] =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - at.load()).count();
        EXPECT_TRUE(comm.spent());
        const Outcome again = attempt([&] { comm.barrier(within_ms(60'000)); });
        EXPECT_EQ(again.status, Status::kAborted);
        EXPECT_EQ(again.text, "the data set is gone");
        throw;
      }
    });
    for (int r = 0; r < 4; ++r) {
      EXPECT_EQ(outcomes[r].status, Status::kAborted) << r;
      EXPECT_EQ(outcomes[r].text, "the data set is gone");
      EXPECT_LT(after[r], kAtOnce);
    }
    quickest = std::min(quickest, *std::ranges::max_element(after));
  }
  EXPECT_LT(quickest, kAborted);
}

// Abort and cancel at any moment of connecting.
TEST_F(GroupFault, AbortAndCancelWhileTheRanksConnect) {
  for (int round = 0; round < 80; ++round) {
    const auto group = make_ranks(2);
    const base::CancelToken cancel;
    std::vector<Outcome> outcomes(2);
    std::vector<std::thread> threads;
    for (int r = 0; r < 2; ++r)
      threads.emplace_back([&, r] {
        outcomes[r] = attempt([&] {
          comm::Wait wait = within_ms(30'000);
          if (r == 0) wait.cancel = cancel;
          const auto end = group->connect(r, wait);
          end->barrier(wait);
        });
      });
    std::this_thread::sleep_for(std::chrono::microseconds(100 * (round / 2)));
    if (round % 2 == 0)
      cancel.cancel();
    else
      group->abort("enough");
    for (std::thread& thread : threads) thread.join();
    for (int r = 0; r < 2; ++r) {
      EXPECT_LT(outcomes[r].seconds, 10) << "round " << round << ": " << outcomes[r].text;
      const Status expected = round % 2 == 0 && r == 0 ? Status::kCancelled : Status::kAborted;
      EXPECT_TRUE(outcomes[r].status == expected || outcomes[r].status == Status::kOk)
          << "round " << round << ", rank " << r << ": " << outcomes[r].text;
    }
  }
}

TEST_F(GroupFault, ARankThatThrowsIsNamedAtOnce) {
  const auto outcomes = run_ranks(make_ranks(3), [&](Collectives& comm) {
    if (comm.rank() == 1) throw base::Error(Status::kCallback, "the sampler threw");
    all_reduce(comm, within_ms(60'000));
  });
  EXPECT_EQ(outcomes[1].status, Status::kCallback);
  for (int r : {0, 2}) {
    EXPECT_EQ(outcomes[r].status, Status::kPeerLost) << r;
    EXPECT_EQ(outcomes[r].text, "all_reduce: rank 1 has left the communicator");
    EXPECT_LT(outcomes[r].seconds, 5.0);
  }
}

TEST_F(GroupFault, DifferentCallsAreRefusedEverywhere) {
  const auto outcomes = run_ranks(make_ranks(3), [&](Collectives& comm) {
    std::vector<float> values(comm.rank() == 1 ? 7 : 8);
    comm.all_reduce({values.data(), DType::kF32, {static_cast<int64_t>(values.size())}},
                    ReduceOp::kSum, within_ms(60'000));
  });
  for (const Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.status, Status::kMismatch) << outcome.text;
    EXPECT_THAT(outcome.text, HasSubstr("f32 [7], sum"));
    EXPECT_THAT(outcome.text, HasSubstr("f32 [8], sum"));
  }
  // Operations without a match end too, long before their deadline.
  const auto start = std::chrono::steady_clock::now();
  wait_for_reapers();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST_F(GroupFault, AGivenUpOperationWritesNothingLater) {
  std::vector<float> values(100'000, 1.0f);
  std::atomic<bool> given_up{false};
  const auto outcomes = run_ranks(make_ranks(2), [&](Collectives& comm) {
    if (comm.rank() == 1) {
      while (!given_up) sleep_ms(1);
      all_reduce(comm, within_ms(60'000));
      return;
    }
    try {
      comm.all_reduce({values.data(), DType::kF32, {100'000}}, ReduceOp::kSum, within_ms(100));
    } catch (const base::Error&) {
      std::ranges::fill(values, 3.0f);
      given_up = true;
      throw;
    }
  });
  EXPECT_EQ(outcomes[0].status, Status::kTimeout);
  wait_for_reapers();
  EXPECT_THAT(values, testing::Each(3.0f));
}

TEST_F(GroupFault, ANewGroupWorksAfterAFailedOne) {
  for (int round = 0; round < 10; ++round) {
    run_ranks(make_ranks(3), [&](Collectives& comm) {
      if (comm.rank() == round % 3) comm.abort("over");
      all_reduce(comm, within_ms(60'000));
    });
    for (const Outcome& outcome :
         run_ranks(make_ranks(3), [](Collectives& comm) { all_reduce(comm, within_ms(60'000)); }))
      EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
  }
}

}  // namespace
}  // namespace gnnmg::test
