// State that a trainer's ranks share: the job, which never changes, and the training's position,
// which the first rank keeps for all.
#pragma once

#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "comm/processes.h"
#include "data/fingerprint.h"
#include "train/checkpoint/writer.h"
#include "train/log/run_log.h"
#include "train/optim/optimizer.h"
#include "train/optim/schedule.h"
#include "train/trainer.h"

namespace gnnmg::train {

// Sums over the mini-batches of the epoch so far. Losses and counts are of all ranks; seconds and
// bytes of this rank.
struct EpochSums : LossSums, StepSeconds {
  double learning_rate = 0;  // rate of the last step
  int64_t bus_bytes = 0;     // copied for mini-batches
};

inline constexpr double kNoRate = std::numeric_limits<double>::quiet_NaN();

// Position of training, with all that decides how it continues. Every rank has its own. All are
// equal except for the seconds, because they result from exchanged numbers only.
struct Position {
  explicit Position(const TrainerConfig& config)
      : batches_per_step(config.batches_per_step),
        finished(config.num_epochs == 0),
        schedule(config.schedule, config.num_epochs) {}

  int64_t epoch = 0;
  int64_t step = 0;  // complete steps of the epoch
  int64_t total_steps = 0;
  // Total of all ranks, the same for any number of them. 0: unknown until they meet.
  int64_t batches_per_step;
  bool finished;
  EpochSums sums;
  int64_t bad_steps = 0;  // consecutive steps with a loss or gradient that is not finite
  Schedule schedule;
  double set_rate = kNoRate;  // replaces the config's rate and schedule
  double last_loss = std::numeric_limits<double>::quiet_NaN();  // loss of the last step
  double best = std::numeric_limits<double>::quiet_NaN();
  double last = std::numeric_limits<double>::quiet_NaN();
  int64_t best_epoch = -1;
  int64_t without_improvement = 0;
  bool has_validation = false;
  int64_t num_averaged = 0;  // weights in the average; 0: it has not begun

  // True if evaluations use the average in place of the model.
  bool averages() const { return num_averaged > 0 && !finished; }
};

// A copy of a model's weights and buffers. Models may be on other devices than the copy.
class Snapshot {
 public:
  bool taken() const { return parameters_.defined(); }
  void take(const nn::Model& model);  // copies to the model's device
  void take_to_host(const nn::Model& model);
  void restore(nn::Model& model) const;
  bool equals(const nn::Model& model) const;  // requires taken(); a NaN equals nothing
  std::vector<at::Tensor> tensors() const;    // requires taken(); shares its memory

 private:
  at::Tensor parameters_;
  std::vector<at::Tensor> buffers_;
};

// Immutable. All ranks use it at once.
struct Job {
  // The first rank's replica on the CPU; with devices, the host's copy as of the last hand-over.
  std::shared_ptr<nn::Model> model;
  data::DatasetRef dataset;
  std::shared_ptr<const sample::Sampler> sampler;
  // Null if the model reads no features.
  std::shared_ptr<const feature::FeatureStore> store;
  const graph::Column* features = nullptr;  // null also if their rows are elsewhere
  const data::Split* split = nullptr;
  // Part of each node, and its SHA-256, for a plan by parts; otherwise null and empty.
  std::shared_ptr<const partition::Book> book = {};
  std::string book_sum = {};
  LossFunction loss_function = {};  // replaces config.loss in training; may be empty
  TrainerConfig config;             // `loss`, `best_by` and `num_ranks` are resolved
  // True if the validation labels define `best_by`, so that validations compare epochs.
  bool validation_tells = false;
  Environment environment;
  // True on the process that reports, writes and saves for all.
  bool first_process() const {
    return !environment.processes || environment.processes->process() == 0;
  }
};

// Checks that the arguments fit together; the Error names a misfit.
std::shared_ptr<const Job> make_job(std::shared_ptr<nn::Model> model, data::DatasetRef dataset,
                                    std::shared_ptr<const sample::Sampler> sampler,
                                    const TrainerConfig& config, const Environment& environment);

// Plan of the training ids for one rank of `world_size`.
loader::PlanConfig plan_config(const Job& job, int64_t batches_per_step, int rank, int world_size);

// State that outlives each group of ranks.
struct Training {
  explicit Training(const Job& job);

  // Serializes changes of Job::model's weights and snapshots.
  std::mutex weights_mutex;
  std::string id;  // result of draw_training_id(), or the loaded checkpoint's
  // The first rank's; with devices as of the last hand-over, like Job::model.
  Position position;
  std::unique_ptr<Optimizer> optimizer;
  Snapshot best;  // weights of the best validation
  // The average of the weights, as of the position; null without TrainerConfig::average.
  std::shared_ptr<nn::Model> average;
  Snapshot last_good;  // weights of the last finite loss
  std::unique_ptr<RunLog> log;
  std::unique_ptr<CheckpointWriter> checkpoints;  // null: none are written
  EpochFunction on_epoch;
  std::atomic<bool> stop{false};            // requested; all ranks end once they agree
  std::atomic<double> asked_rate{kNoRate};  // requested rate, until the ranks agree
  std::atomic<bool> told_of_lone_row{false}, told_of_few_parts{false};
  // Collective calls running in this process. A waiting call notifies the other processes of a
  // cancel.
  std::atomic<int> meetings{0};

  // Ranks of all processes; 0 until they meet. Set only while no rank works.
  int world_size() const { return world_size_; }
  void set_world_size(const TrainerConfig& config, int ranks);
  // Fingerprint of the job's data, computed at first use. Any thread.
  const data::Fingerprint& fingerprint(const Job& job);

  // Sets the number, among all processes, of a rank of this process.
  void set_rank(int number, int rank);
  // Progress for other threads.
  void set_progress(const std::function<void(Progress&)>& change);
  Progress progress() const;
  // Times of each rank of this process, `number` from 0.
  void set_times(int number, const RankTimes& times);
  std::vector<RankTimes> times() const;

 private:
  int world_size_ = 0;
  std::mutex fingerprint_mutex_;
  data::Fingerprint fingerprint_;  // empty until first use
  mutable std::mutex progress_mutex_;
  Progress progress_;
  std::vector<RankTimes> times_;  // guarded by progress_mutex_
};

// Counts a collective call while it runs.
class Meeting {
 public:
  explicit Meeting(Training& training) : training_(training) { ++training_.meetings; }
  ~Meeting() { --training_.meetings; }
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;

 private:
  Training& training_;
};

// "training", "validation", "test"
const char* part_name(data::SplitPart part);
// Throws Error(kInvalidArgument): the part has nothing to evaluate.
[[noreturn]] void fail_empty(const Job& job, data::SplitPart part);

using Clock = std::chrono::steady_clock;
inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace gnnmg::train
