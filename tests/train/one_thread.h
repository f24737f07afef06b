// For a test program that compares bits.
#pragma once

#include <ATen/Parallel.h>

namespace gnnmg::test {

// LibTorch's sums of the CPU, which carries the fakes' operators out, depend on the number of its
// threads, and backward passes run on other threads than their repetition.
inline const bool kOneThread = (at::set_num_threads(1), true);

}  // namespace gnnmg::test
