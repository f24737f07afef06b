// The placement of a loader's graph and features for a device: in its memory; in pinned host
// memory, which its kernels read over the bus; or in host memory only, from which the loader's
// threads copy each mini-batch's share.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "device/table.h"
#include "feature/device.h"
#include "feature/pack.h"
#include "feature/store.h"
#include "loader/loader.h"
#include "sample/sampler.h"

namespace gnnmg::loader {

enum class GraphPlacement : int32_t {
  kAuto = 0,
  kDevice = 1,
  kPinned = 2,  // the device samples over the bus
  kHost = 3,    // the loader's threads sample; samples are copied to the device
};

enum class FeaturePlacement : int32_t {
  kAuto = 0,
  kDevice = 1,
  kPinned = 2,
  kCached = 3,  // kPinned, and the hottest rows in device memory
  kHost = 4,    // the loader's threads gather; rows are copied to the device
  kSplit = 5,   // kCached, split over `devices`, which read each other's memory
};

// The measure of hotness (feature/hotness.h).
enum class CacheBy : int32_t {
  kProbability = 0,  // probability of being in a mini-batch, by a formula
  kDegree = 1,
  kCounting = 2,  // counts in the first mini-batches of the training, which are sampled for this
};

// kAuto chooses by the free memory of the device when the source is opened:
//   graph: kHost for a sampler without a device version; else kDevice if the topology takes at most
//     40 % of it; else kPinned; kHost if the system refuses to pin.
//   features, of the memory that the graph leaves: kHost for sparse rows and rows of a mapped
//     file; else kDevice if the rows, in their form, take at most 60 %; else kCached, with as many
//     rows as fit in 30 %, or `cache_bytes`; else kPinned if there is no room for a cache; kHost if
//     the system refuses to pin.
// The remaining memory is for the model, the mini-batches and LibTorch; with `kept` their need is
// known, and that much stays free. Data that another source has already on the device is reused,
// whatever is free. An explicit placement that is not possible is an error.
// kSplit is never chosen automatically: each device then holds as many rows as the one with the
// least room.
struct DeviceSourceConfig {
  const device::Table* table = nullptr;
  int device = 0;
  // For kSplit: `device` and the others of this process, in the same order for the sources of all
  // of them.
  std::vector<int> devices = {};
  GraphPlacement graph = GraphPlacement::kAuto;
  FeaturePlacement features = FeaturePlacement::kAuto;
  feature::Form form = feature::Form::kAsGiven;  // form of the rows that the device reads
  CacheBy cache_by = CacheBy::kProbability;
  int64_t cache_bytes = 0;  // size of a device's cache of rows; 0: as under kAuto
  // Gathers the rows of each mini-batch even if the device has a table of all rows. Rows in int8,
  // in a cache or on the host are always gathered.
  bool gather = false;
  // The same for a table in pinned host memory: each row then crosses the bus once per mini-batch,
  // and not once for every list that contains it.
  bool gather_pinned = false;
  // Type of gathered rows of f32, f16 and bf16: one of these.
  base::DType row_type = base::DType::kF32;
  int32_t gather_multiprocessors = 0;  // limit for a gather over the bus; 0: one eighth of all
  int64_t kept = 0;                    // bytes of device memory that must stay free
};

// The share of `free` bytes for kAuto, of which `kept` stay free.
struct Room {
  int64_t free = 0, kept = 0;
  bool for_graph(int64_t bytes) const;
  bool for_features(int64_t bytes) const;
  // Bytes for cached rows, in addition to an index of all `num_rows`; `asked`:
  // DeviceSourceConfig::cache_bytes.
  int64_t for_cache(int64_t asked, int64_t num_rows) const;
};

// Shared state of the loaders of one device. Topology and tables exist once per device, or once per
// process if pinned, however many sources and loaders use them, and are freed with their last user.
// Any thread.
class DeviceSource {
 public:
  // Opens a source. `store` may be null (no features). `ids` and `training` describe the sampling,
  // which determines the contents of a cache. Waits for the copies. Error(kNoMemory) names the
  // size, the free memory and the remedy; kUnsupported for a placement that sampler, features or
  // system do not allow; kInvalidArgument for a form or a type that does not suit the features;
  // kDeviceLost. `pool` may be null.
  static std::shared_ptr<DeviceSource> open(const DeviceSourceConfig& config,
                                            std::shared_ptr<const sample::Sampler> sampler,
                                            std::shared_ptr<const feature::FeatureStore> store,
                                            std::span<const int64_t> ids,
                                            const LoaderConfig& training, base::ThreadPool* pool);
  ~DeviceSource();
  DeviceSource(const DeviceSource&) = delete;
  DeviceSource& operator=(const DeviceSource&) = delete;

  // The resolved placements, never kAuto. Without features: kHost.
  GraphPlacement graph() const;
  FeaturePlacement features() const;
  // Returns the counts of the gathers of all its loaders, and of other sources of the same rows.
  // Waits for the queue.
  feature::DeviceTraffic traffic(device::Queue* queue) const;
  // Describes both placements with their reasons and sizes in one line, for the log.
  const std::string& describe() const;

  struct Parts;
  const Parts& parts() const { return *parts_; }

 private:
  DeviceSource();
  std::unique_ptr<Parts> parts_;
};

}  // namespace gnnmg::loader
