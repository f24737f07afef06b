// The memory calls of LibTorch's allocator and of the plug-in over a fake runtime: each is
// announced before and after.
#include <algorithm>
#include <array>
#include <utility>

#include "comm/nccl/table.h"
#include "fake_cuda/support.h"

namespace gnnmg::fake_cuda {
namespace {

using base::Status;
using device::Placement;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

struct Span {
  size_t begin, end;  // range among the runtime's calls
};
std::vector<Span> spans;
size_t begun = 0;
bool open = false;

void before() noexcept {
  EXPECT_FALSE(open);
  open = true;
  begun = calls().size();
}
void after() noexcept {
  if (std::exchange(open, false)) spans.push_back({begun, calls().size()});
}

class Growth : public FakeCuda {
 protected:
  void SetUp() override {
    table().of<comm::nccl::Table>()->watch_growth(before, after);
    forget();
  }
  void TearDown() override {
    EXPECT_FALSE(open);
    // Frees LibTorch's cache for other tests.
    fail("cudaMalloc", cudaErrorMemoryAllocation, 1 << 30);
    failure_of([] { table().allocate(1, Placement::kDevice, int64_t{1} << 40); });
    reset();
    FakeCuda::TearDown();
  }
  static void forget() {
    reset();
    spans.clear();
  }
  // Calls that allocate or free memory, each of which must be within a span.
  static std::vector<std::string> memory_calls() {
    constexpr std::array kNames{"cudaMalloc",   "cudaFree",         "cudaHostAlloc",
                                "cudaFreeHost", "cudaHostRegister", "cudaHostUnregister"};
    std::vector<std::string> found;
    const std::vector<Call> all = calls();
    for (size_t i = 0; i < all.size(); ++i) {
      if (std::ranges::find(kNames, all[i].name) == kNames.end()) continue;
      found.push_back(all[i].name);
      EXPECT_TRUE(std::ranges::any_of(spans, [&](const Span& span) {
        return span.begin <= i && i < span.end;
      })) << all[i].name;
    }
    return found;
  }
};

constexpr int64_t kLarge = int64_t{256} << 20;

TEST_F(Growth, OfADevicesMemoryIsTold) {
  void* memory = table().allocate(1, Placement::kDevice, kLarge);
  EXPECT_THAT(memory_calls(), testing::ElementsAre("cudaMalloc"));
  EXPECT_THAT(spans, SizeIs(1));
  table().release(1, Placement::kDevice, memory);
  forget();
  memory = table().allocate(1, Placement::kDevice, kLarge);  // LibTorch's cache has it now
  EXPECT_THAT(memory_calls(), IsEmpty());
  EXPECT_THAT(spans, IsEmpty());
  table().release(1, Placement::kDevice, memory);
}

// LibTorch frees its cache before it gives up.
TEST_F(Growth, ThatFailsIsOver) {
  table().release(1, Placement::kDevice, table().allocate(1, Placement::kDevice, kLarge));
  forget();
  fail("cudaMalloc", cudaErrorMemoryAllocation, 1 << 30);
  EXPECT_EQ(failure_of([] { table().allocate(1, Placement::kDevice, 2 * kLarge); }).first,
            Status::kNoMemory);
  EXPECT_FALSE(open);
  EXPECT_THAT(memory_calls(), testing::IsSupersetOf({"cudaMalloc", "cudaFree"}));
  forget();
  // LibTorch reports only memory failures; after others the next growth ends the span.
  fail("cudaMalloc", cudaErrorIllegalAddress);
  EXPECT_NE(failure_of([] { table().allocate(1, Placement::kDevice, 3 * kLarge); }).first,
            Status::kOk);
  EXPECT_TRUE(open);
  after();
  forget();
  table().release(1, Placement::kDevice, table().allocate(1, Placement::kDevice, kLarge));
  EXPECT_THAT(memory_calls(), Not(IsEmpty()));
}

TEST_F(Growth, OfPinnedMemoryIsTold) {
  table().release(1, Placement::kPinned, table().allocate(1, Placement::kPinned, 100));
  std::vector<char> array(1000);
  table().pin(array.data(), 1000);
  table().unpin(array.data());
  EXPECT_THAT(memory_calls(), SizeIs(4));
  EXPECT_THAT(spans, SizeIs(4));
}

}  // namespace
}  // namespace gnnmg::fake_cuda
