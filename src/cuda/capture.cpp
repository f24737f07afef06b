// Work captured as a CUDA graph, including LibTorch's allocations.
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>

#include <map>
#include <mutex>
#include <string>

#include "base/error.h"
#include "cuda/device.h"
#include "cuda/grid/queue_stream.h"
#include "cuda/grid/runtime.h"
#include "cuda/growth.h"

namespace gnnmg::cuda {
namespace {

using c10::cuda::CUDACachingAllocator::beginAllocateToPool;
using c10::cuda::CUDACachingAllocator::endAllocateToPool;
using c10::cuda::CUDACachingAllocator::releasePool;

[[noreturn]] void fail_to_keep(cudaError_t error) {
  if (error == cudaErrorMemoryAllocation || is_loss(error)) check(error, "keeping work");
  cudaGetLastError();
  base::fail(base::Status::kUnsupported,
             "this work cannot be kept as a CUDA graph: ", cudaGetErrorString(error));
}

// Captured work refers to memory that must stay. A cache ensures that; without one LibTorch would
// return the memory to CUDA after the capture.
void check_cache() {
  if (!c10::cuda::CUDACachingAllocator::isEnabled())
    base::fail(base::Status::kUnsupported,
               "LibTorch keeps no memory of GPUs, as PYTORCH_NO_CUDA_MEMORY_CACHING is set, and a "
               "CUDA graph would name what is gone");
}

// With CUDA's own allocator LibTorch allows one capture at a time in the process.
std::unique_lock<std::mutex> own_turn() {
  static auto& turn = *new std::mutex;
  if (c10::cuda::CUDACachingAllocator::name() == "native") return {};
  return std::unique_lock(turn);
}

// LibTorch's memory for captured work of one stream. Replays of a stream run one after another, and
// nobody reads their allocations after them, so all captures of the stream may share the memory.
class StreamPool {
 public:
  explicit StreamPool(cudaStream_t stream) : stream_(stream) {
    const std::lock_guard lock(mutex());
    Pool& pool = pools()[stream];
    if (pool.uses++ == 0) pool.id = at::cuda::graph_pool_handle();
    id_ = pool.id;
  }
  ~StreamPool() {
    const std::lock_guard lock(mutex());
    const auto pool = pools().find(stream_);
    if (--pool->second.uses == 0) pools().erase(pool);
  }
  StreamPool(const StreamPool&) = delete;
  StreamPool& operator=(const StreamPool&) = delete;
  at::cuda::MempoolId_t id() const { return id_; }

 private:
  struct Pool {
    at::cuda::MempoolId_t id;
    int64_t uses = 0;
  };
  // Never destroyed: captured work in static objects may be freed later.
  static std::mutex& mutex() {
    static auto& mutex = *new std::mutex;
    return mutex;
  }
  static std::map<cudaStream_t, Pool>& pools() {
    static auto& pools = *new std::map<cudaStream_t, Pool>;
    return pools;
  }
  const cudaStream_t stream_;
  at::cuda::MempoolId_t id_;
};

class Replay {
 public:
  explicit Replay(device::Queue* queue) : device_(device_of(queue)), pool_(stream_of(queue)) {
    const OnDevice on(device_);
    const cudaStream_t stream = stream_of(queue);
    // Before the capture, because the allocator may query events for memory that LibTorch's threads
    // free meanwhile.
    beginAllocateToPool(number(), pool_.id(),
                        [stream](cudaStream_t other) { return other == stream; });
    // LibTorch's threads for backward passes work in the same stream, which is captured.
    const cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
    if (error != cudaSuccess) {
      endAllocateToPool(number(), pool_.id());
      releasePool(number(), pool_.id());
      check(error, "keeping work");
    }
    has_pool_ = true;
  }
  // No replay may be running.
  ~Replay() {
    try {
      const OnDevice on(device_);
      if (work_) {
        const Growing growing;
        ignore(cudaGraphExecDestroy(work_));
      }
    } catch (const std::exception&) {  // a lost device has lost its graphs too
    }
    try {
      if (has_pool_) releasePool(number(), pool_.id());
    } catch (const c10::Error&) {  // a lost device
    }
  }
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  // Ends the capture after the work, or after its exception.
  cudaGraph_t end(device::Queue* queue, cudaError_t& error) {
    const OnDevice on(device_);
    cudaGraph_t graph = nullptr;
    error = cudaStreamEndCapture(stream_of(queue), &graph);
    endAllocateToPool(number(), pool_.id());
    return graph;
  }
  void make(cudaGraph_t graph, cudaStream_t stream) {
    const OnDevice on(device_);
    const Growing growing;
    // Allocations by the driver's own allocator within the work are freed before a replay.
    const cudaError_t error =
        cudaGraphInstantiate(&work_, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch);
    ignore(cudaGraphDestroy(graph));
    if (error != cudaSuccess) fail_to_keep(error);
    // The first launch would do this, and allocate memory.
    check(cudaGraphUpload(work_, stream), "uploading a CUDA graph");
    check_work(cudaStreamSynchronize(stream), "uploading a CUDA graph");
  }
  void launch(device::Queue* queue) const {
    const OnDevice on(device_);
    check_work(cudaGraphLaunch(work_, stream_of(queue)), "launching a CUDA graph");
  }

 private:
  c10::DeviceIndex number() const { return static_cast<c10::DeviceIndex>(device_); }
  const int device_;
  const StreamPool pool_;
  bool has_pool_ = false;
  cudaGraphExec_t work_ = nullptr;
};

}  // namespace

device::Graph* capture(device::Queue* queue, void (*work)(void*), void* context) {
  check_cache();
  const std::unique_lock<std::mutex> turn = own_turn();
  auto kept = std::make_unique<Replay>(queue);
  cudaError_t error = cudaSuccess;
  try {
    work(context);
  } catch (...) {
    if (cudaGraph_t graph = kept->end(queue, error)) ignore(cudaGraphDestroy(graph));
    cudaGetLastError();
    throw;
  }
  cudaGraph_t graph = kept->end(queue, error);
  if (error != cudaSuccess) fail_to_keep(error);
  kept->make(graph, stream_of(queue));
  return reinterpret_cast<device::Graph*>(kept.release());
}

void replay(device::Queue* queue, const device::Graph* kept) {
  reinterpret_cast<const Replay*>(kept)->launch(queue);
}

void free_graph(device::Graph* kept) noexcept { delete reinterpret_cast<Replay*>(kept); }

}  // namespace gnnmg::cuda
