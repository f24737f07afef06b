// How mini-batches of one loader come to a device: their samples, made there or copied, and their
// rows, named, gathered there or copied.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "loader/device_sampling.h"
#include "loader/device_slot.h"
#include "loader/device_source.h"

namespace gnnmg::loader {

// Mini-batches that a call of a device's sampler makes: as many as are made ahead, as long as
// nobody has to count the edges of all together, where they may be 2^31 and more.
int32_t batches_of_call(const LoaderConfig& config, const sample::NeighborConfig& law,
                        int64_t max_seeds);

class DeviceFeed {
 public:
  // `max_seeds`: of any mini-batch. Takes no memory of the device yet.
  DeviceFeed(std::shared_ptr<const DeviceSource> source, const LoaderConfig& config,
             int64_t max_seeds);

  // Whether samples are made on the device, by sampling() alone.
  bool samples() const { return sampling_.has_value(); }
  DeviceSampling& sampling() { return *sampling_; }
  // What batch.sample holds, to the device. Any thread.
  void copy_sample(Batch& batch);
  // The rows of batch.device->node_ids, behind one of the two. Error(kCancelled) from a store that
  // waits for others. Any thread.
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
  std::mutex mutex_;  // of the pools
  SlotPool<ArraySlot> samples_, rows_;
};

}  // namespace gnnmg::loader
