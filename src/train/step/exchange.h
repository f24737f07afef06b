// The exchange of a step: gradients, batch statistics and a few numbers, in a single flat
// all-reduce or bit for bit the same on any number of ranks.
#pragma once

#include <ATen/core/Tensor.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "comm/collectives.h"
#include "nn/model.h"

namespace gnnmg::train {

// What a rank adds to a step, and after the exchange what all ranks have added.
struct StepSums {
  double loss = 0, weight = 0;  // sums over the seeds; their quotient is the step's loss
  int64_t correct = 0, labelled = 0, seeds = 0;
  bool stop = false;          // a rank was asked to stop
  bool bad = false;           // a rank's loss was not finite
  bool write_failed = false;  // a checkpoint could not be written
  void add(const StepSums& other);
};

// What a device has counted of it: f64 [2], the sum of the losses and the number of right answers,
// which are zero in a StepSums beside it. Undefined: nothing.
using DeviceCounts = at::Tensor;
// Reads them, which waits for the device.
void add_counts(const DeviceCounts& counts, StepSums& sums);

// One rank's; collective. A step is begin(), add() for each of the rank's mini-batches, reduce().
// Buffers are kept from step to step. Each rank tells in an exchange how long it was busy since the
// last one, which all leave at the same time: so each knows how much of an exchange is waiting for
// the slowest, without a clock in common.
class StepExchange {
 public:
  using Clock = std::chrono::steady_clock;
  // One flat all-reduce a step, or, for strict mode, the gradients of every mini-batch gathered and
  // added in plan order.
  static std::unique_ptr<StepExchange> create(bool strict, nn::Model& model,
                                              comm::Collectives& comm, int64_t batches_per_step);
  virtual ~StepExchange() = default;

  // A step of `batches` mini-batches on all ranks together. Zeroes the model's gradients.
  virtual void begin(int64_t batches) = 0;
  // What the rank's next mini-batch came to, whose gradients have been added to the model's. It
  // stands at `place` of the step; `statistics` of its batch norms, [width], or undefined.
  virtual void add(const StepSums& batch, const DeviceCounts& counts, int64_t place,
                   const at::Tensor& statistics, const comm::Wait& wait) = 0;
  // Makes the model's gradients and `sums`, which are this rank's with `counts`, those of all ranks
  // together.
  virtual void reduce(StepSums& sums, const DeviceCounts& counts, const comm::Wait& wait) = 0;

  // All ranks leave another collective now: they are busy from here on.
  void mark() noexcept { left_ = Clock::now(); }
  // After reduce: seconds of the step in which this rank waited for slower ones.
  double waited() const { return waited_; }

  int64_t batches_per_step() const { return batches_per_step_; }
  // After reduce: the statistics of the step's mini-batches in plan order.
  const std::vector<at::Tensor>& statistics() const { return rows_; }

 protected:
  StepExchange(nn::Model& model, comm::Collectives& comm, int64_t batches_per_step);
  // Seconds since the last exchange.
  double busy() const;
  // An exchange is over, before which this rank was busy for `own` seconds and the slowest for
  // `most`.
  void note_waiting(double own, double most);
  // The model's device has done all that it was given: other queues may read what it wrote.
  void settle() const;

  nn::Model& model_;
  comm::Collectives& comm_;
  const int64_t batches_per_step_, gradients_, width_;  // numbers of values
  std::vector<at::Tensor> rows_;
  double waited_ = 0;

 private:
  Clock::time_point left_ = Clock::now();
};

// For create(): the exchange of strict mode.
std::unique_ptr<StepExchange> make_strict_exchange(nn::Model& model, comm::Collectives& comm,
                                                   int64_t batches_per_step);

}  // namespace gnnmg::train
