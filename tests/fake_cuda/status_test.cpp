// The status and text of each error of the runtime.
#include "fake_cuda/support.h"

namespace gnnmg::fake_cuda {
namespace {

using base::Status;
using testing::HasSubstr;
using testing::StartsWith;

struct Case {
  cudaError_t error;
  Status status;
  const char* name;
};

#define GNNMG_ERROR(error, status) \
  Case { error, Status::status, #error }
const Case kCases[] = {
    GNNMG_ERROR(cudaErrorMemoryAllocation, kNoMemory),
    GNNMG_ERROR(cudaErrorInvalidDevice, kNotFound),
    GNNMG_ERROR(cudaErrorInsufficientDriver, kDependency),
    GNNMG_ERROR(cudaErrorStubLibrary, kDependency),
    GNNMG_ERROR(cudaErrorSystemDriverMismatch, kDependency),
    GNNMG_ERROR(cudaErrorCompatNotSupportedOnDevice, kDependency),
    GNNMG_ERROR(cudaErrorNoKernelImageForDevice, kDependency),
    GNNMG_ERROR(cudaErrorUnsupportedPtxVersion, kDependency),
    GNNMG_ERROR(cudaErrorNotSupported, kUnsupported),
    GNNMG_ERROR(cudaErrorOperatingSystem, kUnsupported),
    GNNMG_ERROR(cudaErrorHostMemoryAlreadyRegistered, kUnsupported),
    GNNMG_ERROR(cudaErrorIllegalAddress, kDeviceLost),
    GNNMG_ERROR(cudaErrorIllegalInstruction, kDeviceLost),
    GNNMG_ERROR(cudaErrorMisalignedAddress, kDeviceLost),
    GNNMG_ERROR(cudaErrorInvalidAddressSpace, kDeviceLost),
    GNNMG_ERROR(cudaErrorInvalidPc, kDeviceLost),
    GNNMG_ERROR(cudaErrorHardwareStackError, kDeviceLost),
    GNNMG_ERROR(cudaErrorLaunchFailure, kDeviceLost),
    GNNMG_ERROR(cudaErrorLaunchTimeout, kDeviceLost),
    GNNMG_ERROR(cudaErrorAssert, kDeviceLost),
    GNNMG_ERROR(cudaErrorECCUncorrectable, kDeviceLost),
    GNNMG_ERROR(cudaErrorNvlinkUncorrectable, kDeviceLost),
    GNNMG_ERROR(cudaErrorTensorMemoryLeak, kDeviceLost),
    GNNMG_ERROR(cudaErrorContained, kDeviceLost),
    GNNMG_ERROR(cudaErrorExternalDevice, kDeviceLost),
    GNNMG_ERROR(cudaErrorMpsClientTerminated, kDeviceLost),
    GNNMG_ERROR(cudaErrorUnknown, kDeviceLost),
    // For a device that existed before.
    GNNMG_ERROR(cudaErrorNoDevice, kDeviceLost),
    GNNMG_ERROR(cudaErrorDevicesUnavailable, kDeviceLost),
    GNNMG_ERROR(cudaErrorSystemNotReady, kUnavailable),
    GNNMG_ERROR(cudaErrorDeviceAlreadyInUse, kUnavailable),
    GNNMG_ERROR(cudaErrorMpsConnectionFailed, kUnavailable),
    GNNMG_ERROR(cudaErrorMpsRpcFailure, kUnavailable),
    GNNMG_ERROR(cudaErrorMpsServerNotReady, kUnavailable),
    GNNMG_ERROR(cudaErrorMpsMaxClientsReached, kUnavailable),
    GNNMG_ERROR(cudaErrorMpsMaxConnectionsReached, kUnavailable),
    GNNMG_ERROR(cudaErrorInvalidValue, kInternal),
};
#undef GNNMG_ERROR

using Statuses = FakeCuda;

TEST_F(Statuses, AreThoseOfTheErrors) {
  Queue queue(1);
  for (const Case& expected : kCases) {
    SCOPED_TRACE(expected.name);
    fail("cudaStreamSynchronize", expected.error);
    const auto [status, text] = failure_of([&] { table().synchronize(queue.handle); });
    EXPECT_EQ(base::status_name(status), std::string(base::status_name(expected.status)));
    EXPECT_THAT(text, StartsWith("waiting for the device failed: "));
    EXPECT_THAT(text, HasSubstr(base::text("(", expected.name, ")")));
    EXPECT_EQ(text.find('\n'), std::string::npos);
    EXPECT_EQ(error_left(), cudaSuccess);
    table().synchronize(queue.handle);  // the error was reported once
  }
}

TEST_F(Statuses, SayWhatToDoAboutAGpuThatIsTaken) {
  for (const cudaError_t error : {cudaErrorDevicesUnavailable, cudaErrorDeviceAlreadyInUse}) {
    fail("cudaEventCreateWithFlags", error);
    const auto [status, text] = failure_of([] { table().open_queue(1, 0, nullptr); });
    EXPECT_EQ(status, Status::kUnavailable);
    EXPECT_THAT(text, HasSubstr("another process has the GPU to itself"));
    EXPECT_THAT(text, HasSubstr("compute mode"));
  }
}

TEST_F(Statuses, SayWhichServiceIsMissing) {
  fail("cudaGetDeviceCount", cudaErrorSystemNotReady);
  const auto [status, text] = failure_of([] { table().num_devices(); });
  EXPECT_EQ(status, Status::kUnavailable);
  EXPECT_THAT(text, HasSubstr("nvidia-fabricmanager"));
}

TEST_F(Statuses, SayWhichDriverIsMissing) {
  fail("cudaGetDeviceCount", cudaErrorInsufficientDriver);
  const auto [status, text] = failure_of([] { table().num_devices(); });
  EXPECT_EQ(status, Status::kDependency);
  EXPECT_THAT(text, HasSubstr("update it to 580 or newer"));
}

}  // namespace
}  // namespace gnnmg::fake_cuda
