// The same devices for tests that run on fake and on real GPUs.
#include "support/test_gpus.h"

#include <algorithm>

#include "fake_cuda/fake_cuda.h"

namespace gnnmg::test {

TestGpus test_gpus(int wanted) {
  static device::Table table = fake_cuda::table();  // a copy, because tests change their table
  return {&table, std::min(wanted, fake_cuda::kDevices)};
}

bool gpus_are_fake() { return true; }

}  // namespace gnnmg::test
