// Captured work of the real plug-in over a fake runtime: the state after each refusal of a CUDA
// graph.
#include <c10/cuda/CUDACachingAllocator.h>

#include <stdexcept>

#include "fake_cuda/support.h"

namespace gnnmg::fake_cuda {
namespace {

using base::Status;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class Captures : public FakeCuda {
 protected:
  void SetUp() override {
    queue_ = table().open_queue(1, 0, nullptr);
    FakeCuda::SetUp();
    table().use(queue_);
  }
  void TearDown() override {
    table().close_queue(queue_);
    FakeCuda::TearDown();
  }
  device::Graph* keep(void (*work)(void*) = [](void*) {}) {
    return table().capture(queue_, work, nullptr);
  }
  // Checks that no graphs are left and that capturing works: LibTorch gives no memory to a closed
  // pool, and does not let a pool be opened twice.
  void expect_clean() {
    EXPECT_EQ(calls("cudaGraphDestroy").size() + refused_ends_,
              calls("cudaStreamEndCapture").size());
    device::Graph* const kept = keep();
    table().replay(queue_, kept);
    table().free_graph(kept);
    EXPECT_EQ(error_left(), cudaSuccess);
    expect_on_their_devices();
    EXPECT_THAT(contexts(), ElementsAre(1));
  }
  device::Queue* queue_ = nullptr;
  size_t refused_ends_ = 0;
};

TEST_F(Captures, AreDoneAgainOnTheirDevice) {
  device::Graph* const kept = keep();
  EXPECT_THAT(calls("cudaStreamBeginCapture"),
              ElementsAre(Field(&Call::flags, unsigned{cudaStreamCaptureModeRelaxed})));
  EXPECT_THAT(calls("cudaGraphInstantiate"),
              ElementsAre(Field(&Call::flags, unsigned{cudaGraphInstantiateFlagAutoFreeOnLaunch})));
  EXPECT_THAT(calls("cudaGraphUpload"), SizeIs(1));
  in_fresh_thread([&] {
    table().replay(queue_, kept);
    table().replay(queue_, kept);
    table().free_graph(kept);
  });
  EXPECT_THAT(calls("cudaGraphLaunch"), SizeIs(2));
  EXPECT_THAT(calls("cudaGraphExecDestroy"), SizeIs(1));
  expect_clean();
}

// With existing captured work, whose pool the refused capture shares.
TEST_F(Captures, ThatAreRefusedLeaveThePoolClosed) {
  device::Graph* const before = keep();
  fail("cudaStreamBeginCapture", cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(failure_of([&] { keep(); }).first, Status::kInternal);
  EXPECT_THAT(calls("cudaStreamEndCapture"), SizeIs(1));
  expect_clean();
  fail("cudaStreamBeginCapture", cudaErrorIllegalAddress);
  EXPECT_EQ(failure_of([&] { keep(); }).first, Status::kDeviceLost);
  expect_clean();
  table().free_graph(before);
  expect_clean();
}

TEST_F(Captures, ThatCannotBeKeptAreTold) {
  device::Graph* const before = keep();
  fail("cudaStreamEndCapture", cudaErrorStreamCaptureInvalidated);
  const auto ended = failure_of([&] { keep(); });
  ++refused_ends_;
  EXPECT_EQ(ended.first, Status::kUnsupported);
  EXPECT_THAT(ended.second, HasSubstr("this work cannot be kept as a CUDA graph: "));
  expect_clean();

  fail("cudaGraphInstantiate", cudaErrorNotSupported);
  const auto made = failure_of([&] { keep(); });
  EXPECT_EQ(made.first, Status::kUnsupported);
  EXPECT_THAT(made.second, HasSubstr("this work cannot be kept as a CUDA graph: "));
  expect_clean();
  table().free_graph(before);
}

TEST_F(Captures, WithoutMemoryOrADeviceAreNoMatterOfTheWork) {
  device::Graph* const before = keep();
  fail("cudaGraphInstantiate", cudaErrorMemoryAllocation);
  EXPECT_EQ(failure_of([&] { keep(); }).first, Status::kNoMemory);
  expect_clean();
  fail("cudaStreamEndCapture", cudaErrorIllegalAddress);
  ++refused_ends_;
  EXPECT_EQ(failure_of([&] { keep(); }).first, Status::kDeviceLost);
  expect_clean();
  table().free_graph(before);
}

TEST_F(Captures, WantLibTorchsCache) {
  auto& cache = static_cast<c10::cuda::CUDACachingAllocator::CUDAAllocator&>(
      *c10::GetAllocator(c10::DeviceType::CUDA));
  cache.enable(false);
  const auto found = failure_of([&] { keep(); });
  cache.enable(true);
  EXPECT_EQ(found.first, Status::kUnsupported);
  EXPECT_THAT(found.second, HasSubstr("PYTORCH_NO_CUDA_MEMORY_CACHING"));
  EXPECT_THAT(calls("cudaStreamBeginCapture"), IsEmpty());
  expect_clean();
}

TEST_F(Captures, ThatAreNotSentAreGivenBack) {
  device::Graph* const before = keep();
  fail("cudaGraphUpload", cudaErrorMemoryAllocation);
  EXPECT_EQ(failure_of([&] { keep(); }).first, Status::kNoMemory);
  EXPECT_THAT(calls("cudaGraphExecDestroy"), SizeIs(1));
  expect_clean();
  table().free_graph(before);
}

TEST_F(Captures, OfWorkThatThrowsEnd) {
  device::Graph* const before = keep();
  EXPECT_THROW(keep([](void*) { throw std::runtime_error("the work's own"); }), std::runtime_error);
  expect_clean();
  // Also if the runtime ends it with an error of its own.
  fail("cudaStreamEndCapture", cudaErrorStreamCaptureInvalidated);
  ++refused_ends_;
  EXPECT_THROW(keep([](void*) { throw std::runtime_error("the work's own"); }), std::runtime_error);
  expect_clean();
  table().free_graph(before);
}

TEST_F(Captures, OfADeviceThatIsLostAreGivenBack) {
  device::Graph* const kept = keep();
  fail("cudaGraphLaunch", cudaErrorIllegalAddress);
  EXPECT_EQ(failure_of([&] { table().replay(queue_, kept); }).first, Status::kDeviceLost);
  fail("cudaGraphExecDestroy", cudaErrorIllegalAddress);
  table().free_graph(kept);
  EXPECT_EQ(error_left(), cudaSuccess);
}

}  // namespace
}  // namespace gnnmg::fake_cuda
