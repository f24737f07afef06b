// The engine of a test's communicators: one file per engine.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "comm/ranks.h"

namespace gnnmg::test {

// A group of ranks that are all in this process.
std::shared_ptr<comm::ThreadGroup> make_ranks(int world_size);
// The bytes that may stay of a communicator's rank until the process ends.
extern const double kKeptBytes;

inline void expect_all_well(const std::vector<Outcome>& outcomes) {
  for (size_t r = 0; r < outcomes.size(); ++r)
    EXPECT_EQ(outcomes[r].status, base::Status::kOk) << "rank " << r << ": " << outcomes[r].text;
}

}  // namespace gnnmg::test
