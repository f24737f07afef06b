// The GPU and the queue on which an object's work runs: a queue of the library, which is drained
// before a call returns, or a CUDA stream of the caller, which orders the work.
#pragma once

#include <c10/core/StreamGuard.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "capi/context.h"
#include "device/exit.h"
#include "device/wait.h"
#include "gnnmg.h"
#include "nn/torch/device.h"

namespace gnnmg::capi {

class DevicePlace {
 public:
  // `index`: an existing GPU of the context. `stream`: the caller's, which must outlive the place;
  // 0: none. Errors of the device table; kUnsupported for a GPU that is too old.
  DevicePlace(std::shared_ptr<Context> context, int index, uint64_t stream);
  ~DevicePlace();
  DevicePlace(const DevicePlace&) = delete;
  DevicePlace& operator=(const DevicePlace&) = delete;

  const nn::Device& device() const { return device_; }
  int index() const { return device_.index; }
  const std::string& name() const { return name_; }  // "GPU 0 (NVIDIA ... at ...)"
  bool follows_caller() const { return follows_caller_; }
  // Waits for the work in the queue, at most for the context's option gpu_timeout_ms or until the
  // context is canceled. Error(kTimeout), kCancelled; a GPU that does not finish after that is
  // quarantined (device/wait.h), and the text says so.
  void synchronize() const;
  // True if memory of the place can be freed now without waiting. Memory that the caller's stream
  // uses is reused in stream order.
  bool at_rest() const noexcept;
  bool quarantined() const noexcept { return device::quarantined(*device_.table, device_.index); }
  // Waits for at_rest() without a deadline.
  void wait_to_free() const noexcept {
    if (!at_rest()) device::wait_to_free(*device_.table, device_.index, device_.queue);
  }
  // Call while an exception is handled. Waits for the work in the queue and throws the cause:
  // Error(kDeviceLost) if the GPU is lost, Error(kNoMemory) if it has no memory after LibTorch
  // emptied its cache, else the exception itself.
  [[noreturn]] void rethrow() const;

 private:
  friend class DeviceScope;
  // Quarantines the GPU if it does not finish in time, and returns a text about it; empty if it
  // finishes or was quarantined before.
  std::string quarantine_if_busy() const;
  const std::shared_ptr<Context> context_;
  nn::Device device_;
  std::string name_;
  const bool follows_caller_;
  std::mutex mutex_;  // guards the queue
};

// Call after work on a GPU. LibTorch creates static objects during the first calls; registers the
// library's handlers of the program's end after them, so that the handlers run first.
void watch_first_works() noexcept;

// While it lives, LibTorch's work of the calling thread for that GPU goes into the place's queue.
// The destructor restores the previous queue. One thread at a time.
class DeviceScope {
 public:
  explicit DeviceScope(DevicePlace& place);
  ~DeviceScope();

 private:
  const std::lock_guard<std::mutex> lock_;
  const TorchScope warnings_;
  const device::TimeoutScope patience_;
  const c10::StreamGuard before_;
};

// Runs `work` at a place, and drains a queue of the library before it returns. A null place is the
// CPU. Error(kCancelled) once the program ends.
template <typename Work>
auto work_at(const std::shared_ptr<DevicePlace>& place, const Work& work) -> decltype(work()) {
  if (place == nullptr) return work();
  const device::Use use;
  use.require();
  std::optional<DeviceScope> scope;
  try {
    scope.emplace(*place);
    if constexpr (std::is_void_v<decltype(work())>) {
      work();
      if (!place->follows_caller()) place->synchronize();
    } else {
      auto result = work();
      if (!place->follows_caller()) place->synchronize();
      return result;
    }
  } catch (...) {
    place->rethrow();
  }
}

// Opens a place for the argument or field `name`, which selects the GPU. Error(kDependency) if this
// machine has none, kNotFound if none has that number, kUnsupported for a `stream` that is not one
// queue, naming `stream_name`.
std::shared_ptr<DevicePlace> open_place(const std::shared_ptr<Context>& context, int32_t index,
                                        uint64_t stream, const std::string& name,
                                        const std::string& stream_name);

// Returns LibTorch's device type of these GPUs; the CPU if there are none.
at::Device torch_device(const Devices& devices);

// "on GPU 1" or "in main memory".
std::string place_name(const DevicePlace* place);

}  // namespace gnnmg::capi
