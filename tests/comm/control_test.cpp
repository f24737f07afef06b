// Processes of a job after joining: agreement, loss, lateness, and the end; and states of
// communicators over several processes, without an engine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "comm/jobs.h"
#include "comm/join/control.h"

namespace gnnmg::test {
namespace {

using base::Status;
using comm::GroupState;
using comm::Processes;
using testing::ContainsRegex;
using testing::HasSubstr;
using JobPtr = std::shared_ptr<Processes>;

void sleep_ms(int64_t ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

// Slow heartbeats: a process that gets no CPU for a second must not count as silent. beat_slowly()
// is for tests that wait for the contents of heartbeats.
void beat_slowly(comm::JoinConfig& config) { config.heartbeat_ms = 400; }
void hardly_beat(comm::JoinConfig& config) { config.heartbeat_ms = 2000; }

// A communicator with one rank per process and no engine.
std::shared_ptr<GroupState> make_state(const JobPtr& job) {
  uint64_t number = 0;
  job->control()->gather("state", "", within_ms(60'000), comm::Ending::kForArrived, &number);
  std::vector<int> first_ranks;
  for (int p = 0; p <= job->num_processes(); ++p) first_ranks.push_back(p);
  auto state =
      std::make_shared<GroupState>(job->num_processes(), job->control()->link(number, first_ranks));
  job->control()->add_group(number, first_ranks, state,
                            [state](const comm::Cause& cause) { state->end_elsewhere(cause); });
  state->meet(job->process(), 0, "rendezvous", within_ms(60'000));
  return state;
}

// An operation that needs all ranks, like a barrier.
void barrier(GroupState& state, int rank, uint64_t operation, const comm::Wait& wait) {
  state.meet(rank, operation, "barrier", wait);
}

// Waits until a waiting rank has given up and this process knows it.
void wait_for_end(const GroupState& state) {
  while (!state.ended()) sleep_ms(1);
}

// True if this process knows that ranks 0 and 1 have entered operation 1.
bool others_wait(const GroupState& state) {
  return state.report(0).operation >= 1 && state.report(1).operation >= 1;
}

// Waits until this process knows that the missing ranks of operation 1 are excused.
void wait_for_excuse(const GroupState& state) {
  while (!state.excused(1)) sleep_ms(1);
}

// Waits until `count` reaches `least`, so that the rest of a test does not depend on time.
void wait_for_count(const std::atomic<int>& count, int least) {
  while (count < least) sleep_ms(1);
}

TEST(Control, AllAgree) {
  for (const Outcome& outcome : run_job(3, [](const JobPtr& job) {
         for (int round = 0; round < 20; ++round)
           job->agree("trainer", {{"seed", "1"}, {"round", std::to_string(round)}},
                      within_ms(60'000));
         job->shutdown(within_ms(60'000));
       }))
    EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
}

TEST(Control, ADifferenceIsNamedEverywhereAndTheJobGoesOn) {
  std::atomic<int> after{0};
  const auto outcomes = run_job(3, [&](const JobPtr& job) {
    const std::string rate = job->process() == 2 ? "0.1" : "0.01";
    const Outcome outcome = attempt([&] {
      job->agree("trainer", {{"seed", "1"}, {"learning rate", rate}}, within_ms(60'000));
    });
    EXPECT_EQ(outcome.status, Status::kMismatch);
    EXPECT_THAT(outcome.text, HasSubstr("trainer: learning rate differs: process 2 on host"));
    EXPECT_THAT(outcome.text, HasSubstr("has 0.1, process 0 on host"));
    EXPECT_THAT(outcome.text, testing::EndsWith("has 0.01"));
    const Outcome missing = attempt([&] {
      std::vector<comm::Field> fields{{"seed", "1"}};
      if (job->process() != 1) fields.emplace_back("layers", "3");
      job->agree("model", fields, within_ms(60'000));
    });
    EXPECT_THAT(missing.text, HasSubstr("model: layers differs: process 1"));
    EXPECT_THAT(missing.text, HasSubstr("has none, process 0"));
    job->agree("trainer", {{"seed", "1"}}, within_ms(60'000));
    ++after;
    job->shutdown(within_ms(60'000));
  });
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
  EXPECT_EQ(after, 3);
}

TEST(Control, DifferentCallsAreNamed) {
  for (const Outcome& outcome : run_job(2, [](const JobPtr& job) {
         job->agree(job->process() == 0 ? "model" : "trainer", {}, within_ms(60'000));
       })) {
    EXPECT_EQ(outcome.status, Status::kMismatch);
    EXPECT_THAT(outcome.text, HasSubstr("calls agree trainer, process 0"));
  }
}

TEST(Control, BytesOfAllSizes) {
  for (const Outcome& outcome : run_job(3, [](const JobPtr& job) {
         for (const size_t size : {size_t{0}, size_t{1}, size_t{5} << 20}) {
           const auto all =
               job->gather("bytes", std::string(size, static_cast<char>('a' + job->process())),
                           within_ms(60'000));
           for (int p = 0; p < 3; ++p)
             EXPECT_EQ(all[p], std::string(size, static_cast<char>('a' + p)));
         }
         EXPECT_EQ(attempt([&] {
                     job->gather("bytes", std::string(size_t{33} << 20, 'x'), within_ms(1000));
                   }).status,
                   Status::kInvalidArgument);
         job->shutdown(within_ms(60'000));
       }))
    EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
}

TEST(Control, OneThatDoesNotComeIsNamed) {
  std::atomic<int> given_up{0}, waiting{0};
  const auto outcomes = run_job(
      3,
      [&](const JobPtr& job) {
        const bool late = job->process() == 1;
        if (late) wait_for_count(given_up, 2);
        const Outcome outcome = attempt([&] {
          job->agree("trainer", {}, late ? within_ms(60'000) : within_ms_together(300, waiting, 2));
        });
        ++given_up;
        throw base::Error(outcome.status, outcome.text);
      },
      hardly_beat);
  for (const int p : {0, 2}) {
    EXPECT_EQ(outcomes[p].status, Status::kTimeout) << outcomes[p].text;
    EXPECT_THAT(outcomes[p].text, HasSubstr("agree trainer: 2 of 3 processes came within"));
    EXPECT_THAT(outcomes[p].text, HasSubstr("missing: process 1 on host"));
  }
  EXPECT_EQ(outcomes[1].status, Status::kAborted) << outcomes[1].text;
}

// Giving up ends only the wait: a late process meets the processes that call again.
TEST(Control, ATimeOutIsNotTheEndOfTheJob) {
  for (const int late : {0, 1, 2}) {
    const int64_t deadline_ms = late == 1 ? 1000 : 400;
    std::atomic<int> given_up{0}, waiting{0};
    const auto outcomes = run_job(
        3,
        [&](const JobPtr& job) {
          if (job->process() == late) {
            wait_for_count(given_up, 2);
          } else {
            const Outcome outcome = attempt(
                [&] { job->agree("trainer", {}, within_ms_together(deadline_ms, waiting, 2)); });
            ++given_up;
            EXPECT_EQ(outcome.status, Status::kTimeout) << outcome.text;
            EXPECT_THAT(outcome.text, ContainsRegex(base::text(
                                          "agree trainer: 2 of 3 processes came within [0-9.]+ s, ",
                                          "missing: process ", late, " on host")));
            EXPECT_GE(outcome.seconds, 0.9 * static_cast<double>(deadline_ms) / 1000);
            EXPECT_LT(outcome.seconds, static_cast<double>(deadline_ms) / 1000 + 4);
            EXPECT_FALSE(job->spent());
          }
          job->agree("trainer", {{"seed", "1"}}, within_ms(60'000));
          job->shutdown(within_ms(60'000));
        },
        hardly_beat);
    for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
  }
}

TEST(Control, ACancelIsNotTheEndOfTheJob) {
  for (const int late : {0, 1, 2}) {
    const int canceller = (late + 1) % 3;
    std::atomic<int> waiting{0}, given_up{0};
    const auto outcomes = run_job(
        3,
        [&](const JobPtr& job) {
          const int self = job->process();
          if (self == late) {
            wait_for_count(given_up, 2);
          } else {
            // Never ends by itself; the cancel comes only after both processes wait.
            const comm::Wait wait = within_ms_together(100, waiting, 3);
            std::thread cancel([&] {
              wait_for_count(waiting, 2);
              if (self == canceller) wait.cancel.cancel();
            });
            const Outcome outcome = attempt([&] { job->agree("trainer", {}, wait); });
            ++given_up;
            cancel.join();
            EXPECT_EQ(outcome.status, self == canceller ? Status::kCancelled : Status::kAborted);
            EXPECT_THAT(outcome.text, HasSubstr("was canceled"));
            if (self != canceller) {
              EXPECT_THAT(outcome.text, HasSubstr(base::text("process ", canceller, " on host")));
            }
            EXPECT_LT(outcome.seconds, 10.0);
          }
          job->agree("trainer", {{"seed", "1"}}, within_ms(60'000));
          job->shutdown(within_ms(60'000));
        },
        hardly_beat);
    for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
  }
}

// A late process learns that the others had come.
TEST(Control, ThoseWhoWereThereBeforeAreNamed) {
  std::atomic<int> given_up{0};
  const auto outcomes = run_job(
      3,
      [&](const JobPtr& job) {
        if (job->process() == 2) wait_for_count(given_up, 2);
        const Outcome outcome = attempt([&] { job->agree("trainer", {}, within_ms(400)); });
        ++given_up;
        EXPECT_EQ(outcome.status, Status::kTimeout) << outcome.text;
        if (job->process() == 2) {
          EXPECT_THAT(outcome.text,
                      ContainsRegex("1 of 3 processes came within [0-9.]+ s, missing: "));
          EXPECT_THAT(outcome.text, HasSubstr("which came and gave up waiting, last heard of "));
        }
        wait_for_count(given_up, 3);
      },
      hardly_beat);
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
}

// If a call has two exchanges, giving up the second one ends it for all processes.
TEST(Control, WhatFollowsIsOverForAll) {
  for (const int late : {0, 1, 2}) {
    const int canceller = (late + 1) % 3;
    std::atomic<int> given_up{0};
    const auto outcomes = run_job(3, [&](const JobPtr& job) {
      const int self = job->process();
      job->gather("save", "", within_ms(60'000));
      comm::Wait wait = within_ms(60'000);
      if (self == canceller) wait.cancel.cancel();
      if (self == late) wait_for_count(given_up, 1);
      const Outcome outcome =
          attempt([&] { job->gather("saved", "", wait, comm::Ending::kForAll); });
      ++given_up;
      EXPECT_EQ(outcome.status, self == canceller ? Status::kCancelled : Status::kAborted);
      EXPECT_THAT(outcome.text, HasSubstr("was canceled"));
      EXPECT_LT(outcome.seconds, 10.0);
      job->gather("save", "", within_ms(60'000));
      job->shutdown(within_ms(60'000));
    });
    for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
  }
}

// For any order of coming, giving up and coming again, an exchange that succeeds for one process
// succeeds for all.
TEST(Control, GivingUpAtAnyMoment) {
  constexpr int kRounds = 60;
  std::atomic<int> given_up{0};
  const auto outcomes = run_job(4, [&](const JobPtr& job) {
    uint32_t random = 77 + static_cast<uint32_t>(job->process());
    for (int round = 0; round < kRounds; ++round) {
      for (int tries = 0;; ++tries) {
        random = random * 1664525 + 1013904223;
        comm::Wait wait = within_ms(tries < 5 ? random / 65536 % 12 : 60'000);
        if (tries < 5 && random / 1024 % 4 == 0) wait.cancel.cancel();
        const Outcome outcome =
            attempt([&] { job->agree("trainer", {{"round", std::to_string(round)}}, wait); });
        if (outcome.status == Status::kOk) break;
        EXPECT_TRUE(outcome.status == Status::kTimeout || outcome.status == Status::kAborted ||
                    outcome.status == Status::kCancelled)
            << outcome.text;
        ASSERT_FALSE(job->spent()) << outcome.text;
        ++given_up;
      }
    }
    job->shutdown(within_ms(60'000));
  });
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
  EXPECT_GT(given_up, kRounds);
}

TEST(Control, LeavingIsToldWithItsReason) {
  const auto outcomes = run_job(2, [](const JobPtr& job) {
    if (job->process() == 1) return job->set_leave_reason("ERR_NOT_FOUND: no such folder");
    job->agree("trainer", {}, within_ms(60'000));
  });
  EXPECT_EQ(outcomes[0].status, Status::kAborted);
  EXPECT_THAT(outcomes[0].text,
              HasSubstr("has left the job without a shutdown: ERR_NOT_FOUND: no such folder"));
  EXPECT_LT(outcomes[0].seconds, 10);
}

TEST(Control, LeavingWithoutAShutdownEndsTheJob) {
  for (const int leaver : {0, 1}) {
    const auto outcomes = run_job(3, [&](const JobPtr& job) {
      const auto state = make_state(job);
      if (job->process() == leaver) return;
      barrier(*state, job->process(), 1, within_ms(60'000));
    });
    for (int p = 0; p < 3; ++p) {
      EXPECT_EQ(outcomes[p].status, p == leaver ? Status::kOk : Status::kAborted);
      if (p != leaver) {
        EXPECT_THAT(outcomes[p].text, HasSubstr("has left the job without a shutdown"));
        EXPECT_LT(outcomes[p].seconds, 10);
      }
    }
  }
}

TEST(Control, StatesMeetAcrossProcesses) {
  for (const Outcome& outcome : run_job(4, [](const JobPtr& job) {
         const auto state = make_state(job);
         for (uint64_t operation = 1; operation < 6; ++operation)
           barrier(*state, job->process(), operation, within_ms(60'000));
         state->leave(job->process());
         job->shutdown(within_ms(60'000));
       }))
    EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
}

TEST(Control, ALateRankIsNamedWithWhereItWas) {
  const auto outcomes = run_job(
      3,
      [](const JobPtr& job) {
        const auto state = make_state(job);
        state->set_position(job->process(), {4, 118, comm::Phase::kSampling});
        if (job->process() == 2) wait_for_end(*state);
        barrier(*state, job->process(), 1, within_ms_once(300, [&] {
          return others_wait(*state) && state->report(2).position.epoch == 4;
        }));
      },
      beat_slowly);
  for (const int p : {0, 1}) {
    EXPECT_EQ(outcomes[p].status, Status::kTimeout) << outcomes[p].text;
    EXPECT_THAT(outcomes[p].text, HasSubstr("barrier: 2 of 3 ranks came within"));
    EXPECT_THAT(outcomes[p].text, HasSubstr("missing: 2; rank 2 on host "));
    EXPECT_THAT(outcomes[p].text, ContainsRegex("last heard of [0-9.]+ s ago"));
    EXPECT_THAT(outcomes[p].text, HasSubstr("epoch 4 step 118, sampling for "));
  }
  EXPECT_EQ(outcomes[2].status, Status::kAborted);
}

// All processes use process 0's heartbeat: a process with another setting must not count as silent,
// because a silent process is blamed before the late one.
TEST(Control, TheHeartbeatIsProcessZeros) {
  for (const int64_t other : {10, 60'000}) {
    const auto outcomes = run_job(
        3,
        [](const JobPtr& job) {
          const auto state = make_state(job);
          sleep_ms(700);  // more than three heartbeats
          if (job->process() == 2) wait_for_end(*state);
          barrier(*state, job->process(), 1,
                  within_ms_once(300, [&] { return others_wait(*state); }));
        },
        [&](comm::JoinConfig& config) { config.heartbeat_ms = config.process == 1 ? other : 200; });
    for (const int p : {0, 1}) {
      EXPECT_EQ(outcomes[p].status, Status::kTimeout) << outcomes[p].text;
      EXPECT_THAT(outcomes[p].text, HasSubstr("missing: 2; rank 2 on host "));
      EXPECT_THAT(outcomes[p].text, Not(HasSubstr("; rank 1 on host ")));
    }
    EXPECT_EQ(outcomes[2].status, Status::kAborted) << outcomes[2].text;
  }
}

// A rank that waits for its host is reported as in a callback, in all processes.
TEST(Control, ARankInACallbackIsNamedAsInOne) {
  const auto outcomes = run_job(
      3,
      [](const JobPtr& job) {
        const auto state = make_state(job);
        const auto calls = std::make_shared<std::atomic<int>>(0);
        state->set_position(job->process(), {4, 118, comm::Phase::kSampling, calls});
        if (job->process() == 2) {
          *calls = 1;
          wait_for_end(*state);
          *calls = 0;
        }
        EXPECT_THAT(state->position_text(job->process()), HasSubstr("sampling for "));
        barrier(*state, job->process(), 1, within_ms_once(300, [&] {
          return others_wait(*state) && state->report(2).position.phase == comm::Phase::kCallback;
        }));
      },
      beat_slowly);
  for (const int p : {0, 1}) {
    EXPECT_EQ(outcomes[p].status, Status::kTimeout) << outcomes[p].text;
    EXPECT_THAT(outcomes[p].text, HasSubstr("epoch 4 step 118, in a callback for "));
  }
}

// While a missing process waits for its host, the deadline does not run, up to the stall limit.
TEST(Control, ACallbackElsewhereExcuses) {
  for (const Outcome& outcome : run_job(
           2,
           [](const JobPtr& job) {
             const auto state = make_state(job);
             if (job->process() == 1) {
               job->set_excuse([] { return true; });
               sleep_ms(800);
             } else {
               wait_for_excuse(*state);
             }
             barrier(*state, job->process(), 1, within_ms(job->process() == 0 ? 200 : 60'000));
             job->set_excuse({});
             job->shutdown(within_ms(60'000));
           },
           beat_slowly))
    EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;

  std::atomic<bool> over{false};
  const auto stalled = run_job(
      2,
      [&](const JobPtr& job) {
        const auto state = make_state(job);
        if (job->process() == 1) {
          job->set_excuse([] { return true; });
          while (!over) sleep_ms(1);
          return;
        }
        wait_for_excuse(*state);
        const Outcome outcome = attempt([&] {
          comm::Wait wait = within_ms(200);
          wait.stall = base::Deadline::after_ms(500);
          barrier(*state, job->process(), 1, wait);
        });
        over = true;
        EXPECT_GT(outcome.seconds, 0.4);
        EXPECT_LT(outcome.seconds, 2);
        throw base::Error(outcome.status, outcome.text);
      },
      beat_slowly);
  EXPECT_EQ(stalled[0].status, Status::kTimeout);
  EXPECT_THAT(stalled[0].text, HasSubstr("missing: 1"));
}

// Time in callbacks does not count, even if the deadline passes between two callbacks.
TEST(Control, TimeInCallbacksElsewhereDoesNotCount) {
  std::atomic<bool> waits{false};
  for (const Outcome& outcome : run_job(2, [&](const JobPtr& job) {
         const auto state = make_state(job);
         if (job->process() == 1) {
           job->set_excuse([] { return true; });
           while (!waits) sleep_ms(1);
           sleep_ms(900);
           job->set_excuse({});
           sleep_ms(300);
         } else {
           wait_for_excuse(*state);
           waits = true;
         }
         barrier(*state, job->process(), 1, within_ms(job->process() == 0 ? 1000 : 60'000));
         job->shutdown(within_ms(60'000));
       }))
    EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
}

TEST(Control, DifferentCallsOfRanksEndOnAll) {
  for (const Outcome& outcome : run_job(3, [](const JobPtr& job) {
         const auto state = make_state(job);
         const int rank = job->process();
         state->enter(rank, 1, {"all_reduce", rank == 1 ? "f32 [7], sum" : "f32 [8], sum"});
         state->wait(rank, 1, "all_reduce", within_ms(60'000), [] { return false; });
       })) {
    EXPECT_EQ(outcome.status, Status::kMismatch) << outcome.text;
    EXPECT_THAT(outcome.text, HasSubstr("f32 [7], sum"));
    EXPECT_LT(outcome.seconds, 10);
  }
}

// The cause of a failed rank reaches all processes.
TEST(Control, AnAbortTravels) {
  const auto outcomes = run_job(3, [](const JobPtr& job) {
    const auto state = make_state(job);
    if (job->process() == 1) {
      sleep_ms(100);
      state->end({Status::kCallback, "rank 1: the sampler returned 3", 1, 0, {}});
    }
    barrier(*state, job->process(), 1, within_ms(60'000));
  });
  for (const Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.status, Status::kAborted);
    EXPECT_EQ(outcome.text, "rank 1: the sampler returned 3");
    EXPECT_LT(outcome.seconds, 10);
  }
}

// The end of a communicator does not end the job.
TEST(Control, ANewCommunicatorAfterAnAbortedOne) {
  for (const Outcome& outcome : run_job(3, [](const JobPtr& job) {
         for (int round = 0; round < 3; ++round) {
           // The communicator may end before others reach its rendezvous.
           const Outcome ended = attempt([&] {
             const auto state = make_state(job);
             if (job->process() == round) state->end({Status::kAborted, "over", round, 0, {}});
             barrier(*state, job->process(), 1, within_ms(60'000));
           });
           EXPECT_EQ(ended.text, "over");
           EXPECT_FALSE(job->spent());
         }
         const auto state = make_state(job);
         barrier(*state, job->process(), 1, within_ms(60'000));
         job->shutdown(within_ms(60'000));
       }))
    EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
}

}  // namespace
}  // namespace gnnmg::test
