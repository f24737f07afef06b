// The GPUs of tests that run on fake ones everywhere, and on real ones if there are some. The
// program links fake_gpu/test_gpus.cpp or gpu/test_gpus.cpp; the latter skips all tests of its
// program if there is no GPU.
#pragma once

#include "device/table.h"

namespace gnnmg::test {

struct TestGpus {
  device::Table* table = nullptr;  // lives as long as the program
  int count = 0;                   // has devices 0 to count - 1
};

// Returns as many as wanted; at most 8 fake ones, at most all real ones. The table of fake ones has
// no NCCL.
TestGpus test_gpus(int wanted);
// Real GPUs add in their own order, so results equal the CPU's except for rounding.
bool gpus_are_fake();

}  // namespace gnnmg::test
