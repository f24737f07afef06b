// Jobs of members (member.cpp), and checks of the surviving members.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "comm/children.h"
#include "comm/jobs.h"

namespace gnnmg::test {

using Arguments = std::vector<std::string>;

inline const std::string kMember = GNNMG_TEST_MEMBER;

// The processes of one job.
class Job {
 public:
  // Number of ranks per process; `common` arguments go to all, `special` ones to one process. The
  // environment goes to that process too, or to all if there is none.
  Job(const std::vector<int>& ranks, const Arguments& common, int special_process = -1,
      const Arguments& special = {}, const Arguments& environment = {}) {
    for (size_t p = 0; p < ranks.size(); ++p) {
      Arguments arguments{"port=" + std::to_string(port), "process=" + std::to_string(p),
                          "of=" + std::to_string(ranks.size()), "ranks=" + std::to_string(ranks[p]),
                          "first=" + std::to_string(std::accumulate(
                                         ranks.begin(), ranks.begin() + static_cast<int>(p), 0))};
      arguments.insert(arguments.end(), common.begin(), common.end());
      if (static_cast<int>(p) == special_process)
        arguments.insert(arguments.end(), special.begin(), special.end());
      arguments_.push_back(arguments);
      environments_.push_back({});
      if (special_process < 0 || static_cast<int>(p) == special_process)
        environments_.back() = environment;
      children.push_back(
          std::make_unique<Child>(kMember, arguments, environments_.back(), Child::kFork));
    }
  }
  // Starts another process in place of a dead one.
  void restart(int p) {
    children[p] = std::make_unique<Child>(kMember, arguments_[p], environments_[p], Child::kFork);
  }
  // True once all processes have come to a step.
  bool wait_step(int64_t step, int64_t ms = 60'000) {
    return std::ranges::all_of(children, [&](auto& child) {
      return !child->wait_for("step " + std::to_string(step) + " ", ms).empty();
    });
  }
  Child& operator[](int p) { return *children[p]; }
  const int port = free_port();
  std::vector<std::unique_ptr<Child>> children;

 private:
  std::vector<Arguments> arguments_, environments_;
};

// Checks a survivor: it ended by itself, wrote nothing to standard error, and left nothing open.
inline std::vector<End> finish(Child& child, int code = 3, int64_t ms = 30'000) {
  EXPECT_EQ(child.wait_end(ms), code) << child.all();
  EXPECT_EQ(child.errors(), "");
  bool counted = false;
  for (const std::string& line : child.lines()) {
    if (line.starts_with("left")) {
      counted = true;
      EXPECT_EQ(line, "left threads 0 files 0");
    }
    EXPECT_FALSE(line.starts_with("spent")) << line;
  }
  EXPECT_TRUE(counted);
  return ends_of(child);
}

}  // namespace gnnmg::test
