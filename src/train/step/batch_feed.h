// The mini-batches of a rank's eager steps, from its loader, and the seconds spent waiting for
// them.
#pragma once

#include <atomic>
#include <memory>

#include "loader/loader.h"
#include "train/ranks/loaders.h"
#include "train/ranks/rank_comm.h"
#include "train/step/queue_waits.h"

namespace gnnmg::train {

struct EpochSize {
  int64_t num_steps = 0, num_batches = 0;  // mini-batches of all ranks
};

// Use it on the rank's thread only, except cancel().
class BatchFeed {
 public:
  // `device`: null for the CPU. Makes the loader, which may take and pin memory.
  BatchFeed(const Job& job, RankComm& comm, const RankLoaders& loaders, const nn::Device* device);

  // Measures from here on how long the device's queue waits for mini-batches. `most`: the largest
  // number of mini-batches in a step of this rank. Call it before the first step on a device.
  void time_queue(int64_t most);
  // Makes the position's step the next one, where it is not yet.
  EpochSize seek(const Position& position);

  void begin_step();
  // The next mini-batch, made for the device's queue. Adds its seconds to `times`, and the bytes
  // copied for it to `bus_bytes`.
  loader::BatchRef next(StepSeconds& times, int64_t& bus_bytes);
  // After the step's passes: waits for the device and corrects `times`. Time spent waiting for a
  // mini-batch while the device was still computing counts as compute, not as wait.
  void end_passes(StepSeconds& times) const;

  void cancel() noexcept { loader_->cancel(); }  // any thread

 private:
  loader::BatchRef take();

  const Job& job_;
  RankComm& comm_;
  const nn::Device* const device_;
  const base::HostQueue::Count host_calls_ = std::make_shared<std::atomic<int>>(0);
  const std::unique_ptr<loader::Loader> loader_;
  std::unique_ptr<QueueWaits> waits_;  // null: not measured
  int64_t epoch_ = -1, step_ = 0;      // the loader's next step
  EpochSize size_;                     // size of the position's epoch
};

}  // namespace gnnmg::train
