// Tests on this machine's GPUs, through the plug-in, and the main function of their programs: where
// there is no GPU they are skipped, as a whole.
#include "support/test_gpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "base/plugin.h"

namespace gnnmg::test {
namespace {

base::DeviceTable table;  // a copy: tests write into theirs

}  // namespace

TestGpus test_gpus(int wanted) { return {&table, std::min(wanted, table.num_devices())}; }

bool gpus_are_fake() { return false; }

}  // namespace gnnmg::test

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  constexpr int kSkipped = 77;
  if (!gnnmg::base::has_driver()) {
    std::puts("skipped: no driver, hence no GPU");
    return kSkipped;
  }
  // Before anything of LibTorch runs, which looks for its CUDA half once.
  const gnnmg::base::Plugin plugin = gnnmg::base::open_plugin_at(GNNMG_CUDA_PLUGIN);
  if (plugin.table == nullptr) {
    std::fprintf(stderr, "%s\n", plugin.why.c_str());
    return 1;
  }
  try {
    if (plugin.table->num_devices() == 0) {
      std::puts("skipped: no GPU");
      return kSkipped;
    }
  } catch (const gnnmg::base::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  gnnmg::test::table = *plugin.table;
  if (RUN_ALL_TESTS() != 0) return 1;
  return testing::UnitTest::GetInstance()->skipped_test_count() > 0 ? kSkipped : 0;
}
