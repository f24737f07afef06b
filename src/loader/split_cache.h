// The hottest rows of a table of features, split over GPUs that read each other's memory: each
// holds other rows, and gathers on any of them read all.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/device.h"
#include "feature/device.h"

namespace gnnmg::loader {

class SplitCache {
 public:
  // On all of the devices at once, each of which is let read the others' memory. `cached`: the
  // hottest first. Error(kUnsupported) that names two devices of which one cannot read the other's
  // memory; others as of DeviceFeatures::open_split(). `pool` may be null.
  SplitCache(const base::DeviceTable& table, const std::vector<int>& devices,
             const base::Tensor& rows, feature::Form form, std::span<const int64_t> cached,
             base::ThreadPool* pool);
  // No gather of any of the devices reads on.
  ~SplitCache();
  SplitCache(const SplitCache&) = delete;
  SplitCache& operator=(const SplitCache&) = delete;

  // What gathers of a device, one of them, read.
  feature::DeviceStore* store(int device) const;
  int64_t num_cached() const { return num_cached_; }  // rows, over all devices

 private:
  const base::DeviceTable& table_;
  const base::Tensor host_;  // a share: it stays where it is
  const std::vector<int> devices_;
  const int64_t num_cached_;
  std::vector<feature::DeviceStore*> stores_;  // a device each
};

}  // namespace gnnmg::loader
