// The variables of launchers: the meaning of each one, and errors that name a wrong one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "comm/join/config.h"

namespace gnnmg::comm {
namespace {

using base::Error;
using base::Status;
using testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

JoinConfig read(const Variables& variables) {
  return read_join_environment([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

std::pair<Status, std::string> failure(const Variables& variables) {
  try {
    read(variables);
  } catch (const Error& error) {
    return {error.status(), error.what()};
  }
  return {Status::kOk, ""};
}

Variables with(Variables base, const Variables& changes) {
  for (const auto& [name, value] : changes) base[name] = value;
  return base;
}

const Variables kTorchrun = {{"RANK", "3"},
                             {"WORLD_SIZE", "8"},
                             {"LOCAL_RANK", "1"},
                             {"LOCAL_WORLD_SIZE", "2"},
                             {"MASTER_ADDR", "node1"},
                             {"MASTER_PORT", "29500"},
                             {"TORCHELASTIC_RUN_ID", "job7"},
                             {"TORCHELASTIC_RESTART_COUNT", "2"},
                             {"TORCHELASTIC_USE_AGENT_STORE", "True"}};

TEST(JoinEnvironment, Torchrun) {
  const JoinConfig config =
      read(with(kTorchrun, {{"GNNMG_TOKEN_FILE", "/keys/token"}, {"GNNMG_INTERFACE", "eth1"}}));
  EXPECT_EQ(config.process, 3);
  EXPECT_EQ(config.num_processes, 8);
  EXPECT_EQ(config.local_process, 1);
  EXPECT_EQ(config.local_processes, 2);
  EXPECT_EQ(config.host, "node1");
  EXPECT_EQ(config.port, 29500);
  EXPECT_EQ(config.job, "job7");
  EXPECT_EQ(config.restart, "2");
  EXPECT_TRUE(config.agent_store);
  EXPECT_EQ(config.token_file, "/keys/token");
  EXPECT_EQ(config.interface, "eth1");
}

TEST(JoinEnvironment, ByHandLikeTorchrun) {
  const JoinConfig config = read({{"RANK", "0"},
                                  {"WORLD_SIZE", "2"},
                                  {"MASTER_ADDR", "127.0.0.1"},
                                  {"MASTER_PORT", "4000"},
                                  {"LOCAL_RANK", ""}});
  EXPECT_EQ(config.num_processes, 2);
  EXPECT_FALSE(config.agent_store);
  EXPECT_EQ(config.token_file, "");
  EXPECT_EQ(config.local_processes, 0);  // unknown
}

TEST(JoinEnvironment, AJobOfOneNeedsNoMaster) {
  EXPECT_EQ(read({{"RANK", "0"}, {"WORLD_SIZE", "1"}}).num_processes, 1);
  EXPECT_EQ(read({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}}).num_processes, 1);
}

TEST(JoinEnvironment, EveryWrongVariableIsNamed) {
  const struct {
    Variables change;
    const char* expected;
  } cases[] = {
      {{{"RANK", "x"}}, "RANK = \"x\": expected a whole number from 0 to 1023"},
      {{{"RANK", "-1"}}, "RANK = \"-1\": expected a whole number from 0"},
      {{{"RANK", "3 "}}, "RANK = \"3 \": expected a whole number"},
      {{{"RANK", "8"}}, "RANK = \"8\": expected less than WORLD_SIZE = 8"},
      {{{"RANK", ""}}, "RANK is not set, but WORLD_SIZE = \"8\" is"},
      {{{"WORLD_SIZE", ""}}, "WORLD_SIZE is not set, but RANK = \"3\" is"},
      {{{"WORLD_SIZE", "0"}}, "WORLD_SIZE = \"0\": expected a whole number from 1 to 1024"},
      {{{"WORLD_SIZE", "99999999999999999999"}}, "WORLD_SIZE = \"99999999999999999999\""},
      {{{"LOCAL_RANK", "2"}}, "LOCAL_RANK = \"2\": expected less than LOCAL_WORLD_SIZE = 2"},
      {{{"LOCAL_WORLD_SIZE", "9"}}, "LOCAL_WORLD_SIZE = \"9\": expected at most WORLD_SIZE = 8"},
      {{{"MASTER_ADDR", ""}}, "MASTER_ADDR is not set, but RANK = \"3\""},
      {{{"MASTER_PORT", ""}}, "MASTER_PORT is not set, but RANK = \"3\""},
      {{{"MASTER_PORT", "70000"}},
       "MASTER_PORT = \"70000\": expected a whole number from 1 to 65535"},
      {{{"TORCHELASTIC_USE_AGENT_STORE", "1"}},
       "TORCHELASTIC_USE_AGENT_STORE = \"1\": expected True or False"},
      {{{"TORCHELASTIC_RESTART_COUNT", "two"}}, "TORCHELASTIC_RESTART_COUNT = \"two\""},
      {{{"TORCHELASTIC_RUN_ID", ""}}, "TORCHELASTIC_RUN_ID is not set"},
  };
  for (const auto& one : cases) {
    const auto seen = failure(with(kTorchrun, one.change));
    EXPECT_EQ(seen.first, Status::kInvalidArgument) << one.expected;
    EXPECT_THAT(seen.second, HasSubstr(one.expected));
  }
}

TEST(JoinEnvironment, NoLauncherAtAll) {
  const auto seen = failure({{"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", "4000"}});
  EXPECT_EQ(seen.first, Status::kNotFound);
  EXPECT_THAT(seen.second, HasSubstr("RANK and WORLD_SIZE"));
}

const Variables kMpi = {{"OMPI_COMM_WORLD_RANK", "1"},
                        {"OMPI_COMM_WORLD_SIZE", "4"},
                        {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                        {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                        {"PMIX_NAMESPACE", "prterun-a-77@1"}};

TEST(JoinEnvironment, OpenMpi) {
  const JoinConfig config = read(kMpi);
  EXPECT_EQ(config.process, 1);
  EXPECT_EQ(config.num_processes, 4);
  EXPECT_EQ(config.host, "127.0.0.1");
  EXPECT_GE(config.port, 20000);
  EXPECT_LT(config.port, 30000);
  EXPECT_EQ(config.port, read(with(kMpi, {{"OMPI_COMM_WORLD_RANK", "2"}})).port);
  EXPECT_NE(config.port, read(with(kMpi, {{"PMIX_NAMESPACE", "prterun-a-78@1"}})).port);

  const JoinConfig told = read(with(
      kMpi,
      {{"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}, {"MASTER_ADDR", "node1"}, {"MASTER_PORT", "4001"}}));
  EXPECT_EQ(told.host, "node1");
  EXPECT_EQ(told.port, 4001);

  EXPECT_THAT(failure(with(kMpi, {{"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}})).second,
              HasSubstr("MASTER_ADDR is not set"));
  EXPECT_THAT(failure(with(kMpi, {{"PMIX_NAMESPACE", ""}})).second,
              HasSubstr("MASTER_PORT is not set, and neither is PMIX_NAMESPACE"));
  EXPECT_THAT(
      failure(with(kMpi, {{"OMPI_COMM_WORLD_RANK", "4"}})).second,
      HasSubstr("OMPI_COMM_WORLD_RANK = \"4\": expected less than OMPI_COMM_WORLD_SIZE = 4"));
}

const Variables kSlurm = {{"SLURM_PROCID", "5"},         {"SLURM_STEP_NUM_TASKS", "8"},
                          {"SLURM_NTASKS", "16"},        {"SLURM_LOCALID", "1"},
                          {"SLURM_JOB_ID", "4711"},      {"SLURM_STEP_ID", "0"},
                          {"SLURM_STEP_NUM_NODES", "4"}, {"SLURM_STEP_NODELIST", "node[03-05,9]"}};

TEST(JoinEnvironment, Slurm) {
  const JoinConfig config = read(kSlurm);
  EXPECT_EQ(config.process, 5);
  EXPECT_EQ(config.num_processes, 8);
  EXPECT_EQ(config.local_process, 1);
  EXPECT_EQ(config.host, "node03");
  EXPECT_EQ(config.job, "4711.0");
  EXPECT_GE(config.port, 20000);
  EXPECT_NE(config.port, read(with(kSlurm, {{"SLURM_STEP_ID", "1"}})).port);
  EXPECT_EQ(read(with(kSlurm, {{"SLURM_STEP_NUM_NODES", "1"}})).host, "127.0.0.1");
  const struct {
    const char *list, *first;
  } lists[] = {{"a", "a"},
               {"a,b", "a"},
               {"n[7]", "n7"},
               {"n[01-03,12]", "n01"},
               {"r[1-2]n[003-4]-ib,x", "r1n003-ib"}};
  for (const auto& one : lists)
    EXPECT_EQ(read(with(kSlurm, {{"SLURM_STEP_NODELIST", one.list}})).host, one.first);
  for (const char* bad : {"n[", "n[]", "n[-3]", ",a"})
    EXPECT_THAT(failure(with(kSlurm, {{"SLURM_STEP_NODELIST", bad}})).second,
                HasSubstr(base::text("SLURM_STEP_NODELIST = \"", bad, "\"")));
  EXPECT_THAT(failure(with(kSlurm, {{"SLURM_JOB_ID", ""}})).second,
              HasSubstr("MASTER_PORT is not set, and neither is SLURM_JOB_ID"));
  EXPECT_THAT(failure(with(kSlurm, {{"SLURM_STEP_NODELIST", ""}})).second,
              HasSubstr("expected the host of process 0"));
}

// torchrun in a step of Slurm, mpirun in an allocation: the inner launcher's variables win.
TEST(JoinEnvironment, TheInnerLauncherCounts) {
  Variables all = kSlurm;
  all.insert(kMpi.begin(), kMpi.end());
  EXPECT_EQ(read(all).num_processes, 4);
  all.insert(kTorchrun.begin(), kTorchrun.end());
  EXPECT_EQ(read(all).process, 3);
}

TEST(JoinConfig, FieldsAreChecked) {
  const auto refused = [](const std::function<void(JoinConfig&)>& change) {
    JoinConfig config;
    config.num_processes = 2;
    config.port = 4000;
    change(config);
    try {
      check_join_config(config);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refused([](JoinConfig&) {}), "");
  EXPECT_EQ(refused([](JoinConfig& c) { c.process = 2; }),
            "process_rank: expected 0 to 1, found 2");
  EXPECT_EQ(refused([](JoinConfig& c) { c.port = 0; }), "port: expected 1 to 65535, found 0");
  EXPECT_EQ(refused([](JoinConfig& c) { c.num_processes = 0; }),
            "num_processes: expected 1 to 1024, found 0");
  EXPECT_THAT(refused([](JoinConfig& c) { c.heartbeat_ms = -5; }), HasSubstr("heartbeat_ms"));
  EXPECT_THAT(refused([](JoinConfig& c) { c.host = ""; }), HasSubstr("host"));
}

}  // namespace
}  // namespace gnnmg::comm
