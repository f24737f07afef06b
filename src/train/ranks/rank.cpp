#include "train/ranks/rank.h"

#include <bit>
#include <cmath>
#include <thread>

#include "base/file.h"
#include "data/arrays.h"
#include "device/wait.h"
#include "train/eval/metric.h"
#include "train/ranks/exit.h"
#include "train/ranks/take_over.h"
#include "train/step/eager_step.h"
#include "train/step/pass.h"

namespace gnnmg::train {
namespace {

using base::Status;
using comm::Phase;
using data::SplitPart;
using Why = CheckpointWriter::Why;

// Logs once a training that a step does not see all parts of the graph.
void tell_of_few_parts(const Job& job, Training& training, const Position& position, int rank) {
  if (!job.book || rank != 0 || position.batches_per_step >= job.book->num_parts() ||
      training.told_of_few_parts.exchange(true))
    return;
  job.environment.log.add(
      base::LogLevel::kInfo,
      base::text("a step has ", position.batches_per_step, " mini-batches, each of one of ",
                 job.book->num_parts(), " parts, so no step sees all parts, which may cost ",
                 "accuracy; batches_per_step ", job.book->num_parts(), " avoids it"));
}

// "; features x, row R, column C: ..." if a feature is not finite and thus the reason of a
// divergence. Mapped files are not read, because they may shrink meanwhile.
std::string cause_in(const Job& job) {
  if (!job.features) return {};
  const auto* sparse = std::get_if<base::CsrMatrix>(job.features);
  const base::Tensor& values = sparse ? sparse->values : std::get<base::Tensor>(*job.features);
  if (base::MappedFile::of(values.owner())) return {};
  try {
    base::ThreadPool pool(1);
    data::check_finite(*job.features, base::text("features ", job.dataset->feature), pool);
    return {};
  } catch (const base::Error& error) {
    return base::text("; ", error.what());
  }
}

void add(EpochSums& epoch, const StepResult& step) {
  if (step.sums.bad)
    epoch.seeds += step.sums.seeds;
  else
    epoch.LossSums::add(step.sums);
  epoch.StepSeconds::add(step.times);
  epoch.bus_bytes += step.bus_bytes;
  epoch.learning_rate = step.learning_rate;
}

}  // namespace

Rank::Rank(const Job& job, Training& training, GroupShared& group, int rank, RankDevice* device)
    : job_(job),
      training_(training),
      position_(job.config),
      comm_(job, group, rank, position_),
      checkpoints_(training, comm_) {
  try {
    // First, because pinning memory may wait for kernels, and those for ranks.
    auto copies = device ? std::make_unique<PinnedCopies>(device->get()) : nullptr;
    comm_.connect();
    training_.set_rank(comm_.number(), rank);
    if (comm_.spread()) {
      take_over(job_, training_, comm_.get(), comm_.leads(), comm_.waits());
      comm_.get().barrier(comm_.wait());  // the processes are equal from here on
    }
    begin(group, device, std::move(copies));
  } catch (...) {
    group.keep(rank, comm_.release());
    throw;
  }
}

void Rank::begin(GroupShared& group, RankDevice* device, std::unique_ptr<PinnedCopies> copies) {
  replica_ = Replica::create(job_, training_, *group.latch, comm_.leads(), device);
  position_ = training_.position;
  loaders_ = std::make_unique<RankLoaders>(job_, comm_, device, position_.batches_per_step);
  const nn::Device* const on = replica_->model().device();
  progress_ = std::make_unique<RankProgress>(training_, comm_, on, loaders_->source());
  evaluation_ =
      std::make_unique<RankEvaluation>(job_, group, comm_, *replica_, *loaders_, std::move(copies));
  tell_of_few_parts(job_, training_, position_, comm_.rank());
  feed_ = std::make_unique<BatchFeed>(job_, comm_, *loaders_, on);
  const StepContext context{job_,   training_,    comm_,      *replica_, *loaders_,
                            *feed_, checkpoints_, *progress_, position_};
  std::unique_ptr<EagerStep> eager = make_eager_step(context);
  // Ranks pin host memory until here, which waits for kernels. No rank may have launched a kernel
  // that waits for other ranks before all have pinned: that would be a deadlock.
  if (device) comm_.meet_here();
  comm_.get().barrier(comm_.wait_for_start());  // all have cloned the first replica
  step_ = choose_step(context, std::move(eager));
}

void Rank::cancel() noexcept {
  feed_->cancel();
  evaluation_->cancel();
}

void Rank::follow_host() {
  if (!comm_.agree(replica_->host_changed())) return;
  replica_->follow_host(comm_);
  step_->follow_weights();
  change([&] { position_.num_averaged = 0; });  // an average of other weights
}

bool Rank::call_off(std::chrono::milliseconds limit) noexcept {
  try {
    step_->call_off();
  } catch (const std::exception&) {  // the command's own failure has been reported
    limit = {};
  }
  return replica_->drain(limit);
}

void Rank::hand_to_host() {
  if (!comm_.leads()) return;
  step_->roll_back();
  replica_->hand_to_host();
}

void Rank::train(int64_t max_steps) {
  const InPrecision precision(replica_->model(), job_.config.precision);
  stop_agreed_ = false;
  agree_on_rate();
  if (!position_.finished)
    if (std::unique_ptr<Step> other = step_->prepare()) step_ = std::move(other);
  const auto take = [&](std::optional<StepResult> result) {
    if (!result) return false;
    commit(*result);
    after_step(*result);
    return true;
  };
  while (!position_.finished && !stop_agreed_) {
    if (const std::optional<StepPlan> plan = next_step(max_steps)) {
      take(step_->run(*plan));
    } else if (!take(step_->finish())) {
      if (position_.step < num_steps_) break;
      end_epoch();
    }
  }
  while (take(step_->finish())) {  // steps that were in flight when the ranks agreed to stop
  }
  end_training();
}

std::optional<StepPlan> Rank::next_step(int64_t& steps_left) {
  const EpochSize epoch = step_->seek(position_);
  num_steps_ = epoch.num_steps;
  const int64_t step = position_.step + step_->in_flight();
  if (step >= num_steps_ || steps_left == 0) return std::nullopt;
  --steps_left;
  return StepPlan{.epoch = position_.epoch,
                  .step = step,
                  .num_batches = epoch.num_batches,
                  .learning_rate = learning_rate(step)};
}

void Rank::agree_on_rate() {
  // A lost GPU is reported with its name here, and not by the exchange.
  if (const RankDevice* device = replica_->device())
    if (const std::optional<base::Error> lost = device->lost()) throw *lost;
  double asked = comm_.leads() ? training_.asked_rate.load() : kNoRate;
  double rate = kNoRate;
  for (const int64_t bits : comm_.gather(std::bit_cast<int64_t>(asked))) {
    const auto other = std::bit_cast<double>(bits);
    if (std::isnan(other)) continue;
    if (!std::isnan(rate) && rate != other) {
      comm_.leave_together();
      base::fail(Status::kMismatch, "one process has set the learning rate to ", rate,
                 ", another one to ", other, ": set the same in all, or in one alone");
    }
    rate = other;
  }
  comm_.restart_busy();
  if (std::isnan(rate)) return;
  change([&] { position_.set_rate = rate; });
  if (comm_.leads()) training_.asked_rate.compare_exchange_strong(asked, kNoRate);
}

double Rank::learning_rate(int64_t step) const {
  const Position& p = position_;
  if (!std::isnan(p.set_rate)) return p.set_rate;
  return job_.config.optimizer.learning_rate * p.schedule.factor(p.epoch, step, num_steps_);
}

void Rank::change(const std::function<void()>& body) {
  comm_.check_cancel();
  // No cancel ends waits for the device within the change.
  const device::TimeoutScope patience(job_.config.deadline_ms, base::CancelToken());
  std::unique_lock lock(training_.weights_mutex, std::defer_lock);
  if (comm_.leads() && !replica_->device()) lock.lock();  // the replica is the host's model
  body();
  replica_->set_position(position_);
}

void Rank::commit(StepResult& result) {
  change([&] {
    step_->apply(result);
    Position& p = position_;
    p.bad_steps = result.sums.bad ? p.bad_steps + 1 : 0;
    p.last_loss = result.sums.bad ? std::nan("") : result.sums.mean_loss();
    add(p.sums, result);
    ++p.step;
    ++p.total_steps;
    average(!result.sums.bad && result.sums.weight > 0);
  });
}

void Rank::average(bool updated) {
  const TrainerConfig& c = job_.config;
  Position& p = position_;
  const bool due = c.average == Average::kEma ? updated : p.step == num_steps_;
  if (c.average == Average::kNone || p.epoch < c.average_from || !due) return;
  replica_->average(p.num_averaged);
  ++p.num_averaged;
}

void Rank::after_step(const StepResult& result) {
  stop_agreed_ = stop_agreed_ || result.sums.stop;
  progress_->show(position_, num_steps_);
  if (checkpoints_.writes() && checkpoints_.due(position_.total_steps)) {
    comm_.note(Phase::kSaving);
    save(Why::kDue);
  }
  if (comm_.leads() && position_.total_steps < 3) watch_exit();
  if (position_.bad_steps == kBadSteps) diverge();
  if (result.sums.write_failed) checkpoints_.throw_failure();
}

void Rank::end_epoch() {
  const TrainerConfig& c = job_.config;
  progress_->end_epoch(position_);
  EpochReport report;
  report.num_epochs = c.num_epochs;
  const int64_t number = position_.epoch + 1;
  report.evaluated = c.evaluate_every > 0 &&
                     (number % c.evaluate_every == 0 || number == c.num_epochs) &&
                     !job_.split->part(SplitPart::kValidation).empty();
  if (report.evaluated) {
    const Clock::time_point start = Clock::now();
    progress_->show_evaluating();
    report.validation = evaluation_->measure(SplitPart::kValidation);
    report.evaluation_seconds = seconds_since(start);
  }
  progress_->restart_traffic();  // an evaluation may have gathered, too
  stop_agreed_ = comm_.agree(training_.stop.load());
  progress_->fill(report, position_);
  commit_epoch(report);
  progress_->show(position_, num_steps_);
  if (comm_.leads()) tell_host(report);
  if (!position_.finished) return agree_on_rate();
  comm_.get().barrier(comm_.wait());  // the first rank of each process holds the best weights now
  if (!comm_.leads()) replica_->end();
}

void Rank::commit_epoch(EpochReport& report) {
  const TrainerConfig& c = job_.config;
  const double reached = metric_value(c.best_by, report.validation);
  const bool tells = report.evaluated && job_.validation_tells;
  int64_t without_improvement = position_.without_improvement;
  if (tells) {
    report.best = metric_better(c.best_by, reached, position_.best);
    without_improvement = report.best ? 0 : without_improvement + 1;
  }
  const bool finished =
      position_.epoch + 1 == c.num_epochs || (c.early_stop_patience > 0 && report.evaluated &&
                                              without_improvement >= c.early_stop_patience);
  if (finished && !report.best) checkpoints_.make_room();
  change([&] {
    Position& p = position_;
    if (report.evaluated) {
      p.last = reached;
      p.has_validation = true;
      p.without_improvement = without_improvement;
    }
    if (tells) p.schedule.observe(report.best);
    if (report.best) {
      p.best = reached;
      p.best_epoch = p.epoch;
      if (comm_.leads() && c.keep_best) replica_->keep_best();
    }
    ++p.epoch;
    p.step = 0;
    p.sums = {};
    p.finished = finished;
    if (checkpoints_.writes() && (finished || report.best || checkpoints_.due_after_epoch()))
      save(report.best ? Why::kBest : finished ? Why::kEnd : Why::kDue);
    if (finished && comm_.leads()) replica_->end();
  });
}

void Rank::tell_host(const EpochReport& report) {
  if (replica_->device()) hand_to_host();  // the host's function may read the model
  if (training_.log) training_.log->add(report);
  if (!training_.on_epoch) return;
  int32_t answer = 0;
  comm_.note(Phase::kCallback);
  job_.environment.host.call([&] { answer = training_.on_epoch(report); }, comm_.cancel());
  if (answer != 0)
    base::fail(Status::kCallback, "the epoch callback answered ", answer, " after epoch ",
               report.epoch);
  comm_.note(Phase::kIdle);
}

void Rank::end_training() {
  if (stop_agreed_ && !position_.finished) {
    checkpoints_.make_room();
    if (checkpoints_.writes()) save(Why::kEnd);
  }
  if (stop_agreed_ || position_.finished) {
    checkpoints_.flush();
    step_->log_summary();
  }
  comm_.note(Phase::kIdle);
}

void Rank::save(Why why) {
  step_->look_back(
      [&] { replica_->show_host(position_, [&] { checkpoints_.take(position_, why); }); });
}

void Rank::diverge() {
  // All ranks find this, from equal numbers. The first rank of each process reports it, and the
  // other ranks wait until that failure cancels them.
  comm_.leave_together();
  while (!comm_.leads()) {
    comm_.check_cancel();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  change([&] {
    position_.bad_steps = 0;
    position_.num_averaged = 0;  // the weights of the last update may be in it
    step_->restore_good();
  });
  base::fail(Status::kDiverged, "the loss or its gradient was not finite in ", kBadSteps,
             " steps in a row, the last of them step ", position_.step - 1, " of epoch ",
             position_.epoch, "; the model holds the weights of the last good step",
             cause_in(job_));
}

}  // namespace gnnmg::train
