// The tests of a program, and its exit code for ctest.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>

namespace gnnmg::test {

// Runs all tests that the filter selects. If one was skipped, ctest must report "skipped", not
// "passed"; a filter that selects none is an error.
inline int run_tests() {
  constexpr int kSkipped = 77;  // SKIP_RETURN_CODE in gnnmg_register_test
  if (RUN_ALL_TESTS() != 0) return 1;
  const testing::UnitTest& tests = *testing::UnitTest::GetInstance();
  if (tests.test_to_run_count() == 0) {
    std::puts("no test was selected");
    return 1;
  }
  return tests.skipped_test_count() > 0 ? kSkipped : 0;
}

}  // namespace gnnmg::test
