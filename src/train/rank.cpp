#include "train/rank.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <thread>

#include "base/file.h"
#include "data/arrays.h"
#include "train/exit.h"
#include "train/metric.h"
#include "train/take_over.h"
#include "train/tensors.h"

namespace gnnmg::train {
namespace {

using base::Status;
using comm::Phase;
using data::SplitPart;

constexpr int64_t kBadSteps = 3;  // steps in a row without a finite loss that end training

// To a report of the epoch, or to the progress in it.
template <typename To>
void show_seconds(const EpochSums& sums, To& to) {
  to.seconds = sums.seconds;
  to.wait_seconds = sums.wait;
  to.sample_seconds = sums.sample;
  to.gather_seconds = sums.gather;
  to.compute_seconds = sums.compute;
  to.reduce_seconds = sums.reduce;
  to.optimizer_seconds = sums.optimizer;
}

// "; features x, row R, column C: ..." where one of the features is not finite, which is then why
// training diverged. Those in mapped files are not read for it: their file may shrink meanwhile.
std::string cause_in(const Job& job) {
  const auto* sparse = std::get_if<base::CsrMatrix>(job.features);
  const base::Tensor& values = sparse ? sparse->values : std::get<base::Tensor>(*job.features);
  if (base::MappedFile::behind(values.owner())) return {};
  try {
    base::ThreadPool pool(1);
    data::check_finite(*job.features, base::text("features ", job.dataset->feature), pool);
    return {};
  } catch (const base::Error& error) {
    return base::text("; ", error.what());
  }
}

}  // namespace

Rank::Rank(const Job& job, Training& training, GroupShared& group, int rank)
    : job_(job),
      training_(training),
      group_(group),
      rank_(rank),
      leads_(rank == group.comm->first_rank()),
      position_(job.config) {
  connect();
  if (leads_) {
    model_ = job_.model;
    optimizer_ = training_.optimizer.get();
  } else {
    model_ = job_.model->clone();
    own_optimizer_ = Optimizer::create(*model_, job_.config.optimizer);
    own_optimizer_->load_state(training_.optimizer->state());
    optimizer_ = own_optimizer_.get();
  }
  position_ = training_.position;
  loader_ = make_loader(job_.split->part(SplitPart::kTrain), loader_config());
  joint_norms_ = job_.config.sync_batch_norm && model_->batch_statistics_width() > 0;
  exchange_ =
      StepExchange::create(job_.config.deterministic, *model_, *comm_, position_.batches_per_step);
  comm_->barrier(wait());  // nobody reads the first replica any more
}

void Rank::connect() {
  comm::Wait patient = wait();
  if (spread()) patient.deadline = base::Deadline::after_ms(job_.environment.meet_timeout_ms);
  comm_ = group_.comm->connect(rank_, patient);
  note(Phase::kStarting);
  if (!spread()) return;
  find_leaders();
  take_over(job_, training_, *comm_, leads_, [this] { return wait(); });
  comm_->barrier(wait());  // each process's first replica is what rank 0's is
}

void Rank::find_leaders() {
  int64_t own = group_.comm->first_rank();
  std::vector<int64_t> all(comm_->world_size());
  std::vector<base::TensorView> outputs;
  for (int64_t& leader : all) outputs.push_back({&leader, base::DType::kI64, {1}});
  comm_->all_gather({&own, base::DType::kI64, {1}}, outputs, wait());
  leaders_.assign(all.begin(), all.end());
}

void Rank::note(Phase phase) { comm_->set_position({position_.epoch, position_.step, phase}); }

void Rank::cancel() noexcept {
  std::lock_guard lock(loaders_);
  if (loader_) loader_->cancel();
  if (evaluation_loader_) evaluation_loader_->cancel();
}

comm::Wait Rank::wait() const {
  comm::Wait wait;
  wait.deadline = base::Deadline::after_ms(job_.config.deadline_ms);
  wait.cancel = group_.cancel;
  wait.excused = [&host = job_.environment.host] { return host.has_calls(); };
  wait.stall = base::Deadline::after_ms(job_.config.stall_limit_ms);
  return wait;
}

loader::LoaderConfig Rank::loader_config() const {
  const TrainerConfig& c = job_.config;
  loader::LoaderConfig config;
  config.plan = {.batch_size = c.batch_size,
                 .batches_per_step = position_.batches_per_step,
                 .rank = rank_,
                 .world_size = comm_->world_size(),
                 .partition = c.partition,
                 .shuffle = c.shuffle,
                 .drop_last = c.drop_last,
                 .seed = c.seed};
  config.num_threads = c.loader_threads;
  config.prefetch = c.prefetch;
  config.gather = !reads_table(*job_.store);
  config.sample_seed = c.seed;
  return config;
}

std::unique_ptr<loader::Loader> Rank::make_loader(std::span<const int64_t> ids,
                                                  const loader::LoaderConfig& config) {
  auto made = std::make_unique<loader::Loader>(ids, job_.sampler, job_.store, config,
                                               &job_.environment.host);
  if (group_.cancel.cancelled()) made->cancel();
  return made;
}

void Rank::commit(const std::function<void()>& change) {
  group_.cancel.check("training");
  change();
  if (leads_) training_.position = position_;
}

bool Rank::agree(bool flag) {
  double value = flag ? 1 : 0;
  comm_->all_reduce({&value, base::DType::kF64, {1}}, comm::ReduceOp::kMax, wait());
  return value > 0;
}

void Rank::hand_to_host() {
  if (leads_) handed_.take(*model_);
}

void Rank::follow_host() {
  if (!agree(handed_.taken() && !handed_.equals(*model_))) return;
  if (leads_) training_.last_good = {};
  take_over_weights(job_, *model_, *comm_, leads_, [this] { return wait(); });
}

void Rank::train(int64_t max_steps) {
  stop_agreed_ = false;
  while (!position_.finished && !stop_agreed_) {
    seek_loader();
    if (position_.step == num_steps_) {
      end_epoch();
    } else {
      if (max_steps-- == 0) break;
      step();
    }
  }
  if (stop_agreed_ && !position_.finished && writes())
    training_.checkpoints->take(position_, training_, CheckpointWriter::Why::kEnd);
  if (stop_agreed_ || position_.finished) flush();
  note(Phase::kIdle);
}

void Rank::flush() {
  note(Phase::kSaving);
  // A disk may take longer than ranks wait for each other, so they meet while it writes.
  const std::chrono::milliseconds slice(std::clamp<int64_t>(job_.config.deadline_ms / 4, 1, 500));
  std::array<double, 2> state;  // the writer is at work; it has failed
  do {
    state = {};
    if (writes()) {
      const Clock::time_point until = Clock::now() + slice;
      while (!training_.checkpoints->idle() && Clock::now() < until) {
        group_.cancel.check("training");
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      state = {training_.checkpoints->idle() ? 0.0 : 1.0,
               training_.checkpoints->failed() ? 1.0 : 0.0};
    }
    comm_->all_reduce({state.data(), base::DType::kF64, {2}}, comm::ReduceOp::kMax, wait());
  } while (state[0] > 0);
  if (state[1] > 0) write_failed();
}

void Rank::seek_loader() {
  if (loader_epoch_ == position_.epoch && loader_step_ == position_.step) return;
  // The loader runs ahead into the next epoch while the last step of this one is worked on.
  const bool ended = position_.step > 0 && position_.step == num_steps_;
  if (ended && loader_epoch_ == position_.epoch + 1) return;
  loader_->start_epoch(static_cast<uint64_t>(position_.epoch), position_.step);
  loader_epoch_ = position_.epoch;
  loader_step_ = position_.step;
  num_steps_ = loader_->plan().num_steps();
  num_batches_ = loader_->plan().num_batches();
}

loader::BatchRef Rank::next_batch() {
  note(Phase::kSampling);
  while (true) {
    group_.cancel.check("training");
    std::optional<loader::BatchRef> batch = loader_->next(base::Deadline::after_ms(200));
    if (!batch) continue;
    if (!*batch)
      base::fail(Status::kInternal, "the loader ended at step ", position_.step, " of ",
                 num_steps_);
    if ((*batch)->last_of_step && ++loader_step_ == num_steps_ &&
        position_.epoch + 1 < job_.config.num_epochs) {
      loader_->start_epoch(static_cast<uint64_t>(++loader_epoch_));
      loader_step_ = 0;
    }
    return std::move(*batch);
  }
}

nn::ForwardArgs Rank::args_of(const loader::Batch& batch, bool training) const {
  nn::ForwardArgs args;
  args.input = input_of(batch, *job_.store);
  args.blocks = batch.sample.blocks;
  args.graph = job_.dataset->graph;
  args.node_ids = {batch.sample.node_ids.data(), static_cast<size_t>(batch.sample.num_nodes())};
  args.graph_ptr = batch.sample.graph_ptr.span();
  args.training = training;
  args.dropout = {job_.config.seed, batch.epoch, static_cast<uint64_t>(batch.number)};
  return args;
}

at::Tensor Rank::forward(const loader::Batch& batch, bool training) {
  return model_->forward(args_of(batch, training));
}

StepSums Rank::add_loss(const loader::Batch& batch, const at::Tensor& logits,
                        at::Tensor& total) const {
  StepSums sums;
  const nn::Targets targets = nn::gather_targets(*job_.dataset, batch.seeds, logits.scalar_type());
  const nn::LossSum loss = nn::loss_sum(job_.config.loss, logits, targets);
  const double value = loss.sum.item<double>();
  if (std::isfinite(value)) {
    sums.loss = value;
    total = total.defined() ? total.add(loss.sum) : loss.sum;
  } else {
    sums.bad = true;
  }
  sums.weight = loss.weight;
  sums.seeds = static_cast<int64_t>(batch.seeds.size());
  const Correct correct = count_correct(job_.dataset->task, logits, targets.labels);
  sums.correct = correct.correct;
  sums.labelled = correct.labelled;
  return sums;
}

StepSums Rank::run_batch(const loader::Batch& batch) {
  at::Tensor total;
  const StepSums sums = add_loss(batch, forward(batch, true), total);
  if (total.defined()) total.backward();
  return sums;
}

StepSums Rank::run_together(std::span<const loader::BatchRef> batches, double& reduce_seconds) {
  const nn::SumOverRanks sum = [&](at::Tensor& values) {
    if (comm_->world_size() == 1) return;
    const Clock::time_point start = Clock::now();
    comm_->all_reduce({values.data_ptr(), base::DType::kF64, {values.numel()}},
                      comm::ReduceOp::kSum, wait());
    reduce_seconds += seconds_since(start);
  };
  model_->take_batch_statistics();  // of a step that was given up
  std::vector<nn::ForwardArgs> args;
  for (const loader::BatchRef& batch : batches) args.push_back(args_of(*batch, true));
  const std::vector<at::Tensor> logits = model_->forward_step(args, sum);
  StepSums sums;
  at::Tensor total;
  for (size_t i = 0; i < batches.size(); ++i) sums.add(add_loss(*batches[i], logits[i], total));
  // Of a mean of means each rank's part has to be right before gradients cross the ranks.
  if (total.defined() && by_rank() && sums.weight > 0) total = total.div(sums.weight);
  // All ranks or none: a rank without a loss still takes part in the gradients of the others.
  if (total.defined() && !sums.bad)
    total.backward();
  else
    model_->absent_backward(sum);
  return sums;
}

void Rank::step() {
  const Clock::time_point start = Clock::now();
  StepSums sums;
  EpochSums times;
  std::vector<loader::BatchRef> together;
  const int64_t first = position_.step * exchange_->batches_per_step();
  exchange_->begin(std::min(exchange_->batches_per_step(), num_batches_ - first));
  for (bool last = false; !last;) {
    const Clock::time_point asked = Clock::now();
    const loader::BatchRef batch = next_batch();
    const Clock::time_point got = Clock::now();
    times.wait += std::chrono::duration<double>(got - asked).count();
    times.sample += batch->sample_seconds;
    times.gather += batch->gather_seconds;
    note(Phase::kComputing);
    last = batch->last_of_step;
    if (batch->empty()) continue;
    if (joint_norms_) {
      together.push_back(batch);
      continue;
    }
    const StepSums own = run_batch(*batch);
    sums.add(own);
    const Clock::time_point ran = Clock::now();
    note(Phase::kExchanging);
    times.compute += std::chrono::duration<double>(ran - got).count();
    exchange_->add(
        own, batch->number - first,
        model_->batch_statistics_width() > 0 ? model_->take_batch_statistics()[0] : at::Tensor(),
        wait());
    times.reduce += seconds_since(ran);
  }

  at::Tensor joint_statistics;  // the same on all ranks
  if (joint_norms_) {
    const Clock::time_point got = Clock::now();
    double reduce = 0;
    sums = run_together(together, reduce);
    joint_statistics = model_->take_batch_statistics();
    together.clear();
    times.compute += seconds_since(got) - reduce;
    times.reduce += reduce;
  }

  const Clock::time_point computed = Clock::now();
  if (by_rank() && sums.weight > 0 && !joint_norms_) scale_gradients(*model_, 1 / sums.weight);
  sums.stop = training_.stop.load();
  sums.write_failed = writes() && training_.checkpoints->failed();
  note(Phase::kExchanging);
  exchange_->reduce(sums, wait());
  times.reduce += seconds_since(computed);

  const Clock::time_point reduced = Clock::now();
  note(Phase::kUpdating);
  const double share = by_rank()         ? 1.0 / comm_->world_size()
                       : sums.weight > 0 ? 1 / sums.weight
                                         : 1.0;
  const double norm = scale_gradients(*model_, share);
  sums.bad = sums.bad || !std::isfinite(norm);
  if (!sums.bad && job_.config.clip_norm > 0) clip_to(*model_, norm, job_.config.clip_norm);
  const double rate = job_.config.optimizer.learning_rate *
                      position_.schedule.factor(position_.epoch, position_.step, num_steps_);
  commit([&] {
    EpochSums& epoch = position_.sums;
    position_.bad_steps = sums.bad ? position_.bad_steps + 1 : 0;
    position_.last_loss = sums.bad ? std::nan("") : sums.weight > 0 ? sums.loss / sums.weight : 0;
    if (!sums.bad) {
      if (leads_) training_.last_good.take(*model_);
      if (sums.weight > 0) {
        optimizer_->set_learning_rate(rate);
        optimizer_->step();
      }
      if (joint_norms_) model_->fold_batch_statistics(joint_statistics);
      for (const at::Tensor& row : exchange_->statistics())
        model_->fold_batch_statistics(row.unsqueeze(0));
      epoch.loss += sums.loss;
      epoch.weight += sums.weight;
      epoch.correct += sums.correct;
      epoch.labelled += sums.labelled;
    }
    epoch.seeds += sums.seeds;
    epoch.learning_rate = rate;
    epoch.wait += times.wait;
    epoch.sample += times.sample;
    epoch.gather += times.gather;
    epoch.compute += times.compute;
    epoch.reduce += times.reduce;
    epoch.optimizer += seconds_since(reduced);
    epoch.seconds += seconds_since(start);
    ++position_.step;
    ++position_.total_steps;
  });
  stop_agreed_ = sums.stop;
  show();
  if (writes() && training_.checkpoints->due(position_.total_steps)) {
    note(Phase::kSaving);
    training_.checkpoints->take(position_, training_, CheckpointWriter::Why::kDue);
  }
  if (leads_ && position_.total_steps < 3) ExitGuard::renew();
  if (position_.bad_steps == kBadSteps) diverged();
  if (sums.write_failed) write_failed();
}

bool Rank::by_rank() const { return job_.config.loss_average == LossAverage::kRanks; }

bool Rank::writes() const { return rank_ == 0 && training_.checkpoints; }

void Rank::write_failed() {
  // One speaks, and training may go on from here.
  if (rank_ != 0) comm_->barrier(wait());
  training_.checkpoints->throw_failure();
}

void Rank::meet_here() {
  const int64_t here = group_.comm->num_local();
  const int64_t all = (group_.arrived.fetch_add(1) / here + 1) * here;
  while (group_.arrived < all) {
    group_.cancel.check("training");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void Rank::leave_together() {
  // Only who has seen it comes here; one that has left in the meantime had.
  try {
    comm_->barrier(wait());
  } catch (const base::Error&) {
    group_.cancel.check("training");
  }
  meet_here();
}

void Rank::diverged() {
  // All see this in the same numbers. The first rank of each process speaks for it; its other ranks
  // wait here until that failure has reached them.
  leave_together();
  while (!leads_) {
    group_.cancel.check("training");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  commit([&] {
    position_.bad_steps = 0;
    if (training_.last_good.taken()) training_.last_good.restore(*model_);
  });
  base::fail(Status::kDiverged, "the loss or its gradient was not finite in ", kBadSteps,
             " steps in a row, the last of them step ", position_.step - 1, " of epoch ",
             position_.epoch, "; the model holds the weights of the last good step",
             cause_in(job_));
}

void Rank::end_epoch() {
  const TrainerConfig& c = job_.config;
  const int64_t epoch = position_.epoch;
  const bool last_epoch = epoch + 1 == c.num_epochs;
  EpochReport report;
  report.evaluated = c.evaluate_every > 0 && ((epoch + 1) % c.evaluate_every == 0 || last_epoch) &&
                     !job_.split->part(SplitPart::kValidation).empty();
  if (report.evaluated) {
    const Clock::time_point start = Clock::now();
    if (leads_) training_.set_progress([](Progress& p) { p.evaluating = true; });
    report.validation = evaluate_part(SplitPart::kValidation);
    report.evaluation_seconds = seconds_since(start);
  }
  stop_agreed_ = agree(training_.stop.load());

  const EpochSums sums = position_.sums;
  report.epoch = epoch;
  report.num_epochs = c.num_epochs;
  report.steps = position_.step;
  report.train_loss = sums.loss / std::max(sums.weight, 1e-300);
  report.train_accuracy =
      static_cast<double>(sums.correct) / static_cast<double>(std::max<int64_t>(sums.labelled, 1));
  report.learning_rate = sums.learning_rate;
  show_seconds(sums, report);
  report.seeds_per_second = static_cast<double>(sums.seeds) / std::max(sums.seconds, 1e-9);
  find_slowest(sums, report);

  commit([&] {
    Position& p = position_;
    if (report.evaluated) {
      p.last = metric_value(c.best_by, report.validation);
      report.best = metric_better(c.best_by, p.last, p.best);
      p.has_validation = true;
      p.without_improvement = report.best ? 0 : p.without_improvement + 1;
      p.schedule.observe(report.best);
      if (report.best) {
        p.best = p.last;
        p.best_epoch = epoch;
        if (leads_ && c.keep_best) training_.best.take(*model_);
      }
    }
    ++p.epoch;
    p.step = 0;
    p.sums = {};
    p.finished = last_epoch || (c.early_stop_patience > 0 && report.evaluated &&
                                p.without_improvement >= c.early_stop_patience);
    using Why = CheckpointWriter::Why;
    if (writes() && (p.finished || report.best || training_.checkpoints->due_after_epoch()))
      training_.checkpoints->take(p, training_,
                                  report.best  ? Why::kBest
                                  : p.finished ? Why::kEnd
                                               : Why::kDue);
    if (p.finished && leads_ && training_.best.taken()) training_.best.restore(*model_);
  });
  show();
  if (leads_) {
    if (training_.log) training_.log->add(report);
    if (training_.on_epoch) {
      int32_t answer = 0;
      job_.environment.host.call([&] { answer = training_.on_epoch(report); }, group_.cancel);
      if (answer != 0)
        base::fail(Status::kCallback, "the epoch callback answered ", answer, " after epoch ",
                   epoch);
    }
  }
  if (position_.finished) finish();
}

void Rank::find_slowest(const EpochSums& sums, EpochReport& report) {
  const int64_t world = comm_->world_size();
  std::vector<double> busy(world);
  busy[rank_] = sums.seconds - sums.reduce;
  comm_->all_reduce({busy.data(), base::DType::kF64, {world}}, comm::ReduceOp::kSum, wait());
  const auto most = std::ranges::max_element(busy);
  report.slowest_rank = static_cast<int32_t>(most - busy.begin());
  report.most_busy_seconds = *most;
  report.mean_busy_seconds =
      std::accumulate(busy.begin(), busy.end(), 0.0) / static_cast<double>(world);
}

void Rank::finish() {
  comm_->barrier(wait());  // the first rank of each process holds the best weights now
  if (!leads_ && training_.best.taken()) training_.best.restore(*model_);
}

nn::Metrics Rank::evaluate(SplitPart part) {
  if (spread()) check_part(part);
  const nn::Metrics metrics = evaluate_part(part);
  note(Phase::kIdle);
  return metrics;
}

void Rank::check_part(SplitPart part) {
  int64_t own = static_cast<int64_t>(part);
  std::vector<int64_t> all(comm_->world_size());
  std::vector<base::TensorView> outputs;
  for (int64_t& other : all) outputs.push_back({&other, base::DType::kI64, {1}});
  comm_->all_gather({&own, base::DType::kI64, {1}}, outputs, wait());
  for (size_t r = 1; r < all.size(); ++r) {
    if (all[r] == all[0]) continue;
    leave_together();
    throw base::Error(
        Status::kMismatch,
        base::text("evaluation: rank ", r, " is asked for the ",
                   part_name(static_cast<SplitPart>(all[r])), " part, rank 0 for the ",
                   part_name(static_cast<SplitPart>(all[0])), " part"),
        static_cast<int>(r));
  }
}

// More than all are no more than all.
int64_t Rank::chunk() const {
  return std::min(job_.config.eval_batch_size, std::max<int64_t>(job_.dataset->num_samples(), 1));
}

Participant Rank::participant() {
  return {.comm = *comm_,
          .wait = [this] { return wait(); },
          .rows = group_.rows,
          .cancel = group_.cancel,
          .chunk = chunk(),
          .leaders = leaders_};
}

base::Tensor Rank::embed() {
  note(Phase::kEvaluating);
  return train::embed(*model_, *job_.dataset, participant());
}

void Rank::embed_to_file(const std::string& path) {
  note(Phase::kEvaluating);
  train::embed_to_file(*model_, *job_.dataset, participant(), path);
}

nn::Metrics Rank::evaluate_part(SplitPart part) {
  note(Phase::kEvaluating);
  const Subject subject{*model_, *job_.dataset, job_.config.loss, job_.split->part(part)};
  const Participant participant = this->participant();
  // Of graphs nothing is sampled: there is one way.
  if (job_.config.evaluation == EvaluationMode::kFull && !job_.dataset->of_graphs())
    return evaluate_full(subject, participant);

  loader::LoaderConfig config = loader_config();
  config.plan.batch_size = chunk();
  config.plan.batches_per_step = 0;
  config.plan.partition = loader::Partition::kGlobal;
  config.plan.shuffle = config.plan.drop_last = false;
  config.purpose = base::Purpose::kEvaluationSample;
  {
    std::lock_guard lock(loaders_);
    evaluation_loader_ = make_loader(subject.ids, config);
  }
  const nn::Metrics metrics =
      evaluate_sampled(subject, participant, *evaluation_loader_,
                       [&](const loader::Batch& batch) { return forward(batch, false); });
  std::lock_guard lock(loaders_);
  evaluation_loader_.reset();
  return metrics;
}

void Rank::show() {
  if (!leads_) return;
  training_.set_progress([&](Progress& p) {
    const Position& at = position_;
    p.evaluating = false;
    p.epoch = at.epoch;
    p.step = at.step;
    p.num_steps = num_steps_;
    p.seeds_done = at.sums.seeds;
    if (at.sums.weight > 0) p.loss = at.sums.loss / at.sums.weight;
    if (at.sums.labelled > 0)
      p.accuracy = static_cast<double>(at.sums.correct) / static_cast<double>(at.sums.labelled);
    if (at.sums.seconds > 0) {
      p.seeds_per_second = static_cast<double>(at.sums.seeds) / at.sums.seconds;
      show_seconds(at.sums, p);
    }
    p.has_validation = at.has_validation;
    p.validation = at.last;
    p.best_validation = at.best;
    p.best_epoch = at.best_epoch;
  });
}

}  // namespace gnnmg::train
