// The exchange of a step: gradients, batch statistics and a few numbers, in a single flat
// all-reduce or bit for bit the same on any number of ranks.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "nn/model/model.h"
#include "train/ranks/rank_comm.h"
#include "train/report.h"

namespace gnnmg::train {

// One rank's part of a step, and after the exchange that of all ranks.
struct StepSums : LossSums {
  bool stop = false;          // a rank was asked to stop
  bool bad = false;           // a rank's loss was not finite
  bool write_failed = false;  // a checkpoint could not be written
  void add(const StepSums& other);
};

// Counts in a device's memory: f64 [2], the sum of the losses and the number of right answers. The
// StepSums of the same mini-batches have zeros there. Undefined: no counts.
using DeviceCounts = at::Tensor;
// Reads the counts, which waits for the device.
void add_counts(const DeviceCounts& counts, StepSums& sums);

// One rank's end of the exchanges; collective. A step is begin(), add() for each mini-batch of the
// rank, reduce(). Buffers are kept from step to step. In an exchange each rank tells how long it
// was busy since the last one, which all leave at the same time. So each rank knows how much of an
// exchange is waiting for the slowest, without a common clock.
class StepExchange {
 public:
  // One flat all-reduce a step, or, for strict mode, the gradients of every mini-batch gathered and
  // added in plan order.
  static std::unique_ptr<StepExchange> create(bool strict, nn::Model& model, RankComm& comm,
                                              int64_t batches_per_step);
  virtual ~StepExchange() = default;

  // A step of `batches` mini-batches on all ranks together. Zeroes the model's gradients.
  virtual void begin(int64_t batches) = 0;
  // Adds the rank's next mini-batch, number `place` of the step. Its gradients are in the model's;
  // `statistics`: of its batch norms, [width], or undefined.
  virtual void add(const StepSums& batch, const DeviceCounts& counts, int64_t place,
                   const at::Tensor& statistics) = 0;
  // Replaces the model's gradients, and this rank's `sums` and `counts`, by those of all ranks
  // together.
  virtual void reduce(StepSums& sums, const DeviceCounts& counts) = 0;

  // After reduce: seconds of the step in which this rank waited for slower ones.
  double waited() const { return waited_; }

  int64_t batches_per_step() const { return batches_per_step_; }
  // After reduce: the statistics of the step's mini-batches in plan order.
  const std::vector<at::Tensor>& statistics() const { return rows_; }

 protected:
  StepExchange(nn::Model& model, RankComm& comm, int64_t batches_per_step);
  // An exchange is over. Before it this rank was busy for `own` seconds, and the slowest for
  // `most`.
  void note_waiting(double own, double most);
  // Waits for the model's device, so that other queues may read its results.
  void settle() const;

  nn::Model& model_;
  RankComm& comm_;
  const int64_t batches_per_step_, gradients_, width_;  // numbers of values
  std::vector<at::Tensor> rows_;
  double waited_ = 0;
};

// For create(): the exchange of strict mode.
std::unique_ptr<StepExchange> make_strict_exchange(nn::Model& model, RankComm& comm,
                                                   int64_t batches_per_step);

}  // namespace gnnmg::train
