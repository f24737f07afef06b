// The main function of every test program. It determines the exit code: if a test was skipped,
// ctest must report "skipped", not "passed".
#include <gmock/gmock.h>
#include <gtest/gtest.h>

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  const int failed = RUN_ALL_TESTS();
  if (failed) return failed;
  constexpr int kSkipped = 77;  // SKIP_RETURN_CODE in gnnmg_register_test
  return testing::UnitTest::GetInstance()->skipped_test_count() > 0 ? kSkipped : 0;
}
