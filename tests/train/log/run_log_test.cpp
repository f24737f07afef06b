// JSON lines: one object an epoch, whatever was in the file before.
#include "train/log/run_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/temp_dir.h"

namespace gnnmg::train {
namespace {

EpochReport report(int64_t epoch) {
  EpochReport r;
  r.epoch = epoch;
  r.num_epochs = 5;
  r.steps = 12;
  r.train_loss = 0.75;
  r.train_accuracy = 0.5;
  r.learning_rate = 0.01;
  r.seconds = 1.25;
  return r;
}

RunFacts facts() {
  RunFacts f{.id = "5eed", .config = {}, .model = {{"heads", "8"}}, .sampler = "uniform 10 5"};
  f.config.num_epochs = 5;
  f.config.schedule.kind = ScheduleKind::kCosine;
  f.config.seed = ~uint64_t{0};
  return f;
}

std::vector<nlohmann::json> lines_of(const std::string& path) {
  std::vector<nlohmann::json> lines;
  std::istringstream in(test::slurp(path));
  for (std::string line; std::getline(in, line);)
    lines.push_back(nlohmann::json::parse(line, nullptr, false));
  return lines;
}

TEST(RunLog, OneObjectAnEpoch) {
  const test::TempDir folder;
  const std::string path = folder.file("log.jsonl");
  {
    RunLog log(path, "", facts());
    log.add(report(0));
    EpochReport second = report(1);
    second.evaluated = second.best = true;
    second.validation.count = 40;
    second.validation.accuracy = 0.875;
    second.validation.roc_auc = std::nan("");
    log.add(second);
  }
  const auto lines = lines_of(path);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0]["epoch"], 0);
  EXPECT_EQ(lines[0]["steps"], 12);
  EXPECT_EQ(lines[0]["train_loss"], 0.75);
  EXPECT_EQ(lines[0]["seconds"], 1.25);
  EXPECT_FALSE(lines[0].contains("validation"));
  EXPECT_EQ(lines[1]["validation"]["count"], 40);
  EXPECT_EQ(lines[1]["validation"]["accuracy"], 0.875);
  EXPECT_TRUE(lines[1]["validation"]["roc_auc"].is_null());
  EXPECT_EQ(lines[1]["best"], true);
}

TEST(RunLog, GoesOnAfterALineThatWasCutOff) {
  const test::TempDir folder;
  const std::string path = folder.write("log.jsonl", "{\"epoch\":0}\n{\"epo");
  RunLog(path, "", facts()).add(report(1));
  RunLog(path, "", facts()).add(report(2));
  const auto lines = lines_of(path);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0]["epoch"], 0);
  EXPECT_TRUE(lines[1].is_discarded());
  EXPECT_EQ(lines[2]["epoch"], 1);
  EXPECT_EQ(lines[3]["epoch"], 2);
}

TEST(RunLog, BothKindsAtOnce) {
  const test::TempDir folder;
  RunLog(folder.file("log.jsonl"), folder.file("events"), facts()).add(report(0));
  EXPECT_THAT(folder.list(), testing::IsSupersetOf<testing::Matcher<std::string>>(
                                 {testing::StrEq("log.jsonl"),
                                  testing::HasSubstr("events/events.out.tfevents.")}));
}

TEST(RunLog, EveryLineNamesRunAndTimeAndTheFirstTheSettings) {
  const test::TempDir folder;
  RunLog log(folder.file("log.jsonl"), "", facts());
  log.add(report(0));
  log.add(report(1));
  const auto lines = lines_of(folder.file("log.jsonl"));
  ASSERT_EQ(lines.size(), 2u);
  for (const auto& line : lines) {
    EXPECT_EQ(line["run"], "5eed");
    EXPECT_THAT(line["time"].get<std::string>(),
                testing::MatchesRegex("2[0-9]+-[0-9]+-[0-9]+T[0-9]+:[0-9]+:[0-9]+[.][0-9]+Z"));
  }
  const auto& settings = lines[0]["settings"];
  EXPECT_EQ(settings["trainer"]["num_epochs"], 5);
  EXPECT_EQ(settings["trainer"]["schedule"], "cosine");
  EXPECT_EQ(settings["trainer"]["shuffle"], true);
  EXPECT_EQ(settings["trainer"]["learning_rate"], OptimizerConfig().learning_rate);
  EXPECT_EQ(settings["trainer"]["seed"], "18446744073709551615");
  EXPECT_EQ(settings["model"]["heads"], "8");
  EXPECT_EQ(settings["sampler"], "uniform 10 5");
  EXPECT_FALSE(lines[1].contains("settings"));
}

// The split of time, and the rank that the others waited for, are in the event files too.
TEST(RunLog, TheSplitOfTimeIsInBoth) {
  const test::TempDir folder;
  EpochReport r = report(0);
  r.sample_seconds = 0.25;
  r.peer_wait_seconds = 0.125;
  r.slowest_rank = 3;
  RankTimes rank;
  rank.rank = 1;
  rank.idle_seconds = 0.75;
  r.ranks = {rank};
  RunLog(folder.file("log.jsonl"), folder.file("events"), facts()).add(r);
  const auto line = lines_of(folder.file("log.jsonl")).at(0);
  EXPECT_EQ(line["sample_seconds"], 0.25);
  EXPECT_EQ(line["slowest_rank"], 3);
  EXPECT_EQ(line["ranks"][0]["idle_seconds"], 0.75);
  std::string events;
  for (const std::string& name : folder.list())
    if (name.starts_with("events/events.out")) events = test::slurp(folder.file(name));
  // A summary's value: its tag with the tag's length before, then the number, a float.
  const auto expect = [&](const std::string& tag, float value) {
    const size_t at = events.find(static_cast<char>(tag.size()) + tag);
    ASSERT_NE(at, std::string::npos) << tag;
    float found = 0;
    std::memcpy(&found, events.data() + at + 1 + tag.size() + 1, sizeof found);
    EXPECT_EQ(found, value) << tag;
  };
  expect("time/sampling", 0.25F);
  expect("time/waiting_for_ranks", 0.125F);
  expect("ranks/slowest", 3);
  expect("rank_1/idle", 0.75F);
}

}  // namespace
}  // namespace gnnmg::train
