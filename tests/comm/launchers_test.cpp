// Members of a job under launchers: a shell loop, torchrun with and without its agent's store, a
// restart by torchrun; and two machines, with a cable that can be cut.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>

#include "comm/children.h"
#include "comm/jobs.h"
#include "support/data.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

using testing::HasSubstr;

const std::string kMember = GNNMG_TEST_MEMBER;
const std::string kTorchrun = GNNMG_TEST_TORCHRUN;
const std::string kTwoMachines = source_path("comm/two_machines.sh");

int64_t count_lines(const Child& child, const std::string& start) {
  return std::ranges::count_if(child.lines(),
                               [&](const std::string& line) { return line.starts_with(start); });
}

TEST(Launchers, AShellLoop) {
  const std::string loop =
      base::text("export WORLD_SIZE=3 MASTER_ADDR=127.0.0.1 MASTER_PORT=", free_port(),
                 "; for r in 0 1 2; do RANK=$r ", kMember, " env=1 steps=10 & done; wait");
  Child shell("sh", {"-c", loop});
  EXPECT_EQ(shell.wait_end(60'000), 0) << shell.all();
  EXPECT_EQ(count_lines(shell, "done 10"), 3) << shell.all();
  EXPECT_EQ(shell.errors(), "");
}

#if defined(GNNMG_TEST_MPIRUN) || defined(GNNMG_TEST_SRUN)
void expect_all_done(Child& launcher) {
  EXPECT_EQ(launcher.wait_end(60'000), 0) << launcher.all();
  EXPECT_EQ(count_lines(launcher, "done 10"), 3) << launcher.all();
}
#endif

// Open MPI and Slurm, if they are installed.
#ifdef GNNMG_TEST_MPIRUN
TEST(Launchers, OpenMpi) {
  Child mpirun(GNNMG_TEST_MPIRUN, {"--allow-run-as-root", "--oversubscribe", "-np", "3", kMember,
                                   "env=1", "steps=10"});
  expect_all_done(mpirun);
}
#endif

#ifdef GNNMG_TEST_SRUN
TEST(Launchers, Slurm) {
  if (Child(GNNMG_TEST_SRUN, {"--overcommit", "-n", "3", "true"}).wait_end(10'000) != 0)
    GTEST_SKIP() << "there is no Slurm to start anything";
  Child srun(GNNMG_TEST_SRUN, {"--overcommit", "-n", "3", kMember, "env=1", "steps=10"});
  expect_all_done(srun);
}
#endif

TEST(Launchers, AWrongVariableIsNamed) {
  Child member(kMember, {"env=1"}, {"RANK=2", "WORLD_SIZE=2", "MASTER_ADDR=a", "MASTER_PORT=1"});
  EXPECT_EQ(member.wait_end(60'000), 3) << member.all();
  ASSERT_EQ(ends_of(member).size(), 1u);
  EXPECT_EQ(ends_of(member)[0].text, "RANK = \"2\": expected less than WORLD_SIZE = 2");
}

bool torchrun_works() {
  if (kTorchrun.empty()) return false;
  Child help(kTorchrun, {"--help"});
  return help.wait_end(120'000) == 0;
}

class Torchrun : public testing::Test {
 protected:
  void SetUp() override { GNNMG_NEEDS(torchrun_works(), "torchrun of a complete torch"); }
};

// Starts two ranks in each of two processes by torchrun.
void expect_job(const std::vector<std::string>& options,
                const std::vector<std::string>& environment = {}) {
  std::vector<std::string> arguments = options;
  for (const char* argument : {"--nproc-per-node", "2", "--no-python"})
    arguments.push_back(argument);
  arguments.push_back(kMember);
  for (const char* argument : {"env=1", "steps=20", "ranks=2"}) arguments.push_back(argument);
  Child torchrun(kTorchrun, arguments, environment);
  EXPECT_EQ(torchrun.wait_end(120'000), 0) << torchrun.all();
  EXPECT_EQ(count_lines(torchrun, "done 20"), 2) << torchrun.all();
  EXPECT_EQ(count_lines(torchrun, "left threads 0 files 0"), 2) << torchrun.all();
}

TEST_F(Torchrun, WithItsAgentsStore) {
  expect_job({"--master-addr", "127.0.0.1", "--master-port", std::to_string(free_port())});
}

TEST_F(Torchrun, Standalone) { expect_job({"--standalone"}); }

// The agent has no store of its own: process 0 listens at MASTER_PORT itself.
TEST_F(Torchrun, WithoutItsAgentsStore) {
  expect_job({"--standalone"}, {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1"});
}

// A dead member ends the job; torchrun restarts all members, and they find each other.
TEST_F(Torchrun, ARestart) {
  Child torchrun(kTorchrun, {"--master-addr", "127.0.0.1", "--master-port",
                             std::to_string(free_port()), "--nproc-per-node", "3", "--max-restarts",
                             "1", "--no-python", kMember, "env=1", "steps=40", "die=1", "at=20"});
  EXPECT_EQ(torchrun.wait_end(180'000), 0) << torchrun.all();
  EXPECT_EQ(count_lines(torchrun, "done 40"), 3) << torchrun.all();
  EXPECT_EQ(count_lines(torchrun, "joined "), 6) << torchrun.all();
}

bool namespaces_work() {
  Child probe("unshare", {"-rn", "sh", "-c", "ip link add a0 type veth peer name a1"});
  return probe.wait_end(10'000) == 0;
}

class TwoMachines : public testing::Test {
 protected:
  void SetUp() override {
    GNNMG_NEEDS(namespaces_work(), "network namespaces (unshare -rn, ip)");
    token_ = dir_.write("token", std::string(32, 'k'));
    chmod(token_.c_str(), 0600);
  }
  std::vector<std::string> run(const std::string& cut_after_step, const std::string& cut_for,
                               const std::vector<std::string>& arguments) {
    std::vector<std::string> all{"-rn", "bash", kTwoMachines, kMember, cut_after_step, cut_for};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return all;
  }
  TempDir dir_;
  std::string token_;
};

TEST_F(TwoMachines, TrainTogether) {
  Child job("unshare", run("-", "0", {"token=" + token_, "steps=50", "ranks=2"}));
  EXPECT_EQ(job.wait_end(60'000), 0) << job.all();
  EXPECT_EQ(count_lines(job, "done 50"), 2) << job.all();
  EXPECT_EQ(job.errors(), "");
}

TEST_F(TwoMachines, NeedAToken) {
  Child job("unshare", run("-", "0", {"steps=50"}));
  EXPECT_EQ(job.wait_end(60'000), 3) << job.all();
  const auto ends = ends_of(job);
  ASSERT_EQ(ends.size(), 2u) << job.all();
  for (const End& end : ends) EXPECT_EQ(end.status, "ERR_AUTH") << end.text;
}

// A machine's own name resolves to an address that others cannot reach: with a token the job works,
// and without one the error explains the reason.
TEST_F(TwoMachines, ByTheNameOfOne) {
  GNNMG_NEEDS(
      Child("unshare", {"-rnm", "mount", "--bind", "/etc/hosts", "/etc/hosts"}).wait_end(10'000) ==
          0,
      "mounts of its own (unshare -rnm)");
  const auto started = [&](const std::vector<std::string>& arguments) {
    std::vector<std::string> all = run("-", "0", arguments);
    all[0] = "-rnm";
    return all;
  };
  const std::vector<std::string> name{"NEAR_NAME=alpha"};
  Child job("unshare", started({"token=" + token_, "steps=50", "ranks=2"}), name);
  EXPECT_EQ(job.wait_end(60'000), 0) << job.all();
  EXPECT_EQ(count_lines(job, "done 50"), 2) << job.all();

  Child alone("unshare", started({"steps=50", "join=2000"}), name);
  EXPECT_EQ(alone.wait_end(60'000), 3) << alone.all();
  const auto ends = ends_of(alone);
  ASSERT_EQ(ends.size(), 2u) << alone.all();
  for (const End& end : ends) {
    EXPECT_EQ(end.status, end.rank == 0 ? "ERR_TIMEOUT" : "ERR_AUTH") << end.text;
    if (end.rank == 0) {
      EXPECT_THAT(end.text, HasSubstr("listens at 127.0.1.1:29500, the address of \"alpha\" on"));
    }
  }
}

// Row 8: neither side gets an error of the connection; both report the loss in time.
TEST_F(TwoMachines, ACutCable) {
  Child job("unshare",
            run("100", "12", {"token=" + token_, "pause=5", "deadline=3000", "heartbeat=250"}));
  EXPECT_EQ(job.wait_end(60'000), 3) << job.all();
  int64_t cut = 0;
  for (const std::string& line : job.lines())
    if (line.starts_with("cut at ")) cut = std::atoll(line.c_str() + 7);
  ASSERT_GT(cut, 0) << job.all();
  const auto ends = ends_of(job);
  ASSERT_EQ(ends.size(), 2u) << job.all();
  for (const End& end : ends) {
    EXPECT_EQ(end.status, "ERR_TIMEOUT") << end.text;
    EXPECT_THAT(end.text, HasSubstr(base::text("; rank ", 1 - end.rank, " on host ")));
    EXPECT_LE(end.at_ms - cut, 5700);  // below two deadlines
    std::printf("[ FIGURE   ] cut cable, deadline 3000 ms: rank %d after %lld ms\n", end.rank,
                static_cast<long long>(end.at_ms - cut));
  }
}

TEST_F(TwoMachines, ACutBelowTheHeartbeatIsSurvived) {
  Child job("unshare",
            run("100", "0.3", {"token=" + token_, "pause=5", "deadline=20000", "steps=300"}));
  EXPECT_EQ(job.wait_end(90'000), 0) << job.all();
  EXPECT_EQ(count_lines(job, "done 300"), 2) << job.all();
}

}  // namespace
}  // namespace gnnmg::test
