// Tests on fake GPUs that defer work, in a random order.
#include "lazy_gpu.h"
#include "support/test_gpus.h"

namespace gnnmg::test {

TestGpus test_gpus(int wanted) {
  static device::Table table = lazy_gpu::table();
  lazy_gpu::set_order(7);
  return {&table, wanted};
}

bool gpus_are_fake() { return true; }

}  // namespace gnnmg::test
