// Where the graph and the features of a loader lie for a device: in its memory, in the host's,
// pinned, where its kernels read them over the bus, or in the host's alone, from where the loader's
// threads copy what each mini-batch needs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/device.h"
#include "base/thread_pool.h"
#include "feature/device.h"
#include "feature/pack.h"
#include "feature/store.h"
#include "loader/loader.h"
#include "sample/sampler.h"

namespace gnnmg::loader {

enum class GraphPlacement : int32_t {
  kAuto = 0,
  kDevice = 1,
  kPinned = 2,  // the device samples from it all the same
  kHost = 3,    // the loader's threads sample, the device gets copies of the samples
};

enum class FeaturePlacement : int32_t {
  kAuto = 0,
  kDevice = 1,
  kPinned = 2,
  kCached = 3,  // as kPinned, with the hottest rows in the device's memory
  kHost = 4,    // the loader's threads gather, the device gets copies of the rows
  kSplit = 5,   // as kCached, split over `devices`, which read each other's memory
};

// What makes a row hot (feature/hotness.h).
enum class CacheBy : int32_t {
  kProbability = 0,  // that of being in a mini-batch, by a formula
  kDegree = 1,
  kCounting = 2,  // in the first mini-batches of the training, which are sampled for that
};

// kAuto, of what is free on the device when the source is opened:
//   graph: kHost for a sampler that a device has not; else kDevice where the topology takes at most
//     40 % of it; else kPinned; kHost where the system refuses to pin.
//   features, of what the graph leaves: kHost for sparse rows and rows of a mapped file; else
//     kDevice where the rows, in their form, take at most 60 %; else kCached, with as many rows as
//     30 % hold, or `cache_bytes`; else kPinned where there is no room for a cache; kHost where
//     the system refuses to pin.
// What is left is for the model, the mini-batches and LibTorch; where `kept` says how much they
// take, that much stays free. What another source has put on the device already serves, whatever is
// free. A choice that is made here and cannot be is an error.
// kSplit is only ever asked for: each device then has as many rows as the one with the least room.
struct DeviceSourceConfig {
  const base::DeviceTable* table = nullptr;
  int device = 0;
  // For kSplit: `device` and the others of this process, in an order that the sources of all of
  // them give.
  std::vector<int> devices = {};
  GraphPlacement graph = GraphPlacement::kAuto;
  FeaturePlacement features = FeaturePlacement::kAuto;
  feature::Form form = feature::Form::kAsGiven;  // of rows that the device reads
  CacheBy cache_by = CacheBy::kProbability;
  int64_t cache_bytes = 0;  // of rows cached on a device; 0: as under kAuto
  // Rows of each mini-batch are gathered although a table of all would do; of int8, in a cache or
  // on the host they are always.
  bool gather = false;
  // The same where the table is pinned in memory of the host: each row then comes over the bus once
  // a mini-batch, and not once for every list that it is in.
  bool gather_pinned = false;
  base::DType row_type = base::DType::kF32;  // of gathered rows of f32, f16 and bf16: one of these
  int32_t gather_multiprocessors = 0;  // that a gather over the bus may take; 0: an eighth of all
  int64_t kept = 0;                    // bytes of the device that are to stay free
};

// What kAuto takes of `free` bytes, of which `kept` stay free.
struct Room {
  int64_t free = 0, kept = 0;
  bool for_graph(int64_t bytes) const;
  bool for_features(int64_t bytes) const;
  // Of cached rows, beside an index of all `num_rows`; `asked`: DeviceSourceConfig::cache_bytes.
  int64_t for_cache(int64_t asked, int64_t num_rows) const;
};

// What loaders of one device share. Topology and tables are there once a device, however many
// sources and loaders use them, or once a process where they are pinned, and go with the last of
// them. Any thread.
class DeviceSource {
 public:
  // `store` may be null (no features). `ids` and `training` say what is sampled, which decides
  // what a cache holds. Waits for the copies. Error(kNoMemory) that names the size, what is free
  // and the remedy; kUnsupported for a placement that sampler, features or system do not allow;
  // kInvalidArgument for a form or a type that does not suit the features; kDeviceLost. `pool` may
  // be null.
  static std::shared_ptr<DeviceSource> open(const DeviceSourceConfig& config,
                                            std::shared_ptr<const sample::Sampler> sampler,
                                            std::shared_ptr<const feature::FeatureStore> store,
                                            std::span<const int64_t> ids,
                                            const LoaderConfig& training, base::ThreadPool* pool);
  ~DeviceSource();
  DeviceSource(const DeviceSource&) = delete;
  DeviceSource& operator=(const DeviceSource&) = delete;

  // As resolved; never kAuto. Without features: kHost.
  GraphPlacement graph() const;
  FeaturePlacement features() const;
  // Both with their reasons and sizes, one line, for the log.
  // What gathers of all its loaders, and of other sources over the same rows, have read; waits for
  // the queue.
  feature::DeviceTraffic traffic(base::DeviceQueue* queue) const;
  const std::string& describe() const;

  struct Parts;
  const Parts& parts() const { return *parts_; }

 private:
  DeviceSource();
  std::unique_ptr<Parts> parts_;
};

}  // namespace gnnmg::loader
