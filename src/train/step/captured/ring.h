// The mini-batches of captured steps: a ring of slots, in which mini-batch i + 2 is sampled while
// the rows of i + 1 are gathered and i is trained on.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "device/owners.h"
#include "loader/device_source.h"
#include "loader/item.h"
#include "train/step/captured/shape.h"
#include "train/step/captured/slot.h"
#include "train/step/captured/times.h"
#include "train/step/captured/wait.h"
#include "train/step/captured/work.h"

namespace gnnmg::train {

// Use it on the rank's thread. Samples and gathers have queues of their own.
class CapturedRing {
 public:
  static constexpr size_t kAhead = 3;  // slots
  // The limits of each wait within a call.
  using Waiting = std::function<comm::Wait()>;

  struct Parts {
    const Job& job;
    nn::Model& model;
    std::shared_ptr<const loader::DeviceSource> source;
    loader::LoaderConfig loading;
  };
  // Takes no memory of mini-batches yet. `wait` must outlive the object.
  CapturedRing(Parts parts, const StepWait& wait);
  CapturedRing(const CapturedRing&) = delete;
  CapturedRing& operator=(const CapturedRing&) = delete;

  // Takes the memory, and samples and gathers a mini-batch into each slot, for the passes that warm
  // up. `counts`: see CapturedParts. `times` must outlive the object.
  void warm_up(const loader::EpochPlan& plan, const at::Tensor& counts, CapturedTimes& times);
  bool warm() const { return !slots_.empty(); }
  // Waits for the queues of the ring before their memory is freed.
  void wait_to_free() const;

  // After warm_up(): the shapes, which follow from epoch plan and sampler. They are the same on
  // every rank and in every run.
  std::span<const PassShape> shapes() const { return shapes_; }
  CapturedSlot& slot(size_t at) const { return *slots_[at]; }
  // All work that can be captured.
  void add_work(std::vector<CapturedWork*>& all) const;

  std::shared_ptr<const loader::EpochPlan> make_plan(int64_t epoch) const;
  // Makes this the next step. Returns the epoch's plan.
  const loader::EpochPlan& seek(int64_t epoch, int64_t step);

  // Starts sample and gather of the next mini-batch, unless they were started ahead.
  void begin_next(const Waiting& wait);
  const loader::Item& next() const { return window_.front().item; }
  static size_t slot_of(const loader::Item& item) {
    return static_cast<size_t>(item.place) % kAhead;
  }
  int64_t num_seeds() const;  // next mini-batch
  // The smallest shape for the next mini-batch. The sample's counts are on the host already if
  // sampling is faster than training.
  size_t shape_of_next(const Waiting& wait);
  // The model's queue waits for sample and rows of the next mini-batch.
  void hold_model_queue() const;
  // The next sample reuses the buffers that the previous pass reads: it waits for that pass.
  void hold_samples() const;
  // The pass of the next mini-batch is started: begins sample and gather of the ones after it.
  void advance(const Waiting& wait);

 private:
  struct Upcoming {
    std::shared_ptr<const loader::EpochPlan> plan;
    loader::Item item;
  };
  void write(CapturedSlot& slot, const loader::EpochPlan& plan, int64_t number);
  void choose_shapes(CapturedSlot& slot, const loader::EpochPlan& plan);
  void fill();
  void sample_through(size_t count, const Waiting& wait);
  void gather_through(size_t count);

  const Parts parts_;
  const StepWait& wait_;
  const nn::Device& device_;
  const device::Table& table_;
  device::OwnedQueue sampling_, gathering_;
  std::array<device::OwnedEvent, kAhead> copied_;  // [slot]: the sample and its counts are complete
  CapturedTimes* times_ = nullptr;
  std::vector<std::unique_ptr<CapturedSlot>> slots_;
  std::vector<PassShape> shapes_;                                 // ascending
  std::vector<std::unique_ptr<CapturedWork>> samples_, gathers_;  // [slot]

  std::shared_ptr<const loader::EpochPlan> plan_;  // plan of the epoch that was sought
  std::deque<Upcoming> window_;                    // the next mini-batches, in order
  int64_t next_place_ = 0;                         // first place after the window
  int64_t sampled_ = 0, gathered_ = 0;             // lower places are sampled, or gathered
};

}  // namespace gnnmg::train
