// Memory of the real plug-in over a fake runtime: the runtime's calls, on which device, and the
// errors when they fail.
#include "fake_cuda/support.h"

namespace gnnmg::fake_cuda {
namespace {

using base::Status;
using device::Placement;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using MemoryOfHost = FakeCuda;
using MemoryOfDevices = FakeCuda;

TEST_F(MemoryOfHost, IsReadByEveryDevice) {
  void* const memory = table().allocate(1, Placement::kPinned, 100);
  EXPECT_THAT(calls("cudaHostAlloc"),
              ElementsAre(testing::AllOf(
                  Field(&Call::flags, unsigned{cudaHostAllocPortable | cudaHostAllocMapped}),
                  Field(&Call::current, 1))));
  table().release(1, Placement::kPinned, memory);
  EXPECT_EQ(num_pinned(), 0);

  std::vector<char> array(1000);
  table().pin(array.data(), 1000);
  EXPECT_THAT(calls("cudaHostRegister"),
              ElementsAre(Field(&Call::flags,
                                unsigned{cudaHostRegisterPortable | cudaHostRegisterMapped})));
  table().unpin(array.data());
  EXPECT_EQ(num_pinned(), 0);
}

TEST_F(MemoryOfHost, IsGivenBackInThreadsOfNoDevice) {
  void* const memory = table().allocate(1, Placement::kPinned, 100);
  std::vector<char> array(1000);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  table().pin(array.data(), 1000);
  reset();
  in_fresh_thread([&] { table().release(1, Placement::kPinned, memory); });
  in_fresh_thread([&] { table().unpin(array.data()); });
  EXPECT_THAT(calls("cudaFreeHost"), SizeIs(1));
  EXPECT_THAT(calls("cudaHostUnregister"), SizeIs(1));
  expect_on_their_devices();
  EXPECT_THAT(contexts(), ElementsAre(1));
  EXPECT_EQ(num_pinned(), 0);
}

TEST_F(MemoryOfHost, OfADeviceThatIsLostIsGivenUp) {
  std::vector<char> array(1000);
  table().pin(array.data(), 1000);
  fail("cudaHostUnregister", cudaErrorIllegalAddress);
  table().unpin(array.data());
  EXPECT_EQ(error_left(), cudaSuccess);
  EXPECT_EQ(cudaHostUnregister(array.data()), cudaSuccess);
  void* const memory = table().allocate(1, Placement::kPinned, 100);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  fail("cudaSetDevice", cudaErrorIllegalAddress);
  table().release(1, Placement::kPinned, memory);
  EXPECT_EQ(error_left(), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(memory), cudaSuccess);
}

TEST_F(MemoryOfHost, IsRefusedWithARemedy) {
  struct Refusal {
    cudaError_t error;
    Status status;
    const char* text;
  };
  std::vector<char> array(1000);
  for (const Refusal& refusal : {
           Refusal{cudaErrorMemoryAllocation, Status::kNoMemory, "(ulimit -l)"},
           Refusal{cudaErrorOperatingSystem, Status::kNoMemory, "(ulimit -l)"},
           Refusal{cudaErrorInvalidValue, Status::kUnsupported, "that the process may write"},
           Refusal{cudaErrorNotPermitted, Status::kUnsupported, "that the process may write"},
           Refusal{cudaErrorIllegalAddress, Status::kDeviceLost, "pinning memory failed"},
       }) {
    SCOPED_TRACE(cudaGetErrorName(refusal.error));
    fail("cudaHostRegister", refusal.error);
    const auto pinning = failure_of([&] { table().pin(array.data(), 1000); });
    EXPECT_EQ(pinning.first, refusal.status);
    EXPECT_THAT(pinning.second, HasSubstr(refusal.text));
    fail("cudaHostAlloc", refusal.error);
    const auto making = failure_of([&] { table().allocate(1, Placement::kPinned, 1000); });
    EXPECT_EQ(making.first, refusal.status);
    EXPECT_THAT(making.second, HasSubstr(refusal.text));
    EXPECT_EQ(error_left(), cudaSuccess);
  }
  EXPECT_EQ(num_pinned(), 0);
}

TEST_F(MemoryOfHost, IsUnpinnedWhereItHasNoAddress) {
  std::vector<char> array(1000);
  fail("cudaHostGetDevicePointer", cudaErrorNotSupported);
  EXPECT_EQ(failure_of([&] { table().pin(array.data(), 1000); }).first, Status::kUnsupported);
  EXPECT_EQ(num_pinned(), 0);
}

TEST_F(MemoryOfHost, ThatItsOwnerPinnedIsLeftToHim) {
  std::vector<char> array(200000);
  ASSERT_EQ(cudaHostRegister(array.data(), array.size(), 0), cudaSuccess);
  fail("cudaHostRegister", cudaErrorHostMemoryAlreadyRegistered);
  EXPECT_EQ(table().pin(array.data(), 200000), array.data());
  EXPECT_EQ(error_left(), cudaSuccess);
  table().unpin(array.data());
  EXPECT_THAT(calls("cudaHostUnregister"), IsEmpty());
  ASSERT_EQ(cudaHostUnregister(array.data()), cudaSuccess);

  ASSERT_EQ(cudaHostRegister(array.data(), 1000, 0), cudaSuccess);  // only a part
  fail("cudaHostRegister", cudaErrorHostMemoryAlreadyRegistered);
  EXPECT_EQ(failure_of([&] { table().pin(array.data(), 200000); }).first, Status::kInvalidArgument);
  ASSERT_EQ(cudaHostUnregister(array.data()), cudaSuccess);
}

// More than LibTorch's cache can hold from other tests.
constexpr int64_t kMuch = int64_t{48} << 20;

size_t place_of(const char* name) {
  const std::vector<Call> made = calls();
  size_t place = 0;
  while (place < made.size() && made[place].name != name) ++place;
  return place;
}

TEST_F(MemoryOfDevices, IsSettledBehindItsAllocation) {
  void* memory = nullptr;
  in_fresh_thread([&] { memory = table().allocate(1, Placement::kDevice, 2 * kMuch); });
  EXPECT_THAT(calls("cudaMalloc"), ElementsAre(Field(&Call::current, 1)));
  EXPECT_THAT(calls("cudaStreamSynchronize"), ElementsAre(Field(&Call::current, 1)));
  EXPECT_LT(place_of("cudaMalloc"), place_of("cudaStreamSynchronize"));
  EXPECT_THAT(contexts(), ElementsAre(1));
  table().release(1, Placement::kDevice, memory);
}

TEST_F(MemoryOfDevices, IsGivenBackWhereTheDeviceFails) {
  void* const memory = table().allocate(1, Placement::kDevice, kMuch);
  table().release(1, Placement::kDevice, memory);
  fail("cudaStreamSynchronize", cudaErrorIllegalAddress);
  EXPECT_EQ(failure_of([] { table().allocate(1, Placement::kDevice, kMuch); }).first,
            Status::kDeviceLost);
  reset();
  void* const again = table().allocate(1, Placement::kDevice, kMuch);
  EXPECT_EQ(again, memory) << "what was given back is what the cache gives next";
  EXPECT_THAT(calls("cudaMalloc"), IsEmpty());
  table().release(1, Placement::kDevice, again);
}

TEST_F(MemoryOfDevices, ThatIsNotThereIsToldWithWhatIsFree) {
  fail("cudaMalloc", cudaErrorMemoryAllocation, 1 << 30);
  const auto [status, text] =
      failure_of([] { table().allocate(1, Placement::kDevice, int64_t{400} << 20); });
  EXPECT_EQ(status, Status::kNoMemory);
  EXPECT_THAT(text,
              HasSubstr("GPU 1 has no 419430400 bytes for a buffer: 536870912 of 1073741824"));
  EXPECT_EQ(error_left(), cudaSuccess);
  for (const Call& call : calls("cudaMemGetInfo")) EXPECT_EQ(call.current, 1);
}

TEST_F(MemoryOfDevices, OfADeviceThatIsLostIsToldAsThat) {
  fail("cudaMalloc", cudaErrorIllegalAddress, 1 << 30);
  fail("cudaStreamQuery", cudaErrorIllegalAddress, 1 << 30);
  in_fresh_thread([] {
    EXPECT_EQ(failure_of([] { table().allocate(1, Placement::kDevice, int64_t{400} << 20); }).first,
              Status::kDeviceLost);
  });
  EXPECT_THAT(calls("cudaStreamQuery"), ElementsAre(Field(&Call::current, 1)));
  EXPECT_THAT(contexts(), ElementsAre(1));
}

}  // namespace
}  // namespace gnnmg::fake_cuda
