// Sampling on a device for one loader: several mini-batches in one call, those behind them while
// these are read.
#pragma once

#include <deque>
#include <memory>
#include <mutex>

#include "base/cancel.h"
#include "loader/device_graph.h"
#include "loader/device_slot.h"
#include "loader/item.h"

namespace gnnmg::loader {

// What is sampled; the same for all calls.
struct DeviceSamplingConfig {
  const base::DeviceTable* table = nullptr;
  int device = 0;
  std::shared_ptr<const DeviceTopology> topology;
  std::shared_ptr<const sample::Sampler> sampler;  // its law is drawn by
  std::shared_ptr<const void> keeps;
  int64_t max_seeds = 1;
  int32_t max_batches = 1;  // of a call
  uint64_t seed = 0;
  base::Purpose purpose = base::Purpose::kSample;
};

// A sampler of the device, and the true counts on the host.
class SampleSlot : public DeviceSlot {
 public:
  // For `max_batches` mini-batches a call, or as many as there is memory for. Error(kNoMemory) when
  // it does not suffice for one.
  explicit SampleSlot(const DeviceSamplingConfig& config);
  ~SampleSlot() override;

  int32_t max_batches() const { return max_batches_; }
  // Puts the sampling of `items` into the queue, behind begin(); does not wait where fan-outs bound
  // the hops.
  void sample(const EpochPlan& plan, std::span<const Item> items);
  // Waits for the counts.
  void wait();
  // Of mini-batch m, behind wait().
  void describe(int32_t m, DeviceArrays& out, sample::Sample& counts) const;

 private:
  void create();
  void put(const sample::DeviceBatches& batches);
  int32_t num_layers() const { return static_cast<int32_t>(law_.config->fanouts.size()); }

  const DeviceSamplingConfig config_;
  const sample::NeighborLaw law_;
  int32_t max_batches_;
  DeviceBuffer input_, counts_;  // pinned
  sample::DeviceSampler* sampler_ = nullptr;
  sample::DeviceSample sample_;
  bool bounded_ = false;
  int32_t room_for_ = 0;  // mini-batches of a call that takes no memory any more
};

// The mini-batches of an epoch, from the first item on, in calls of several.
class DeviceSampling {
 public:
  explicit DeviceSampling(const DeviceSamplingConfig& config);

  // The sample of one item into batch.device and the counts of batch.sample. `epoch` tells an epoch
  // from others, later ones having larger numbers; `first` is its first item. Any thread, one at a
  // time. Errors as of DeviceSampling::sample(), kCancelled.
  void sample(const EpochPlan& plan, uint64_t epoch, const Item& first, const Item& item,
              const base::CancelToken& cancel, Batch& batch);

 private:
  // What one call sampled, or is sampling.
  struct Call {
    // Sampled or not, it is in nobody's way any more when it goes.
    explicit Call(std::shared_ptr<SampleSlot> in) : slot(std::move(in)) {}
    ~Call() { slot->let_go({}); }
    std::shared_ptr<SampleSlot> slot;
    int64_t first = 0, count = 0, taken = 0;  // places
    bool waited = false;
  };
  void launch(const EpochPlan& plan);
  void launch_ahead(const EpochPlan& plan) noexcept;
  Call* call_of(int64_t place);

  const DeviceSamplingConfig config_;
  std::mutex mutex_;  // of all below
  uint64_t epoch_ = 0;
  Item next_;  // not sampled yet
  std::deque<std::unique_ptr<Call>> calls_;
  SlotPool<SampleSlot> pool_;
  bool no_room_ahead_ = false;
};

}  // namespace gnnmg::loader
