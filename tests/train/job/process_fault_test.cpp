// Trainings of several real processes that are killed, stopped and started again: the error that
// the others get and how soon, and that nothing is lost. Rows of the fault table are named. On the
// CPU and, as another program, on fake GPUs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <cstdlib>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "support/temp_dir.h"
#include "train/fixture.h"
#include "train/job/team.h"

namespace gnnmg::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::StartsWith;

// A whole checkpoint has its folder renamed from one with a dot; a kill may come before `latest` is
// written.
bool has_checkpoint(const std::string& folder) {
  if (!std::filesystem::exists(folder)) return false;
  return std::ranges::any_of(std::filesystem::directory_iterator(folder), [](const auto& entry) {
    return entry.is_directory() && entry.path().filename().string()[0] != '.';
  });
}

// Rows 1 and 3: a process is killed at many points of a training, the first one too. The others
// name the process and the place within two seconds, and stay alive; started again, the training
// goes on from its newest checkpoint, and ends with the weights of one without a kill.
TEST(ProcessFault, KilledAndStartedAgain) {
  const TempDir dir;
  // An epoch has five steps.
  const std::vector<std::string> words{"epochs=20", "batch=8",     "by=step",
                                       "pause=4",   "keep_best=1", "heartbeat=20"};
  {
    Team whole(plus(words, {"weights=" + dir.file("whole")}), {2, 2});
    expect_done(whole);
  }
  const std::vector<std::string> saved =
      plus(words, {"checkpoints=" + dir.file("run"), "resume=1", "weights=" + dir.file("again")});
  uint32_t random = 7;
  int64_t slowest = 0;
  const char* const asked = std::getenv("GNNMG_TEST_KILLS");
  const int kills = asked ? std::atoi(asked) : GNNMG_TEST_KILLS;
  ASSERT_GT(kills, 0);
  int resumed = 0, told = 0;
  for (int kill = 0; kill < kills; ++kill) {
    random = random * 1664525 + 1013904223;
    const int victim = kill % 2;
    const int64_t steps = 1 + random / 65536 % 5;
    const bool goes_on = has_checkpoint(dir.file("run"));
    Team team(plus(saved, {base::text("again=", free_port())}), {2, 2});
    ASSERT_NE(team[victim].wait_for(base::text("step ", steps, " "), 60'000), "")
        << team[victim].all();
    usleep(random / 1024 % 12'000);
    const int64_t killed = monotonic_ms();
    team[victim].signal(SIGKILL);
    EXPECT_EQ(team[victim].wait_end(10'000), -SIGKILL);
    Child& survivor = team[1 - victim];
    EXPECT_EQ(survivor.wait_end(60'000), 3) << survivor.all();
    EXPECT_THAT(survivor.lines(), Contains("trained again"));
    const End end = end_of(survivor);
    EXPECT_EQ(end.status, "ERR_PEER_LOST") << end.text;
    EXPECT_THAT(end.text, AllOf(HasSubstr(base::text("process ", victim, " on host ")),
                                HasSubstr(base::text("; rank ", 2 * victim, " (")),
                                HasSubstr(base::text("; rank ", 2 * victim + 1, " (")),
                                HasSubstr("last heard of ")));
    const testing::Matcher<std::string> tells_where =
        ContainsRegex("epoch [0-9]+ step [0-9]+, [a-z]+ for ");
    told += tells_where.Matches(end.text);
    EXPECT_LE(end.at_ms - killed, kSoon);
    slowest = std::max(slowest, end.at_ms - killed);
    EXPECT_THAT(survivor.lines(), Contains("left threads 0 files 0"));
    EXPECT_EQ(survivor.errors(), "");
    EXPECT_EQ(line_of(survivor, "loaded ") != "", goes_on) << survivor.all();
    resumed += goes_on;
  }
  EXPECT_GE(resumed, kills / 2);
  // A process that is killed before its first heartbeat has told nobody its progress.
  EXPECT_GE(told, kills / 2);
  std::printf("[ FIGURE   ] %d kills, %d starts resumed: the survivor knew after %lld ms at most\n",
              kills, resumed, static_cast<long long>(slowest));
  {
    Team last(saved, {2, 2});
    expect_done(last);
    EXPECT_EQ(line_of(last[0], "loaded "), line_of(last[1], "loaded "));
  }
  for (const char* process : {".0", ".1"}) {
    EXPECT_GT(read_all(dir.file("whole") + process).size(), 1000u);
    EXPECT_EQ(read_all(dir.file("whole") + process), read_all(dir.file("again") + process));
  }
  for (const auto& entry : std::filesystem::directory_iterator(dir.file("run")))
    EXPECT_NE(entry.path().filename().string()[0], '.') << entry.path();
}

// The same in an evaluation, in the computation of all rows, to memory or to a file, and in a save
// by hand. The next writer of the same file removes the dead process's remains.
TEST(ProcessFault, KilledInACallBetweenSteps) {
  uint32_t random = 3;
  for (const int round : {0, 1, 2, 3, 4}) {
    const char* const call = std::array{"evaluate", "embed", "file", "save", "file"}[round];
    const int victim = round == 0 || round == 4 ? 1 : 0;
    SCOPED_TRACE(base::text(call, ", ", victim));
    const TempDir dir;
    const std::vector<std::string> words{"epochs=1",           "nodes=5000",
                                         "hidden=32",          "heartbeat=20",
                                         "into=" + dir.path(), base::text("loop=", call)};
    Team team(words, {2, 1});
    ASSERT_NE(team[victim].wait_for("did 3", 60'000), "") << team[victim].all();
    random = random * 1664525 + 1013904223;
    usleep(random / 1024 % 30'000);
    const int64_t killed = monotonic_ms();
    team[victim].signal(SIGKILL);
    EXPECT_EQ(team[victim].wait_end(10'000), -SIGKILL);
    Child& survivor = team[1 - victim];
    EXPECT_EQ(survivor.wait_end(60'000), 3) << survivor.all();
    const End end = end_of(survivor);
    EXPECT_EQ(end.status, "ERR_PEER_LOST") << end.text;
    EXPECT_THAT(end.text, HasSubstr(base::text("process ", victim, " on host ")));
    EXPECT_LE(end.at_ms - killed, kSoon);
    EXPECT_THAT(survivor.lines(), Contains("left threads 0 files 0"));
    EXPECT_EQ(survivor.errors(), "");
    if (std::string_view(call) == "file") {
      base::AtomicFile(dir.file("rows.npy")).commit();
      EXPECT_EQ(dir.list(), std::vector<std::string>{"rows.npy"});
    }
    if (std::string_view(call) == "save") {  // whole or hidden
      for (const std::string& name : dir.list())
        if (name[0] != '.' && name.find('/') == name.npos) {
          EXPECT_TRUE(std::filesystem::exists(dir.file(name + "/manifest.json"))) << name;
        }
    }
  }
}

// Row 4: a stopped process is late; the others name it in time, and it learns of its end when it
// wakes up.
TEST(ProcessFault, StoppedAndWokenUp) {
  for (const int victim : {1, 0}) {
    SCOPED_TRACE(victim);
    Team team({"epochs=1000", "by=step", "pause=2", "deadline=3000", "stall=3000", "heartbeat=300"},
              {2, 1, 1});
    ASSERT_NE(team[victim].wait_for("step 40 ", 60'000), "") << team[victim].all();
    const int64_t stopped = monotonic_ms();
    team[victim].signal(SIGSTOP);
    const std::vector<int> first_rank{0, 2, 3};
    for (int p = 0; p < 3; ++p) {
      if (p == victim) continue;
      EXPECT_EQ(team[p].wait_end(60'000), 3) << team[p].all();
      const End end = end_of(team[p]);
      EXPECT_EQ(end.status, "ERR_TIMEOUT") << end.text;
      EXPECT_THAT(end.text, ContainsRegex(base::text("; rank ", first_rank[victim],
                                                     " on host .*epoch [0-9]+ step [0-9]+, ")));
      EXPECT_LE(end.at_ms - stopped, 5700);  // not after two deadlines
      std::printf("[ FIGURE   ] stopped, deadline 3000 ms: process %d after %lld ms\n", p,
                  static_cast<long long>(end.at_ms - stopped));
      EXPECT_THAT(team[p].lines(), Contains(StartsWith("left threads 0 files 0")));
    }
    team[victim].signal(SIGCONT);
    EXPECT_EQ(team[victim].wait_end(60'000), 3) << team[victim].all();
    const End end = end_of(team[victim]);
    EXPECT_EQ(end.status, "ERR_ABORTED") << end.text;
    EXPECT_THAT(team[victim].lines(), Contains("left threads 0 files 0"));
  }
}

// The same plan, steps and position on another number of ranks and processes, in the middle of an
// epoch; in strict mode the same bits.
void expect_resumed_elsewhere(const std::vector<std::string>& words, double tolerance) {
  const TempDir dir;
  const std::vector<double> expected = weights_of(words, 1);
  const std::vector<std::string> saved = plus(words, {"checkpoints=" + dir.file("run")});
  {
    Team team(plus(saved, {"die=1", "at=5"}), {1, 1});
    EXPECT_EQ(team[1].wait_end(60'000), -SIGKILL);
    EXPECT_EQ(team[0].wait_end(60'000), 3) << team[0].all();
  }
  for (const std::vector<int>& world : {std::vector{2, 1, 1}, std::vector{1}, std::vector{3, 2}}) {
    std::filesystem::remove_all(dir.file("copy"));
    std::filesystem::copy(dir.file("run"), dir.file("copy"),
                          std::filesystem::copy_options::recursive);
    Team team(plus(words, {"checkpoints=" + dir.file("copy"), "resume=1", "every=100",
                           "weights=" + dir.file("weights")}),
              world);
    expect_done(team);
    const std::string bytes = read_all(dir.file("weights.0"));
    std::vector<double> found(bytes.size() / sizeof(double));
    std::memcpy(found.data(), bytes.data(), bytes.size());
    EXPECT_LE(largest_difference(found, expected), tolerance) << world.size() << " processes";
  }
}

TEST(ProcessFault, ResumedOnAnotherWorld) {
  expect_resumed_elsewhere({"f64=1", "epochs=12", "batches=3", "by=step"}, 1e-9);
}

TEST(ProcessFault, ResumedOnAnotherWorldInStrictMode) {
  expect_resumed_elsewhere({"strict=1", "epochs=12", "batches=3", "by=step"}, 0);
}

}  // namespace
}  // namespace gnnmg::test
