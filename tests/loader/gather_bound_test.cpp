// The number of multiprocessors for gathers: as configured if they wait for the bus, and all if the
// rows are in the device's memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <set>

#include "device_support.h"
#include "feature/device.h"

namespace gnnmg {
namespace {

using loader::DeviceSourceConfig;
using loader::FeaturePlacement;
using loader::GraphPlacement;
using testing::ElementsAre;

struct Noted {
  std::mutex mutex;
  std::map<device::Queue*, int> bounds;  // bounds of the open queues
  std::set<int> of_gathers;              // bounds of the queues with gathers
};
Noted& noted() {
  static Noted noted;
  return noted;
}

// The lazy GPU's table, which records queues and gathers.
const device::Table& noting_table() {
  static const feature::DeviceFeatures features = [] {
    feature::DeviceFeatures entries = *lazy_gpu::table().of<feature::DeviceFeatures>();
    entries.gather = [](device::Queue* queue, feature::DeviceStore* store,
                        const feature::DeviceGather& gather) {
      {
        const std::lock_guard lock(noted().mutex);
        noted().of_gathers.insert(noted().bounds.at(queue));
      }
      lazy_gpu::table().of<feature::DeviceFeatures>()->gather(queue, store, gather);
    };
    return entries;
  }();
  static const device::Table table = [] {
    device::Table entries = lazy_gpu::table();
    entries.set<feature::DeviceFeatures>(&features);
    entries.open_queue = [](int device, int max_multiprocessors, void* stream) {
      device::Queue* const queue =
          lazy_gpu::table().open_queue(device, max_multiprocessors, stream);
      const std::lock_guard lock(noted().mutex);
      noted().bounds[queue] = max_multiprocessors;
      return queue;
    };
    return entries;
  }();
  return table;
}

// Returns the bounds of the gathers of an epoch.
std::set<int> bounds(FeaturePlacement features, int32_t gather_multiprocessors) {
  noted().of_gathers.clear();
  const test::DeviceWorld world;
  DeviceSourceConfig config = test::on_lazy_gpu(GraphPlacement::kDevice, features);
  config.table = &noting_table();
  config.gather = config.gather_pinned = true;
  config.gather_multiprocessors = gather_multiprocessors;
  const auto loader = world.on_device(test::device_loader_config(2), world.open(config));
  loader->start_epoch(0);
  EXPECT_FALSE(test::by_device(*loader).empty());
  return noted().of_gathers;
}

TEST(GatherBound, IsTheConfigsWhereRowsComeOverTheBus) {
  for (const auto features : {FeaturePlacement::kPinned, FeaturePlacement::kCached}) {
    EXPECT_THAT(bounds(features, 3), ElementsAre(3));
    EXPECT_THAT(bounds(features, 0), ElementsAre(12)) << "an eighth of the device's 100";
  }
}

TEST(GatherBound, IsNoneForRowsOfTheDevice) {
  EXPECT_THAT(bounds(FeaturePlacement::kDevice, 3), ElementsAre(0));
}

}  // namespace
}  // namespace gnnmg
