// Devices, streams, events, graphs and launches of the fake runtime.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <utility>

#include "fake_cuda/state.h"

using namespace gnnmg::fake_cuda;

struct CUstream_st {
  int device;
  bool capturing = false;
  std::vector<Work> kept{};
};
struct CUevent_st {
  int device;
  std::chrono::steady_clock::time_point recorded{};
};
struct CUgraph_st {
  int device;
  std::vector<Work> work{};
};
struct CUgraphExec_st {
  int device;
  std::vector<Work> work{};
};

namespace {

int of(cudaStream_t stream) { return stream == nullptr ? -1 : stream->device; }

template <typename T>
cudaError_t make(const char* name, T** made, unsigned flags) {
  if (const cudaError_t error = note(about(name, -1, flags))) return error;
  *made = new T{current_device};
  return cudaSuccess;
}
template <typename T>
cudaError_t destroy(const char* name, T* object) {
  if (const cudaError_t error = note(about(name, object->device))) return error;
  delete object;
  return cudaSuccess;
}

}  // namespace

int gnnmg::fake_cuda::device_of(cudaStream_t stream) { return of(stream); }

cudaError_t gnnmg::fake_cuda::submit(cudaStream_t stream, Work work) {
  if (stream == nullptr || !stream->capturing) return work();
  stream->kept.push_back(std::move(work));
  return cudaSuccess;
}

GNNMG_FAKE cudaError_t cudaGetDeviceCount(int* count) {
  *count = kDevices;
  return refusal("cudaGetDeviceCount");
}
GNNMG_FAKE cudaError_t cudaGetDevice(int* device) {
  *device = current_device;
  return refusal("cudaGetDevice");
}
GNNMG_FAKE cudaError_t cudaSetDevice(int device) {
  if (const cudaError_t error = refusal("cudaSetDevice")) return error;
  if (device < 0 || device >= kDevices) return leave(cudaErrorInvalidDevice);
  current_device = device;
  const std::lock_guard lock(state().mutex);
  state().contexts.insert(device);  // the runtime does this since CUDA 12
  return cudaSuccess;
}
GNNMG_FAKE cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  *value = attribute == cudaDevAttrMultiProcessorCount      ? kMultiprocessors
           : attribute == cudaDevAttrComputeCapabilityMajor ? 9
           : attribute == cudaDevAttrMaxGridDimX            ? INT32_MAX
                                                            : 0;
  return refusal("cudaDeviceGetAttribute");
}
GNNMG_FAKE cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 0;
  return refusal("cudaDeviceCanAccessPeer");
}
GNNMG_FAKE cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int device) {
  std::snprintf(id, static_cast<size_t>(length), "0000:%02x:00.0", device);
  return refusal("cudaDeviceGetPCIBusId");
}
GNNMG_FAKE cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  std::memset(properties, 0, sizeof *properties);
  std::snprintf(properties->name, sizeof properties->name, "Pretended GPU");
  properties->major = 9;
  properties->multiProcessorCount = kMultiprocessors;
  properties->totalGlobalMem = size_t{1} << 30;
  return refusal("cudaGetDeviceProperties");
}
GNNMG_FAKE cudaError_t cudaDriverGetVersion(int* version) {
  *version = 13000;
  return refusal("cudaDriverGetVersion");
}
GNNMG_FAKE cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = 13000;
  return refusal("cudaRuntimeGetVersion");
}
GNNMG_FAKE cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  thread_local cudaStreamCaptureMode of_thread = cudaStreamCaptureModeGlobal;
  std::swap(*mode, of_thread);
  return refusal("cudaThreadExchangeStreamCaptureMode");
}
GNNMG_FAKE cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return note(about("cudaDeviceGetStreamPriorityRange", -1));
}

