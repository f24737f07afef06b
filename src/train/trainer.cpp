// The host's side of a trainer: commands to the ranks, waits, failures.
#include "train/trainer.h"

#include <atomic>

#include "train/rank_group.h"

namespace gnnmg::train {
namespace {

using base::Deadline;
using base::Status;

enum class Work { kNone, kTrain, kStep, kEvaluate };

const char* name_of(Work work) {
  switch (work) {
    case Work::kTrain:
      return "training";
    case Work::kStep:
      return "a step";
    case Work::kEvaluate:
      return "an evaluation";
    case Work::kNone:
      break;
  }
  return "nothing";
}

class RankTrainer final : public Trainer {
 public:
  explicit RankTrainer(std::shared_ptr<const Job> job)
      : job_(std::move(job)),
        training_(*job_),
        jsonl_path_(job_->config.log_jsonl),
        tensorboard_folder_(job_->config.log_tensorboard) {}

  void set_epoch_function(EpochFunction function) override {
    require_rest(Work::kNone);
    training_.on_epoch = std::move(function);
  }

  void set_records(std::string jsonl_path, std::string tensorboard_folder) override {
    require_rest(Work::kNone);
    training_.log.reset();
    jsonl_path_ = std::move(jsonl_path);
    tensorboard_folder_ = std::move(tensorboard_folder);
  }

  void start() override {
    require_rest(Work::kNone);
    if (training_.position.finished) {
      set_state(TrainerState::kFinished);
      return;
    }
    begin(Work::kTrain, {});
  }

  bool wait(const Deadline& deadline) override {
    if (work_ == Work::kNone) return true;
    require_rest(Work::kTrain);
    return await(deadline);
  }

  void stop() noexcept override {
    if (work_.load() != Work::kTrain) return;
    training_.stop = true;
    training_.set_progress([](Progress& p) {
      if (p.state == TrainerState::kRunning) p.state = TrainerState::kStopping;
    });
  }

  void cancel() noexcept override {
    std::lock_guard lock(group_mutex_);
    if (group_) group_->cancel();
  }

  Status step(const Deadline& deadline, double* loss) override {
    require_rest(Work::kStep);
    if (work_ == Work::kNone) {
      if (training_.position.finished) return Status::kEnd;
      steps_before_ = training_.position.total_steps;
      begin(Work::kStep, {.max_steps = 1});
    }
    if (!await(deadline)) return Status::kPending;
    // Where a stop came between the last step of an epoch and its end, there may be none left.
    if (training_.position.total_steps == steps_before_) return Status::kEnd;
    if (loss) *loss = training_.position.last_loss;
    return Status::kOk;
  }

  std::optional<nn::Metrics> evaluate(data::SplitPart part, const Deadline& deadline) override {
    require_rest(Work::kEvaluate);
    if (work_ == Work::kNone) {
      static constexpr const char* kNames[] = {"training", "validation", "test"};
      if (job_->split->part(part).empty())
        base::fail(Status::kInvalidArgument, "split ", job_->split->name, " ", job_->split->index,
                   ": its ", kNames[static_cast<int>(part) - 1], " part is empty");
      part_ = part;
      begin(Work::kEvaluate, {.kind = Command::Kind::kEvaluate, .part = part});
    } else if (part != part_) {
      base::fail(Status::kBusy, "an evaluation of another part is under way");
    }
    if (!await(deadline)) return std::nullopt;
    return group_->metrics();
  }

  Progress progress() const override {
    Progress progress = training_.progress();
    {
      // The ranks may have ended before anybody waited for them.
      std::lock_guard lock(group_mutex_);
      if (work_ != Work::kNone && group_ && group_->at_rest()) {
        const bool over = progress.epoch == progress.num_epochs;
        progress.state = group_->failure() ? TrainerState::kFailed
                         : over            ? TrainerState::kFinished
                                           : TrainerState::kIdle;
      }
    }
    std::lock_guard lock(clock_mutex_);
    progress.elapsed_seconds = elapsed_ + (running_ ? seconds_since(started_) : 0);
    return progress;
  }

  bool busy() const override { return work_ != Work::kNone; }
  const TrainerConfig& config() const override { return job_->config; }

 private:
  // Nothing may be under way but `allowed`.
  void require_rest(Work allowed) const {
    const Work work = work_;
    if (work != Work::kNone && work != allowed)
      base::fail(Status::kBusy, name_of(work), " is under way");
  }

  void set_state(TrainerState state) {
    training_.set_progress([&](Progress& p) {
      p.state = state;
      p.evaluating = false;
    });
  }

  void begin(Work work, const Command& command) {
    if (!training_.log && !(jsonl_path_.empty() && tensorboard_folder_.empty()) &&
        work != Work::kEvaluate)
      training_.log = std::make_unique<RunLog>(jsonl_path_, tensorboard_folder_);
    if (!group_) {
      auto group = std::make_unique<RankGroup>(job_, training_);
      std::lock_guard lock(group_mutex_);
      group_ = std::move(group);
    }
    training_.stop = false;
    {
      std::lock_guard lock(clock_mutex_);
      running_ = work != Work::kEvaluate;
      started_ = Clock::now();
    }
    set_state(TrainerState::kRunning);
    group_->start(command);
    work_ = work;
  }

  // False when the deadline passed; throws the failure of the work that has ended.
  bool await(const Deadline& deadline) {
    if (base::HostQueue::inside_callback())
      base::fail(Status::kBusy, "a callback cannot wait for ", name_of(work_));
    {
      base::HostQueue& host = job_->environment.host;
      std::optional<base::HostQueue::Entry> entry;
      if (!host.entered_here()) entry.emplace(host);
      if (!host.wait([&] { return group_->at_rest(); }, deadline)) return false;
    }
    work_ = Work::kNone;
    {
      std::lock_guard lock(clock_mutex_);
      if (running_) elapsed_ += seconds_since(started_);
      running_ = false;
    }
    if (const std::optional<base::Error> failure = group_->failure()) {
      drop_group();
      set_state(TrainerState::kFailed);
      throw base::Error(*failure);
    }
    set_state(training_.position.finished ? TrainerState::kFinished : TrainerState::kIdle);
    return true;
  }

  void drop_group() {
    std::unique_ptr<RankGroup> group;
    {
      std::lock_guard lock(group_mutex_);
      group = std::move(group_);
    }
  }

  std::shared_ptr<const Job> job_;
  Training training_;
  std::string jsonl_path_, tensorboard_folder_;

  std::atomic<Work> work_{Work::kNone};
  data::SplitPart part_ = data::SplitPart::kValidation;
  int64_t steps_before_ = 0;

  mutable std::mutex clock_mutex_;  // guards the three below
  Clock::time_point started_;
  double elapsed_ = 0;
  bool running_ = false;

  mutable std::mutex group_mutex_;  // guards the pointer against cancel()
  std::unique_ptr<RankGroup> group_;
};

}  // namespace

std::unique_ptr<Trainer> Trainer::create(std::shared_ptr<nn::Model> model, data::DatasetRef dataset,
                                         std::shared_ptr<const sample::Sampler> sampler,
                                         const TrainerConfig& config,
                                         const Environment& environment) {
  return std::make_unique<RankTrainer>(
      make_job(std::move(model), std::move(dataset), std::move(sampler), config, environment));
}

}  // namespace gnnmg::train
