// Memory that communicators keep after their end, and their end without memory, over any engine. A
// separate program, because it replaces the allocator.
#include <gtest/gtest.h>

#include "base/background.h"
#include "comm/engine.h"
#include "support/alloc_faults.h"

namespace gnnmg::test {
namespace {

using base::Status;
using comm::Collectives;

void wait_for_reapers() {
  for (int i = 0; i < 4000 && base::num_left() > 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

TEST(GroupMemory, CommunicatorsThatAreGoneKeepNextToNothing) {
  constexpr int kGroups = 50, kRanks = 2;
  run_ranks(make_ranks(kRanks), [](Collectives& comm) {
    for (int i = 0; i < 1200; ++i) comm.barrier(within_ms(60'000));
  });
  const auto cycle = [] {
    for (const Outcome& outcome : run_ranks(make_ranks(kRanks), [](Collectives& comm) {
           comm.barrier(within_ms(60'000));
           comm.shutdown(within_ms(60'000));
         }))
      EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
  };
  for (int i = 0; i < 10; ++i) cycle();
  wait_for_reapers();
  const AllocationFaults counted;
  for (int i = 0; i < kGroups; ++i) cycle();
  wait_for_reapers();
  const double each = static_cast<double>(counted.held_bytes()) / (kGroups * kRanks);
  std::printf("[ FIGURE   ] %.0f bytes stay of a rank's communicator\n", each);
  EXPECT_LE(each, kKeptBytes);
}

TEST(GroupMemory, AnAbortNeedsNone) {
  const std::string why = "a reason of many words, for which memory is needed wherever it is kept";
  for (int64_t n = 1;; ++n) {
    const auto group = make_ranks(2);
    bool struck = false;
    {
      const AllocationFaults faults({.fail_at = n, .for_ever = true, .here = true});
      group->abort(why);
      struck = faults.struck();
    }
    const Outcome outcome = attempt([&] { group->connect(0, within_ms(1000)); });
    EXPECT_EQ(outcome.status, Status::kAborted);
    EXPECT_EQ(outcome.text, struck ? "short of memory" : why);
    if (!struck) {
      EXPECT_GT(n, 1);
      return;
    }
  }
}

// Also for busy ranks: there may be no thread to drop their groups on.
TEST(GroupMemory, AnAbortOfRanksAtWorkNeedsNone) {
  for (int64_t n = 1;; ++n) {
    bool struck = false;
    const auto outcomes = run_ranks(make_ranks(2), [&](Collectives& comm) {
      comm.barrier(within_ms(60'000));
      if (comm.rank() == 0) {
        const AllocationFaults faults({.fail_at = n, .for_ever = true, .here = true});
        comm.abort("enough");
        struck = faults.struck();
      }
      comm.barrier(within_ms(60'000));
    });
    wait_for_reapers();
    for (const Outcome& outcome : outcomes)
      EXPECT_EQ(outcome.status, Status::kAborted) << n << ": " << outcome.text;
    if (!struck) return;
  }
}

}  // namespace
}  // namespace gnnmg::test
