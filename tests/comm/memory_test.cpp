// Ends a job and its communicators without memory: the program goes on, and every process learns of
// the end. A separate program, because it replaces the allocator.
#include <gtest/gtest.h>

#include "comm/jobs.h"
#include "comm/join/control.h"
#include "support/alloc_faults.h"

namespace gnnmg::test {
namespace {

using base::Status;
using JobPtr = std::shared_ptr<comm::Processes>;

const std::string kWhy = "a reason of many words, for which memory is needed wherever it is kept";

// Two processes of a job, with a communicator of one rank each and no engine.
struct Pair {
  Pair() {
    const int port = free_port();
    std::thread other([&] { meet(port, 1); });
    meet(port, 0);
    other.join();
  }
  void meet(int port, int p) {
    jobs[p] = comm::Processes::join(job_config(port, p, 2), within_ms(60'000));
    uint64_t number = 0;
    comm::Control& control = *jobs[p]->control();
    control.gather("state", "", within_ms(60'000), comm::Ending::kForArrived, &number);
    auto state = std::make_shared<comm::GroupState>(2, control.link(number, {0, 1, 2}));
    control.add_group(number, {0, 1, 2}, state,
                      [state](const comm::Cause& cause) { state->end_elsewhere(cause); });
    states[p] = std::move(state);
  }
  // Checks that every call of both ends fails soon with the end of the job.
  void expect_end(int64_t n) {
    for (int p = 0; p < 2; ++p) {
      for (int i = 0; i < 2000 && !states[p]->ended(); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      EXPECT_TRUE(states[p]->ended()) << "allocation " << n << ", process " << p;
    }
  }
  JobPtr jobs[2];
  std::shared_ptr<comm::GroupState> states[2];
};

// Runs `end` on a thread whose allocations fail from the n-th on, for every n.
void end_without_memory(const std::function<void(Pair&)>& end) {
  for (int64_t n = 1;; ++n) {
    Pair pair;
    bool struck = false;
    {
      const AllocationFaults faults({.fail_at = n, .for_ever = true, .here = true});
      end(pair);
      struck = faults.struck();
    }
    pair.jobs[0].reset();  // the other process sees the closed connection in any case
    pair.expect_end(n);
    if (!struck) {
      EXPECT_GT(n, 2);
      return;
    }
  }
}

TEST(CommMemory, AnAbortNeedsNone) {
  end_without_memory([](Pair& pair) { pair.jobs[0]->abort(kWhy); });
}

TEST(CommMemory, LeavingNeedsNone) {
  end_without_memory([](Pair& pair) { pair.jobs[0]->leave(); });
}

TEST(CommMemory, TheEndOfAJobNeedsNone) {
  end_without_memory([](Pair& pair) { pair.jobs[0].reset(); });
}

TEST(CommMemory, TheEndOfACommunicatorNeedsNone) {
  end_without_memory([](Pair& pair) {
    pair.states[0]->end(comm::abort_cause(kWhy, 0, comm::kEveryOperation));
    pair.states[0]->leave(0);
  });
}

// Allocations of the control threads fail too.
TEST(CommMemory, ALossWithoutMemoryIsLearnedLater) {
  for (int64_t n = 1; n < 60; ++n) {
    Pair pair;
    {
      const AllocationFaults faults({.fail_at = n, .for_ever = true});
      pair.jobs[0]->abort(kWhy);
      pair.jobs[1].reset();
    }
    pair.jobs[0].reset();
    pair.expect_end(n);
  }
}

TEST(CommMemory, AnAbortOfOneRankNeedsNone) {
  for (int64_t n = 1;; ++n) {
    const auto end = comm::ThreadGroup::create(1)->connect(0, {});
    bool struck = false;
    {
      const AllocationFaults faults({.fail_at = n, .for_ever = true, .here = true});
      end->abort(kWhy);
      struck = faults.struck();
    }
    const Outcome outcome = attempt([&] { end->barrier(within_ms(1000)); });
    EXPECT_EQ(outcome.status, Status::kAborted);
    EXPECT_EQ(outcome.text, struck ? "short of memory" : kWhy);
    if (!struck) {
      EXPECT_GT(n, 1);
      return;
    }
  }
}

}  // namespace
}  // namespace gnnmg::test
