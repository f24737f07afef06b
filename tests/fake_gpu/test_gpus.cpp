// Tests on fake GPUs: as many as they want, but at most GNNMG_TEST_MOST_GPUS, as on a smaller
// machine.
#include "support/test_gpus.h"

#include <algorithm>
#include <cstdlib>

#include "fake_gpu.h"

namespace gnnmg::test {

TestGpus test_gpus(int wanted) {
  static device::Table tables[9];
  if (const char* most = std::getenv("GNNMG_TEST_MOST_GPUS"))
    wanted = std::min(wanted, std::atoi(most));
  tables[wanted] = fake_gpu::make_table(wanted);
  return {&tables[wanted], wanted};
}

bool gpus_are_fake() { return true; }

}  // namespace gnnmg::test
