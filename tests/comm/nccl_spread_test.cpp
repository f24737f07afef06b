// Jobs of real processes over the fake NCCL, beyond the cases shared with Gloo
// (processes_test.cpp): faults of NCCL itself in one process.
#include <signal.h>

#include "comm/members.h"

namespace gnnmg::test {
namespace {

using testing::HasSubstr;

// Ranks per process: threads, processes, and both.
TEST(NcclSpread, EveryCollectiveInWorldsOfAllShapes) {
  for (const std::vector<int>& ranks : {std::vector<int>{1},
                                        {2},
                                        {4},
                                        {8},
                                        {1, 1},
                                        {2, 2},
                                        {1, 3},
                                        {1, 1, 1, 1},
                                        {2, 1, 1},
                                        {4, 4}}) {
    Job job(ranks, {"steps=10", "all=1", "shutdown=1"});
    for (auto& child : job.children) {
      for (const End& end : finish(*child, 0)) ADD_FAILURE() << end.text;
      EXPECT_THAT(child->all(), HasSubstr("done 10"));
    }
  }
}

// Runs a job in which one process's rank has a fault in mid-work; `environment` goes to that
// process.
std::vector<End> run_hurt(const std::string& fault, int code_of_hurt = 3,
                          const std::string& deadline = "deadline=30000") {
  Job job({1, 2}, {"pause=2", deadline, "heartbeat=250", "steps=300"}, 1, {},
          {"GNNMG_FAKE_NCCL_FAULTS=" + fault});
  std::vector<End> ends = finish(job[0]);
  EXPECT_EQ(job[1].wait_end(30'000), code_of_hurt) << job[1].all();
  for (const End& end : ends_of(job[1])) ends.push_back(end);
  return ends;
}

TEST(NcclSpread, AnErrorOfNcclsIsEverywhereWithItsCause) {
  for (const char* kind : {"fails", "poll_fails", "breaks"}) {
    const auto ends = run_hurt(base::text("rank=2,call=40,result=3,kind=", kind));
    ASSERT_EQ(ends.size(), 3u);
    for (const End& end : ends) {
      EXPECT_EQ(end.status, end.rank == 2 ? "ERR_INTERNAL" : "ERR_ABORTED") << end.text;
      EXPECT_EQ(end.text, "all_reduce: NCCL fails on rank 2: internal error (what the fake says)");
    }
  }
}

TEST(NcclSpread, AHangEndsByTheDeadline) {
  const auto ends = run_hurt("rank=2,call=40,kind=hangs", 3, "deadline=3000");
  ASSERT_EQ(ends.size(), 3u);
  for (const End& end : ends) {
    EXPECT_EQ(end.status, "ERR_TIMEOUT") << end.text;
    EXPECT_THAT(end.text, testing::ContainsRegex(
                              "all_reduce: not done after [0-9.]+ s, though all ranks came"));
  }
}

// A rank dies inside a call of NCCL, or is stopped there.
TEST(NcclSpread, AProcessThatDiesInACallIsNamed) {
  const auto ends = run_hurt("rank=1,call=41,kind=kills", -SIGKILL);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].status, "ERR_PEER_LOST") << ends[0].text;
  for (const char* words : {"lost process 1 on host ", "; rank 1 (on host ", "; rank 2 (on host "})
    EXPECT_THAT(ends[0].text, HasSubstr(words));
}

TEST(NcclSpread, AProcessThatIsStoppedInACallIsNamed) {
  Job job({1, 2}, {"pause=2", "deadline=2000", "heartbeat=250"}, 1, {},
          {"GNNMG_FAKE_NCCL_FAULTS=rank=1,call=40,kind=stops"});
  const auto ends = finish(job[0]);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].status, "ERR_TIMEOUT") << ends[0].text;
  EXPECT_THAT(ends[0].text, HasSubstr("; rank 1 on host "));
  EXPECT_THAT(ends[0].text, HasSubstr("last heard of "));
  job[1].signal(SIGCONT);
  for (const End& end : finish(job[1])) EXPECT_EQ(end.status, "ERR_ABORTED") << end.text;
}

// The same while the ranks connect.
TEST(NcclSpread, AProcessThatDiesWhileTheRanksConnectIsNamed) {
  const auto ends = run_hurt("rank=1,call=1,kind=kills", -SIGKILL);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].status, "ERR_PEER_LOST") << ends[0].text;
  EXPECT_THAT(ends[0].text, HasSubstr("lost process 1 on host "));
}

TEST(NcclSpread, VersionsThatDiffer) {
  Job job({1, 1}, {}, 1, {}, {"GNNMG_FAKE_NCCL_VERSION=22005"});
  for (auto& child : job.children) {
    const auto ends = finish(*child);
    ASSERT_EQ(ends.size(), 1u);
    EXPECT_EQ(ends[0].status, "ERR_MISMATCH");
    EXPECT_THAT(ends[0].text,
                testing::ContainsRegex("rank 1 on host .* has loaded NCCL 2.20.5, but "
                                       "rank 0 on host .* NCCL 2.28.9: all ranks"));
  }
}

TEST(NcclSpread, OneGpuInTwoProcesses) {
  Job job({2, 2}, {}, 1, {}, {"GNNMG_TEST_FIRST_GPU=1"});
  for (auto& child : job.children) {
    const auto ends = finish(*child);
    ASSERT_EQ(ends.size(), 1u);
    EXPECT_EQ(ends[0].status, "ERR_INVALID_ARGUMENT");
    EXPECT_THAT(ends[0].text, HasSubstr("ranks 1 and 2 are both on the GPU at 0000:02:00.0"));
  }
}

TEST(NcclSpread, LessMemoryInOneProcessIsSaid) {
  Job job({1, 1}, {"steps=5"}, 1, {}, {"GNNMG_TEST_GPU_GIB=8"});
  for (auto& child : job.children) {
    EXPECT_TRUE(finish(*child, 0).empty());
    EXPECT_THAT(child->all(), HasSubstr("remark GPUs differ: rank 0 on host "));
  }
}

}  // namespace
}  // namespace gnnmg::test
