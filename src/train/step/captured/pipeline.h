// Steps on a device that are captured once and repeated, or started kernel by kernel with the same
// bits: sampling, gather, forward and backward pass, the exchange in the device's queue, and the
// update, over a few shapes. Three queues work in a ring: mini-batch i + 2 is sampled while the
// rows of i + 1 are gathered and i is trained on. The host starts each step over the shapes that
// its mini-batches need, waits for nothing if samples are there in time, and reads the result of a
// step while the next one runs.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/marks.h"
#include "comm/collectives.h"
#include "loader/device_source.h"
#include "loader/item.h"
#include "train/job/job.h"
#include "train/optim/optimizer.h"
#include "train/step/captured/shape.h"
#include "train/step/captured/slot.h"
#include "train/step/captured/times.h"
#include "train/step/captured/work.h"
#include "train/step/step.h"

namespace gnnmg::train {

// Use it on one rank's thread, whose LibTorch work goes into the device's queue.
class CapturedPipeline {
 public:
  static constexpr size_t kAhead = 3;  // mini-batches in the ring: sampled, gathered, trained on

  // The reason why steps of the job cannot run this way, one line, as in "batch norm takes
  // statistics over all rows"; empty if they can.
  static std::string why_not(const Job& job, const nn::Model& model,
                             const loader::DeviceSource& source, comm::Collectives& comm);

  struct Parts {
    const Job& job;
    nn::Model& model;
    Optimizer& optimizer;
    comm::Collectives& comm;
    std::shared_ptr<const loader::DeviceSource> source;
    loader::LoaderConfig loading;
    int64_t batches_per_step = 1;
    int64_t bad_steps = 0;  // steps in a row, until now
    bool leads = true;      // the host gets this rank's state, see roll_back()
  };
  // Takes no memory yet.
  explicit CapturedPipeline(Parts parts);
  ~CapturedPipeline();  // waits for the device
  CapturedPipeline(const CapturedPipeline&) = delete;
  CapturedPipeline& operator=(const CapturedPipeline&) = delete;

  // Takes the memory and runs all work once, because first calls make objects and load kernels.
  // Changes no weight. Error(kNoMemory), c10::OutOfMemoryError.
  void warm_up();
  bool warm() const { return !slots_.empty(); }
  // After warm_up(): captures all work. Returns the reason if the device refuses, one line. Then,
  // or without this call, steps are started kernel by kernel, over the same shapes and with the
  // same results. Errors as of warm_up().
  std::string capture();
  // Runs all work once more: its memory stays in LibTorch's cache, for steps that are started
  // kernel by kernel.
  void fill_cache();
  // After warm_up(): the shapes, which follow from epoch plan and sampler. They are the same on
  // every rank and in every run.
  std::span<const PassShape> shapes() const { return shapes_; }
  // The number of passes over each shape.
  std::span<const int64_t> num_passes() const { return {num_passes_.data(), shapes_.size()}; }

  // Makes this step the next one, if it is not yet. Returns the epoch's plan.
  const loader::EpochPlan& seek(int64_t epoch, int64_t step);

  // This rank's part in a step.
  struct Wanted {
    double learning_rate = 0;
    bool stop = false, write_failed = false;
  };
  // Steps that were started and not taken: at most 2.
  int64_t in_flight() const { return started_ - read_; }
  // Collective: starts the next step. `wait` gives the limits of each wait within.
  using Waiting = std::function<comm::Wait()>;
  void start(const Wanted& wanted, const Waiting& wait);
  // Reads the result of the oldest step in flight. Waits for that step alone, and reports ranks
  // that were lost meanwhile. The step stays in flight until take(). A bad one has changed nothing.
  // False, and no seconds, if the device does not tell the seconds of its parts; `times.seconds` is
  // not set.
  bool read(StepResult& result, const comm::Wait& wait);
  void take();

