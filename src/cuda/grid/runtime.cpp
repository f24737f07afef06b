#include "cuda/grid/runtime.h"

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
    // Those that leave the device's context unusable for the rest of the process.
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
    case cudaErrorDevicesUnavailable:
    case cudaErrorContained:
      return Status::kDeviceLost;
    default:
      return Status::kInternal;
  }
}

}  // namespace

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // an error that can be got over is told once
  base::fail(status_of(error), what, " failed: ", cudaGetErrorString(error), " (",
             cudaGetErrorName(error), ")");
}

OnDevice::OnDevice(int device) {
  int current = 0;
  check(cudaGetDevice(&current), "asking for the thread's device");
  if (current == device) return;
  check(cudaSetDevice(device), "choosing a device");
  before_ = current;
}

OnDevice::~OnDevice() {
  if (before_ >= 0) ignore(cudaSetDevice(before_));
}

Stream::Stream(int device, cudaStream_t given) : stream_(given), own_(given == nullptr) {
  if (!own_) return;
  const OnDevice on(device);
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
}

Stream::~Stream() {
  if (own_) ignore(cudaStreamDestroy(stream_));
}

Event::Event(int device) {
  const OnDevice on(device);
  check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "making an event");
}

Event::~Event() { ignore(cudaEventDestroy(event_)); }

}  // namespace gnnmg::cuda
