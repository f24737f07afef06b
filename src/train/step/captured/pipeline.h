// Steps on a device that are captured once and done again, or started kernel after kernel to the
// same bits: sampling, gather, forward and backward pass, the exchange in the device's queue and
// the update, over a few shapes. Three queues work in
// a ring: mini-batch i + 2 is sampled while the rows of i + 1 are gathered and i is trained on. The
// host starts steps, over the shapes that their mini-batches turned out to need, waits for nothing
// as long as samples are there in time, and looks at what a step came to when the next one is under
// way.
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
#include "train/step/exchange.h"

namespace gnnmg::train {

// Of one rank; on its thread alone, whose work for LibTorch goes into the device's queue.
class CapturedStep {
 public:
  static constexpr size_t kAhead = 3;  // mini-batches in the ring: sampled, gathered, trained on

  // Empty where steps of the job can be worked on so; else why not, one line, as in "batch norm
  // takes statistics over all rows".
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
    int64_t bad_steps = 0;  // in a row, until now
    bool leads = true;      // what the host is given is read from here: see roll_back()
  };
  // Takes nothing yet.
  explicit CapturedStep(Parts parts);
  ~CapturedStep();  // waits for the device
  CapturedStep(const CapturedStep&) = delete;
  CapturedStep& operator=(const CapturedStep&) = delete;

  // Takes the memory and does everything once for nothing, so that what is made at a first call is
  // there. Changes no weight. Error(kNoMemory), c10::OutOfMemoryError.
  void warm_up();
  bool warm() const { return !slots_.empty(); }
  // Behind it; without it steps are started kernel after kernel, over the same shapes and with the
  // same results, and so they are where the device refuses: why, one line. Errors as of warm_up().
  std::string capture();
  // Does everything once more, as warm_up() did: what it takes of LibTorch's memory stays in its
  // cache, for steps that are started kernel after kernel.
  void fill_cache();
  // What the epoch plan and the sampler make of it, behind warm_up(): the same on every rank, in
  // every run.
  std::span<const PassShape> shapes() const { return shapes_; }
  // Passes that were started over each.
  std::span<const int64_t> num_passes() const { return {num_passes_.data(), shapes_.size()}; }

  // What is started next; nothing where it is that already. Returns the epoch's plan.
  const loader::EpochPlan& seek(int64_t epoch, int64_t step);

  // What a step needs to know, and what it came to on all ranks together.
  struct Wanted {
    double learning_rate = 0;
    bool stop = false, write_failed = false;
  };
  struct Result {
    StepSums sums;  // bad: the loss or the gradient was not finite, and nothing was changed
    double learning_rate = 0;
    EpochSums times;     // the rank's seconds but `seconds`, where `timed`; and its `bus_bytes`
    bool timed = false;  // the device tells them
  };
  // Steps that are started and not looked at: 2 at most.
  int64_t in_flight() const { return started_ - read_; }
  // Collective: starts the next one. `wait` is asked anew for each time that the host has to wait
  // for a part of it.
  using Waiting = std::function<comm::Wait()>;
  void start(const Wanted& wanted, const Waiting& wait);
  // What the oldest in flight came to. Waits for that step alone, and finds what has become of the
  // other ranks meanwhile. It stays in flight until take().
  Result read(const comm::Wait& wait);
  void take();

  // Behind a failure of any rank: ends the exchanges in flight, whose kernels would go on waiting
  // for others. Error where the device does not come to its end any more.
  void call_off(const comm::Wait& wait);
  // On the rank that leads: model and optimiser become what they were before the oldest step in
  // flight, of which none is then. Nothing where none is. Error where the device does not come to
  // its end any more.
  void roll_back(const comm::Wait& wait);
  // The same for as long as look() runs; steps stay in flight. Fails as read() does.
  void look_back(const std::function<void()>& look, const comm::Wait& wait);
  // Behind as many bad steps as end training: what is in flight has changed nothing, and goes. On
  // the rank that leads, the model gets the weights that the last good step began with.
  void restore_good(const comm::Wait& wait);
  // The host has changed the weights.
  void follow_weights();

 private:
  struct Upcoming {
    std::shared_ptr<const loader::EpochPlan> plan;
    loader::Item item;
  };
  // What a step copies from memory of the host's, pinned, and to it.
  struct Desk {
    StepNumbers wanted, found;
    UpdateNumbers updates;
  };
  Desk& desk_of(int64_t step) { return reinterpret_cast<Desk*>(desks_.data())[step % 2]; }
  std::shared_ptr<const loader::EpochPlan> make_plan(int64_t epoch) const;
  void write(CapturedSlot& slot, const loader::EpochPlan& plan, int64_t number);
  void choose_shapes(CapturedSlot& slot, const loader::EpochPlan& plan);
  void fill();
  void sample_through(size_t count, const Waiting& wait);
  void gather_through(size_t count);
  size_t shape_of(size_t at, const Waiting& wait);
  bool pass(Desk& desk, const Waiting& wait);
  void send(Desk& desk);
  void fetch(Desk& desk);
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
  // A step has one pass at most, which is captured with what is in front of it and behind.
  bool merged() const { return parts_.batches_per_step <= parts_.comm.world_size(); }
  StepNumbers* numbers();  // on the device
  void* packed();          // within buffer_

  const Parts parts_;
  const nn::Device& device_;
  const base::DeviceTable& table_;
  QueuedUpdates& updates_;
  const int64_t max_seeds_;
  loader::OpenQueue sampling_, gathering_;
  // Behind what they are named for: the sample of a slot and its counts, and the whole of a step.
  std::array<base::Mark, kAhead> copied_;
  std::array<base::Mark, 2> done_;
  loader::DeviceBuffer desks_;  // pinned: two
  at::Tensor numbers_;          // StepNumbers
  at::Tensor buffer_;           // gradients, and the numbers that ranks add up
  at::Tensor good_;             // weights that the last good step began with; where it leads
  // What an update changes, as it was before two steps; the last is room of look_back(): nobody
  // takes memory while other ranks have kernels that wait for this one.
  std::array<std::vector<at::Tensor>, 3> before_;
  std::unique_ptr<CapturedTimes> times_;
  std::vector<std::unique_ptr<CapturedSlot>> slots_;
  std::vector<PassShape> shapes_;                                 // the smallest first
  std::array<int64_t, kMostShapes> num_passes_{};                 // over each
  std::vector<std::unique_ptr<CapturedWork>> samples_, gathers_;  // by slot
  std::vector<std::unique_ptr<CapturedWork>> passes_;  // by slot and shape, the largest first
  // In front of a step's passes and behind them; both, where a rank has none; and what follows the
  // exchange of several ranks.
  std::unique_ptr<CapturedWork> begin_, last_, empty_, end_;

  std::shared_ptr<const loader::EpochPlan> plan_;  // of the epoch that was sought
  std::deque<Upcoming> window_;                    // the next to be trained on, and those behind it
  int64_t next_place_ = 0;                         // behind the window's
  int64_t sampled_ = 0, gathered_ = 0;             // places below have been
  int64_t started_ = 0, read_ = 0;                 // steps
};

}  // namespace gnnmg::train
