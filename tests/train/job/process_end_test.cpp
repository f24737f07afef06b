// Trainings of several real processes that do not start, disagree, or lose a disk, the network or a
// host in a callback; and the memory of a process with several ranks. Fault-table rows are named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/data.h"
#include "support/temp_dir.h"
#include "train/job/team.h"

namespace gnnmg::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::StartsWith;

// Row 26: a host that does not come back from a callback is waited for up to the stall limit; then
// the others say where its rank is. Its own call ends when the callback does.
TEST(ProcessFault, HungInACallback) {
  struct Case {
    const char *where, *loader_threads;
  };
  for (const Case& hung :
       {Case{"epoch", "1"}, Case{"sampler", "1"}, Case{"sampler", "0"}, Case{"evaluation", "1"}}) {
    const int victim = std::string_view(hung.where) == "epoch" ? 0 : 1;
    SCOPED_TRACE(base::text(hung.where, ", ", hung.loader_threads));
    Team team({"epochs=1000", "deadline=1000", "stall=1500", "heartbeat=50", "sampled=1"}, {1, 1},
              victim,
              {base::text("hang=", hung.where), base::text("loader=", hung.loader_threads)});
    const std::string hangs = team[victim].wait_for("hangs at ", 60'000);
    ASSERT_NE(hangs, "") << team[victim].all();
    const int64_t start = std::atoll(hangs.c_str() + 9);
    Child& other = team[1 - victim];
    EXPECT_EQ(other.wait_end(60'000), 3) << other.all();
    const End end = end_of(other);
    EXPECT_EQ(end.status, "ERR_TIMEOUT") << end.text;
    EXPECT_THAT(end.text,
                ContainsRegex(base::text(
                    "; rank ", victim, " on host .*epoch [0-9]+ step [0-9]+, in a callback for ")));
    EXPECT_GE(end.at_ms - start, 1000);
    EXPECT_LE(end.at_ms - start, 4900);  // not after two deadlines and stalls
    team[victim].signal(SIGUSR1);
    EXPECT_EQ(team[victim].wait_end(60'000), 3) << team[victim].all();
    EXPECT_EQ(end_of(team[victim]).status, "ERR_ABORTED") << end_of(team[victim]).text;
    for (int p = 0; p < 2; ++p)
      EXPECT_THAT(team[p].lines(), Contains("left threads 0 files 0")) << team[p].all();
  }
}

// A process that does not come to the start of the training is named.
TEST(ProcessFault, OneThatNeverStarts) {
  Team team({"epochs=3", "join=4000"}, {1, 1, 1}, 2, {"idle=6000"});
  for (int p = 0; p < 2; ++p) {
    EXPECT_EQ(team[p].wait_end(60'000), 3) << team[p].all();
    const End end = end_of(team[p]);
    EXPECT_EQ(end.status, "ERR_TIMEOUT") << end.text;
    EXPECT_THAT(end.text, ContainsRegex("trainer: 2 of 3 processes came within [0-9.]+ s, "
                                        "missing: process 2 on host"));
  }
  EXPECT_EQ(team[2].wait_end(60'000), 3) << team[2].all();
  EXPECT_EQ(end_of(team[2]).status, "ERR_ABORTED");
}

// A process that fails before the start, and leaves, does not keep the others waiting; nor does one
// that ends without a farewell.
TEST(ProcessFault, OneThatGoesBeforeTheStart) {
  for (const bool speaks : {true, false}) {
    Team team({"epochs=3"}, {1, 1, 1}, 1, {speaks ? "hidden=0" : "exit=7"});
    EXPECT_EQ(team[1].wait_end(60'000), speaks ? 3 : 7) << team[1].all();
    const int64_t gone = speaks ? end_of(team[1]).at_ms : monotonic_ms();
    for (const int p : {0, 2}) {
      EXPECT_EQ(team[p].wait_end(60'000), 3) << team[p].all();
      const End end = end_of(team[p]);
      EXPECT_EQ(end.status, speaks ? "ERR_ABORTED" : "ERR_PEER_LOST") << end.text;
      EXPECT_THAT(end.text, HasSubstr("process 1 on host "));
      if (speaks) {
        EXPECT_THAT(end.text, HasSubstr("has left the job without a shutdown: ERR_"));
        EXPECT_THAT(end.text, HasSubstr("hidden_dim"));
      }
      EXPECT_LE(end.at_ms - gone, kSoon);
      EXPECT_THAT(team[p].lines(), Contains("left threads 0 files 0"));
      EXPECT_EQ(team[p].errors(), "");
    }
  }
}

// Only the first process writes; the others have to find the same checkpoint where they look.
TEST(ProcessFault, AllGoOnFromOneCheckpoint) {
  const TempDir dir;
  const std::vector<std::string> words{"epochs=3"};
  {
    Team team(plus(words, {"checkpoints=" + dir.file("run"), "every=2"}), {1, 1}, 1,
              {"checkpoints=" + dir.file("elsewhere")});
    expect_done(team);
  }
  EXPECT_TRUE(std::filesystem::exists(dir.file("run")));
  EXPECT_FALSE(std::filesystem::exists(dir.file("elsewhere")));

  const auto refused = [&](const std::string& status, const std::string& text) {
    Team team(plus(words, {"checkpoints=" + dir.file("run"), "resume=1"}), {1, 1}, 1,
              {"checkpoints=" + dir.file("elsewhere")});
    for (int p = 0; p < 2; ++p) {
      EXPECT_EQ(team[p].wait_end(60'000), 3) << team[p].all();
      const End end = end_of(team[p]);
      EXPECT_EQ(end.status, status) << end.text;
      EXPECT_THAT(end.text, HasSubstr(text));
      if (p == 0) {
        EXPECT_THAT(end.text, StartsWith("process 1 on host "));
      }
    }
  };
  refused("ERR_MISMATCH", "is not here, but the first process goes on from it");
  std::filesystem::copy(dir.file("run"), dir.file("elsewhere"),
                        std::filesystem::copy_options::recursive);
  std::string latest = read_all(dir.file("run/latest"));
  latest.pop_back();
  const std::string state = dir.file("elsewhere/" + latest + "/model.safetensors");
  const std::string bytes = read_all(state);
  std::ofstream(state, std::ios::binary) << bytes.substr(0, bytes.size() - 1) << '!';
  refused("ERR_CHECKSUM", "model.safetensors: SHA-256");
  const std::string manifest = dir.file("elsewhere/" + latest + "/manifest.json");
  std::ofstream(manifest, std::ios::app) << "\n";
  refused("ERR_MISMATCH", "is another checkpoint than the first process's");
}

// An error that all processes find in the same numbers is reported by each, and nobody takes the
// first one that leaves for a lost one.
TEST(ProcessFault, WhatAllFindOutIsSaidByAll) {
  const auto expect = [](const std::vector<std::string>& words,
                         const std::vector<std::string>& of_one, const std::string& status,
                         const std::string& text) {
    const int64_t start = monotonic_ms();
    Team team(words, {2, 1, 1}, 1, of_one);
    for (int p = 0; p < team.size(); ++p) {
      EXPECT_EQ(team[p].wait_end(60'000), 3) << team[p].all();
      const End end = end_of(team[p]);
      EXPECT_EQ(end.status, status) << "process " << p << ": " << end.text;
      EXPECT_THAT(end.text, HasSubstr(text));
      EXPECT_THAT(team[p].lines(), Contains("left threads 0 files 0"));
      EXPECT_EQ(team[p].errors(), "");
    }
    EXPECT_LT(monotonic_ms() - start, 30'000);  // the deadline of a collective
  };
  for (int round = 0; round < 4; ++round) {
    expect({"epochs=8", "nan=0", "all=1", "batch=129", base::text("pause=", round)}, {},
           "ERR_DIVERGED", "the last of them step 0 of epoch 2; the model holds the weights of");
    expect({"epochs=1", base::text("pause=", round)}, {"part=1"}, "ERR_MISMATCH",
           "rank 2 is asked for the validation part, rank 0 for the test part");
  }
}

// Row 14: the first process's disk is full, and the only thing to be written is the last one, when
// training is over; it says so, and the others say that it did.
TEST(ProcessFault, AFullDiskAtTheEnd) {
  const TempDir dir;
  const std::string mount = base::text("mount -t tmpfs -o size=16k none ", dir.path(), " && ");
  GNNMG_NEEDS(Child("unshare", {"-rm", "sh", "-c", mount + "true"}).wait_end(10'000) == 0,
              "mounts of its own (unshare -rm)");
  const std::vector<std::string> words{
      "epochs=3",      "hidden=256", "checkpoints=" + dir.file("run"),
      "every=1000000", "of=2",       base::text("port=", free_port())};
  std::vector<std::string> first{
      "-rm",
      "sh",
      "-c",
      mount + "\"$@\"; code=$?; echo left files $(ls -A " + dir.file("run") + "); exit $code",
      "sh",
      GNNMG_TEST_TRAINER,
      "process=0"};
  std::vector<std::string> second{"process=1"};
  Child full("unshare", plus(first, words));
  Child other(GNNMG_TEST_TRAINER, plus(second, words));
  EXPECT_EQ(full.wait_end(60'000), 3) << full.all();
  EXPECT_EQ(other.wait_end(60'000), 3) << other.all();
  const End cause = end_of(full), told = end_of(other);
  EXPECT_EQ(cause.status, "ERR_IO") << cause.text;
  EXPECT_THAT(cause.text, AllOf(HasSubstr(dir.file("run")), HasSubstr("No space left on device")));
  EXPECT_EQ(told.status, "ERR_ABORTED") << told.text;
  EXPECT_THAT(told.text, AllOf(HasSubstr("process 0 on host "), HasSubstr(cause.text)));
  EXPECT_LE(told.at_ms - cause.at_ms, kSoon);
  EXPECT_THAT(full.lines(), Contains("left files"));  // not one
  for (const Child* member : {&full, &other})
    EXPECT_THAT(member->lines(), Contains("left threads 0 files 0"));
  std::printf("[ FIGURE   ] a full disk: the other process knew after %lld ms\n",
              static_cast<long long>(told.at_ms - cause.at_ms));
}

// Row 8: two machines, and the cable between them is cut in the middle of an epoch, long enough
// after the start that each has heard where the other is.
TEST(ProcessFault, ACutCable) {
  GNNMG_NEEDS(Child("unshare", {"-rn", "sh", "-c", "ip link add a0 type veth peer name a1"})
                      .wait_end(10'000) == 0,
              "network namespaces (unshare -rn, ip)");
  const TempDir dir;
  const std::string token = dir.write("token", std::string(32, 'k'));
  chmod(token.c_str(), 0600);
  Child job("unshare", {"-rn", "bash", source_path("comm/two_machines.sh"), GNNMG_TEST_TRAINER,
                        "200", "6", "token=" + token, "epochs=1000", "batch=8", "by=step",
                        "pause=4", "deadline=3000", "stall=3000", "heartbeat=250"});
  EXPECT_EQ(job.wait_end(90'000), 3) << job.all();
  const std::string cut = line_of(job, "cut at ");
  ASSERT_NE(cut, "") << job.all();
  const auto ends = ends_of(job);
  ASSERT_EQ(ends.size(), 2u) << job.all();
  for (const End& end : ends) {
    EXPECT_EQ(end.status, "ERR_TIMEOUT") << end.text;
    EXPECT_THAT(end.text, ContainsRegex(base::text("; rank ", 1 - end.rank,
                                                   " on host .*epoch [0-9]+ step [0-9]+, ")));
    const int64_t ms = end.at_ms - std::atoll(cut.c_str() + 7);
    EXPECT_LE(ms, 5700);  // not after two deadlines
    std::printf("[ FIGURE   ] cut cable, deadline 3000 ms: process %d after %lld ms\n", end.rank,
                static_cast<long long>(ms));
  }
}

// Ranks of one process hold graph and features once: four take only replicas, batches and
// activations more than one.
TEST(ProcessMemory, RanksShareTheData) {
  std::array<double, 2> megabytes{};
  for (const int ranks : {1, 4}) {
    Team team({"epochs=1", "nodes=100000", "features=200", "train=10000", "batch=256", "batches=4"},
              {ranks});
    EXPECT_EQ(team[0].wait_end(120'000), 0) << team[0].all();
    std::istringstream line(line_of(team[0], "memory "));
    std::string name;
    double before = 0, most = 0;
    line >> name >> before >> most;
    megabytes[ranks == 4] = (most - before) / 1e3;
  }
  EXPECT_GT(megabytes[0], 80);  // the features
#ifndef __SANITIZE_ADDRESS__    // AddressSanitizer keeps freed memory for each thread
  EXPECT_LE(megabytes[1], 1.2 * megabytes[0]);
#endif
  std::printf("[ FIGURE   ] graph, features and training: %.0f MB with 1 rank, %.0f MB with 4\n",
              megabytes[0], megabytes[1]);
}

}  // namespace
}  // namespace gnnmg::test
