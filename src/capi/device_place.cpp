#include "capi/device_place.h"

#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/Exception.h>

#include <atomic>

#include "base/error.h"
#include "capi/guard.h"
#include "device/exit.h"
#include "nn/torch/failure.h"
#include "train/ranks/device.h"

namespace gnnmg::capi {

using base::Status;

DevicePlace::DevicePlace(std::shared_ptr<Context> context, int index, uint64_t stream)
    : context_(std::move(context)), follows_caller_(stream != 0) {
  device_.table = context_->devices.table();
  device_.index = index;
  name_ = train::usable_device(*device_.table, index);
  device_.queue =
      device_.table->open_queue(index, 0, reinterpret_cast<void*>(static_cast<uintptr_t>(stream)));
}

DevicePlace::~DevicePlace() {
  // A stream of the caller's may be gone later, so it is waited for here, for a while.
  try {
    if (at_rest() && quarantine_if_busy().empty()) {
      device_.table->close_queue(device_.queue);
      return;
    }
    device::free_in_background([device = device_, context = context_] {
      device::wait_to_free(*device.table, device.index, device.queue);
      device.table->close_queue(device.queue);
    });
  } catch (const std::exception&) {  // no memory for a thread: the queue stays
  }
}

void DevicePlace::synchronize() const {
  const device::TimeoutScope patience(context_->options().gpu_timeout_ms, context_->work_token());
  try {
    device::wait_for(*device_.table, device_.index, device_.queue);
  } catch (const base::Error& error) {
    if (error.status() == Status::kDeviceLost) throw;
    throw base::Error(error.status(), error.what() + quarantine_if_busy());
  }
}

std::string DevicePlace::quarantine_if_busy() const {
  if (quarantined()) return {};
  const auto rest = device::drain_limit(context_->options().gpu_timeout_ms);
  if (device::drain(*device_.table, device_.queue, rest)) return {};
  const std::string why = base::text("has not come to its end within ",
                                     static_cast<double>(rest.count()) / 1000, " s of ");
  device::quarantine(*device_.table, device_.index, why + "a call that failed");
  return base::text("; ", name_, " ", why,
                    "it and is used no more in this process: end the process, and go on in another "
                    "one");
}

bool DevicePlace::at_rest() const noexcept {
  return !quarantined() && (follows_caller_ || device::drain(*device_.table, device_.queue, {}));
}

void DevicePlace::rethrow() const {
  const std::string stuck = quarantine_if_busy();  // running work still reads the memory
  if (!quarantined()) try {
      device_.table->finished(device_.queue);
    } catch (const base::Error& error) {
      if (error.status() == Status::kDeviceLost)
        base::fail(Status::kDeviceLost, name_, " is lost: ", error.what());
    }
  try {
    throw;
  } catch (const c10::Error& error) {
    const nn::TorchFailure failure = nn::failure_of(error);
    // Main memory is no GPU's.
    const bool of_host = failure.text.find("DefaultCPUAllocator") != std::string::npos;
    base::fail(failure.status, of_host ? std::string() : name_ + ": ", failure.text, stuck);
  } catch (const base::Error& error) {
    if (stuck.empty()) throw;
    throw base::Error(error.status(), error.what() + stuck, error.rank(), error.system_error());
  }
}

namespace {

// The stream that LibTorch works in on the calling thread.
c10::Stream present_stream(const nn::Device& device) {
  const at::Device torch = device.torch();
  return c10::impl::VirtualGuardImpl(torch.type()).getStream(torch);
}

}  // namespace

DeviceScope::DeviceScope(DevicePlace& place)
    : lock_(place.mutex_),
      warnings_(*place.context_),
      patience_(place.context_->options().gpu_timeout_ms, place.context_->work_token()),
      before_(present_stream(place.device_)) {
  device::check_not_quarantined(*place.device_.table, place.device_.index);
  place.device_.table->use(place.device_.queue);
}

DeviceScope::~DeviceScope() { watch_first_works(); }

void watch_first_works() noexcept {
  static std::atomic<int> works{0};
  if (works.fetch_add(1) < 8) device::watch_exit();
}

namespace {
constexpr uint64_t kPerThreadStream = 2;  // cudaStreamPerThread
}

std::shared_ptr<DevicePlace> open_place(const std::shared_ptr<Context>& context, int32_t index,
                                        uint64_t stream, const std::string& name,
                                        const std::string& stream_name) {
  const Devices& devices = context->devices;
  if (devices.count() == 0)
    base::fail(Status::kDependency, name, " asks for GPU ", index, ": ", devices.why(),
               "; GNNMG_DEVICE_CPU works without");
  devices.check(index, name);
  if (stream == kPerThreadStream)
    base::fail(
        Status::kUnsupported, stream_name,
        " is 2, CUDA's per-thread stream, which is another one on each thread, and backward passes "
        "run on threads of LibTorch's; give a stream made by cudaStreamCreate(), or 0");
  use_devices();
  return std::make_shared<DevicePlace>(context, index, stream);
}

at::Device torch_device(const Devices& devices) {
  const device::Table* table = devices.table();
  return table ? at::Device(static_cast<at::DeviceType>(table->torch_device_type), 0)
               : at::Device(at::kCPU);
}

std::string place_name(const DevicePlace* place) {
  return place ? base::text("on GPU ", place->index()) : std::string("in main memory");
}

}  // namespace gnnmg::capi
