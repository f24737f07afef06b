#include "cuda/grid/cuda_queue.cuh"

namespace gnnmg::cuda {
namespace {

constexpr int kBlocksAMultiprocessor = 8;  // all that are resident at once, of 256 threads each

int most_blocks(int device, int max_multiprocessors) {
  int multiprocessors = 0;
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
        "asking for the number of multiprocessors");
  if (max_multiprocessors > 0) return least(multiprocessors, max_multiprocessors);
  return multiprocessors * kBlocksAMultiprocessor *
         2;  // a second round evens out rows of different lengths
}

// CUB counts in the given type, and 64 bits would cost registers and time for every item.
int in_32_bits(int64_t count, const char* what) {
  if (count > INT32_MAX)
    base::fail(base::Status::kRange, what, " of ", count,
               " numbers, expected fewer than 2147483648");
  return static_cast<int>(count);
}

}  // namespace

CudaQueue::CudaQueue(int device, int max_multiprocessors, cudaStream_t stream)
    : device_(device),
      bounded_(max_multiprocessors > 0),
      max_blocks_(most_blocks(device, max_multiprocessors)),
      stream_(device, stream),
      reached_(device),
      memory_(make_device_memory(device, stream_.get())) {}

CudaQueue::CudaQueue(int device, int max_multiprocessors, Urgency urgency)
    : device_(device),
      bounded_(max_multiprocessors > 0),
      max_blocks_(most_blocks(device, max_multiprocessors)),
      stream_(device, urgency),
      reached_(device),
      memory_(make_device_memory(device, stream_.get())) {}

CudaQueue::~CudaQueue() {
  try {
    synchronize();
  } catch (const base::Error&) {  // a lost device does no work
  }
}

void CudaQueue::fill(void* to, int byte, int64_t bytes) {
  if (bytes <= 0) return;
  const OnDevice on(device_);
  check_work(cudaMemsetAsync(to, byte, bytes, stream()), "filling memory");
}

void CudaQueue::copy(void* to, const void* from, int64_t bytes) {
  if (bytes <= 0) return;
  const OnDevice on(device_);
  check_work(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream()), "copying");
}

void CudaQueue::synchronize() {
  const OnDevice on(device_);
  check_work(cudaStreamSynchronize(stream()), "waiting for the device");
}

void CudaQueue::wait(CudaQueue& other) {
  if (&other == this) return;
  {
    const OnDevice on(other.device_);
    check_work(cudaEventRecord(other.reached_.get(), other.stream()),
               "recording an event in a stream");
  }
  const OnDevice on(device_);
  check_work(cudaStreamWaitEvent(stream(), other.reached_.get(), 0), "waiting for another stream");
}

bool CudaQueue::finished() {
  const OnDevice on(device_);
  const cudaError_t state = cudaStreamQuery(stream());
  if (state == cudaErrorNotReady) {
    cudaGetLastError();  // otherwise the error stays in the thread, and the next caller takes it
                         // for its own
    return false;
  }
  check_work(state, "asking whether the device is ready");
  return true;
}

uint8_t* CudaQueue::scratch(size_t bytes, const char* what) {
  const auto wanted = static_cast<int64_t>(bytes);
  const int64_t last = scratch_.empty() ? 0 : scratch_.back().capacity();
  if (scratch_.empty() || wanted > last) {
    Buffer<uint8_t> larger(*memory_);
    larger.reserve(greatest(wanted, 2 * last), what);
    scratch_.push_back(std::move(larger));
  }
  return scratch_.back().data();
}

void CudaQueue::scan(const int32_t* counts, int32_t* sums, int64_t count) {
  const OnDevice on(device_);
  check_work(cudaMemsetAsync(sums, 0, sizeof(int32_t), stream()), "a scan");
  if (count <= 0) return;
  const int number = in_32_bits(count, "a scan");
  size_t bytes = 0;
  check(cub::DeviceScan::InclusiveSum(nullptr, bytes, counts, sums + 1, number, stream()),
        "planning a scan");
  check(cub::DeviceScan::InclusiveSum(scratch(bytes, "a scan"), bytes, counts, sums + 1, number,
                                      stream()),
        "a scan");
}

void CudaQueue::sort(const uint32_t* keys, uint32_t* sorted_keys, const int32_t* values,
                     int32_t* sorted_values, int64_t count, int bits) {
  if (count <= 0) return;
  const OnDevice on(device_);
  const int number = in_32_bits(count, "a sort");
  size_t bytes = 0;
  check(cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, sorted_keys, values, sorted_values,
                                        number, 0, bits, stream()),
        "planning a sort");
  check(cub::DeviceRadixSort::SortPairs(scratch(bytes, "a sort"), bytes, keys, sorted_keys, values,
                                        sorted_values, number, 0, bits, stream()),
        "a sort");
}

}  // namespace gnnmg::cuda
