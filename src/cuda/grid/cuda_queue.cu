#include "cuda/grid/cuda_queue.cuh"

namespace gnnmg::cuda {
namespace {

constexpr int kBlocksAMultiprocessor = 16;

int most_blocks(int device, int max_blocks) {
  if (max_blocks > 0) return max_blocks;
  int multiprocessors = 0;
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
        "asking for the number of multiprocessors");
  return multiprocessors * kBlocksAMultiprocessor;
}

}  // namespace

CudaQueue::CudaQueue(int device, cudaStream_t stream, Memory& device_memory,
                     PinnedMemory& pinned_memory, int max_blocks)
    : device_(device),
      stream_(stream),
      device_memory_(&device_memory),
      pinned_memory_(&pinned_memory),
      max_blocks_(most_blocks(device, max_blocks)),
      scratch_(device_memory) {}

void CudaQueue::scan(const int32_t* counts, int32_t* sums, int64_t count) {
  size_t bytes = 0;
  fill(sums, 0, sizeof(int32_t));
  check(cub::DeviceScan::InclusiveSum(nullptr, bytes, counts, sums + 1, count, stream_),
        "planning a scan");
  check(cub::DeviceScan::InclusiveSum(scratch_.reserve(static_cast<int64_t>(bytes), "a scan"),
                                      bytes, counts, sums + 1, count, stream_),
        "a scan");
}

void CudaQueue::sort(const uint32_t* keys, uint32_t* sorted_keys, const int32_t* values,
                     int32_t* sorted_values, int64_t count, int bits) {
  size_t bytes = 0;
  check(cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, sorted_keys, values, sorted_values,
                                        count, 0, bits, stream_),
        "planning a sort");
  check(cub::DeviceRadixSort::SortPairs(scratch_.reserve(static_cast<int64_t>(bytes), "a sort"),
                                        bytes, keys, sorted_keys, values, sorted_values, count, 0,
                                        bits, stream_),
        "a sort");
}

}  // namespace gnnmg::cuda
