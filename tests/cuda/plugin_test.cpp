// The real plug-in: it opens without a driver, and reports the missing driver.
#include "device/plugin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "base/error.h"

namespace gnnmg::base {
namespace {

using testing::HasSubstr;

// Returns the status and text of the error of `f`.
template <typename F>
std::pair<Status, std::string> failure_of(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return {error.status(), error.what()};
  }
  return {Status::kOk, ""};
}

const device::Table* table() {
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
  // All members after the size are pointers.
  const auto* words = reinterpret_cast<const void* const*>(table());
  for (size_t i = 1; i < sizeof(device::Table) / sizeof(void*); ++i)
    EXPECT_NE(words[i], nullptr) << "entry " << i;
}

TEST(CudaPlugin, SaysThatThereIsNoDriver) {
  ASSERT_NE(table(), nullptr);
  if (has_driver()) GTEST_SKIP() << "there is a driver";
  using Call = void (*)(const device::Table&);
  const Call calls[] = {
      [](const device::Table& t) { t.num_devices(); },
      [](const device::Table& t) { t.info(0); },
      [](const device::Table& t) { t.allocate(0, Placement::kDevice, 100); },
      [](const device::Table& t) { t.allocate(0, Placement::kPinned, 100); },
      [](const device::Table& t) { t.open_queue(0, 0, nullptr); },
      [](const device::Table& t) { t.open_urgent_queue(0); },
  };
  for (const Call call : calls) {
    const auto [status, text] = failure_of([&] { call(*table()); });
    EXPECT_EQ(status, Status::kDependency);
    EXPECT_THAT(text, HasSubstr("this machine has no NVIDIA driver; GPUs need one for CUDA 13."));
  }
  int word = 0;
  EXPECT_NE(failure_of([&] { table()->pin(&word, sizeof word); }).first, Status::kOk);
  table()->release(0, Placement::kDevice, nullptr);
}

}  // namespace
}  // namespace gnnmg::base
