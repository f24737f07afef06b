// Growing buffers and the fate of outgrown memory.
#include "device/owners.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

namespace gnnmg::loader {
namespace {

std::map<void*, int64_t> live;  // sizes in bytes
size_t allocations = 0;

device::Table counting() {
  device::Table table{};
  table.allocate = [](int, device::Placement, int64_t bytes) {
    void* memory = std::malloc(static_cast<size_t>(bytes));
    live[memory] = bytes;
    ++allocations;
    return memory;
  };
  table.release = [](int, device::Placement, void* memory) noexcept {
    live.erase(memory);
    std::free(memory);
  };
  return table;
}

int64_t total() {
  int64_t bytes = 0;
  for (const auto& [memory, size] : live) bytes += size;
  return bytes;
}

// Pinned memory is freed with the buffer, and the kept memory is less than twice the used memory;
// device memory is freed at once.
TEST(DeviceBuffer, KeepsWhatItHasOutgrownWherePinned) {
  const device::Table table = counting();
  for (const device::Placement placement :
       {device::Placement::kPinned, device::Placement::kDevice}) {
    allocations = 0;
    {
      device::Buffer buffer(table, 0, placement);
      EXPECT_FALSE(buffer.holds(0));
      uint8_t* last = nullptr;
      for (int64_t bytes = 1000; bytes < 100'000; bytes += 100) {
        last = buffer.reserve(bytes);
        ASSERT_TRUE(live.contains(last));
        EXPECT_GE(live[last], bytes);
      }
      if (placement == device::Placement::kPinned) {
        EXPECT_EQ(live.size(), allocations);
        EXPECT_LE(allocations, 10u);
        EXPECT_LE(total(), 2 * live[last]);
      } else {
        EXPECT_EQ(live.size(), 1u);
        EXPECT_GT(allocations, 10u);
      }
      EXPECT_EQ(buffer.reserve(10), last);  // the existing memory suffices
    }
    EXPECT_TRUE(live.empty());
  }
}

}  // namespace
}  // namespace gnnmg::loader
