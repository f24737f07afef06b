// Reports of a trainer: the losses, counts and seconds of its steps, its progress, and its epochs.
// Plain values, no torch.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/tensor.h"
#include "nn/metrics.h"

namespace gnnmg::train {

// Losses and counts of mini-batches, added up.
struct LossSums {
  double loss = 0, weight = 0;       // sums over the seeds; the mean loss is their quotient
  int64_t correct = 0, labeled = 0;  // right answers and labels
  int64_t seeds = 0;

  void add(const LossSums& other) {
    loss += other.loss;
    weight += other.weight;
    correct += other.correct;
    labeled += other.labeled;
    seeds += other.seeds;
  }
  double mean_loss() const { return weight > 0 ? loss / weight : 0; }
};

// Seconds of a rank's steps, added up.
struct StepSeconds {
  double seconds = 0;       // the steps as a whole
  double wait_seconds = 0;  // until the loader had the mini-batches
  // Seconds of the loader's threads, which work while other mini-batches are trained on.
  double sample_seconds = 0, gather_seconds = 0;
  double compute_seconds = 0;  // forward and backward passes
  double reduce_seconds = 0;   // the exchange among the ranks
  double optimizer_seconds = 0;
  double peer_wait_seconds = 0;  // the part of reduce_seconds spent waiting for slower ranks

  void add(const StepSeconds& other) {
    seconds += other.seconds;
    wait_seconds += other.wait_seconds;
    sample_seconds += other.sample_seconds;
    gather_seconds += other.gather_seconds;
    compute_seconds += other.compute_seconds;
    reduce_seconds += other.reduce_seconds;
    optimizer_seconds += other.optimizer_seconds;
    peer_wait_seconds += other.peer_wait_seconds;
  }
};

// Seconds of one rank in an epoch so far, and the bytes that its device read over the bus.
struct RankTimes : StepSeconds {
  int32_t rank = 0;     // number in the world
  int32_t device = -1;  // -1: the CPU
  int64_t epoch = 0, steps = 0;
  // The rest of `seconds`, without passes, exchange and update: the device's queue, or on the CPU
  // the rank's thread, had nothing to do.
  double idle_seconds = 0;
  // Samples and rows of features that came over the bus, copied or read by kernels; edges of a
  // pinned graph are not counted.
  int64_t bus_bytes = 0;
  // Rows that the device gathered, and the part of them that its own memory held. Counted once an
  // epoch is over.
  int64_t rows = 0, rows_there = 0;
};

// The seconds are those of the first rank of this process.
struct EpochReport : StepSeconds {
  int64_t epoch = 0, num_epochs = 0;
  int64_t steps = 0;
  double train_loss = 0, train_accuracy = 0;  // mean over the epoch's mini-batches, as trained
  bool evaluated = false;
  nn::Metrics validation;
  bool best = false;
  double learning_rate = 0;
  double evaluation_seconds = 0;
  double seeds_per_second = 0;
  // Seconds of all ranks without the exchange, in which the others wait for the slowest.
  double mean_busy_seconds = 0, most_busy_seconds = 0;
  int32_t slowest_rank = 0;
  std::vector<RankTimes> ranks;  // the ranks of this process
};

enum class TrainerState : int32_t {
  kIdle = 0,
  kRunning = 1,
  kStopping = 2,
  kFinished = 3,
  kFailed = 4
};

// The seconds are those of the first rank of this process in the epoch so far.
struct Progress : StepSeconds {
  TrainerState state = TrainerState::kIdle;
  int64_t epoch = 0, num_epochs = 0, step = 0, num_steps = 0;
  int64_t seeds_done = 0;         // seeds of the epoch on all ranks, as far as rank 0 knows
  double loss = 0, accuracy = 0;  // running means of the epoch
  double seeds_per_second = 0;
  double elapsed_seconds = 0;
  bool evaluating = false;
  bool has_validation = false;
  double validation = 0, best_validation = 0;  // values of the config's metric
  int64_t best_epoch = -1;
};

// A mini-batch whose loss a function of the host's computes: rows of logits with their labels, and
// room for the gradient. Arrays are row by row.
struct LossBatch {
  base::DType dtype;      // type of logits, targets and gradient
  int64_t rows, columns;  // shape of logits, targets and gradient
  const int64_t* seeds;   // ids, [rows]
  const void* logits;
  const int64_t* classes;  // [rows], -1: no label; null for targets
  const void* targets;     // NaN: none; null for classes
  const double* weights;   // a weight for each label; 0 without a label
  void* gradient;          // gradient of the sum of losses; zeros before the call
  double loss = 0;         // sum of losses, which the function sets
  double weight;           // sum of weights; the step's loss is divided by it
};
// Called once a mini-batch on a host thread; a non-zero answer stops the training with
// Error(kCallback).
using LossFunction = std::function<int32_t(LossBatch&)>;

// Called once an epoch on a host thread; a non-zero answer stops the training with
// Error(kCallback).
using EpochFunction = std::function<int32_t(const EpochReport&)>;

}  // namespace gnnmg::train
