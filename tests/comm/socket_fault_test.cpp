// Every system call on sockets in joining, exchanges and leaving fails in turn: each process ends
// in bounded time with success or a status that names the failure, and nothing is left open.
#include <gtest/gtest.h>

#include <cerrno>
#include <optional>

#include "comm/jobs.h"
#include "comm/socket_faults.h"
#include "support/leftovers.h"

namespace gnnmg::test {
namespace {

using base::Status;
using comm::Processes;

// Deadlines for calls that have failed.
struct Times {
  int64_t join_ms, call_ms;
};
constexpr Times kLong{1'000, 3'000}, kShort{600, 1'500};
// Only recv uses the long deadlines.
const Times& times_of(SocketCall call) { return call == SocketCall::kRecv ? kLong : kShort; }

// The work of a job: all agree, exchange bytes of several sizes, and leave.
void talk(const std::shared_ptr<Processes>& job, const Times& times) {
  job->agree("test", {{"field", "same"}}, within_ms(times.call_ms));
  const std::string own(3'000, static_cast<char>('a' + job->process()));
  const std::vector<std::string> all = job->gather("bytes", own, within_ms(times.call_ms));
  for (int p = 0; p < job->num_processes(); ++p)
    if (all[p] != std::string(3'000, static_cast<char>('a' + p)))
      throw std::logic_error("bytes of another");
  job->shutdown(within_ms(times.call_ms));
}
JobBody talk_within(const Times& times) {
  return [&](const std::shared_ptr<Processes>& job) { talk(job, times); };
}

class SocketFault : public testing::Test {
 protected:
  void SetUp() override {
    std::thread([] {}).join();  // starts a sanitizer's own thread
    left_.emplace();
  }
  // Checks that descriptors and threads are as before.
  void expect_nothing_left() const { EXPECT_EQ(left_->count(), Leftovers::kNone); }
  void TearDown() override { expect_nothing_left(); }
  std::optional<Leftovers> left_;
};

TEST_F(SocketFault, ShortAndInterruptedCallsChangeNothing) {
  for (const int64_t chunk : {0, 1, 7}) {
    SocketPlan plan;
    plan.chunk = chunk;
    plan.interrupts = true;
    const SocketFaults faults(plan);
    for (const Outcome& outcome : run_job(3, talk_within(kLong)))
      EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
    EXPECT_GT(faults.count(SocketCall::kRecv), 20);
  }
}

struct Kind {
  SocketCall call;
  const char* name;
  int error;
};

class EachCall : public SocketFault, public testing::WithParamInterface<Kind> {};

// Fails the n-th call of a kind, n = 1, 2, ... until a job meets no fault.
TEST_P(EachCall, Fails) {
  const Kind kind = GetParam();
  const Times& times = times_of(kind.call);
  int met = 0, failed = 0;
  for (int64_t n = 1; n <= 400; ++n) {
    SocketPlan plan;
    plan.call = kind.call;
    plan.fail_at = n;
    plan.error = kind.error;
    bool struck = false;
    std::vector<Outcome> outcomes;
    {
      const SocketFaults faults(plan);
      outcomes = run_job(2, talk_within(times), {}, times.join_ms);
      struck = faults.struck();
    }
    for (const Outcome& outcome : outcomes) {
      failed += outcome.status != Status::kOk;
      EXPECT_TRUE(outcome.status == Status::kOk || outcome.status == Status::kUnavailable ||
                  outcome.status == Status::kPeerLost || outcome.status == Status::kAborted ||
                  outcome.status == Status::kTimeout)
          << "call " << n << ": " << outcome.text;
      EXPECT_LT(outcome.seconds, 15) << "call " << n << ": " << outcome.text;
    }
    expect_nothing_left();
    if (HasFailure()) return;
    if (!struck) break;
    ++met;
  }
  EXPECT_GT(met, 0);
  RecordProperty("met", met);
  RecordProperty("failed", failed);
}

// A permanent failure ends the job with an error.
TEST_P(EachCall, FailsForEver) {
  const Kind kind = GetParam();
  SocketPlan plan;
  plan.call = kind.call;
  plan.fail_at = 1;
  plan.for_ever = true;
  plan.error = kind.error;
  const bool harmless = kind.call == SocketCall::kSetOption;  // affects only speed
  std::vector<Outcome> outcomes;
  {
    const SocketFaults faults(plan);
    outcomes = run_job(2, talk_within(kLong), {}, harmless ? 10'000 : 500);
    EXPECT_TRUE(faults.struck());
  }
  for (const Outcome& outcome : outcomes) EXPECT_LT(outcome.seconds, 15) << outcome.text;
  if (harmless) {
    for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
    return;
  }
  for (const Outcome& outcome : outcomes) EXPECT_NE(outcome.status, Status::kOk);
}

INSTANTIATE_TEST_SUITE_P(Calls, EachCall,
                         testing::Values(Kind{SocketCall::kSocket, "socket", EMFILE},
                                         Kind{SocketCall::kListen, "listen", EADDRINUSE},
                                         Kind{SocketCall::kConnect, "connect", ECONNREFUSED},
                                         Kind{SocketCall::kAccept, "accept", EMFILE},
                                         Kind{SocketCall::kRecv, "recv", ECONNRESET},
                                         Kind{SocketCall::kSend, "send", EPIPE},
                                         Kind{SocketCall::kPoll, "poll", ENOMEM},
                                         Kind{SocketCall::kName, "getsockname", ENOBUFS},
                                         Kind{SocketCall::kGetOption, "getsockopt", ENOBUFS},
                                         Kind{SocketCall::kSetOption, "setsockopt", ENOBUFS}),
                         [](const testing::TestParamInfo<Kind>& info) {
                           return std::string(info.param.name);
                         });

}  // namespace
}  // namespace gnnmg::test