  // After a failure of any rank: ends the exchanges in flight, whose kernels wait for other ranks.
  // Error if the device stays busy.
  void call_off(const comm::Wait& wait);
  // On the rank that leads: model and optimizer become those of before the oldest step in flight,
  // and no step is in flight any more. Error if the device stays busy.
  void roll_back(const comm::Wait& wait);
  // The same while look() runs; steps stay in flight. Fails as read() does.
  void look_back(const std::function<void()>& look, const comm::Wait& wait);
  // After so many bad steps that training ends: steps in flight have changed nothing, and are
  // dropped. On the rank that leads, the model gets the weights that the last good step began with.
  void restore_good(const comm::Wait& wait);
  // The host has changed the weights.
  void follow_weights();

 private:
  struct Upcoming {
    std::shared_ptr<const loader::EpochPlan> plan;
    loader::Item item;
  };
  // The numbers of a step in pinned memory, copied to the device and back.
  struct Staged {
    StepNumbers wanted, found;
    UpdateNumbers updates;
  };
  Staged& staged_of(int64_t step) { return reinterpret_cast<Staged*>(staging_.data())[step % 2]; }
  std::shared_ptr<const loader::EpochPlan> make_plan(int64_t epoch) const;
  void write(CapturedSlot& slot, const loader::EpochPlan& plan, int64_t number);
  void choose_shapes(CapturedSlot& slot, const loader::EpochPlan& plan);
  void fill();
  void sample_through(size_t count, const Waiting& wait);
  void gather_through(size_t count);
  size_t shape_of(size_t at, const Waiting& wait);
  bool pass(Staged& staged, const Waiting& wait);
  void send(Staged& staged);
  void fetch(Staged& staged);
  void put_begin();
  void put_last();
  void put_end();
  void settle();
  void await(const std::function<bool()>& over, const comm::Wait& wait);
  void await(base::DeviceQueue* queue, const comm::Wait& wait);
  void await(const base::Mark& mark, const comm::Wait& wait);
  void drain(const comm::Wait& wait);
  void copy_into(const at::Tensor& to, const at::Tensor& from);
  void set_bad_steps(double count);
  bool alone() const { return parts_.comm.world_size() == 1; }
  bool by_rank() const { return parts_.job.config.loss_average == LossAverage::kRanks; }
  // A step has at most one pass, which is captured together with the work before and after it.
  bool merged() const { return parts_.batches_per_step <= parts_.comm.world_size(); }
  StepNumbers* numbers();  // address in the device's memory
  void* packed();          // within buffer_

  const Parts parts_;
  const nn::Device& device_;
  const base::DeviceTable& table_;
  QueuedUpdates& updates_;
  const int64_t max_seeds_;
  loader::OpenQueue sampling_, gathering_;
  std::array<base::Mark, kAhead> copied_;  // [slot]: the sample and its counts are complete
  std::array<base::Mark, 2> done_;         // [step % 2]: all of the step is complete
  loader::DeviceBuffer staging_;           // pinned: two Staged
  at::Tensor numbers_;                     // StepNumbers
  at::Tensor buffer_;                      // gradients, and the numbers that ranks add up
  at::Tensor good_;  // weights that the last good step began with; on the rank that leads
  // The arrays of an update, before each of two steps. The third is room of look_back(), since a
  // rank takes no memory while other ranks have kernels that wait for it.
  std::array<std::vector<at::Tensor>, 3> before_;
  std::unique_ptr<CapturedTimes> times_;
  std::vector<std::unique_ptr<CapturedSlot>> slots_;
  std::vector<PassShape> shapes_;                                 // ascending
  std::array<int64_t, kMostShapes> num_passes_{};                 // [shape]
  std::vector<std::unique_ptr<CapturedWork>> samples_, gathers_;  // [slot]
  std::vector<std::unique_ptr<CapturedWork>> passes_;             // [slot][shape, descending]
  // The work before a step's passes, after them, both together for a rank without a pass, and the
  // work after the exchange of several ranks.
  std::unique_ptr<CapturedWork> begin_, last_, empty_, end_;

  std::shared_ptr<const loader::EpochPlan> plan_;  // plan of the epoch that was sought
  std::deque<Upcoming> window_;                    // the next mini-batches, in order
  int64_t next_place_ = 0;                         // first place after the window
  int64_t sampled_ = 0, gathered_ = 0;             // lower places are sampled, or gathered
  int64_t started_ = 0, read_ = 0;                 // numbers of steps
};

}  // namespace gnnmg::train
