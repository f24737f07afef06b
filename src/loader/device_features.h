// Features that kernels of a device read, shared by all loaders over them.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/device.h"
#include "feature/device.h"
#include "loader/split_cache.h"

namespace gnnmg::loader {

// What one table of features is known by on a device.
struct DeviceTableKey {
  const base::DeviceTable* table = nullptr;
  int device = 0;
  std::vector<int> devices;  // of a split cache, in an order that all who share it name them in
  feature::RowPlacement placement = feature::RowPlacement::kDevice;
  feature::Form form = feature::Form::kAsGiven;
  int32_t cache_by = 0;     // of a cache, whose rows are those of who opened it first
  int64_t cache_bytes = 0;  // as asked for
};

class DeviceTableOfRows {
 public:
  // The one that is there for these rows and this key, or null. Any thread.
  static std::shared_ptr<const DeviceTableOfRows> find(const DeviceTableKey& key,
                                                       const base::Tensor& rows);
  // That, or a new one, `cached` then being asked which rows a cache is to hold. A split cache is
  // made on all of its devices at once by who opens it first on any, and is there until its last
  // user on any is gone. Errors as of DeviceFeatures::open() and open_split(). Any thread.
  static std::shared_ptr<const DeviceTableOfRows> open(
      const DeviceTableKey& key, const base::Tensor& rows,
      const std::function<std::vector<int64_t>()>& cached, base::ThreadPool* pool);
  ~DeviceTableOfRows();
  DeviceTableOfRows(const DeviceTableOfRows&) = delete;
  DeviceTableOfRows& operator=(const DeviceTableOfRows&) = delete;

  // Stores are gathered from by several queues at once.
  feature::DeviceStore* store() const { return store_; }
  const feature::DeviceRows& rows() const { return rows_; }
  int64_t num_cached() const { return num_cached_; }

 private:
  DeviceTableOfRows(const DeviceTableKey& key, const base::Tensor& rows,
                    std::span<const int64_t> cached, base::ThreadPool* pool);
  // Of a split cache, what its device reads.
  DeviceTableOfRows(const DeviceTableKey& key, std::shared_ptr<const SplitCache> split);

  const base::DeviceTable& table_;
  const base::Tensor host_;                        // a share: it stays where it is
  const std::shared_ptr<const SplitCache> split_;  // whose store it is; null: its own
  int64_t num_cached_ = 0;
  feature::DeviceStore* store_ = nullptr;
  feature::DeviceRows rows_;
};

}  // namespace gnnmg::loader
