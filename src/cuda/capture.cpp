// Work that is kept as a CUDA graph, LibTorch's allocations with it.
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>

#include <string>

#include "base/error.h"
#include "cuda/device.h"
#include "cuda/grid/queue_stream.h"
#include "cuda/grid/runtime.h"

namespace gnnmg::cuda {
namespace {

using c10::cuda::CUDACachingAllocator::beginAllocateToPool;
using c10::cuda::CUDACachingAllocator::endAllocateToPool;
using c10::cuda::CUDACachingAllocator::releasePool;

[[noreturn]] void fail_to_keep(cudaError_t error) {
  cudaGetLastError();
  base::fail(base::Status::kUnsupported,
             "this work cannot be kept as a CUDA graph: ", cudaGetErrorString(error));
}

class Replay {
 public:
  explicit Replay(base::DeviceQueue* queue)
      : device_(device_of(queue)), pool_(at::cuda::graph_pool_handle()) {
    const OnDevice on(device_);
    const cudaStream_t stream = stream_of(queue);
    // LibTorch's threads for backward passes work in the same stream, which is what is kept.
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "keeping work");
    try {
      beginAllocateToPool(number(), pool_,
                          [stream](cudaStream_t other) { return other == stream; });
    } catch (...) {
      cudaGraph_t graph = nullptr;
      ignore(cudaStreamEndCapture(stream, &graph));
      if (graph) ignore(cudaGraphDestroy(graph));
      throw;
    }
    has_pool_ = true;
  }
  // Nothing of it is under way.
  ~Replay() {
    const OnDevice on(device_);
    if (work_) ignore(cudaGraphExecDestroy(work_));
    try {
      if (has_pool_) releasePool(number(), pool_);
    } catch (const c10::Error&) {  // a device that is lost
    }
  }
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  // Behind the work, or what it has thrown.
  cudaGraph_t end(base::DeviceQueue* queue, cudaError_t& error) {
    const OnDevice on(device_);
    cudaGraph_t graph = nullptr;
    error = cudaStreamEndCapture(stream_of(queue), &graph);
    endAllocateToPool(number(), pool_);
    return graph;
  }
  void make(cudaGraph_t graph) {
    const OnDevice on(device_);
    const cudaError_t error = cudaGraphInstantiate(&work_, graph, 0);
    ignore(cudaGraphDestroy(graph));
    if (error != cudaSuccess) fail_to_keep(error);
  }
  void launch(base::DeviceQueue* queue) const {
    const OnDevice on(device_);
    check(cudaGraphLaunch(work_, stream_of(queue)), "doing kept work again");
  }

 private:
  c10::DeviceIndex number() const { return static_cast<c10::DeviceIndex>(device_); }
  const int device_;
  const at::cuda::MempoolId_t pool_;
  bool has_pool_ = false;
  cudaGraphExec_t work_ = nullptr;
};

}  // namespace

base::DeviceReplay* capture(base::DeviceQueue* queue, void (*work)(void*), void* context) {
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
  kept->make(graph);
  return reinterpret_cast<base::DeviceReplay*>(kept.release());
}

void replay(base::DeviceQueue* queue, const base::DeviceReplay* kept) {
  reinterpret_cast<const Replay*>(kept)->launch(queue);
}

void free_capture(base::DeviceReplay* kept) noexcept { delete reinterpret_cast<Replay*>(kept); }

}  // namespace gnnmg::cuda
