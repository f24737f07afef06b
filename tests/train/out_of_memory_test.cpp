// Training when there is no memory: one error, and the next call goes on from the last step as if
// nothing had happened. A program of its own, because it replaces the allocator.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <thread>

#include "base/error.h"
#include "support/alloc_faults.h"
#include "train/fixture.h"

namespace gnnmg {
namespace {

// Rows are larger; LibTorch's bookkeeping, whose failures it does not survive, is smaller.
constexpr int64_t kRowBytes = 8192;

TEST(Memory, TrainingGoesOnFromWhereMemoryRanOut) {
  test::Recipe setup;
  const std::vector<double> expected = test::weights_after(setup);
  int failures = 0;
  for (int64_t n = 1;; n += std::max<int64_t>(1, n / 4)) {
    test::Host host;
    test::Trial trial(setup, host);
    bool struck = false;
    {
      const test::AllocationFaults faults({n, /*for_ever=*/true, kRowBytes});
      try {
        trial.train();
      } catch (const base::Error& error) {
        ASSERT_EQ(error.status(), base::Status::kNoMemory) << n << ": " << error.what();
        ++failures;
      } catch (const std::bad_alloc&) {
        ++failures;
      }
      struck = faults.struck();
    }
    trial.train();
    // Not bit for bit: a product that gets no buffer is worked out in another order.
    ASSERT_LT(test::largest_difference(trial.weights(), expected), 1e-5) << "allocation " << n;
    if (!struck) break;
  }
  EXPECT_GE(failures, 10);
}

// A thread that cancels a training may be out of memory: the ranks still end, and the program goes
// on.
TEST(Memory, ACancelNeedsNone) {
  for (const int ranks : {1, 2})
    for (int64_t n = 1;; ++n) {
      test::Recipe setup;
      setup.trainer.num_ranks = ranks;
      setup.trainer.num_epochs = 1'000'000;
      test::Host host;
      test::Trial trial(setup, host);
      trial->start();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      bool struck = false;
      {
        const test::AllocationFaults faults({.fail_at = n, .for_ever = true, .here = true});
        trial->cancel();
        struck = faults.struck();
      }
      try {
        trial->wait({});
        ADD_FAILURE() << "allocation " << n;
      } catch (const base::Error& error) {
        EXPECT_EQ(error.status(), base::Status::kCancelled) << n << ": " << error.what();
      }
      if (!struck) break;
    }
}

}  // namespace
}  // namespace gnnmg
