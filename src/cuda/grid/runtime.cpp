#include "cuda/grid/runtime.h"

#include <c10/cuda/CUDAFunctions.h>
#include <c10/util/Exception.h>

#include <map>
#include <mutex>
#include <vector>

#include "base/error.h"

namespace gnnmg::cuda {
namespace {

using base::Status;

Status status_of(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return Status::kNoMemory;
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
      return Status::kNotFound;
    case cudaErrorInsufficientDriver:
    case cudaErrorStubLibrary:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorCompatNotSupportedOnDevice:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
      return Status::kDependency;
    case cudaErrorNotSupported:
    case cudaErrorHostMemoryAlreadyRegistered:
    case cudaErrorOperatingSystem:
      return Status::kUnsupported;
    // Errors after which the device's context is unusable for the rest of the process.
    case cudaErrorIllegalAddress:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorHardwareStackError:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorTensorMemoryLeak:
    case cudaErrorContained:
    case cudaErrorExternalDevice:
    case cudaErrorMpsClientTerminated:
    case cudaErrorUnknown:  // reported for a GPU that has fallen off the bus
      return Status::kDeviceLost;
    // Errors that pass, or that the administrator can fix.
    case cudaErrorDevicesUnavailable:
    case cudaErrorDeviceAlreadyInUse:
    case cudaErrorSystemNotReady:
    case cudaErrorMpsConnectionFailed:
    case cudaErrorMpsRpcFailure:
    case cudaErrorMpsServerNotReady:
    case cudaErrorMpsMaxClientsReached:
    case cudaErrorMpsMaxConnectionsReached:
      return Status::kUnavailable;
    default:
      return Status::kInternal;
  }
}

// Returns the remedy for an error whose name does not show it, or null.
const char* remedy_of(cudaError_t error) {
  if (error == cudaErrorDevicesUnavailable || error == cudaErrorDeviceAlreadyInUse)
    return "; another process has the GPU to itself, or it is full: end that one, or have the "
           "compute mode set to default (nvidia-smi --compute-mode=DEFAULT)";
  if (error == cudaErrorSystemNotReady)
    return "; on a machine whose GPUs are joined by NVSwitch, the service nvidia-fabricmanager has "
           "to run, of the driver's version";
  return "";
}

[[noreturn]] void fail(Status status, cudaError_t error, const char* what) {
  cudaGetLastError();  // reports a recoverable error once
  base::fail(status, what, " failed: ", cudaGetErrorString(error), " (", cudaGetErrorName(error),
             ")", remedy_of(error));
}

// Unused, empty streams.
struct FreeStreams {
  static FreeStreams& instance() {
    // Queues may be closed after static objects are destroyed.
    static FreeStreams& streams = *new FreeStreams;
    return streams;
  }
  std::mutex mutex;
  std::map<std::pair<int, Urgency>, std::vector<cudaStream_t>> of_device;
  size_t num_made = 0;
};

}  // namespace

bool is_loss(cudaError_t error) { return status_of(error) == Status::kDeviceLost; }

void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) fail(status_of(error), error, what);
}

void check_work(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  const bool gone = error == cudaErrorNoDevice || error == cudaErrorDevicesUnavailable;
  fail(gone ? Status::kDeviceLost : status_of(error), error, what);
}

OnDevice::OnDevice(int device) {
  int current = 0;
  check(cudaGetDevice(&current), "asking for the thread's device");
  if (current == device) return;
  check(cudaSetDevice(device), "choosing a device");
  before_ = current;
}

OnDevice::~OnDevice() {
  // Skips a device without a context: this would create one, of several hundred megabytes.
  if (before_ < 0) return;
  try {
    ignore(c10::cuda::MaybeSetDevice(static_cast<c10::DeviceIndex>(before_)));
  } catch (const c10::Error&) {  // the driver does not answer; the next call sets its own device
  }
}

int priority_of(Urgency urgency) {
  int least = 0, greatest = 0;  // lower numbers go first
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "asking for priorities");
  return urgency == Urgency::kFirst ? greatest : least;
}

Stream::Stream(int device, cudaStream_t given) : device_(device), stream_(given) {
  if (given == nullptr) take(Urgency::kLast);
}

Stream::Stream(int device, Urgency urgency) : device_(device) { take(urgency); }

void Stream::take(Urgency urgency) {
  FreeStreams& streams = FreeStreams::instance();
  const std::lock_guard lock(streams.mutex);
  std::vector<cudaStream_t>& free = streams.of_device[{device_, urgency}];
  own_ = true;
  urgency_ = urgency;
  if (!free.empty()) {
    stream_ = free.back();
    free.pop_back();
    return;
  }
  free.reserve(++streams.num_made);  // returning the stream then allocates nothing
  const OnDevice on(device_);
  check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, priority_of(urgency)),
        "making a stream");
}

Stream::~Stream() {
  if (!own_) return;
  FreeStreams& streams = FreeStreams::instance();
  const std::lock_guard lock(streams.mutex);
  streams.of_device[{device_, urgency_}].push_back(stream_);
}

Event::Event(int device, unsigned flags) : device_(device) {
  const OnDevice on(device);
  check(cudaEventCreateWithFlags(&event_, flags), "making an event");
}

Event::~Event() {
  try {
    const OnDevice on(device_);
    ignore(cudaEventDestroy(event_));
  } catch (const std::exception&) {  // a lost device has lost its events too
  }
}

}  // namespace gnnmg::cuda
