#include "cuda/memory.h"

#include <ATen/Context.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "cuda/grid/pinned_ranges.h"
#include "cuda/grid/runtime.h"
#include "cuda/growth.h"

namespace gnnmg::cuda {
namespace {

namespace caching = c10::cuda::CUDACachingAllocator;
using base::fail;
using base::Status;

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

class DeviceMemory : public Memory {
 public:
  DeviceMemory(int device, cudaStream_t stream) : device_(device), stream_(stream) {}

  void* allocate(int64_t bytes, std::string_view what) override {
    try {
      at::globalContext().lazyInitDevice(c10::DeviceType::CUDA);
      // LibTorch's own guard, because its allocator uses LibTorch's current device, which may
      // differ from the runtime's.
      const c10::cuda::CUDAGuard on(static_cast<c10::DeviceIndex>(device_));
      void* const memory =
          caching::raw_alloc_with_stream(static_cast<size_t>(std::max<int64_t>(bytes, 1)), stream_);
      settle(memory);
      return memory;
    } catch (const c10::OutOfMemoryError&) {
      no_memory(bytes, what);
    } catch (const c10::AcceleratorError& error) {  // LibTorch's error without a cache
      if (error.get_error_code() == cudaErrorMemoryAllocation) no_memory(bytes, what);
      refuse(bytes, what, error);
    } catch (const c10::Error& error) {
      refuse(bytes, what, error);
    }
  }
  void release(void* memory) noexcept override {
    try {
      caching::raw_delete(memory);
    } catch (...) {  // the device is lost, with its memory
    }
  }

 private:
  // Kernels of the default stream may still use memory from the cache, memory from CUDA's own
  // allocator may be available only later in that stream, and any stream may write the memory next.
  void settle(void* memory) {
    if (stream_ != nullptr) return;
    const cudaError_t error = cudaStreamSynchronize(nullptr);
    if (error != cudaSuccess) release(memory);
    check(error, "waiting for the device");
  }
  [[noreturn]] void refuse(int64_t bytes, std::string_view what, const c10::Error& error) const {
    tell_loss();
    fail(Status::kInternal, "allocating ", bytes, " bytes for ", what, " on GPU ", device_,
         " failed: ", first_line(error.what_without_backtrace()));
  }
  // LibTorch's allocator also fails on a failed device.
  void tell_loss() const {
    const OnDevice on(device_);
    const cudaError_t state = cudaStreamQuery(stream_);
    if (state == cudaErrorNotReady) return ignore(state);
    check(state, "allocating memory");
  }
  // LibTorch has freed its cache of this device by now. The caches of other devices stay: freeing
  // them would wait for kernels there, which may wait for this rank.
  [[noreturn]] void no_memory(int64_t bytes, std::string_view what) const {
    const OnDevice on(device_);
    size_t available = 0, total = 0;
    check(cudaMemGetInfo(&available, &total), "asking for free memory");
    fail(Status::kNoMemory, "GPU ", device_, " has no ", bytes, " bytes for ", what, ": ",
         available, " of ", total,
         " are free; take smaller mini-batches or fan-outs, or leave graph or "
         "features in the host's memory");
  }
  int device_;
  cudaStream_t stream_;
};

class HostPinned : public PinnedMemory, private PinningSystem {
 public:
  explicit HostPinned(int device) : device_(device) {}

  void* allocate(int64_t bytes, std::string_view what) override {
    const OnDevice on(device_);
    const Growing growing;
    void* memory = nullptr;
    refuse(cudaHostAlloc(&memory, static_cast<size_t>(std::max<int64_t>(bytes, 1)),
                         cudaHostAllocPortable | cudaHostAllocMapped),
           bytes, what);
    return memory;
  }
  void release(void* memory) noexcept override {
    give_up([&] { return cudaFreeHost(memory); });
  }

  void* adopt(void* memory, int64_t bytes, std::string_view what) override {
    const OnDevice on(device_);
    ranges().take(*this, memory, bytes, what);
    void* address = nullptr;
    const cudaError_t mapped = cudaHostGetDevicePointer(&address, memory, 0);
    if (mapped != cudaSuccess) give_back(memory);
    check(mapped, "asking for the address of pinned memory");
    return address;
  }
  void give_back(void* memory) noexcept override { ranges().give_back(memory); }

 private:
  static constexpr int64_t kStep = 65536;  // a multiple of all page sizes except huge pages

  static PinnedRanges& ranges() {
    // One for all devices, since all of them read pinned memory.
    static auto& ranges = *new PinnedRanges;
    return ranges;
  }
  bool pin(void* memory, int64_t bytes, std::string_view what) override {
    const Growing growing;
    const cudaError_t error = cudaHostRegister(memory, static_cast<size_t>(bytes),
                                               cudaHostRegisterPortable | cudaHostRegisterMapped);
    if (error == cudaErrorHostMemoryAlreadyRegistered) {
      cudaGetLastError();
      return false;
    }
    refuse(error, bytes, what);
    return true;
  }
  void unpin(void* memory) noexcept override {
    give_up([&] { return cudaHostUnregister(memory); });
  }
  template <typename F>
  void give_up(const F& call) const noexcept {
    try {
      const OnDevice on(device_);
      const Growing growing;
      ignore(call());
    } catch (const std::exception&) {  // a lost device has no context that keeps it pinned
    }
  }
  // Arrays are normally pinned as a whole, so only one address per step is checked for gaps.
  bool all_pinned(void* memory, int64_t bytes) override {
    const auto pinned = [&](int64_t at) {
      cudaPointerAttributes found{};
      check(cudaPointerGetAttributes(&found, static_cast<char*>(memory) + at),
            "asking whether memory is pinned");
      return found.type == cudaMemoryTypeHost && found.devicePointer != nullptr;
    };
    for (int64_t at = 0; at < bytes; at += kStep)
      if (!pinned(at)) return false;
    return bytes == 0 || pinned(bytes - 1);
  }
  static void refuse(cudaError_t error, int64_t bytes, std::string_view what) {
    if (error == cudaErrorMemoryAllocation || error == cudaErrorOperatingSystem) {
      cudaGetLastError();
      fail(Status::kNoMemory, "the system pins no ", bytes, " bytes for ", what, " (",
           cudaGetErrorString(error),
           "); raise the limit of locked memory (ulimit -l), or place "
           "them on the device");
    }
    // The runtime calls memory that cannot be written, as in some mappings of files, an invalid
    // value.
    if (error == cudaErrorInvalidValue || error == cudaErrorNotPermitted) {
      cudaGetLastError();
      fail(Status::kUnsupported, what, " of ", bytes, " bytes cannot be pinned (",
           cudaGetErrorString(error), "); expected memory that the process may write");
    }
    check(error, "pinning memory");
  }
  int device_;
};

}  // namespace

std::unique_ptr<Memory> make_device_memory(int device, cudaStream_t stream) {
  return std::make_unique<DeviceMemory>(device, stream);
}

PinnedMemory& pinned_memory(int device) {
  // Never destroyed: stores in static objects may be closed later.
  static auto& mutex = *new std::mutex;
  static auto& memories = *new std::map<int, HostPinned>;
  const std::lock_guard lock(mutex);
  return memories.try_emplace(device, device).first->second;
}

}  // namespace gnnmg::cuda
