// Host side of a trainer: commands to the ranks, waits, failures.
#include "train/trainer.h"

#include <atomic>
#include <cmath>
#include <memory>
#include <thread>
#include <utility>

#include "base/background.h"
#include "device/exit.h"
#include "nn/config/settings.h"
#include "train/checkpoint/state.h"
#include "train/job/meeting.h"
#include "train/optim/optimizer_file.h"
#include "train/optim/torch_optimizer.h"
#include "train/ranks/group.h"
#include "train/step/joint_norm_step.h"

namespace gnnmg::train {
namespace {

using base::Deadline;
using base::Status;
using comm::Ending;

// Limit for notifying other processes of a cancel.
constexpr auto kTelling = std::chrono::milliseconds(100);

enum class Work { kNone, kTrain, kStep, kEvaluate, kEmbed };

// Work that advances training.
bool trains(Work work) { return work == Work::kTrain || work == Work::kStep; }

const char* name_of(Work work) {
  switch (work) {
    case Work::kTrain:
      return "training";
    case Work::kStep:
      return "a step";
    case Work::kEvaluate:
      return "an evaluation";
    case Work::kEmbed:
      return "the computation of all nodes' rows";
    case Work::kNone:
      break;
  }
  return "nothing";
}

// Facts of the host that processes compare.
const char* call_of(Work work, const Command& command) {
  switch (work) {
    case Work::kTrain:
      return "run";
    case Work::kStep:
      return "step";
    case Work::kEvaluate:
      return "evaluate";
    case Work::kEmbed:
      return command.path.empty() ? "embed" : "embed_to_file";
    case Work::kNone:
      break;
  }
  return "";
}

class RankTrainer final : public Trainer {
 public:
  explicit RankTrainer(std::shared_ptr<const Job> job)
      : job_(std::move(job)),
        shared_training_(std::make_shared<Training>(*job_)),
        jsonl_path_(job_->config.log_jsonl),
        tensorboard_folder_(job_->config.log_tensorboard) {}

  ~RankTrainer() override {
    try {
      drop_group();
    } catch (const std::exception&) {  // no memory for the message
    }
  }

  void set_epoch_function(EpochFunction function) override {
    require_rest(Work::kNone);
    training_.on_epoch = std::move(function);
  }

  void set_loss_function(LossFunction function) override {
    require_rest(Work::kNone);
    if (group_)
      base::fail(Status::kBusy,
                 "the trainer has begun its work; set the loss function before its first call that "
                 "trains, evaluates or embeds");
    auto job = std::make_shared<Job>(*job_);
    job->loss_function = std::move(function);
    job_ = std::move(job);
    if (training_.checkpoints) make_writer();
  }

  void set_learning_rate(double rate) noexcept override { training_.asked_rate = rate; }

  void set_records(std::string jsonl_path, std::string tensorboard_folder) override {
    require_rest(Work::kNone);
    training_.log.reset();
    jsonl_path_ = std::move(jsonl_path);
    tensorboard_folder_ = std::move(tensorboard_folder);
  }

  void set_checkpoints(const std::optional<CheckpointConfig>& config) override {
    require_rest(Work::kNone);
    training_.checkpoints.reset();
    checkpoints_ = config;
    if (config) make_writer();
  }

  void save(const std::string& path) override {
    require_rest(Work::kNone);
    const auto prepare = [&]() -> std::function<void()> {
      return [path, files = std::make_shared<CheckpointFiles>(copy_of_all())] {
        write_checkpoint(path, *files);
      };
    };
    do_in_first_process("save", prepare);
  }

  void save_optimizer(const std::string& path, const TorchFile& file) override {
    require_rest(Work::kNone);
    const auto prepare = [&]() -> std::function<void()> {
      return [path, state = std::make_shared<io::OptimizerDict>(
                        torch_state_of(*training_.optimizer, *job_->model, file.form))] {
        io::write_optimizer_pth(path, *state);
      };
    };
    do_in_first_process("save the optimizer", prepare);
  }

  void load_optimizer(const std::string& path, const TorchFile& file) override {
    require_rest(Work::kNone);
    const auto state = std::make_shared<std::vector<nn::NamedTensor>>();
    const auto prepare = [&]() -> std::function<void()> {
      return [path, file, state, job = job_] {
        *state =
            read_torch_state(path, *job->model, job->config.optimizer, file, &job->environment.log);
      };
    };
    do_in_first_process("load the optimizer", prepare);
    drop_group();  // the next group takes over the first rank's state
    if (job_->first_process()) training_.optimizer->load_state(*state);
  }