GNNMG_FAKE cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return make("cudaStreamCreateWithFlags", stream, flags);
}
GNNMG_FAKE cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags,
                                                    int priority) {
  Call call = about("cudaStreamCreateWithPriority", -1, flags);
  call.priority = priority;
  if (const cudaError_t error = note(call)) return error;
  *stream = new CUstream_st{current_device};
  return cudaSuccess;
}
GNNMG_FAKE cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return destroy("cudaStreamDestroy", stream);
}
GNNMG_FAKE cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return note(about("cudaStreamSynchronize", of(stream)));
}
GNNMG_FAKE cudaError_t cudaStreamQuery(cudaStream_t stream) {
  if (const cudaError_t error = note(about("cudaStreamQuery", of(stream)))) return error;
  const std::lock_guard lock(state().mutex);
  return state().busy ? leave(cudaErrorNotReady) : cudaSuccess;
}
GNNMG_FAKE cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t, unsigned) {
  return note(about("cudaStreamWaitEvent", of(stream)));
}
GNNMG_FAKE cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  const Call call = about("cudaStreamBeginCapture", of(stream), static_cast<unsigned>(mode));
  if (const cudaError_t error = note(call)) return error;
  stream->capturing = true;
  return cudaSuccess;
}
GNNMG_FAKE cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  stream->capturing = false;
  if (const cudaError_t error = note(about("cudaStreamEndCapture", of(stream)))) return error;
  *graph = new CUgraph_st{stream->device, std::exchange(stream->kept, {})};
  return cudaSuccess;
}
GNNMG_FAKE cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  *status = stream != nullptr && stream->capturing ? cudaStreamCaptureStatusActive
                                                   : cudaStreamCaptureStatusNone;
  return note(about("cudaStreamIsCapturing", of(stream)));
}

GNNMG_FAKE cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return make("cudaEventCreateWithFlags", event, flags);
}
GNNMG_FAKE cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return destroy("cudaEventDestroy", event);
}
GNNMG_FAKE cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  event->recorded = std::chrono::steady_clock::now();
  return note(about("cudaEventRecord", event->device));
}

GNNMG_FAKE cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (const cudaError_t error = note(about("cudaEventQuery", event->device))) return error;
  const std::lock_guard lock(state().mutex);
  return state().busy ? leave(cudaErrorNotReady) : cudaSuccess;
}

GNNMG_FAKE cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  *milliseconds = 500;
  if (state().make_work != nullptr)  // simulates the time of the work
    *milliseconds = std::chrono::duration<float, std::milli>(to->recorded - from->recorded).count();
  return note(about("cudaEventElapsedTime", from->device));
}

GNNMG_FAKE cudaError_t cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t graph,
                                            unsigned long long flags) {
  const Call call = about("cudaGraphInstantiate", graph->device, static_cast<unsigned>(flags));
  if (const cudaError_t error = note(call)) return error;
  *made = new CUgraphExec_st{graph->device, graph->work};
  return cudaSuccess;
}
GNNMG_FAKE cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return destroy("cudaGraphDestroy", graph);
}
GNNMG_FAKE cudaError_t cudaGraphExecDestroy(cudaGraphExec_t work) {
  return destroy("cudaGraphExecDestroy", work);
}
GNNMG_FAKE cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t stream) {
  return note(about("cudaGraphUpload", of(stream)));
}
GNNMG_FAKE cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  if (const cudaError_t error = note(about("cudaGraphLaunch", of(stream)))) return error;
  for (const Work& work : graph->work)
    if (const cudaError_t error = work()) return error;
  return cudaSuccess;
}

GNNMG_FAKE cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind,
                                       cudaStream_t stream) {
  if (const cudaError_t error = note(about("cudaMemcpyAsync", of(stream)))) return error;
  return submit(stream, [=] {
    std::memcpy(to, from, bytes);
    note_written(to, bytes, from);
    return cudaSuccess;
  });
}
GNNMG_FAKE cudaError_t cudaMemsetAsync(void* to, int byte, size_t bytes, cudaStream_t stream) {
  if (const cudaError_t error = note(about("cudaMemsetAsync", of(stream)))) return error;
  return submit(stream, [=] {
    std::memset(to, byte, bytes);
    note_written(to, bytes);
    return cudaSuccess;
  });
}
