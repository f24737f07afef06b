// Brings the mini-batches of one loader to a device: samples are made there or copied; rows are
// read in place, gathered there or copied.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "loader/device_sampling.h"
#include "loader/device_slot.h"
#include "loader/device_source.h"

namespace gnnmg::loader {

// The number of mini-batches in one call of a device's sampler: all that are made ahead, as long as
// their edges together are certain to be below 2^31.
int32_t batches_of_call(const LoaderConfig& config, const sample::NeighborConfig& law,
                        int64_t max_seeds);

class DeviceFeed {
 public:
  // `max_seeds`: upper bound of the seeds of a mini-batch. Allocates no device memory yet.
  DeviceFeed(std::shared_ptr<const DeviceSource> source, const LoaderConfig& config,
             int64_t max_seeds);

  // True if samples are made on the device, by sampling() only.
  bool samples() const { return sampling_.has_value(); }
  DeviceSampling& sampling() { return *sampling_; }
  // Copies batch.sample to the device. Any thread.
  void copy_sample(Batch& batch);
  // Adds the rows of batch.device->node_ids, after either of the two above. Error(kCancelled) from
  // a store that waits for other processes. Any thread.
  void add_rows(Batch& batch, const base::CancelToken& cancel);

 private:
  std::shared_ptr<ArraySlot> take(SlotPool<ArraySlot>& pool, int max_multiprocessors);
  void gather(Batch& batch);
  void copy_rows(Batch& batch, const base::CancelToken& cancel);
  void copy_dense(std::span<const int64_t> ids, const base::CancelToken& cancel, ArraySlot& slot,
                  DeviceArrays& out);
  void copy_sparse(std::span<const int64_t> ids, const base::CancelToken& cancel,
                   feature::SparseRows& rows, ArraySlot& slot, DeviceArrays& out);

  const std::shared_ptr<const DeviceSource> source_;
  std::optional<DeviceSampling> sampling_;
  std::mutex mutex_;  // guards the pools
  SlotPool<ArraySlot> samples_, rows_;
};

}  // namespace gnnmg::loader