  std::string load(const std::string& path) override {
    require_rest(Work::kNone);
    if (!job_->environment.processes) {
      LoadedCheckpoint loaded = find_checkpoint(path, job_->environment.log);
      take(read(loaded), loaded);
      return loaded.path;
    }
    // The first process chooses a checkpoint; the others read the one with the same manifest.
    // Nobody changes anything before all have read theirs.
    const Meeting under_way(training_);
    const base::CancelToken cancel = new_call();
    LoadedCheckpoint loaded;
    Loaded parts;
    const Report choice = report_of(*job_, [&]() -> std::string {
      if (!job_->first_process()) return {};
      loaded = find_checkpoint(path, job_->environment.log);
      return loaded.name + "\n" + loaded.digest;
    });
    const std::vector<Report> reports =
        exchange_reports(*job_, "load", choice, cancel, Ending::kForArrived, 0);
    training_.set_world_size(job_->config, world_size(reports));
    const Report reading = report_of(*job_, [&]() -> std::string {
      if (!job_->first_process()) {
        const std::string& chosen = reports[0].word;
        const size_t middle = chosen.rfind('\n');
        loaded = open_checkpoint(path, chosen.substr(0, middle), chosen.substr(middle + 1));
      }
      parts = read(loaded);
      return {};
    });
    exchange_reports(*job_, "loaded", reading, cancel, Ending::kForAll);
    take(std::move(parts), loaded);
    return loaded.path;
  }

