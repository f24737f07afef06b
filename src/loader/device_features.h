// Features that kernels of a device read, shared by all loaders of the same features.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "device/table.h"
#include "feature/device.h"
#include "loader/split_cache.h"

namespace gnnmg::loader {

// Identifies the table of a set of features on a device.
struct DeviceTableKey {
  const device::Table* table = nullptr;
  int device = 0;
  std::vector<int> devices;  // devices of a split cache, in the same order for all its users
  feature::RowPlacement placement = feature::RowPlacement::kDevice;
  feature::Form form = feature::Form::kAsGiven;
  int32_t cache_by = 0;     // rule of a cache; its rows are those of the first user
  int64_t cache_bytes = 0;  // requested size of a cache
};

class DeviceTableOfRows {
 public:
  // Returns the existing table for these rows and this key, or null. Any thread.
  static std::shared_ptr<const DeviceTableOfRows> find(const DeviceTableKey& key,
                                                       const base::Tensor& rows);
  // Returns the existing table or opens one; then `cached` returns the rows for a cache. The first
  // user of a split cache on any device opens it on all its devices at once; it stays until the
  // last user on any device is gone. Errors are those of DeviceFeatures::open() and open_split().
  // Any thread.
  static std::shared_ptr<const DeviceTableOfRows> open(
      const DeviceTableKey& key, const base::Tensor& rows,
      const std::function<std::vector<int64_t>()>& cached, base::ThreadPool* pool);
  ~DeviceTableOfRows();
  DeviceTableOfRows(const DeviceTableOfRows&) = delete;
  DeviceTableOfRows& operator=(const DeviceTableOfRows&) = delete;

  // Several queues gather from a store at once.
  feature::DeviceStore* store() const { return store_; }
  const feature::DeviceRows& rows() const { return rows_; }
  int64_t num_cached() const { return num_cached_; }

 private:
  DeviceTableOfRows(const DeviceTableKey& key, const base::Tensor& rows,
                    std::span<const int64_t> cached, base::ThreadPool* pool);
  // Makes the table of one device of a split cache.
  DeviceTableOfRows(const DeviceTableKey& key, std::shared_ptr<const SplitCache> split);

  const device::Table& table_;
  const base::Tensor host_;                        // keeps the host's rows alive
  const std::shared_ptr<const SplitCache> split_;  // owns the store, if not null
  int64_t num_cached_ = 0;
  feature::DeviceStore* store_ = nullptr;
  feature::DeviceRows rows_;
};

}  // namespace gnnmg::loader
