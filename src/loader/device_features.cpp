#include "loader/device_features.h"

#include <tuple>

#include "device/owners.h"
#include "loader/shared_by_key.h"

namespace gnnmg::loader {
namespace {

using FeaturesKey =
    std::tuple<const void*, int, feature::RowPlacement, feature::Form, int32_t, int64_t,
               const void*, int64_t, int64_t, base::DType, std::vector<int>>;

FeaturesKey key_of(const DeviceTableKey& key, const base::Tensor& rows) {
  return {key.table,    key.device,   key.placement,
          key.form,     key.cache_by, key.cache_bytes,
          rows.data(),  rows.rows(),  rows.shape().row_elements(),
          rows.dtype(), key.devices};
}

// Never destroyed, because loaders in static objects may be destroyed later.
SharedByKey<FeaturesKey, const DeviceTableOfRows>& tables() {
  static auto& shared = *new SharedByKey<FeaturesKey, const DeviceTableOfRows>;
  return shared;
}

SharedByKey<FeaturesKey, const SplitCache>& splits() {
  static auto& caches = *new SharedByKey<FeaturesKey, const SplitCache>;
  return caches;
}

}  // namespace

std::shared_ptr<const DeviceTableOfRows> DeviceTableOfRows::find(const DeviceTableKey& key,
                                                                 const base::Tensor& rows) {
  return tables().find(key_of(key, rows));
}

std::shared_ptr<const DeviceTableOfRows> DeviceTableOfRows::open(
    const DeviceTableKey& key, const base::Tensor& rows,
    const std::function<std::vector<int64_t>()>& cached, base::ThreadPool* pool) {
  if (key.placement == feature::RowPlacement::kSplit) {
    DeviceTableKey of_all = key;
    of_all.device = -1;
    const std::shared_ptr<const SplitCache> split = splits().open(key_of(of_all, rows), [&] {
      return std::make_shared<const SplitCache>(*key.table, key.devices, rows, key.form, cached(),
                                                pool);
    });
    return tables().open(key_of(key, rows), [&] {
      return std::shared_ptr<const DeviceTableOfRows>(new DeviceTableOfRows(key, split));
    });
  }
  return tables().open(key_of(key, rows), [&] {
    std::vector<int64_t> hottest;
    if (key.placement == feature::RowPlacement::kCached) hottest = cached();
    return std::shared_ptr<const DeviceTableOfRows>(
        new DeviceTableOfRows(key, rows, hottest, pool));
  });
}

DeviceTableOfRows::DeviceTableOfRows(const DeviceTableKey& key, const base::Tensor& rows,
                                     std::span<const int64_t> cached, base::ThreadPool* pool)
    : table_(*key.table), host_(rows), num_cached_(static_cast<int64_t>(cached.size())) {
  const device::OwnedQueue queue(table_, key.device);
  feature::DeviceStoreConfig config;
  config.table = rows;
  config.placement = key.placement;
  config.form = key.form;
  config.cached = cached;
  config.pool = pool;
  store_ = table_.of<feature::DeviceFeatures>()->open(queue.get(), config);
  rows_ = table_.of<feature::DeviceFeatures>()->rows(store_);
}

DeviceTableOfRows::DeviceTableOfRows(const DeviceTableKey& key,
                                     std::shared_ptr<const SplitCache> split)
    : table_(*key.table),
      split_(std::move(split)),
      num_cached_(split_->num_cached()),
      store_(split_->store(key.device)) {}

DeviceTableOfRows::~DeviceTableOfRows() {
  if (split_ == nullptr) table_.of<feature::DeviceFeatures>()->close(store_);
}

}  // namespace gnnmg::loader