  void start() override {
    require_rest(Work::kNone);
    if (training_.position.finished && !job_->environment.processes) {
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
    {
      std::lock_guard lock(group_mutex_);
      call_.cancel();
      if (group_) group_->cancel();
    }
    if (!job_->environment.processes) return;
    const Clock::time_point until = Clock::now() + kTelling;
    while (training_.meetings > 0 && Clock::now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    job_->environment.processes->drain();
  }

  Status step(const Deadline& deadline, double* loss) override {
    require_rest(Work::kStep);
    if (work_ == Work::kNone) {
      if (training_.position.finished && !job_->environment.processes) return Status::kEnd;
      steps_before_ = training_.position.total_steps;
      begin(Work::kStep, {.max_steps = 1});
    }
    if (!await(deadline)) return Status::kPending;
    // None may be left after a stop between the last step of an epoch and its end.
    if (training_.position.total_steps == steps_before_) return Status::kEnd;
    if (loss) *loss = training_.position.last_loss;
    return Status::kOk;
  }

  std::optional<nn::Metrics> evaluate(data::SplitPart part, const Deadline& deadline,
                                      bool confusion) override {
    require_rest(Work::kEvaluate);
    if (work_ == Work::kNone) {
      // Several processes check in the collective call: on another one the part may have ids, or
      // another part may be requested.
      if (!job_->environment.processes && job_->split->part(part).empty()) fail_empty(*job_, part);
      part_ = part;
      begin(Work::kEvaluate,
            {.kind = Command::Kind::kEvaluate, .part = part, .confusion = confusion});
    } else if (part != part_) {
      base::fail(Status::kBusy, "an evaluation of another part is under way");
    }
    if (!await(deadline)) return std::nullopt;
    return group_->metrics();
  }

  std::optional<base::Tensor> embed(const Deadline& deadline) override {
    if (!embed_somewhere({}, deadline)) return std::nullopt;
    return group_->take_rows();
  }

  bool embed_to_file(const std::string& path, const Deadline& deadline) override {
    if (path.empty()) base::fail(Status::kInvalidArgument, "path is empty: expected a file");
    return embed_somewhere(path, deadline);
  }

  MemoryPlan memory_plan(int64_t gpu_bytes) const override {
    const comm::Processes* processes = job_->environment.processes.get();
    const int ranks = job_->config.num_ranks * (processes ? processes->num_processes() : 1);
    if (gpu_bytes > 0) return plan_memory(memory_request(*job_, ranks, kUsualReserve), gpu_bytes);
    if (job_->config.devices.empty())
      base::fail(
          Status::kNotFound,
          "the trainer works on the CPU; set gpu_bytes to the memory of the GPU that is meant");
    device::check_not_quarantined(*job_->environment.devices, job_->config.devices[0]);
    const device::Info info = job_->environment.devices->info(job_->config.devices[0]);
    const int64_t reserve = reserve_beside_driver(info.total_memory);
    return plan_memory(memory_request(*job_, ranks, reserve), info.free_memory);
  }

  std::unique_ptr<nn::Model> snapshot() const override {
    Snapshot weights;
    {
      const std::lock_guard lock(training_.weights_mutex);
      weights.take(training_.position.averages() ? *training_.average : *job_->model);
    }
    std::unique_ptr<nn::Model> made = nn::make_model(job_->model->config());
    made->set_frozen(job_->model->frozen());
    weights.restore(*made);
    made->set_file_names(job_->model->file_names());
    return made;
  }

  Progress progress() const override {
    Progress progress = training_.progress();
    {
      // The ranks may have ended before anybody waited.
      std::lock_guard lock(group_mutex_);
      if (work_ != Work::kNone && group_ && group_->idle()) {
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

  std::vector<RankTimes> rank_times() const override { return training_.times(); }

  bool busy() const override { return work_ != Work::kNone; }
  const TrainerConfig& config() const override { return job_->config; }

 private:
  // Only `allowed` may be running.
  void require_rest(Work allowed) const {
    const Work work = work_;
    if (work != Work::kNone && work != allowed)
      base::fail(Status::kBusy, name_of(work), " is under way");
  }

  // Writes to memory if `path` is empty.
  bool embed_somewhere(const std::string& path, const Deadline& deadline) {
    require_rest(Work::kEmbed);
    if (work_ == Work::kNone) {
      path_ = path;
      begin(Work::kEmbed, {.kind = Command::Kind::kEmbed, .path = path});
    } else if (path != path_) {
      base::fail(Status::kBusy, name_of(Work::kEmbed), " is under way to another place");
    }
    return await(deadline);
  }

  void set_state(TrainerState state) {
    training_.set_progress([&](Progress& p) {
      p.state = state;
      p.evaluating = false;
    });
  }

  void begin(Work work, Command command) {
    command.call = call_of(work, command);
    std::unique_ptr<JointNormsTurn> turn;
    if (trains(work)) {
      command.obstacle = report_of(*job_, [&] {
                           if (training_.checkpoints) training_.checkpoints->check_folder();
                           return open_log(), turn = take_turn(), "";
                         }).error;
      // With other processes the command begins, to report the obstacle to them.
      if (command.obstacle && !job_->environment.processes) throw base::Error(*command.obstacle);
    }
    // With other processes the rank of a quarantined device reports it.
    if (!job_->environment.processes)
      for (const int device : job_->config.devices)
        device::check_not_quarantined(*job_->environment.devices, device);
    const device::Use use;
    if (on_devices()) use.require();
    if (!group_) {
      auto group = std::make_unique<RankGroup>(job_, shared_training_);
      std::lock_guard lock(group_mutex_);
      group_ = std::move(group);
    }
    training_.stop = false;
    {
      std::lock_guard lock(clock_mutex_);
      running_ = trains(work);
      started_ = Clock::now();
    }
    set_state(TrainerState::kRunning);
    group_->start(command);
    turn_ = std::move(turn);
    work_ = work;
  }

  // Null if turns do not matter.
  std::unique_ptr<JointNormsTurn> take_turn() const {
    const std::vector<int>& devices = job_->config.devices;
    const bool alone = devices.size() < 2 && !job_->environment.processes;
    const bool joint = job_->config.sync_batch_norm && job_->model->batch_statistics_width() > 0;
    if (devices.empty() || alone || !joint) return nullptr;
    return std::make_unique<JointNormsTurn>(*job_->environment.devices, devices);
  }

  void open_log() {
    if (training_.log || (jsonl_path_.empty() && tensorboard_folder_.empty())) return;
    if (!job_->first_process()) return;
    training_.log =
        std::make_unique<RunLog>(jsonl_path_, tensorboard_folder_,
                                 RunFacts{.id = training_.id,
                                          .config = job_->config,
                                          .model = nn::setting_texts(job_->model->config()),
                                          .sampler = job_->sampler->describe()});
  }

  // False after the deadline; throws the failure of ended work.
  bool await(const Deadline& deadline) {
    if (base::HostQueue::inside_callback())
      base::fail(Status::kBusy, "a callback cannot wait for ", name_of(work_));
    {
      base::HostQueue& host = job_->environment.host;
      std::optional<base::HostQueue::Entry> entry;
      if (!host.entered_here()) entry.emplace(host);
      while (!host.wait([&] { return idle(); }, Deadline::earlier(deadline, next_check()))) {
        if (deadline.passed()) return false;
        group_->abandon_hung();
      }
    }
    work_ = Work::kNone;
    turn_.reset();
    {
      std::lock_guard lock(clock_mutex_);
      if (running_) elapsed_ += seconds_since(started_);
      running_ = false;
    }
    if (const std::optional<base::Error> failure = group_->failure()) {
      // The host may end the program because of it.
      if (job_->environment.processes) job_->environment.processes->drain();
      const std::string left = drop_group();
      set_state(TrainerState::kFailed);
      // Failures after the reported one are ignored.
      if (training_.checkpoints && failure->status() != Status::kCancelled)
        training_.checkpoints->forget_failure();
      throw base::Error(failure->status(), failure->what() + left, failure->rank(),
                        failure->system_error());
    }
    set_state(training_.position.finished ? TrainerState::kFinished : TrainerState::kIdle);
    return true;
  }

  // Reports a failure once earlier saves are on disk, unless the host canceled.
  bool idle() const {
    if (!group_->idle()) return false;
    if (!training_.checkpoints || training_.checkpoints->idle()) return true;
    const std::optional<base::Error> failure = group_->failure();
    return !failure || failure->status() == Status::kCancelled;
  }

  const data::Fingerprint& data() { return training_.fingerprint(*job_); }

  void make_writer() {
    if (!job_->first_process()) return;
    training_.checkpoints =
        std::make_unique<CheckpointWriter>(*job_, data(), training_.id, *checkpoints_,
                                           [&host = job_->environment.host] { host.notify(); });
  }

  // All parts of a checkpoint of the current state, in separate memory.
  CheckpointFiles copy_of_all() {
    CheckpointFiles files;
    Position position = training_.position;
    if (const double asked = training_.asked_rate; !std::isnan(asked)) position.set_rate = asked;
    copy_files(*job_, data(), position, training_, files);
    files.best = best_weights(*job_, training_);
    return files;
  }

  // Collective: runs the result of `prepare` in the first process, for all. It runs on a thread of
  // its own, because a disk may take longer than processes wait for each other.
  void do_in_first_process(const std::string& call,
                           const std::function<std::function<void()>()>& prepare) {
    const Meeting under_way(training_);
    const base::CancelToken cancel = new_call();
    if (!job_->environment.processes) return prepare()();
    training_.set_world_size(
        job_->config, world_size(exchange_reports(*job_, call, report_of(*job_, [] { return ""; }),
                                                  cancel, Ending::kForArrived)));
    std::optional<base::Background> worker;
    const auto work_on = [&]() -> std::string {
      if (!job_->first_process()) return "";
      if (!worker) worker.emplace(prepare());
      const auto slice = std::min<int64_t>(job_->environment.meet_timeout_ms / 4 + 1, 200);
      if (!worker->over(std::chrono::milliseconds(slice))) return "not yet";
      worker->finish();
      return "";
    };
    while (!exchange_reports(*job_, call + ": end", report_of(*job_, work_on), cancel,
                             Ending::kForAll, 0)
                .front()
                .word.empty()) {
    }
  }

  // Token of a collective call that needs no ranks; cancel() cancels it.
  base::CancelToken new_call() {
    std::lock_guard lock(group_mutex_);
    return call_ = base::CancelToken();
  }

  // The state that a checkpoint gives this trainer. Finds all errors before anything is changed.
  struct Loaded {
    std::string training;
    std::optional<Position> position;
    std::vector<nn::NamedTensor> optimizer;
    std::unique_ptr<nn::Model> model;
    Snapshot best, average;
  };
  Loaded read(const LoadedCheckpoint& from) {
    const CheckpointFiles& files = from.files;
    Loaded parts;
    parts.training = training_id_in(files.state, from.path);
    parts.position = read_state(*job_, training_.world_size(), data(), files.state, from.path);
    parts.optimizer = parse_state(files.optimizer, *job_->model, job_->config.optimizer, from.path);
    parts.model = job_->model->clone();
    const bool has_best = !files.best.tensors.empty();
    if (has_best) load_weights(*parts.model, files.best, from.path);
    if (has_best && job_->config.keep_best) parts.best.take(*parts.model);
    if (!has_best && job_->config.keep_best && parts.position->best_epoch >= 0)
      base::fail(Status::kMismatch, from.path,
                 ": was saved by another training: keep_best is yes, was no, so it has no weights "
                 "of its best validation, of epoch ",
                 parts.position->best_epoch);
    if (parts.position->num_averaged > 0) {
      if (files.average.tensors.empty())
        base::fail(Status::kFormat, from.path, ": has no average of the weights, though ",
                   parts.position->num_averaged, " were averaged");
      load_weights(*parts.model, files.average, from.path);
      parts.average.take(*parts.model);
    }
    load_weights(*parts.model, files.model, from.path);
    return parts;
  }

  void take(Loaded parts, const LoadedCheckpoint& from) {
    drop_group();
    const Position& position = *parts.position;
    Snapshot weights;
    weights.take(*parts.model);
    if (position.finished && parts.average.taken()) weights = parts.average;
    if (position.finished && parts.best.taken()) weights = parts.best;
    {
      const std::lock_guard lock(training_.weights_mutex);
      weights.restore(*job_->model);
      if (parts.average.taken()) parts.average.restore(*training_.average);
      training_.position = position;
    }
    training_.optimizer->load_state(parts.optimizer);
    training_.best = std::move(parts.best);
    training_.last_good = {};
    training_.asked_rate = kNoRate;
    training_.id = parts.training;
    training_.set_progress([&](Progress& p) {
      p = Progress();
      p.state = position.finished ? TrainerState::kFinished : TrainerState::kIdle;
      p.epoch = position.epoch;
      p.num_epochs = job_->config.num_epochs;
      p.step = position.step;
      p.seeds_done = position.sums.seeds;
      p.has_validation = position.has_validation;
      p.validation = position.last;
      p.best_validation = position.best;
      p.best_epoch = position.best_epoch;
    });
    if (!training_.checkpoints) return;
    make_writer();
    if (from.path.starts_with(training_.checkpoints->folder()))
      training_.checkpoints->protect(from.path.substr(from.path.rfind('/') + 1));
  }

  // Strict; errors name the file.
  static void load_weights(nn::Model& model, const io::StateFile& state, const std::string& path) {
    try {
      model.load_state(state);
    } catch (const base::Error& error) {
      base::fail(error.status(), path, ": ", error.what());
    }
  }

  // Text about quarantined devices; otherwise empty.
  std::string drop_group() {
    std::unique_ptr<RankGroup> group;
    {
      std::lock_guard lock(group_mutex_);
      group = std::move(group_);
    }
    if (!group || !on_devices()) return {};
    const device::Use use;
    if (!use) {
      (void)group.release();  // memory of its ranks on the device stays allocated
      return {};
    }
    std::string left = RankGroup::destroy(std::move(group));
    if (!left.empty())
      job_->environment.log.add(base::LogLevel::kError, left.substr(left.find(' ') + 1));
    return left;
  }

  // Waiting calls detect devices that do not finish.
  Deadline next_check() const {
    return job_->config.devices.empty() ? Deadline() : Deadline::after_ms(100);
  }

  bool on_devices() const { return !job_->config.devices.empty(); }

  std::shared_ptr<const Job> job_;
  const std::shared_ptr<Training> shared_training_;  // shared with abandoned ranks
  Training& training_ = *shared_training_;
  std::string jsonl_path_, tensorboard_folder_;
  std::optional<CheckpointConfig> checkpoints_;

  std::unique_ptr<JointNormsTurn> turn_;  // held while training, if turns matter
  std::atomic<Work> work_{Work::kNone};
  data::SplitPart part_ = data::SplitPart::kValidation;
  int64_t steps_before_ = 0;
  std::string path_;  // file for the rows of all nodes

  mutable std::mutex clock_mutex_;  // guards the three below
  Clock::time_point started_;
  double elapsed_ = 0;
  bool running_ = false;

  mutable std::mutex group_mutex_;  // guards the two below against cancel()
  std::unique_ptr<RankGroup> group_;
  base::CancelToken call_;
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
