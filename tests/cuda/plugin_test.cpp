// The real plug-in: it opens without a driver, and reports the missing driver.
#include "device/plugin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <utility>

#include "base/error.h"
#include "comm/nccl/table.h"
#include "feature/device.h"
#include "nn/kernels/device.h"
#include "sample/device.h"
#include "train/device_updates.h"

namespace gnnmg::device {
namespace {

using testing::HasSubstr;

// Returns the status and text of the error of `f`.
template <typename F>
std::pair<base::Status, std::string> failure_of(const F& f) {
  try {
    f();
  } catch (const base::Error& error) {
    return {error.status(), error.what()};
  }
  return {base::Status::kOk, ""};
}

const Table* table() {
  static const Plugin plugin = open_plugin_at(GNNMG_CUDA_PLUGIN);
  EXPECT_EQ(plugin.why, "");
  return plugin.table;
}

TEST(CudaPlugin, IsOfThisBuild) {
  ASSERT_NE(table(), nullptr);
  EXPECT_STREQ(table()->version, build_version());
}

TEST(CudaPlugin, HasEveryEntry) {
  ASSERT_NE(table(), nullptr);
  // All members between the size and the rooms' tables are pointers.
  const auto* words = reinterpret_cast<const void* const*>(table());
  for (size_t i = 1; i < offsetof(Table, rooms) / sizeof(void*); ++i)
    EXPECT_NE(words[i], nullptr) << "entry " << i;
  EXPECT_NE(table()->of<sample::DeviceSampling>(), nullptr);
  EXPECT_NE(table()->of<feature::DeviceFeatures>(), nullptr);
  EXPECT_NE(table()->of<comm::nccl::Table>(), nullptr);
  EXPECT_NE(table()->of<nn::kernels::DeviceLayers<float>>(), nullptr);
  EXPECT_NE(table()->of<nn::kernels::DeviceLayers<double>>(), nullptr);
  EXPECT_NE(table()->of<train::DeviceUpdates<float>>(), nullptr);
  EXPECT_NE(table()->of<train::DeviceUpdates<double>>(), nullptr);
}

TEST(CudaPlugin, SaysThatThereIsNoDriver) {
  ASSERT_NE(table(), nullptr);
  if (has_driver()) GTEST_SKIP() << "there is a driver";
  using Call = void (*)(const Table&);
  const Call calls[] = {
      [](const Table& t) { t.num_devices(); },
      [](const Table& t) { t.info(0); },
      [](const Table& t) { t.allocate(0, Placement::kDevice, 100); },
      [](const Table& t) { t.allocate(0, Placement::kPinned, 100); },
      [](const Table& t) { t.open_queue(0, 0, nullptr); },
      [](const Table& t) { t.open_urgent_queue(0); },
  };
  for (const Call call : calls) {
    const auto [status, text] = failure_of([&] { call(*table()); });
    EXPECT_EQ(status, base::Status::kDependency);
    EXPECT_THAT(text, HasSubstr("this machine has no NVIDIA driver; GPUs need one for CUDA 13."));
  }
  int word = 0;
  EXPECT_NE(failure_of([&] { table()->pin(&word, sizeof word); }).first, base::Status::kOk);
  table()->release(0, Placement::kDevice, nullptr);
}

}  // namespace
}  // namespace gnnmg::device
