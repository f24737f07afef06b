// Sampling on a device for one loader: several mini-batches per call, and the next call while these
// are read.
#pragma once

#include <deque>
#include <memory>
#include <mutex>

#include "base/cancel.h"
#include "loader/device_graph.h"
#include "loader/device_slot.h"
#include "loader/item.h"

namespace gnnmg::loader {

// The parameters that are the same for all calls.
struct DeviceSamplingConfig {
  const device::Table* table = nullptr;
  int device = 0;
  std::shared_ptr<const DeviceTopology> topology;
  std::shared_ptr<const sample::Sampler> sampler;  // defines the draws
  std::shared_ptr<const void> keeps;
  int64_t max_seeds = 1;
  int32_t max_batches = 1;  // mini-batches per call
  uint64_t seed = 0;
  base::Purpose purpose = base::Purpose::kSample;
};

// A device sampler with the true counts on the host.
class SampleSlot : public DeviceSlot {
 public:
  // For `max_batches` mini-batches per call, or as many as memory allows. Error(kNoMemory) if it
  // does not suffice for one.
  explicit SampleSlot(const DeviceSamplingConfig& config);
  ~SampleSlot() override;

  int32_t max_batches() const { return max_batches_; }
  // Puts the sampling of `items` into the queue, after begin(). Does not wait if the fan-outs bound
  // the hops.
  void sample(const EpochPlan& plan, std::span<const Item> items);
  // Waits for the counts.
  void wait();
  // Describes mini-batch m, after wait().
  void describe(int32_t m, DeviceArrays& out, sample::Sample& counts) const;

 private:
  void create();
  void put(const sample::DeviceBatches& batches);
  int32_t num_layers() const { return static_cast<int32_t>(law_.config->fanouts.size()); }

  const DeviceSamplingConfig config_;
  const sample::NeighborLaw law_;
  int32_t max_batches_;
  device::Buffer input_, counts_;  // pinned buffers
  sample::DeviceSampler* sampler_ = nullptr;
  sample::DeviceSample sample_;
  bool bounded_ = false;
  int32_t room_for_ = 0;  // number of mini-batches that a call samples without allocating
};

// The mini-batches of an epoch from a first item on, in calls of several.
class DeviceSampling {
 public:
  explicit DeviceSampling(const DeviceSamplingConfig& config);

  // Writes the sample of one item to batch.device and its counts to batch.sample. `epoch`
  // identifies an epoch; later epochs have larger numbers. `first` is the epoch's first item. Any
  // thread, one at a time. Errors are those of DeviceSampling::sample(), and kCancelled.
  void sample(const EpochPlan& plan, uint64_t epoch, const Item& first, const Item& item,
              const base::CancelToken& cancel, Batch& batch);

 private:
  // The samples of one call, finished or in progress.
  struct Call {
    // Releases the slot, whether the call has finished or not.
    explicit Call(std::shared_ptr<SampleSlot> in) : slot(std::move(in)) {}
    ~Call() { slot->let_go({}); }
    std::shared_ptr<SampleSlot> slot;
    // Items by their places: first, number, and number handed out.
    int64_t first = 0, count = 0, taken = 0;
    bool waited = false;
  };
  void launch(const EpochPlan& plan);
  void launch_ahead(const EpochPlan& plan) noexcept;
  Call* call_of(int64_t place);

  const DeviceSamplingConfig config_;
  std::mutex mutex_;  // guards all members below
  uint64_t epoch_ = 0;
  Item next_;  // first item that no call has sampled
  std::deque<std::unique_ptr<Call>> calls_;
  SlotPool<SampleSlot> pool_;
  bool no_room_ahead_ = false;
};

}  // namespace gnnmg::loader
