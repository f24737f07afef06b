#include "cuda/device.h"

#include <algorithm>
#include <cstring>

#include "cuda/grid/cuda_queue.cuh"
#include "cuda/grid/entries.h"
#include "cuda/grid/queue_stream.h"

namespace gnnmg::cuda {
namespace {

using base::fail;
using base::Status;
using device::Placement;

std::string version(int number) { return base::text(number / 1000, ".", number % 1000 / 10); }

}  // namespace

int num_devices() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess) return count;
  cudaGetLastError();
  if (error == cudaErrorNoDevice) return 0;
  int driver = 0, runtime = 0;
  if (error == cudaErrorInsufficientDriver && cudaDriverGetVersion(&driver) == cudaSuccess &&
      cudaRuntimeGetVersion(&runtime) == cudaSuccess) {
    if (driver == 0)
      fail(Status::kDependency, "this machine has no NVIDIA driver; GPUs need one for CUDA ",
           version(runtime), " or newer (580 or newer)");
    fail(Status::kDependency, "the NVIDIA driver is for CUDA ", version(driver),
         ", the library needs one for CUDA ", version(runtime),
         " or newer: update it to 580 or newer");
  }
  check(error, "counting the GPUs");
  return 0;
}

void check_device(int device) {
  const int count = num_devices();
  if (device >= 0 && device < count) return;
  fail(Status::kNotFound, "there is no GPU ", device, ", expected ",
       count == 0 ? std::string("none: this process sees no GPU") : base::text("0 to ", count - 1));
}

device::Info device_info(int device) {
  check_device(device);
  const OnDevice on(device);
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, device), "asking for a GPU's properties");
  device::Info info{};
  const size_t length = std::min(std::strlen(properties.name), sizeof info.name - 1);
  std::memcpy(info.name, properties.name, length);  // the rest is zeros
  check(cudaDeviceGetPCIBusId(info.bus_id, sizeof info.bus_id, device),
        "asking for a GPU's bus id");
  size_t available = 0, total = 0;
  check(cudaMemGetInfo(&available, &total), "asking for free memory");
  info.total_memory = static_cast<int64_t>(total);
  info.free_memory = static_cast<int64_t>(available);
  info.major = properties.major;
  info.minor = properties.minor;
  info.multiprocessors = properties.multiProcessorCount;
  check(cudaDriverGetVersion(&info.driver_version), "asking for the driver's version");
  check(cudaRuntimeGetVersion(&info.runtime_version), "asking for the runtime's version");
  return info;
}

void* allocate(int device, Placement placement, int64_t bytes) {
  check_device(device);
  const OnDevice on(device);
  if (placement == Placement::kPinned)
    return pinned_memory(device).allocate(bytes, "a pinned buffer");
  return make_device_memory(device, nullptr)->allocate(bytes, "a buffer");
}

void release(int device, Placement placement, void* memory) noexcept {
  if (memory == nullptr) return;
  if (placement == Placement::kPinned) return pinned_memory(device).release(memory);
  make_device_memory(device, nullptr)->release(memory);
}

void* pin(void* memory, int64_t bytes) {
  int device = 0;
  check(cudaGetDevice(&device), "asking for the thread's device");
  return pinned_memory(device).adopt(memory, bytes, "an array of the host's");
}

void unpin(void* memory) noexcept {
  pinned_memory(0).give_back(memory);  // knows the device in whose context it was pinned
}

device::Queue* open_queue(int device, int max_multiprocessors, void* stream) {
  check_device(device);
  return handle_of(*new CudaQueue(device, max_multiprocessors, static_cast<cudaStream_t>(stream)));
}

device::Queue* open_urgent_queue(int device) {
  check_device(device);
  return handle_of(*new CudaQueue(device, 0, Urgency::kFirst));
}

void close_queue(device::Queue* queue) noexcept { delete &queue_of<CudaQueue>(queue); }

void copy(device::Queue* queue, void* to, const void* from, int64_t bytes) {
  queue_of<CudaQueue>(queue).copy(to, from, bytes);
}

void synchronize(device::Queue* queue) { queue_of<CudaQueue>(queue).synchronize(); }

bool finished(device::Queue* queue) { return queue_of<CudaQueue>(queue).finished(); }

cudaStream_t stream_of(device::Queue* queue) { return queue_of<CudaQueue>(queue).stream(); }

int device_of(device::Queue* queue) { return queue_of<CudaQueue>(queue).device(); }

void wait(device::Queue* queue, device::Queue* other) {
  queue_of<CudaQueue>(queue).wait(queue_of<CudaQueue>(other));
}

}  // namespace gnnmg::cuda
