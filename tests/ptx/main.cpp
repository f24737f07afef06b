// The main function of programs whose GPU is the built plug-in over kernels that run on the host.
//   GNNMG_PTX_APART: lanes of every device diverge
//   GNNMG_PTX_LIST: at the end, the kernels that did not run
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "fake_cuda/fake_cuda.h"
#include "ptx/kernels.h"
#include "support/run_tests.h"

namespace {

using namespace gnnmg;

// Checks after each case that kernels made no errors and that no error is left in the thread.
class Faults : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo&) override {
    for (const std::string& fault : ptx::take_faults()) ADD_FAILURE() << fault;
    for (const std::string& name : fake_cuda::unpretended())
      ADD_FAILURE() << name << " is called and not pretended";
    EXPECT_EQ(fake_cuda::error_left(), cudaSuccess);
    fake_cuda::reset();
  }
};

}  // namespace

int main(int argc, char** argv) {
  ptx::run_kernels(GNNMG_PTX);
  testing::InitGoogleTest(&argc, argv);
  testing::UnitTest::GetInstance()->listeners().Append(new Faults);
  const int result = test::run_tests();
  std::printf("%zu of %zu kernels ran, %lld launches, %.1f million instructions of warps\n",
              ptx::kernels_that_ran().size(), ptx::all_kernels().size(),
              static_cast<long long>(ptx::num_launches()),
              1e-6 * static_cast<double>(ptx::num_instructions()));
  if (std::getenv("GNNMG_PTX_LIST") != nullptr) {
    const std::vector<std::string> ran = ptx::kernels_that_ran();
    for (const std::string& name : ptx::all_kernels())
      if (!std::binary_search(ran.begin(), ran.end(), name))
        std::printf("not run: %s\n", name.c_str());
  }
  return result;
}
