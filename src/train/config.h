// Settings of optimisers and of the trainer. Plain values, no torch.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "loader/device_source.h"
#include "loader/plan.h"
#include "nn/metrics.h"
#include "train/optim/optimizer_config.h"

namespace gnnmg::train {

enum class ScheduleKind : int32_t { kConstant = 0, kCosine = 1, kStep = 2, kPlateau = 3 };
// The learning rate of a step is the optimiser's rate times a factor; see optim/schedule.h for
// the formulas.
struct ScheduleConfig {
  ScheduleKind kind = ScheduleKind::kConstant;
  int64_t warmup_epochs = 0;  // linear from 0, step by step
  double minimum_factor = 0;  // cosine ends here; plateau and step stop here
  int64_t step_epochs = 50;   // step: multiply by `factor` every so many epochs
  double factor = 0.5;
  int64_t patience = 10;  // plateau: validations in a row without improvement before each cut
  void check() const;
};

enum class Metric : int32_t {
  kAccuracy = 0,
  kLoss = 1,
  kRocAuc = 2,
  kF1Macro = 3,
  kF1Micro = 4,
  kAveragePrecision = 5,
  kRmse = 6,
  kMae = 7
};
enum class EvaluationMode : int32_t { kFull = 0, kSampled = 1 };
enum class LossAverage : int32_t { kExact = 0, kRanks = 1 };
// How steps on devices are started (step/captured).
enum class Capture : int32_t {
  kAuto = 0,      // captured and repeated, where they can be
  kOff = 1,       // the same ones kernel after kernel, over the same shapes: to the same bits
  kOn = 2,        // captured, or it is an error
  kUnpadded = 3,  // kernel after kernel, over mini-batches as they are
};

// Of products of matrices in training passes; all else is as the model's type says.
enum class Precision : int32_t {
  kFull = 0,
  kTf32 = 1,  // on GPUs: factors of f32 are read with 10 bits of mantissa; on the CPU as kFull
  kBf16 = 2,  // factors of f32 are rounded to bf16
};

struct TrainerConfig {
  // Threads of this process, each with a replica; 0: one, or one a device.
  int32_t num_ranks = 1;
  // That of each rank, by its number in the environment's table; empty: the CPU.
  std::vector<int> devices;
  // Where graph and features lie for them; `table`, `device` and `devices` are not looked at.
  loader::DeviceSourceConfig placement;
  Capture capture = Capture::kAuto;
  int64_t num_epochs = 10;
  int64_t batch_size = 1024;
  // Of graphs, above 0: nodes of a mini-batch at most, beside batch_size; see loader/plan.h.
  int64_t batch_nodes = 0;
  int64_t batches_per_step = 0;  // 0: world size
  loader::Partition partition = loader::Partition::kGlobal;
  LossAverage loss_average = LossAverage::kExact;
  bool shuffle = true, drop_last = false;
  uint64_t seed = 0;  // order, samples, dropout
  OptimizerConfig optimizer;
  ScheduleConfig schedule;
  nn::Loss loss = nn::Loss::kAuto;
  double clip_norm = 0;          // 0: none
  bool sync_batch_norm = false;  // statistics of the whole step in place of each mini-batch
  bool deterministic = false;    // bit-equal for any number of ranks and threads
  std::string split;             // name; empty: the data set's first
  int32_t split_index = 0;
  int32_t loader_threads = 1;  // a rank; 0: sample in the rank's thread
  int32_t prefetch = 2;
  int32_t torch_threads = 0;   // a rank; 0: the process's cores divided by its
                               // ranks. Deterministic: of our own loops alone
  int64_t evaluate_every = 1;  // epochs between validations; 0: never
  EvaluationMode evaluation = EvaluationMode::kFull;
  int64_t eval_batch_size = 4096;
  Metric best_by = Metric::kAccuracy;  // a regression: the loss
  bool keep_best = true;            // the model ends with the weights of the best validation epoch
  int64_t early_stop_patience = 0;  // evaluations without improvement; 0: never
  Precision precision = Precision::kFull;
  int64_t deadline_ms = 30000;
  int64_t stall_limit_ms = 600000;  // how long a callback of the host may keep the ranks waiting
  std::string log_jsonl;            // file to append one JSON object an epoch to; empty: none
  std::string log_tensorboard;      // folder for event files; empty: none
  void check() const;               // Error(kInvalidArgument) naming the field
  void check_world(int64_t world_size) const;  // the same, for what depends on the number of ranks
};

// Where the time of an epoch went on one rank, as far as it has come; and what its device read over
// the bus.
struct RankTimes {
  int32_t rank = 0;     // in the world
  int32_t device = -1;  // -1: the CPU
  int64_t epoch = 0, steps = 0;
  // As in EpochReport, of this rank.
  double seconds = 0, wait_seconds = 0, sample_seconds = 0, gather_seconds = 0;
  double compute_seconds = 0, reduce_seconds = 0, optimizer_seconds = 0, peer_wait_seconds = 0;
  // Of `seconds` what is no pass, all-reduce or update: the device's queue, or on the CPU the
  // rank's thread, had nothing to do.
  double idle_seconds = 0;
  // Samples and rows of features that came over the bus, copied or read by kernels; edges of a
  // pinned graph are not counted.
  int64_t bus_bytes = 0;
  // Rows that the device gathered, and those of them that lay there. Of whole epochs.
  int64_t rows = 0, rows_there = 0;
};

struct EpochReport {
  int64_t epoch = 0, num_epochs = 0;
  int64_t steps = 0;
  double train_loss = 0, train_accuracy = 0;  // over the epoch's mini-batches as they were trained
  bool evaluated = false;
  nn::Metrics validation;
  bool best = false;
  double learning_rate = 0;
  double seconds = 0, evaluation_seconds = 0;
  double seeds_per_second = 0;
  // Seconds of the training loop of this process's first rank.
  double wait_seconds = 0;                        // for the loader
  double sample_seconds = 0, gather_seconds = 0;  // loader threads, summed
  double compute_seconds = 0, reduce_seconds = 0, optimizer_seconds = 0;
  double peer_wait_seconds = 0;  // of those in reduce_seconds: for slower ranks
  // Of all ranks, without all-reduces, in which the others wait for the slowest.
  double mean_busy_seconds = 0, most_busy_seconds = 0;
  int32_t slowest_rank = 0;
  std::vector<RankTimes> ranks;  // of this process
};

enum class TrainerState : int32_t {
  kIdle = 0,
  kRunning = 1,
  kStopping = 2,
  kFinished = 3,
  kFailed = 4
};

struct Progress {
  TrainerState state = TrainerState::kIdle;
  int64_t epoch = 0, num_epochs = 0, step = 0, num_steps = 0;
  int64_t seeds_done = 0;         // of the epoch, all ranks, as far as rank 0 knows
  double loss = 0, accuracy = 0;  // running means of the epoch
  double seeds_per_second = 0;
  // Of the epoch so far, as in EpochReport.
  double seconds = 0, wait_seconds = 0, sample_seconds = 0, gather_seconds = 0;
  double compute_seconds = 0, reduce_seconds = 0, optimizer_seconds = 0, peer_wait_seconds = 0;
  double elapsed_seconds = 0;
  bool evaluating = false;
  bool has_validation = false;
  double validation = 0, best_validation = 0;  // by the metric of the config
  int64_t best_epoch = -1;
};

// Called once an epoch on a host thread; a non-zero answer stops the training with
// Error(kCallback).
using EpochFunction = std::function<int32_t(const EpochReport&)>;

}  // namespace gnnmg::train
