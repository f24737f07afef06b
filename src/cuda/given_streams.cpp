// Frees LibTorch's data of cuBLAS for callers' streams, which would otherwise stay until the
// process ends: tens of megabytes for each such stream and each thread that multiplies.
#include <ATen/cuda/CUDAContextLight.h>

#include <exception>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "cuda/device.h"
#include "cuda/grid/queue_stream.h"

namespace gnnmg::cuda {
namespace {

// The number of queues of each caller's stream.
struct GivenStreams {
  static GivenStreams& instance() {
    // Queues may be closed after static objects are destroyed.
    static auto& streams = *new GivenStreams;
    return streams;
  }
  std::mutex mutex;
  std::map<cudaStream_t, int64_t> queues;
};

// The stream must be idle. Later products allocate new workspaces.
void drop_workspaces(cudaStream_t stream) {
  for (at::cuda::WorkspaceMapWithMutex* kept : {&at::cuda::cublas_handle_stream_to_workspace(),
                                                &at::cuda::cublaslt_handle_stream_to_workspace()}) {
    const std::unique_lock lock(kept->mutex);
    std::erase_if(kept->map, [&](const auto& workspace) {
      return std::get<1>(workspace.first) == static_cast<void*>(stream);
    });
  }
}

}  // namespace

device::Queue* open_counted_queue(int device, int max_multiprocessors, void* stream) {
  device::Queue* const queue = open_queue(device, max_multiprocessors, stream);
  if (stream == nullptr) return queue;
  try {
    GivenStreams& given = GivenStreams::instance();
    const std::lock_guard lock(given.mutex);
    ++given.queues[stream_of(queue)];
  } catch (...) {
    close_queue(queue);
    throw;
  }
  return queue;
}

void close_counted_queue(device::Queue* queue) noexcept {
  const cudaStream_t stream = stream_of(queue);
  close_queue(queue);  // waits for its work
  GivenStreams& given = GivenStreams::instance();
  const std::lock_guard lock(given.mutex);
  const auto found = given.queues.find(stream);
  if (found == given.queues.end() || --found->second > 0) return;
  given.queues.erase(found);
  try {
    drop_workspaces(stream);
  } catch (const std::exception&) {  // the workspaces stay
  }
}

}  // namespace gnnmg::cuda
