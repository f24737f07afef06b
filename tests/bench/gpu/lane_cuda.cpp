// A real GPU: CUDA's events, and counted calls of CUDA's runtime. The functions below replace the
// runtime's for the whole process, including LibTorch and the plug-in, because the loader finds the
// program's functions first.
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>

#include "base/error.h"
#include "bench/gpu/lane.h"
#include "device/plugin.h"
#include "support/plugin.h"

namespace {

std::atomic<int64_t> waits{0}, allocations{0}, pageable{0};

template <typename F>
F* real(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) std::abort();  // links the library
  return reinterpret_cast<F*>(found);
}

// True for pageable host memory: copies of it go through the driver's own memory while the host
// waits.
bool is_pageable(const void* memory) {
  cudaPointerAttributes found{};
  if (cudaPointerGetAttributes(&found, memory) == cudaSuccess)
    return found.type == cudaMemoryTypeUnregistered;
  cudaGetLastError();  // clears the error from the thread
  return true;
}

}  // namespace

// Counts a call and passes it to the runtime.
#define GNNMG_COUNTED(counter, name, parameters, arguments)                       \
  extern "C" __attribute__((visibility("default"))) cudaError_t name parameters { \
    static auto* const next = real<cudaError_t parameters>(#name);                \
    counter.fetch_add(1, std::memory_order_relaxed);                              \
    return next arguments;                                                        \
  }
GNNMG_COUNTED(waits, cudaStreamSynchronize, (cudaStream_t stream), (stream))
GNNMG_COUNTED(waits, cudaEventSynchronize, (cudaEvent_t event), (event))
GNNMG_COUNTED(waits, cudaDeviceSynchronize, (void), ())
GNNMG_COUNTED(waits, cudaMemcpy, (void* to, const void* from, size_t bytes, cudaMemcpyKind kind),
              (to, from, bytes, kind))
GNNMG_COUNTED(allocations, cudaMalloc, (void** memory, size_t bytes), (memory, bytes))
GNNMG_COUNTED(allocations, cudaMallocAsync, (void** memory, size_t bytes, cudaStream_t stream),
              (memory, bytes, stream))
GNNMG_COUNTED(allocations, cudaHostAlloc, (void** memory, size_t bytes, unsigned flags),
              (memory, bytes, flags))
GNNMG_COUNTED(allocations, cudaMallocHost, (void** memory, size_t bytes), (memory, bytes))
GNNMG_COUNTED(allocations, cudaHostRegister, (void* memory, size_t bytes, unsigned flags),
              (memory, bytes, flags))
GNNMG_COUNTED(allocations, cudaFree, (void* memory), (memory))
GNNMG_COUNTED(allocations, cudaFreeAsync, (void* memory, cudaStream_t stream), (memory, stream))
GNNMG_COUNTED(allocations, cudaHostUnregister, (void* memory), (memory))
GNNMG_COUNTED(allocations, cudaFreeHost, (void* memory), (memory))
#undef GNNMG_COUNTED

extern "C" __attribute__((visibility("default"))) cudaError_t cudaMemcpyAsync(
    void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  static auto* const next =
      real<cudaError_t(void*, const void*, size_t, cudaMemcpyKind, cudaStream_t)>(
          "cudaMemcpyAsync");
  if (bytes > 0 && kind != cudaMemcpyDeviceToDevice && (is_pageable(to) || is_pageable(from)))
    pageable.fetch_add(1, std::memory_order_relaxed);
  return next(to, from, bytes, kind, stream);
}

namespace gnnmg::bench {
namespace {

void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess)
    base::fail(base::Status::kDeviceLost, what, ": ", cudaGetErrorString(error));
}

}  // namespace

const device::Table& gpu_table() {
  static const device::Plugin plugin = device::open_plugin_at(test::plugin_path());
  if (plugin.table == nullptr) base::fail(base::Status::kDependency, plugin.why);
  if (plugin.table->num_devices() == 0)
    base::fail(base::Status::kDependency, "this process sees no GPU");
  return *plugin.table;
}

bool is_measurement() { return true; }

struct Lane::Clock {
  cudaStream_t stream = nullptr;
  cudaEvent_t begin = nullptr, end = nullptr;
};

Lane::Lane(int max_multiprocessors) : clock_(new Clock) {
  check(cudaSetDevice(0), "GPU 0");
  check(cudaStreamCreateWithFlags(&clock_->stream, cudaStreamNonBlocking), "a stream");
  check(cudaEventCreate(&clock_->begin), "an event");
  check(cudaEventCreate(&clock_->end), "an event");
  queue_ = gpu_table().open_queue(0, max_multiprocessors, clock_->stream);
}

Lane::~Lane() {
  gpu_table().close_queue(queue_);
  cudaEventDestroy(clock_->begin);
  cudaEventDestroy(clock_->end);
  cudaStreamDestroy(clock_->stream);
  delete clock_;
}

void Lane::start() { check(cudaEventRecord(clock_->begin, clock_->stream), "the clock"); }

double Lane::stop() {
  float ms = 0;
  check(cudaEventRecord(clock_->end, clock_->stream), "the clock");
  check(cudaEventSynchronize(clock_->end), "what was timed");
  check(cudaEventElapsedTime(&ms, clock_->begin, clock_->end), "the clock");
  return 1e-3 * static_cast<double>(ms);
}

Calls calls() { return {waits.load(), allocations.load(), pageable.load()}; }

}  // namespace gnnmg::bench
