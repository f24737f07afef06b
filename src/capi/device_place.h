// The place of an object of the host on a GPU: a queue of the library, whose work is over when a
// call ends, or a CUDA stream of the caller, in whose order the work runs.
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
#include "nn/device.h"

namespace gnnmg::capi {

class DevicePlace {
 public:
  // On GPU `index` of the context's, which is there. `stream`: the caller's, which outlives this;
  // 0: none. Errors as those of the device table, kUnsupported for a GPU that is too old.
  DevicePlace(std::shared_ptr<Context> context, int index, uint64_t stream);
  ~DevicePlace();
  DevicePlace(const DevicePlace&) = delete;
  DevicePlace& operator=(const DevicePlace&) = delete;

  const nn::Device& device() const { return device_; }
  int index() const { return device_.index; }
  const std::string& name() const { return name_; }  // "GPU 0 (NVIDIA ... at ...)"
  bool follows_caller() const { return follows_caller_; }
  // Waits for the work in the queue, as long as the context's option gpu_timeout_ms allows, or
  // until the context is canceled. Error(kTimeout), kCancelled; if the GPU does not finish after
  // that, it is quarantined (device/wait.h), and the text says so.
  void synchronize() const;
  // True if memory of the place can be freed now, without a wait: memory that the caller's stream
  // uses is reused in the order of the stream.
  bool at_rest() const noexcept;
  bool quarantined() const noexcept { return device::quarantined(*device_.table, device_.index); }
  // Waits for at_rest(), as long as it takes.
  void wait_to_free() const noexcept {
    if (!at_rest()) device::wait_to_free(*device_.table, device_.index, device_.queue);
  }
  // Call while an exception is handled. Waits for the work in the queue and throws the cause:
  // Error(kDeviceLost) if the GPU is lost, Error(kNoMemory) if it has no memory although LibTorch
  // has emptied its cache, else the exception itself.
  [[noreturn]] void rethrow() const;

 private:
  friend class DeviceScope;
  // Quarantines the GPU if it does not finish in time; returns the text about that, which is empty
  // if it finishes or was in quarantine before.
  std::string quarantine_if_busy() const;
  const std::shared_ptr<Context> context_;
  nn::Device device_;
  std::string name_;
  const bool follows_caller_;
  std::mutex mutex_;  // of the queue
};

// Called behind work on a GPU: what LibTorch made of its own at the first few works outlives, when
// the program ends, those that follow.
void watch_first_works() noexcept;

// LibTorch's work of the calling thread for that GPU goes into the place's queue while this lives,
// and afterwards where it went before. One thread at a time.
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

// Runs `work` there. What it has put into a queue of the library's own is over when this returns.
// A null place is the CPU. Error(kCancelled) once the program ends.
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

// One for an argument or field `name` that says which GPU: Error(kDependency) where there is none,
// kNotFound where there is none of that number, kUnsupported for a `stream`, named `stream_name`,
// that is no one place of a queue.
std::shared_ptr<DevicePlace> open_place(const std::shared_ptr<Context>& context, int32_t index,
                                        uint64_t stream, const std::string& name,
                                        const std::string& stream_name);

// LibTorch's kind of these GPUs; the CPU where there are none.
at::Device torch_device(const Devices& devices);

// "on GPU 1" or "in main memory".
std::string place_name(const DevicePlace* place);

}  // namespace gnnmg::capi
