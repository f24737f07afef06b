#include "loader/split_cache.h"

#include <algorithm>
#include <memory>

#include "device/owners.h"

namespace gnnmg::loader {
namespace {

void let_read(const device::Table& table, const std::vector<int>& devices) {
  for (const int device : devices)
    for (const int peer : devices)
      if (device != peer && !table.enable_peer(device, peer))
        base::fail(base::Status::kUnsupported, "GPU ", device, " cannot read memory of GPU ", peer,
                   ": this machine has no way for that between the two");
}

}  // namespace

SplitCache::SplitCache(const device::Table& table, const std::vector<int>& devices,
                       const base::Tensor& rows, feature::Form form,
                       std::span<const int64_t> cached, base::ThreadPool* pool)
    : table_(table),
      host_(rows),
      devices_(devices),
      num_cached_(static_cast<int64_t>(cached.size())),
      stores_(devices.size()) {
  let_read(table, devices);
  std::vector<std::unique_ptr<device::OwnedQueue>> queues;
  std::vector<device::Queue*> handles;
  for (const int device : devices) {
    queues.push_back(std::make_unique<device::OwnedQueue>(table, device));
    handles.push_back(queues.back()->get());
  }
  feature::DeviceStoreConfig config;
  config.table = rows;
  config.placement = feature::RowPlacement::kSplit;
  config.form = form;
  config.cached = cached;
  config.pool = pool;
  table.of<feature::DeviceFeatures>()->open_split(handles, config, stores_);
}

SplitCache::~SplitCache() {
  for (feature::DeviceStore* store : stores_) table_.of<feature::DeviceFeatures>()->close(store);
}

feature::DeviceStore* SplitCache::store(int device) const {
  const auto found = std::find(devices_.begin(), devices_.end(), device);
  return stores_[static_cast<size_t>(found - devices_.begin())];
}

}  // namespace gnnmg::loader
