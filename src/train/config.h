// Settings of optimizers and of the trainer. Plain values, no torch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "loader/device_source.h"
#include "loader/plan.h"
#include "nn/metrics.h"
#include "train/optim/optimizer_config.h"

namespace gnnmg::train {

enum class ScheduleKind : int32_t { kConstant = 0, kCosine = 1, kStep = 2, kPlateau = 3 };
// The learning rate of a step is the optimizer's rate times a factor; see optim/schedule.h for
// the formulas.
struct ScheduleConfig {
  ScheduleKind kind = ScheduleKind::kConstant;
  int64_t warmup_epochs = 0;  // linear from 0, step by step
  double minimum_factor = 0;  // cosine ends here; plateau and step stop here
  int64_t step_epochs = 50;   // step: multiply by `factor` every so many epochs
  double factor = 0.5;
  int64_t patience = 10;  // plateau: validations in a row without improvement before each cut
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
// Average of the weights that evaluations and the trained model use; see optim/average.h.
enum class Average : int32_t { kNone = 0, kEma = 1, kSwa = 2 };
enum class EvaluationMode : int32_t { kFull = 0, kSampled = 1 };
enum class LossAverage : int32_t { kExact = 0, kRanks = 1 };
// Ways to start steps on devices (step/captured).
enum class Capture : int32_t {
  kAuto = 0,      // captured and repeated, if possible
  kOff = 1,       // the same work kernel by kernel, over the same shapes, with the same bits
  kOn = 2,        // captured, or an error
  kUnpadded = 3,  // kernel by kernel, over mini-batches without padding
};

// Precision of matrix products in training passes. Everything else has the model's type.
enum class Precision : int32_t {
  kFull = 0,
  kTf32 = 1,  // GPUs read factors of f32 with 10 bits of mantissa; on the CPU the same as kFull
  kBf16 = 2,  // factors of f32 are rounded to bf16
};

// The place of the rows that exact evaluations over parts of a graph keep from stage to stage.
// Results do not depend on it.
struct RowStorage {
  int64_t bytes = 0;   // kept in memory by all ranks of the process; 0: a quarter of the available
  std::string folder;  // has the other rows, in a temporary file; empty: base::scratch_folder()
};

struct TrainerConfig {
  // Threads of this process, each with a replica; 0: one, or one a device.
  int32_t num_ranks = 1;
  // The device of each rank, by its number in the environment's table; empty: the CPU.
  std::vector<int> devices;
  // The place of graph and features; `table`, `device` and `devices` are not read.
  loader::DeviceSourceConfig placement;
  Capture capture = Capture::kAuto;
  int64_t num_epochs = 10;
  int64_t batch_size = 1024;
  // For data sets of graphs, above 0: the most nodes of a mini-batch; see loader/plan.h.
  int64_t batch_nodes = 0;
  int64_t batches_per_step = 0;  // 0: world size
  loader::Partition partition = loader::Partition::kGlobal;
  LossAverage loss_average = LossAverage::kExact;
  bool shuffle = true, drop_last = false;
  uint64_t seed = 0;  // order, samples, dropout
  OptimizerConfig optimizer;
  ScheduleConfig schedule;
  nn::LossRule loss;
  Average average = Average::kNone;
  double average_decay = 0.999;  // kEma: share of the average that a step leaves
  int64_t average_from = 0;      // first epoch whose weights are averaged
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
  int32_t top_k = 5;                   // classes of top_k_accuracy
  Metric best_by = Metric::kAccuracy;  // a regression: the loss
  bool keep_best = true;            // the model ends with the weights of the best validation epoch
  int64_t early_stop_patience = 0;  // evaluations without improvement; 0: never
  Precision precision = Precision::kFull;
  int64_t deadline_ms = 30000;
  int64_t stall_limit_ms = 600000;  // limit of a callback of the host while ranks wait
  std::string log_jsonl;            // file to append one JSON object an epoch to; empty: none
  std::string log_tensorboard;      // folder for event files; empty: none
  void check() const;               // Error(kInvalidArgument) naming the field
  void check_world(
      int64_t world_size) const;  // the same for settings that depend on the number of ranks
};

}  // namespace gnnmg::train
