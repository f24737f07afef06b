// Jobs of real processes: worlds of all shapes, and every fault of a process in the middle of a
// collective. Checks each survivor's error, its delay, and that nothing is left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <random>

#include "comm/members.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

using testing::HasSubstr;

constexpr int64_t kCancelled = 100;  // ms, as docs/promises.md says, in one of a few tries

// Prints figures, so that a run of the tests is a measurement too.
void figure(const char* what, int64_t ms) {
  std::printf("[ FIGURE   ] %s: %lld ms\n", what, static_cast<long long>(ms));
}

TEST(Processes, WorldsOfAllShapes) {
  for (const std::vector<int>& ranks :
       {std::vector<int>{1, 1}, {2, 2}, {1, 3}, {3}, {1}, {2, 1, 1}}) {
    Job job(ranks, {"steps=20"});
    for (auto& child : job.children) {
      for (const End& end : finish(*child, 0)) ADD_FAILURE() << end.text;
      EXPECT_THAT(child->all(), HasSubstr("done 20"));
    }
  }
}

class KilledAt : public testing::TestWithParam<int> {};

// Rows 1 and 3: a process dies, including process 0.
TEST_P(KilledAt, EverySurvivorNamesTheRank) {
  std::mt19937 random(GetParam());
  const int victim = GetParam() % 4;
  const int64_t step = random() % 60;
  Job job({1, 1, 1, 1}, {"pause=2"});
  ASSERT_TRUE(job.wait_step(step)) << job[0].all();
  const int64_t at = monotonic_ms();
  job[victim].signal(SIGKILL);
  int64_t slowest = 0;
  for (int p = 0; p < 4; ++p) {
    if (p == victim) continue;
    const auto ends = finish(job[p]);
    ASSERT_EQ(ends.size(), 1u) << job[p].all();
    EXPECT_EQ(ends[0].status, "ERR_PEER_LOST") << ends[0].text;
    EXPECT_THAT(ends[0].text, HasSubstr(base::text("lost process ", victim, " on host ")));
    EXPECT_THAT(ends[0].text, HasSubstr(base::text("; rank ", victim, " (on host ")));
    EXPECT_LE(ends[0].at_ms - at, kSoon);
    slowest = std::max(slowest, ends[0].at_ms - at);
  }
  figure(base::text("killed process ", victim, " after step ", step).c_str(), slowest);
}
INSTANTIATE_TEST_SUITE_P(Processes, KilledAt, testing::Range(0, 20));

// The error names all ranks of a lost process with their positions.
TEST(Processes, AllRanksOfALostProcessAreNamed) {
  Job job({1, 2, 2}, {"pause=5", "heartbeat=100"});
  ASSERT_TRUE(job.wait_step(80));
  job[1].signal(SIGKILL);
  for (const int p : {0, 2}) {
    const auto ends = finish(job[p]);
    ASSERT_EQ(ends.size(), p == 0 ? 1u : 2u) << job[p].all();
    for (const End& end : ends) {
      EXPECT_EQ(end.status, "ERR_PEER_LOST") << end.text;
      EXPECT_THAT(end.text, HasSubstr("; rank 1 (on host "));
      EXPECT_THAT(end.text, HasSubstr("; rank 2 (on host "));
      EXPECT_THAT(end.text, HasSubstr("epoch 0 step "));
    }
  }
}

