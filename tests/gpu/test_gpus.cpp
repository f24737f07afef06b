// Tests on this machine's GPUs, through the plug-in, and the main function of their programs:
// without a GPU all are skipped.
#include "support/test_gpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "device/plugin.h"
#include "support/plugin.h"
#include "support/run_tests.h"

namespace gnnmg::test {
namespace {

device::Table table;  // a copy, because tests change their table
int num_gpus = 0;     // the first answer: a process that has lost a GPU may get no other

}  // namespace

TestGpus test_gpus(int wanted) { return {&table, std::min(wanted, num_gpus)}; }

bool gpus_are_fake() { return false; }

}  // namespace gnnmg::test

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  constexpr int kSkipped = 77;
  if (!gnnmg::device::has_driver()) {
    std::puts("skipped: no driver, hence no GPU");
    return kSkipped;
  }
  // Before any use of LibTorch, which looks for its CUDA half once.
  const gnnmg::device::Plugin plugin = gnnmg::device::open_plugin_at(gnnmg::test::plugin_path());
  if (plugin.table == nullptr) {
    std::fprintf(stderr, "%s\n", plugin.why.c_str());
    return 1;
  }
  try {
    gnnmg::test::num_gpus = plugin.table->num_devices();
    if (gnnmg::test::num_gpus == 0) {
      std::puts("skipped: no GPU");
      return kSkipped;
    }
  } catch (const gnnmg::base::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  gnnmg::test::table = *plugin.table;
  std::printf("[ FIGURE   ] on %d GPU%s\n", gnnmg::test::num_gpus,
              gnnmg::test::num_gpus == 1 ? "" : "s");
  return gnnmg::test::run_tests();
}
