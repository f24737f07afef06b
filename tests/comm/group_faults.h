// Tools for tests of ranks of one process that are late, lost, canceled or aborted.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "base/background.h"
#include "comm/engine.h"
#include "comm/ranks.h"
#include "support/leftovers.h"

namespace gnnmg::test {

inline void sleep_ms(int64_t ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

inline void wait_for_reapers() {
  for (int i = 0; i < 4000 && base::num_left() > 0; ++i) sleep_ms(10);
  EXPECT_EQ(base::num_left(), 0);
}

// Each test must restore the number of threads and descriptors, and write nothing to standard
// error.
class GroupFault : public testing::Test {
 protected:
  void SetUp() override {
    run_ranks(make_ranks(2), [](comm::Collectives& comm) {
      comm.barrier(within_ms(60'000));
    });  // starts everything that is never freed
    left_.emplace();
    testing::internal::CaptureStderr();
  }
  void TearDown() override {
    wait_for_reapers();
    EXPECT_EQ(less_refused_peers(testing::internal::GetCapturedStderr()), "");
    EXPECT_EQ(left_->count(), Leftovers::kNone);
  }
  std::optional<Leftovers> left_;
};

inline void all_reduce(comm::Collectives& comm, const comm::Wait& wait) {
  std::vector<float> values(1000, 1.0f);
  comm.all_reduce({values.data(), base::DType::kF32, {1000}}, comm::ReduceOp::kSum, wait);
}

}  // namespace gnnmg::test