// Row 4: a process is stopped, including process 0, and continues later. A callback of its host in
// its last message is no excuse.
TEST(Processes, AStoppedProcessIsNamedAndAbortedWhenItWakes) {
  for (const auto& [victim, excused] : {std::pair(2, 0), {0, 0}, {2, 1}, {0, 1}}) {
    const int64_t deadline_ms = victim == 2 && excused == 0 ? 3000 : 1500;
    Job job({1, 1, 1, 1},
            {"pause=2", base::text("deadline=", deadline_ms),
             base::text("heartbeat=", deadline_ms / 4), base::text("excused=", excused)});
    ASSERT_TRUE(job.wait_step(10));
    job[victim].signal(SIGSTOP);
    const int64_t at = monotonic_ms();
    int64_t slowest = 0;
    for (int p = 0; p < 4; ++p) {
      if (p == victim) continue;
      ASSERT_NE(job[p].wait_for("end ", 10'000), "") << job[p].all();
      const auto ends = ends_of(job[p]);
      EXPECT_EQ(ends[0].status, "ERR_TIMEOUT") << ends[0].text;
      EXPECT_THAT(ends[0].text, HasSubstr(base::text("; rank ", victim, " on host ")));
      EXPECT_THAT(ends[0].text, HasSubstr("last heard of "));
      EXPECT_LT(ends[0].at_ms - at, deadline_ms * 19 / 10);  // below two deadlines
      slowest = std::max(slowest, ends[0].at_ms - at);
    }
    figure(base::text("stopped process ", victim, ", deadline ", deadline_ms, " ms").c_str(),
           slowest);
    job[victim].signal(SIGCONT);
    const int64_t woken = monotonic_ms();
    const auto ends = finish(job[victim]);
    ASSERT_EQ(ends.size(), 1u) << job[victim].all();
    EXPECT_EQ(ends[0].status, "ERR_ABORTED") << ends[0].text;
    EXPECT_LE(ends[0].at_ms - woken, kSoon);
    for (int p = 0; p < 4; ++p)
      if (p != victim) finish(job[p]);
  }
}

// A short stop is no fault.
TEST(Processes, AStopBelowTheDeadlineIsSurvived) {
  Job job({1, 1, 1}, {"pause=2", "deadline=20000", "heartbeat=250", "steps=200"});
  ASSERT_TRUE(job.wait_step(10));
  job[1].signal(SIGSTOP);
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  job[1].signal(SIGCONT);
  for (auto& child : job.children) finish(*child, 0);
}

// Row 5: every rank gets the text of a rank's failure.
TEST(Processes, AnAbortIsEverywhereWithItsCause) {
  Job job({2, 2}, {"pause=2", "abort=3"});
  int64_t first = 0, last = 0;
  for (auto& child : job.children) {
    const auto ends = finish(*child);
    EXPECT_EQ(ends.size(), 2u);
    for (const End& end : ends) {
      EXPECT_EQ(end.status, "ERR_ABORTED");
      EXPECT_EQ(end.text, "rank 3: the data set is gone");
      first = first == 0 ? end.at_ms : std::min(first, end.at_ms);
      last = std::max(last, end.at_ms);
    }
  }
  EXPECT_LE(last - first, kSoon);
  figure("abort, first to last rank", last - first);
}

// Row 6: the caller of a canceled collective returns at once, the others are aborted.
TEST(Processes, CancelEndsAll) {
  int64_t quickest = 1000;
  for (int round = 0; round < 5 && quickest > kCancelled; ++round) {
    Job job({1, 2}, {"pause=2", "cancel=0", "at=5", "late=2", "by=1500"});
    const std::string line = job[0].wait_for("cancel at ", 60'000);
    ASSERT_NE(line, "") << job[0].all();
    const int64_t at = std::atoll(line.c_str() + 10);
    const auto own = finish(job[0]);
    ASSERT_EQ(own.size(), 1u);
    EXPECT_EQ(own[0].status, "ERR_CANCELLED");
    EXPECT_LE(own[0].at_ms - at, 1000);  // well before the late rank comes
    quickest = std::min(quickest, own[0].at_ms - at);
    figure("canceled caller", own[0].at_ms - at);
    for (const End& end : finish(job[1])) {
      EXPECT_EQ(end.status, "ERR_ABORTED");
      EXPECT_THAT(end.text, HasSubstr("rank 0 was canceled"));
      if (end.rank == 1) {  // rank 2 enters a communicator that has ended
        EXPECT_LE(end.at_ms - at, kSoon);
        figure("aborted peer", end.at_ms - at);
      }
    }
  }
  EXPECT_LE(quickest, kCancelled);
}

TEST(Processes, ALateRankIsNamed) {
  Job job({1, 2}, {"deadline=1600", "late=2", "by=2500"});
  std::vector<End> ends = finish(job[0]);
  for (const End& end : finish(job[1])) ends.push_back(end);
  ASSERT_EQ(ends.size(), 3u);
  for (const End& end : ends) {
    EXPECT_EQ(end.status, end.rank == 2 ? "ERR_ABORTED" : "ERR_TIMEOUT") << end.text;
    EXPECT_THAT(end.text, testing::ContainsRegex("all_reduce: 2 of 3 ranks came within [0-9.]+ s"));
    EXPECT_THAT(end.text, HasSubstr("missing: 2; rank 2 on host "));
    EXPECT_THAT(end.text, HasSubstr("epoch 0 step 5, computing for "));
  }
}

// Row 7, in the middle of work: all ranks must make the same call.
TEST(Processes, CallsThatDifferAreNamedEverywhere) {
  Job job({1, 1, 1}, {"misfit=1", "deadline=30000"});
  for (auto& child : job.children) {
    const auto ends = finish(*child);
    ASSERT_EQ(ends.size(), 1u);
    EXPECT_EQ(ends[0].status, "ERR_MISMATCH") << ends[0].text;
    EXPECT_THAT(ends[0].text, HasSubstr("f64 [1001], sum"));
    EXPECT_THAT(ends[0].text, HasSubstr("f64 [1000], sum"));
  }
}

TEST(Processes, RootsAndSizesThatDifferAreNamedEverywhere) {
  for (const auto& [word, expected] :
       {std::pair{"roots=1", testing::ContainsRegex(
                                 "rank . calls broadcast\\(f32 \\[8\\], root .\\), but rank . "
                                 "calls broadcast\\(f32 \\[8\\], root .\\)")},
        std::pair{"sizes=1", testing::ContainsRegex("all_to_all: rank 0 sends 4 elements of f32 to "
                                                    "rank 1, which expects 5")}}) {
    Job job({1, 1, 1}, {word, "deadline=30000"});
    for (auto& child : job.children) {
      const auto ends = finish(*child);
      ASSERT_EQ(ends.size(), 1u);
      EXPECT_EQ(ends[0].status, "ERR_MISMATCH");
      EXPECT_THAT(ends[0].text, expected);
    }
  }
}

TEST(Processes, AgreementIsCheckedBeforeWork) {
  Job job({1, 1}, {}, 1, {"steps=7"});
  for (auto& child : job.children) {
    const auto ends = finish(*child);
    ASSERT_EQ(ends.size(), 1u);
    EXPECT_EQ(ends[0].status, "ERR_MISMATCH");
    EXPECT_THAT(ends[0].text, HasSubstr("member: steps differs: process 1 on host"));
  }
}

// After a loss the remaining processes make a new job at the same port with a new process.
TEST(Processes, ANewJobAfterALostOne) {
  Job job({1, 1, 1}, {"pause=2", "jobs=2", "steps=400"});
  ASSERT_TRUE(job.wait_step(20));
  job[1].signal(SIGKILL);
  ASSERT_NE(job[0].wait_for("left ", 20'000), "");
  ASSERT_NE(job[2].wait_for("left ", 20'000), "");
  job.restart(1);
  for (auto& child : job.children) finish(*child, 0, 60'000);
}

// A surplus process learns that the job is complete, and from which process; the members notice
// nothing.
TEST(Processes, OneTooMany) {
  Job job({1, 1}, {"pause=5", "steps=1000"});
  ASSERT_TRUE(job.wait_step(5)) << job[0].all();
  const std::string port = base::text("port=", job.port);
  Child second(kMember, {port, "process=1", "of=2"}), third(kMember, {port, "process=2", "of=3"});
  for (const auto& [extra, expected] :
       {std::pair{&second, "two processes are number 1: on host "},
        std::pair{&third, "has world size (number of processes) 3, process 0 on host "}}) {
    const auto ends = finish(*extra);
    ASSERT_EQ(ends.size(), 1u);
    EXPECT_EQ(ends[0].status, "ERR_MISMATCH") << ends[0].text;
    EXPECT_THAT(ends[0].text, HasSubstr(expected));
    EXPECT_THAT(ends[0].text, HasSubstr("the job has all of its 2 processes"));
  }
  for (auto& child : job.children) {
    for (const End& end : finish(*child, 0, 60'000)) ADD_FAILURE() << end.text;
    EXPECT_THAT(child->all(), HasSubstr("done 1000"));
  }
}

// Process 0 coordinates agreements; if it is silent, giving up ends the job.
TEST(Processes, ASilentProcessZeroAtAnAgreement) {
  Job job({1, 1, 1}, {"heartbeat=100", "agree=1500"}, 1, {"hold=4000"});
  for (const int p : {0, 2}) ASSERT_NE(job[p].wait_for("joined ", 60'000), "") << job[p].all();
  job[0].signal(SIGSTOP);
  const auto ends = finish(job[2]);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].status, "ERR_TIMEOUT") << ends[0].text;
  EXPECT_THAT(ends[0].text, HasSubstr("nothing is heard of process 0 on host "));
  job[0].signal(SIGCONT);
  for (const int p : {0, 1}) {  // process 0 may reach its own deadline first
    const auto others = finish(job[p]);
    ASSERT_EQ(others.size(), 1u);
    EXPECT_TRUE(others[0].status == "ERR_ABORTED" || (p == 0 && others[0].status == "ERR_TIMEOUT"))
        << others[0].text;
  }
}

// Processes that have come and wait are not called missing, as far as known.
TEST(Processes, ASilentProcessZeroIsToBlameAlone) {
  Job job({1, 1, 1}, {"heartbeat=100", "agree=1500", "hold=1000"});
  // A stopped process may not have told the others yet that all have joined.
  for (const int p : {0, 1, 2}) ASSERT_NE(job[p].wait_for("joined ", 60'000), "") << job[p].all();
  job[0].signal(SIGSTOP);
  for (const int p : {1, 2}) {
    const auto ends = finish(job[p]);
    ASSERT_EQ(ends.size(), 1u);
    EXPECT_EQ(ends[0].status, "ERR_TIMEOUT") << ends[0].text;
    EXPECT_THAT(ends[0].text, HasSubstr("; nothing is heard of process 0 on host "));
    for (const char* other : {"process 1", "process 2"})
      EXPECT_THAT(ends[0].text, testing::Not(HasSubstr(other)));
  }
  job[0].signal(SIGCONT);
}

TEST(Processes, NobodyComes) {
  const int port = free_port();
  Child alone(kMember, {base::text("port=", port), "process=1", "of=2", "join=300"});
  const auto ends = finish(alone);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].status, "ERR_TIMEOUT");
  EXPECT_THAT(ends[0].text, HasSubstr("process 0 cannot be reached at"));
}

}  // namespace
}  // namespace gnnmg::test
