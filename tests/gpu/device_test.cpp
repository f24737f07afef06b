// The plug-in's devices, memory and queues on real GPUs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <vector>

#include "base/error.h"
#include "base/plugin.h"

namespace gnnmg::base {
namespace {

using testing::HasSubstr;

Status status_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.status();
  }
  return Status::kOk;
}

TEST(Gpu, DescribesAndUsesEachGpu) {
  if (!has_driver()) GTEST_SKIP() << "no GPU";
  const Plugin plugin = open_plugin_at(GNNMG_CUDA_PLUGIN);
  ASSERT_NE(plugin.table, nullptr) << plugin.why;
  const DeviceTable& t = *plugin.table;
  const int count = t.num_devices();
  ASSERT_GE(count, 1);
  EXPECT_EQ(status_of([&] { t.info(count); }), Status::kNotFound);
  for (int device = 0; device < count; ++device) {
    const DeviceInfo info = t.info(device);
    EXPECT_GT(std::strlen(info.name), 0u);
    EXPECT_THAT(info.bus_id, HasSubstr(":"));
    EXPECT_GE(info.major, 8);
    EXPECT_GE(info.total_memory, info.free_memory);

    DeviceQueue* queue = t.open_queue(device, 0, nullptr);
    const std::vector<int64_t> out(1000, 77);
    std::vector<int64_t> in(1000);
    void* there = t.allocate(device, Placement::kDevice, 8000);
    void* pinned = t.allocate(device, Placement::kPinned, 8000);
    t.copy(queue, there, out.data(), 8000);
    t.copy(queue, pinned, there, 8000);
    t.copy(queue, in.data(), pinned, 8000);
    t.synchronize(queue);
    EXPECT_TRUE(t.finished(queue));
    EXPECT_EQ(in, out);
    t.release(device, Placement::kPinned, pinned);
    t.release(device, Placement::kDevice, there);
    EXPECT_EQ(status_of([&] { t.allocate(device, Placement::kDevice, int64_t{1} << 50); }),
              Status::kNoMemory);
    t.close_queue(queue);
  }
}

}  // namespace
}  // namespace gnnmg::base
