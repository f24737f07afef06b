// The hottest rows of a table of features, split over GPUs that read each other's memory: each
// holds different rows, and gathers on each of them read the rows of all.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/table.h"
#include "feature/device.h"

namespace gnnmg::loader {

class SplitCache {
 public:
  // Opens the cache on all devices at once and enables access between them. `cached`: the hottest
  // first. Error(kUnsupported) names two devices of which one cannot read the other's memory; other
  // errors are those of DeviceFeatures::open_split(). `pool` may be null.
  SplitCache(const device::Table& table, const std::vector<int>& devices, const base::Tensor& rows,
             feature::Form form, std::span<const int64_t> cached, base::ThreadPool* pool);
  // No gather of any of the devices may still read from the cache.
  ~SplitCache();
  SplitCache(const SplitCache&) = delete;
  SplitCache& operator=(const SplitCache&) = delete;

  // The store for gathers on `device`, one of the cache's devices.
  feature::DeviceStore* store(int device) const;
  int64_t num_cached() const { return num_cached_; }  // rows over all devices

 private:
  const device::Table& table_;
  const base::Tensor host_;  // keeps the host's rows alive
  const std::vector<int> devices_;
  const int64_t num_cached_;
  std::vector<feature::DeviceStore*> stores_;  // one per device
};

}  // namespace gnnmg::loader
