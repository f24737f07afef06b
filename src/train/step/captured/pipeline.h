// Steps on a device that are captured once and repeated, or started kernel by kernel with the same
// bits: sampling, gather, forward and backward pass, the exchange in the device's queue, and the
// update, over a few shapes. Three queues work at the same time: mini-batch i + 2 is sampled while
// the rows of i + 1 are gathered and i is trained on. The host starts each step over the shapes
// that its mini-batches need, does not wait if samples are there in time, and reads the result of a
// step while the next one runs.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "comm/collectives.h"
#include "device/owners.h"
#include "train/job/job.h"
#include "train/optim/optimizer.h"
#include "train/step/captured/history.h"
#include "train/step/captured/ring.h"
#include "train/step/captured/times.h"
#include "train/step/captured/wait.h"
#include "train/step/captured/work.h"
#include "train/step/step.h"

namespace gnnmg::train {

// Use it on one rank's thread, whose LibTorch work goes into the device's queue.
class CapturedPipeline {
 public:
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
  bool warm() const { return ring_.warm(); }
  // After warm_up(): captures all work. Returns the reason if the device refuses, one line. Then,
  // or without this call, steps are started kernel by kernel, over the same shapes and with the
  // same results. Errors as of warm_up().
  std::string capture();
  // Runs all work once more: its memory stays in LibTorch's cache, for steps that are started
  // kernel by kernel.
  void fill_cache();
  // After warm_up(): see CapturedRing, and the number of passes over each.
  std::span<const PassShape> shapes() const { return ring_.shapes(); }
  std::span<const int64_t> num_passes() const { return {num_passes_.data(), shapes().size()}; }

  // Makes this the next step. Returns the epoch's plan.
  const loader::EpochPlan& seek(int64_t epoch, int64_t step) { return ring_.seek(epoch, step); }

  // This rank's part in a step.
  struct Wanted {
    double learning_rate = 0;
    bool stop = false, write_failed = false;
  };
  // Steps that were started and not taken: at most 2.
  int64_t in_flight() const { return started_ - read_; }
  // Collective: starts the next step. `wait` gives the limits of each wait within.
  using Waiting = CapturedRing::Waiting;
  void start(const Wanted& wanted, const Waiting& wait);
  // Reads the result of the oldest step in flight. Waits for that step alone, and throws if ranks
  // were lost meanwhile. The step stays in flight until take(). A bad step has changed nothing.
  // Returns false, without seconds of the parts, if the device cannot measure times.
  // `times.seconds` is not set.
  bool read(StepResult& result, const comm::Wait& wait);
  void take();

  // After a failure of any rank: ends the exchanges in flight, whose kernels wait for other ranks.
  // Error(kTimeout) if the device stays busy.
  void call_off(const comm::Wait& wait);
  // On the rank that leads: undoes the steps in flight, in model and optimizer. Error(kTimeout) if
  // the device stays busy.
  void roll_back(const comm::Wait& wait);
  // Runs `look` with model and optimizer as before the steps in flight, which stay so. Errors are
  // those of read().
  void look_back(const std::function<void()>& look, const comm::Wait& wait);
  // After too many bad steps: drops the steps in flight, which have changed nothing. On the rank
  // that leads, the model gets the weights from before the last good step.
  void restore_good(const comm::Wait& wait);
  // The host has changed the weights.
  void follow_weights();

 private:
  // The numbers of a step in pinned memory, copied to the device and back.
  struct Staged {
    StepNumbers wanted, found;
    UpdateNumbers updates;
  };
  Staged& staged_of(int64_t step) { return reinterpret_cast<Staged*>(staging_.data())[step % 2]; }
  void reserve();
  void make_work();
  void warm_up_slot(size_t at);
  bool pass(Staged& staged, const Waiting& wait);
  void count(Staged& staged);
  void run_pass(const loader::Item& item, size_t shape);
  void send(Staged& staged);
  void fetch(Staged& staged);
  void put_begin();
  void put_last();
  void put_end();
  void settle();
  void set_bad_steps(double count);
  bool alone() const { return parts_.comm.world_size() == 1; }
  bool by_rank() const { return parts_.job.config.loss_average == LossAverage::kRanks; }
  // A step has at most one pass, which is captured together with the work before and after it.
  bool merged() const { return parts_.batches_per_step <= parts_.comm.world_size(); }
  StepNumbers* numbers();  // address in the device's memory
  void* packed();          // address within buffer_

  const Parts parts_;
  const nn::Device& device_;
  const device::Table& table_;
  QueuedUpdates& updates_;
  const StepWait wait_;
  CapturedRing ring_;
  std::array<device::OwnedEvent, 2> done_;  // [step % 2]: all of the step is complete
  device::Buffer staging_;                  // pinned: two Staged
  at::Tensor numbers_;                      // StepNumbers
  at::Tensor buffer_;                       // gradients, and the numbers that ranks add up
  std::unique_ptr<StepHistory> history_;    // null unless this rank leads
  std::unique_ptr<CapturedTimes> times_;
  std::array<int64_t, kMostShapes> num_passes_{};      // [shape]
  std::vector<std::unique_ptr<CapturedWork>> passes_;  // [slot][shape, descending]
  // The work before a step's passes, after them, both together for a rank without a pass, and the
  // work after the exchange of several ranks.
  std::unique_ptr<CapturedWork> begin_, last_, empty_, end_;
  int64_t started_ = 0, read_ = 0;  // numbers of steps
};

}  // namespace gnnmg::train
