// The main function of every test program. It determines the exit code: if a test was skipped,
// ctest must report "skipped", not "passed", and a filter that selects no test is an error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  const int failed = RUN_ALL_TESTS();
  if (failed) return failed;
  if (testing::UnitTest::GetInstance()->test_to_run_count() == 0) {
    std::puts("no test was selected");
    return 1;
  }
  constexpr int kSkipped = 77;  // SKIP_RETURN_CODE in gnnmg_register_test
  return testing::UnitTest::GetInstance()->skipped_test_count() > 0 ? kSkipped : 0;
}
