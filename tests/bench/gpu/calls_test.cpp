// Checks which copies the benchmark's lane counts as copies of pageable memory.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "bench/gpu/lane.h"

namespace gnnmg::bench {
namespace {

// Returns how many of such a copy are counted: 0 or 1.
int64_t counted(char to, char from, cudaMemcpyKind kind, size_t bytes = 1) {
  const Calls before = calls();
  EXPECT_EQ(cudaMemcpyAsync(&to, &from, bytes, kind, nullptr), cudaErrorNotReady);
  const Calls after = calls();
  EXPECT_EQ(after.waits, before.waits);
  return after.pageable - before.pageable;
}

TEST(Calls, CopiesOfPageableMemory) {
  EXPECT_EQ(counted('d', 'h', cudaMemcpyHostToDevice), 1);
  EXPECT_EQ(counted('h', 'd', cudaMemcpyDeviceToHost), 1);
  EXPECT_EQ(counted('h', 'd', cudaMemcpyDefault), 1);
  EXPECT_EQ(counted('d', '?', cudaMemcpyDefault), 1);
  EXPECT_EQ(counted('d', 'p', cudaMemcpyHostToDevice), 0);
  EXPECT_EQ(counted('p', 'd', cudaMemcpyDefault), 0);
  EXPECT_EQ(counted('d', 'd', cudaMemcpyDefault), 0);
  EXPECT_EQ(counted('d', 'd', cudaMemcpyDeviceToDevice), 0);
  EXPECT_EQ(counted('d', 'h', cudaMemcpyHostToDevice, 0), 0);
}

}  // namespace
}  // namespace gnnmg::bench
