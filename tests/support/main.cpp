// The main function of every test program that needs no other.
#include <gmock/gmock.h>

#include "support/run_tests.h"

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  return gnnmg::test::run_tests();
}
