// Rows of the fault table about NCCL and GPUs, with trainings of several real processes. Rows in
// common with jobs on the CPU are in process_fault_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <numeric>

#include "support/temp_dir.h"
#include "train/job/team.h"

namespace gnnmg::test {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::Contains;
using testing::ContainsRegex;
using testing::HasSubstr;

constexpr int64_t kDeadline = 3000, kMost = kDeadline * 19 / 10;  // sooner than two deadlines
const std::vector<std::string> kShort{"deadline=3000", "stall=3000"}, kLong{"deadline=60000"};

// The failure of a member, which leaked nothing.
End failed(Child& member) {
  EXPECT_EQ(member.wait_end(60'000), 3) << member.all();
  EXPECT_THAT(member.lines(), Contains("left threads 0 files 0"));
  EXPECT_EQ(member.errors(), "");
  return end_of(member);
}

// Rows 2 and 4: a process is killed or stopped in a call of NCCL, early and late, one of two, four
// and eight ranks. The others name it in time, and the restarted training has the bits of an
// undisturbed one.
TEST(GpuProcessFault, KilledOrStoppedInsideNccl) {
  struct Case {
    std::vector<int> ranks;
    int victim, rank, call;
    const char* kind;
  };
  for (const Case& c : {Case{{1, 1}, 1, 1, 3, "kills"}, Case{{1, 1}, 0, 0, 40, "kills"},
                        Case{{2, 2}, 1, 3, 60, "kills"}, Case{{4, 4}, 0, 2, 50, "kills"},
                        Case{{1, 1}, 0, 0, 45, "stops"}, Case{{2, 2}, 1, 2, 55, "stops"}}) {
    SCOPED_TRACE(base::text(c.ranks.size() * static_cast<size_t>(c.ranks[0]), " ranks, process ",
                            c.victim, " ", c.kind, " at call ", c.call));
    const TempDir dir;
    const bool stops = std::string_view(c.kind) == "stops";
    const std::vector<std::string> words =
        plus(stops ? kShort : kLong, {"strict=1", "epochs=6", "by=step", "heartbeat=50"});
    const std::vector<std::string> saved =
        plus(words, {"checkpoints=" + dir.file("run"), "resume=1", "weights=" + dir.file("again")});
    {
      Team team(saved, c.ranks, c.victim,
                {base::text("nccl=rank=", c.rank, ",call=", c.call, ",kind=", c.kind)});
      Child& survivor = team[1 - c.victim];
      int64_t from = 0;
      if (!stops) {
        EXPECT_EQ(team[c.victim].wait_end(60'000), -SIGKILL) << team[c.victim].all();
        from = monotonic_ms();
      }
      const End end = failed(survivor);
      EXPECT_EQ(end.status, stops ? "ERR_TIMEOUT" : "ERR_PEER_LOST") << end.text;
      EXPECT_THAT(end.text,
                  HasSubstr(base::text(stops ? "" : "process ", stops ? "" : base::text(c.victim),
                                       stops ? "" : " on host ")));
      EXPECT_THAT(end.text, ContainsRegex(base::text("; rank ", c.rank, " ")));
      if (stops) {
        team[c.victim].signal(SIGCONT);
        EXPECT_EQ(failed(team[c.victim]).status, "ERR_ABORTED");
      } else {
        EXPECT_LE(end.at_ms - from, kSoon);
      }
    }
    Team again(saved, c.ranks);
    Team whole(plus(words, {"weights=" + dir.file("whole")}), c.ranks);
    for (Team* team : {&again, &whole})
      for (int p = 0; p < team->size(); ++p)
        EXPECT_EQ((*team)[p].wait_end(120'000), 0) << (*team)[p].all();
    for (const char* process : {".0", ".1"}) {
      EXPECT_GT(read_all(dir.file("whole") + process).size(), 1000u);
      EXPECT_EQ(read_all(dir.file("whole") + process), read_all(dir.file("again") + process));
    }
  }
}

// A process is killed, stopped, or fails while the other processes' threads are blocked in their
// drivers, in launches after an exchange with it. They still report it in time, with the error of a
// rank that waits for an exchange, and the GPUs stay usable.
TEST(GpuProcessFault, RanksThatAreHeldUpByLaunches) {
  enum class How { kKilled, kStopped, kFailed };
  struct Case {
    std::vector<int> ranks;
    int victim;
    How how;
  };
  for (const Case& c : {Case{{1, 1}, 1, How::kKilled}, Case{{1, 1}, 0, How::kKilled},
                        Case{{2, 2}, 1, How::kKilled}, Case{{1, 1, 2}, 0, How::kKilled},
                        Case{{1, 1}, 0, How::kStopped}, Case{{2, 2}, 1, How::kStopped},
                        Case{{2, 1}, 0, How::kFailed}, Case{{2, 1}, 1, How::kFailed}}) {
    SCOPED_TRACE(base::text(c.ranks.size(), " processes, process ", c.victim, ", ",
                            static_cast<int>(c.how)));
    std::vector<std::string> words =
        plus(c.how == How::kStopped ? kShort : kLong,
             {"epochs=100000", "capture=off", "late=1", "heartbeat=50"});
    const bool again = c.ranks.size() == 2 && c.how != How::kFailed;  // one at a time
    if (again) words.push_back(base::text("again=", free_port()));
    Team team(words, c.ranks, c.how == How::kFailed ? c.victim : -1, {"lose=3"});
    for (int p = 0; p < team.size(); ++p)
      ASSERT_NE(team[p].wait_for("joined ", 60'000), "") << team[p].all();
    Child& victim = team[c.victim];
    int64_t from = 0;
    if (c.how != How::kFailed) {
      for (int p = 0; p < team.size(); ++p)
        ASSERT_NE(team[p].wait_for("trains", 60'000), "") << team[p].all();
      usleep(300'000);
      from = monotonic_ms();
      victim.signal(c.how == How::kKilled ? SIGKILL : SIGSTOP);
    }
    const int first = std::accumulate(c.ranks.begin(), c.ranks.begin() + c.victim, 0);
    for (int p = 0; p < team.size(); ++p) {
      if (p == c.victim) continue;
      const End end = failed(team[p]);
      const int64_t took = end.at_ms - from;
      EXPECT_THAT(team[p].lines(), Contains(ContainsRegex("^held up [1-9]")));
      if (again) {
        EXPECT_THAT(team[p].lines(), Contains("trained again"));
      }
      if (c.how == How::kFailed) {
        EXPECT_EQ(end.status, "ERR_ABORTED") << end.text;
        EXPECT_THAT(end.text, HasSubstr(base::text("rank ", first, ": GPU 0 (fake GPU at ")));
        continue;
      }
      const bool killed = c.how == How::kKilled;
      EXPECT_EQ(end.status, killed ? "ERR_PEER_LOST" : "ERR_TIMEOUT") << end.text;
      EXPECT_THAT(end.text, ContainsRegex(base::text("; rank ", first, " .*epoch [0-9]+ step")));
      EXPECT_THAT(end.text, HasSubstr(killed ? base::text("process ", c.victim, " on host ")
                                             : std::string(" on host ")));
      EXPECT_LE(took, killed ? kSoon : kMost);
      std::printf("[ FIGURE   ] %s: process %d of %d after %lld ms\n",
                  killed ? "killed" : "stopped, deadline 3000 ms", p, team.size(),
                  static_cast<long long>(took));
    }
    if (c.how == How::kKilled) {
      EXPECT_EQ(victim.wait_end(10'000), -SIGKILL);
      continue;
    }
    if (c.how == How::kStopped) victim.signal(SIGCONT);
    EXPECT_EQ(failed(victim).status, c.how == How::kStopped ? "ERR_ABORTED" : "ERR_DEVICE_LOST");
  }
}

// NCCL fails in one call, hangs in it, or breaks a moment later: all processes end in time and
// report it. A job of one rank uses NCCL too.
TEST(GpuProcessFault, NcclFailsAtACall) {
  struct Case {
    int call, result;
    const char* kind;
    std::vector<int> ranks{2, 1};
  };
  for (const Case& c :
       {Case{1, 2, "fails"}, Case{2, 6, "poll_fails"}, Case{9, 1, "fails"}, Case{30, 6, "breaks"},
        Case{47, 2, "poll_fails"}, Case{64, 3, "breaks"}, Case{38, 2, "hangs"},
        Case{22, 2, "poll_fails", {1}}, Case{31, 3, "breaks", {1}}, Case{26, 2, "hangs", {1}}}) {
    SCOPED_TRACE(base::text("call ", c.call, " ", c.kind, ", processes ", c.ranks.size()));
    const int victim = c.call % static_cast<int>(c.ranks.size());
    Team team({"epochs=1000", "by=step", "heartbeat=50", "deadline=3000", "stall=3000"}, c.ranks,
              victim,
              {base::text("nccl=rank=", victim * 2, ",call=", c.call, ",kind=", c.kind,
                          ",result=", c.result)});
    const bool hangs = std::string_view(c.kind) == "hangs";
    int64_t first = 0;
    for (int p = 0; p < team.size(); ++p) {
      const End end = failed(team[p]);
      if (hangs)
        EXPECT_THAT(end.status, AnyOf("ERR_TIMEOUT", "ERR_ABORTED")) << end.text;
      else
        EXPECT_THAT(end.status, AnyOf("ERR_IO", "ERR_PEER_LOST", "ERR_ABORTED", "ERR_INTERNAL",
                                      "ERR_UNAVAILABLE"))
            << end.text;
      // A rank that hangs in NCCL does not reach the next collective.
      if (hangs)
        EXPECT_THAT(end.text,
                    AnyOf(ContainsRegex("not done after [0-9.]+ s, though all ranks came"),
                          ContainsRegex("ranks came within [0-9.]+ s")));
      else
        EXPECT_THAT(end.text, HasSubstr("rank "));
      if (first != 0) {
        EXPECT_LE(std::abs(end.at_ms - first), kMost);
      }
      first = end.at_ms;
    }
  }
}

// Row 19: the process with the lost GPU reports it, and the others name that process and place.
TEST(GpuProcessFault, AGpuIsLost) {
  for (const int victim : {0, 1}) {
    SCOPED_TRACE(victim);
    Team team(plus(kLong, {"epochs=1000", "heartbeat=50"}), {1, 2}, victim, {"lose=3"});
    const End cause = failed(team[victim]), told = failed(team[1 - victim]);
    const std::string words = base::text("rank ", victim, ": GPU 0 (fake GPU at 0000:0");
    EXPECT_EQ(cause.status, "ERR_DEVICE_LOST") << cause.text;
    EXPECT_THAT(cause.text, HasSubstr(words));
    EXPECT_EQ(told.status, "ERR_ABORTED") << told.text;
    EXPECT_THAT(told.text,
                AllOf(HasSubstr(base::text("process ", victim, " on host ")), HasSubstr(words)));
    EXPECT_LE(told.at_ms - cause.at_ms, kSoon);
  }
}

}  // namespace
}  // namespace gnnmg::test
