// The GPUs of tests that run on fake ones everywhere, and on real ones where there are some: what a
// program links decides, fake_gpu/test_gpus.cpp or gpu/test_gpus.cpp. The latter skips all of its
// program's tests where there is no GPU.
#pragma once

#include "base/device.h"

namespace gnnmg::test {

struct TestGpus {
  base::DeviceTable* table = nullptr;  // as long as the program
  int count = 0;                       // its devices 0 to count - 1
};

// As many as are wanted, of the fakes at most 8, of real ones at most as many as there are. The
// table of fakes has no NCCL.
TestGpus test_gpus(int wanted);
// Real ones compute in an order of their own, so that results are the CPU's but for rounding.
bool gpus_are_fake();

}  // namespace gnnmg::test
