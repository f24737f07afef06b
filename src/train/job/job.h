// What the ranks of a trainer share: what they work on, which never changes, and where they are,
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

// Sums over the mini-batches of an epoch so far, of all ranks; the seconds and the bytes are this
// rank's.
struct EpochSums : LossSums, StepSeconds {
  double learning_rate = 0;  // rate of the last step
  int64_t bus_bytes = 0;     // copied for mini-batches
};

inline constexpr double kNoRate = std::numeric_limits<double>::quiet_NaN();

// Where training is, and all that decides how it goes on. Every rank has one of its own, and all
// are equal in everything but the seconds, because they are made of exchanged numbers alone.
struct Position {
  explicit Position(const TrainerConfig& config)
      : batches_per_step(config.batches_per_step),
        finished(config.num_epochs == 0),
        schedule(config.schedule, config.num_epochs) {}

  int64_t epoch = 0;
  int64_t step = 0;  // steps of the epoch that are done
  int64_t total_steps = 0;
  // Of all ranks together; stays when the number of ranks changes. 0: not known before they meet.
  int64_t batches_per_step;
  bool finished;
  EpochSums sums;
  int64_t bad_steps = 0;  // in a row, with a loss or gradient that is not finite
  Schedule schedule;
  double set_rate = kNoRate;  // replaces the config's rate and schedule
  double last_loss = std::numeric_limits<double>::quiet_NaN();  // of the last step
  double best = std::numeric_limits<double>::quiet_NaN();
  double last = std::numeric_limits<double>::quiet_NaN();
  int64_t best_epoch = -1;
  int64_t without_improvement = 0;
  bool has_validation = false;
};

// Weights and buffers of a model, copied. Models may lie on other devices than the copy.
class Snapshot {
 public:
  bool taken() const { return parameters_.defined(); }
  void take(const nn::Model& model);  // to where the model lies
  void take_to_host(const nn::Model& model);
  void restore(nn::Model& model) const;
  bool equals(const nn::Model& model) const;  // once taken; a NaN equals nothing
  std::vector<at::Tensor> tensors() const;    // once taken: its own memory

 private:
  at::Tensor parameters_;
  std::vector<at::Tensor> buffers_;
};

// Immutable once made; everything here is used by all ranks at once.
struct Job {
  // The host's: the first rank's replica, or, where ranks work on devices, what that was when it
  // was last handed over.
  std::shared_ptr<nn::Model> model;
  data::DatasetRef dataset;
  std::shared_ptr<const sample::Sampler> sampler;
  // Null where the model reads no features.
  std::shared_ptr<const feature::FeatureStore> store;
  const graph::Column* features = nullptr;  // null too where their rows are elsewhere
  const data::Split* split = nullptr;
  // The part of each node, for a plan by parts, and its SHA-256; else null and empty.
  std::shared_ptr<const partition::Book> book = {};
  std::string book_sum = {};
  LossFunction loss_function = {};  // replaces config.loss in training; may be empty
  TrainerConfig config;             // `loss`, `best_by` and `num_ranks` as they are meant
  // Validations compare epochs: their labels define `best_by`.
  bool validation_tells = false;
  Environment environment;
  // Of several processes the first one speaks, writes and saves for all.
  bool first_process() const {
    return !environment.processes || environment.processes->process() == 0;
  }
};

// Checks that the parts fit together; Error naming what does not.
std::shared_ptr<const Job> make_job(std::shared_ptr<nn::Model> model, data::DatasetRef dataset,
                                    std::shared_ptr<const sample::Sampler> sampler,
                                    const TrainerConfig& config, const Environment& environment);

// The plan of the training ids for one rank of `world_size`.
loader::PlanConfig plan_config(const Job& job, int64_t batches_per_step, int rank, int world_size);

// What stays while groups of ranks come and go.
struct Training {
  explicit Training(const Job& job);

  // Guards the weights of Job::model between a thread that changes them and one that takes a
  // snapshot.
  std::mutex weights_mutex;
  std::string id;  // of draw_training_id(), or of the checkpoint that training goes on from
  // The first rank's; where ranks work on devices, as with Job::model.
  Position position;
  std::unique_ptr<Optimizer> optimizer;
  Snapshot best;       // of the best validation
  Snapshot last_good;  // with which the last finite loss was computed
  std::unique_ptr<RunLog> log;
  std::unique_ptr<CheckpointWriter> checkpoints;  // null: none are written
  EpochFunction on_epoch;
  std::atomic<bool> stop{false};            // asked for; all ranks end when they have agreed on it
  std::atomic<double> asked_rate{kNoRate};  // until the ranks have agreed on it
  std::atomic<bool> told_of_lone_row{false}, told_of_few_parts{false};
  // Calls of all processes that are under way here: who waits in one tells the others of a cancel.
  std::atomic<int> meetings{0};

  // Ranks of all processes; 0 before they have met. Set while no rank is at work.
  int world_size() const { return world_size_; }
  void set_world_size(const TrainerConfig& config, int ranks);
  // Of the job's data; read when it is first asked for. Any thread.
  const data::Fingerprint& fingerprint(const Job& job);

  // The number in the world of a rank of this process.
  void set_rank(int number, int rank);
  // Progress for other threads.
  void set_progress(const std::function<void(Progress&)>& change);
  Progress progress() const;
  // The same of each rank of this process, `number` counting from 0.
  void set_times(int number, const RankTimes& times);
  std::vector<RankTimes> times() const;

 private:
  int world_size_ = 0;
  std::mutex fingerprint_mutex_;
  data::Fingerprint fingerprint_;  // empty until it is asked for
  mutable std::mutex progress_mutex_;
  Progress progress_;
  std::vector<RankTimes> times_;  // with it
};

// A call of all processes, while it lives.
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
// Error(kInvalidArgument) that there is nothing to evaluate.
[[noreturn]] void fail_empty(const Job& job, data::SplitPart part);

using Clock = std::chrono::steady_clock;
inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace gnnmg::train
