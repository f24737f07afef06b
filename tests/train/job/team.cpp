#include "train/job/team.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "support/temp_dir.h"
#include "train/job/on_devices.h"

namespace gnnmg::test {

std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

End end_of(const Child& member) {
  const auto ends = ends_of(member);
  EXPECT_EQ(ends.size(), 1u) << member.all();
  return ends.empty() ? End{} : ends[0];
}

void expect_done(Team& team) {
  for (int p = 0; p < team.size(); ++p) {
    EXPECT_EQ(team[p].wait_end(120'000), 0) << team[p].all();
    EXPECT_THAT(team[p].lines(), testing::Contains("left threads 0 files 0"));
    EXPECT_EQ(team[p].errors(), "");
  }
}

std::string line_of(const Child& member, const std::string& start) {
  for (const std::string& line : member.lines())
    if (line.starts_with(start)) return line;
  return "";
}

std::vector<std::string> plus(std::vector<std::string> words,
                              const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

namespace {

std::vector<double> read_weights(const std::string& path) {
  const std::string bytes = read_all(path);
  std::vector<double> weights(bytes.size() / sizeof(double));
  std::memcpy(weights.data(), bytes.data(), weights.size() * sizeof(double));
  return weights;
}

}  // namespace

std::vector<double> weights_of(std::vector<std::string> words, int ranks) {
  words.push_back(base::text("ranks=", ranks));
  Recipe setup = recipe_of(Options(words));
  Host host;
  place(0, setup, host);
  Trial run(setup, host);
  run.train();
  return run.weights();
}

std::vector<std::vector<double>> weights_of_processes(const std::vector<std::string>& words,
                                                      const std::vector<int>& ranks,
                                                      std::string* trained) {
  const TempDir dir;
  std::vector<std::string> all = words;
  all.push_back("weights=" + dir.file("w"));
  Team members(all, ranks);
  std::vector<std::vector<double>> weights;
  std::string metrics;
  for (int p = 0; p < members.size(); ++p) {
    EXPECT_EQ(members[p].wait_end(120'000), 0) << members[p].all();
    EXPECT_THAT(members[p].lines(), testing::Contains("left threads 0 files 0"));
    EXPECT_EQ(members[p].errors(), "");
    weights.push_back(read_weights(dir.file(base::text("w.", p))));
    for (const std::string& line : members[p].lines())
      if (line.starts_with("metrics")) {
        if (metrics.empty()) metrics = line;
        EXPECT_EQ(line, metrics) << "process " << p;
      }
  }
  EXPECT_NE(metrics, "");
  const std::string epochs = line_of(members[0], "trained");
  EXPECT_NE(epochs, "");
  for (int p = 1; p < members.size(); ++p)
    EXPECT_EQ(line_of(members[p], "trained"), epochs) << "process " << p;
  if (trained) *trained = epochs;
  return weights;
}

}  // namespace gnnmg::test
