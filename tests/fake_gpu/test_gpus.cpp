// Tests on fake GPUs.
#include "support/test_gpus.h"

#include "fake_gpu.h"

namespace gnnmg::test {

TestGpus test_gpus(int wanted) {
  static base::DeviceTable tables[9];
  tables[wanted] = fake_gpu::make_table(wanted);
  return {&tables[wanted], wanted};
}

bool gpus_are_fake() { return true; }

}  // namespace gnnmg::test
