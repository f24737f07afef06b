// The memory of a process with several ranks.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <sstream>

#include "train/team.h"

namespace gnnmg::test {
namespace {

std::string line_of(const Child& member, const std::string& start) {
  for (const std::string& line : member.lines())
    if (line.starts_with(start)) return line;
  return "";
}

// Ranks of one process hold graph and features once: four take no more than replicas, batches and
// activations beyond what one does.
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
#ifndef __SANITIZE_ADDRESS__    // which keeps freed memory for each thread
  EXPECT_LE(megabytes[1], 1.2 * megabytes[0]);
#endif
  std::printf("[ FIGURE   ] graph, features and training: %.0f MB with 1 rank, %.0f MB with 4\n",
              megabytes[0], megabytes[1]);
}

}  // namespace
}  // namespace gnnmg::test
