// Unsuitable settings of processes and the environment: every process gets an error text before
// NCCL fails in a worse way.
#include <cstdlib>

#include "comm/nccl/rank_info.h"
#include "comm/nccl/settings.h"
#include "comm/spread_ranks.h"

namespace gnnmg::test {
namespace {

using base::Status;
using comm::Collectives;
using comm::nccl::fits_interface;
using comm::nccl::Result;
using testing::HasSubstr;
using testing::StartsWith;

// Sets a variable for the length of a test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

void barrier(Collectives& comm) { comm.barrier(within_ms(60'000)); }

TEST(NcclSettings, BlockingCommunicatorsAreRefused) {
  for (const char* value : {"1", "0x1", " 1"}) {
    const Variable variable("NCCL_COMM_BLOCKING", value);
    const Outcome here = attempt([] { HostRanks(2).group(); });
    EXPECT_EQ(here.status, Status::kInvalidArgument) << here.text;
    EXPECT_THAT(here.text, StartsWith(base::text("NCCL_COMM_BLOCKING=", value, " in the ")));
    EXPECT_THAT(here.text, HasSubstr("unset it"));
    for (const Outcome& outcome : SpreadRanks({1, 1}).run(barrier)) {
      EXPECT_EQ(outcome.status, Status::kInvalidArgument) << outcome.text;
      EXPECT_EQ(outcome.text, here.text);
    }
    EXPECT_EQ(fake_nccl::count().made, 0);
  }
  for (const char* value : {"0", "", "2", "no"}) {
    const Variable variable("NCCL_COMM_BLOCKING", value);
    for (const Outcome& outcome : HostRanks(2).run(barrier))
      EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
  }
}

// NCCL's own barrier among the ranks of a process never ends after a rank has failed.
TEST(NcclSettings, LaunchesInGroupsAreRefused) {
  for (const char* value : {"GROUP", "group"}) {
    const Variable variable("NCCL_LAUNCH_MODE", value);
    const Outcome here = attempt([] { HostRanks(2).group(); });
    EXPECT_EQ(here.status, Status::kInvalidArgument) << here.text;
    EXPECT_THAT(here.text, StartsWith(base::text("NCCL_LAUNCH_MODE=", value, " in the ")));
    for (const Outcome& outcome : SpreadRanks({2, 1}).run(barrier))
      EXPECT_THAT(outcome.text, HasSubstr(here.text));
    EXPECT_EQ(fake_nccl::count().made, 0);
    for (const Outcome& outcome : SpreadRanks({1, 1}).run(barrier))
      EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
  }
  const Variable variable("NCCL_LAUNCH_MODE", "PARALLEL");
  for (const Outcome& outcome : HostRanks(2).run(barrier))
    EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
}

TEST(NcclSettings, InterfacesAreChosenAsNcclDoes) {
  const std::vector<std::string> names{"lo", "eth0", "eth1", "ib0"};
  for (const char* good : {"eth", "eth0", "=ib0", "^lo", "^=lo", "nope,ib", "eth0:1234", "", "^"})
    EXPECT_TRUE(fits_interface(good, names)) << good;
  for (const char* bad : {"eth2", "=eth", "^lo,eth,ib", "^=lo,eth0,eth1,ib0", "wlan,=eth0"})
    EXPECT_FALSE(fits_interface(bad, names)) << bad;
}

// NCCL fails when it looks for its interface, while it makes the id.
TEST(NcclSettings, AWrongInterfaceIsNamed) {
  const Variable variable("NCCL_SOCKET_IFNAME", "nope0");
  const SpreadRanks spread({1, 1});
  fake_nccl::plan({fake_nccl::Fault::kFails, 0, 1, Result::kInternalError});
  const auto outcomes = spread.run(barrier);
  EXPECT_EQ(outcomes[0].status, Status::kUnavailable);
  EXPECT_EQ(outcomes[1].status, Status::kAborted);
  for (const Outcome& outcome : outcomes) {
    EXPECT_THAT(outcome.text,
                StartsWith("rendezvous: NCCL cannot start on rank 0: internal error"));
    EXPECT_THAT(outcome.text, HasSubstr("NCCL_SOCKET_IFNAME='nope0' fits no network interface of "
                                        "rank 0's machine, which has "));
    EXPECT_THAT(outcome.text, HasSubstr("name one of them, or unset it"));
  }
  HostRanks::expect_clean();
}

TEST(NcclSettings, AnInterfaceThatFitsIsAskedAbout) {
  const Variable variable("NCCL_SOCKET_IFNAME", "lo");
  const HostRanks one(1);
  fake_nccl::plan({fake_nccl::Fault::kFails, 0, 1, Result::kSystemError});
  const auto outcomes = one.run(barrier);
  EXPECT_EQ(outcomes[0].status, Status::kIo) << outcomes[0].text;
  EXPECT_THAT(outcomes[0].text, HasSubstr("; is NCCL_SOCKET_IFNAME='lo' the network interface"));
}

TEST(NcclSettings, AGpuThatIsFullIsNamed) {
  const HostRanks one(1);
  fake_gpu::set_memory(0, int64_t{300} << 20);
  fake_nccl::plan({fake_nccl::Fault::kFails, 0, 2, Result::kUnhandledCudaError});
  const auto outcomes = one.run(barrier);
  EXPECT_EQ(outcomes[0].status, Status::kNoMemory) << outcomes[0].text;
  EXPECT_THAT(outcomes[0].text, HasSubstr("its GPU 0 has only 300 of 300 MiB free"));
}

TEST(NcclSettings, TwoProcessesOnOneGpuAreRefused) {
  const SpreadRanks spread({2, 1});
  fake_gpu::set_bus_id(2, "0000:01:00.0");
  for (const Outcome& outcome : spread.run(barrier)) {
    EXPECT_EQ(outcome.status, Status::kInvalidArgument);
    EXPECT_THAT(
        outcome.text,
        StartsWith("rendezvous: ranks 0 and 2 are both on the GPU at 0000:01:00.0 on host "));
    EXPECT_THAT(outcome.text, HasSubstr("start at most as many ranks as there are GPUs"));
  }
  EXPECT_EQ(fake_nccl::count().made, 0);
}

// The same PCI address in two machines belongs to two GPUs.
TEST(NcclSettings, OneBusIdOnTwoMachinesIsTwoGpus) {
  std::vector<comm::nccl::RankInfo> ranks(2);
  for (auto& info : ranks) {
    info.version = 22809;
    info.machine = "a";
    info.bus_id = "0000:10:00.0";
  }
  EXPECT_EQ(attempt([&] { check_ranks(ranks, 22809); }).status, Status::kInvalidArgument);
  ranks[1].machine = "b";
  EXPECT_EQ(attempt([&] { check_ranks(ranks, 22809); }).status, Status::kOk);
}

TEST(NcclSettings, GpusThatDifferAreRemarkedOn) {
  const SpreadRanks spread({1, 2});
  fake_gpu::set_memory(1, int64_t{40} << 30);
  std::vector<std::vector<std::string>> remarks(2);
  for (const Outcome& outcome : run_job(2, [&](const std::shared_ptr<comm::Processes>& job) {
         remarks[static_cast<size_t>(job->process())] = spread.group(job)->remarks();
         job->shutdown(within_ms(5000));
       }))
    EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
  EXPECT_EQ(remarks[0], remarks[1]);
  EXPECT_THAT(remarks[0],
              testing::ElementsAre(
                  testing::ContainsRegex("GPUs differ: rank 0 on host .* has fake GPU with 16 GiB, "
                                         "rank 1 on host .* has fake GPU with 40 GiB; the slowest"),
                  testing::ContainsRegex("processes differ: process 0 on host .* sees 3 GPUs and "
                                         "has 1 ranks, process 1 on host .* and has 2 ranks")));
}

// Fields of the host are compared as over Gloo, and every process gets an obstacle.
TEST(NcclSettings, FieldsAndObstacles) {
  const SpreadRanks spread({1, 1});
  for (const bool obstacle : {false, true}) {
    const auto outcomes = run_job(2, [&](const std::shared_ptr<comm::Processes>& job) {
      comm::Share share;
      share.fields = {{"fan-outs", !obstacle && job->process() == 1 ? "5, 10" : "10, 5"}};
      if (obstacle && job->process() == 1)
        share.obstacle.emplace(Status::kNotFound, "there is no graph");
      spread.group(job, share);
    });
    EXPECT_EQ(outcomes[1].status, obstacle ? Status::kNotFound : Status::kMismatch);
    EXPECT_EQ(outcomes[0].status, obstacle ? Status::kAborted : Status::kMismatch);
    for (const Outcome& outcome : outcomes)
      EXPECT_THAT(outcome.text, HasSubstr(obstacle ? "there is no graph" : "fan-outs differs"));
  }
}

}  // namespace
}  // namespace gnnmg::test
