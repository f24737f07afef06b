// What a rank does at the end of an epoch: validation, what is kept of it, the report; and what the
// host sees of the progress.
#include <algorithm>
#include <numeric>

#include "train/eval/metric.h"
#include "train/ranks/rank.h"

namespace gnnmg::train {
namespace {

using base::Status;
using data::SplitPart;

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
  to.peer_wait_seconds = sums.peers;
}

}  // namespace

void Rank::end_epoch() {
  const TrainerConfig& c = job_.config;
  const int64_t epoch = position_.epoch;
  const bool last_epoch = epoch + 1 == c.num_epochs;
  EpochReport report;
  if (device_) {
    const feature::DeviceTraffic all = source_->traffic(device_->get().queue);
    tell_times({all.rows - traffic_.rows, all.host_rows - traffic_.host_rows,
                all.peer_rows - traffic_.peer_rows, all.host_bytes - traffic_.host_bytes});
  }
  report.evaluated = c.evaluate_every > 0 && ((epoch + 1) % c.evaluate_every == 0 || last_epoch) &&
                     !job_.split->part(SplitPart::kValidation).empty();
  if (report.evaluated) {
    const Clock::time_point start = Clock::now();
    if (leads_) training_.set_progress([](Progress& p) { p.evaluating = true; });
    report.validation = evaluate_part(SplitPart::kValidation);
    report.evaluation_seconds = seconds_since(start);
  }
  // An evaluation may have gathered, too.
  if (device_) traffic_ = source_->traffic(device_->get().queue);
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
  find_slowest(sums, report);  // all ranks have told theirs behind it
  report.ranks = training_.times();

  int64_t without_improvement = position_.without_improvement;
  const double reached = metric_value(c.best_by, report.validation);
  const bool tells = report.evaluated && job_.validation_tells;
  if (tells) {
    report.best = metric_better(c.best_by, reached, position_.best);
    without_improvement = report.best ? 0 : without_improvement + 1;
  }
  const bool finished = last_epoch || (c.early_stop_patience > 0 && report.evaluated &&
                                       without_improvement >= c.early_stop_patience);
  if (finished && !report.best) make_room();

  commit([&] {
    Position& p = position_;
    if (report.evaluated) {
      p.last = reached;
      p.has_validation = true;
      p.without_improvement = without_improvement;
      if (tells) p.schedule.observe(report.best);
      if (report.best) {
        p.best = p.last;
        p.best_epoch = epoch;
        if (leads_ && c.keep_best) keep_best();
      }
    }
    ++p.epoch;
    p.step = 0;
    p.sums = {};
    p.finished = finished;
    using Why = CheckpointWriter::Why;
    if (writes() && (p.finished || report.best || training_.checkpoints->due_after_epoch()))
      save(report.best ? Why::kBest : p.finished ? Why::kEnd : Why::kDue);
    if (p.finished && leads_ && training_.best.taken()) training_.best.restore(*model_);
  });
  show();
  if (leads_) {
    if (device_) hand_to_host();  // before the host's function sees it
    if (training_.log) training_.log->add(report);
    if (training_.on_epoch) {
      int32_t answer = 0;
      note(comm::Phase::kCallback);
      job_.environment.host.call([&] { answer = training_.on_epoch(report); }, group_.cancel);
      if (answer != 0)
        base::fail(Status::kCallback, "the epoch callback answered ", answer, " after epoch ",
                   epoch);
      note(comm::Phase::kIdle);
    }
  }
  if (position_.finished) finish();
}

void Rank::keep_best() {
  if (!device_) return training_.best.take(*model_);
  Snapshot best;
  best.take_to_host(*model_);
  group_.door->pass([&] { training_.best = std::move(best); });
}

void Rank::find_slowest(const EpochSums& sums, EpochReport& report) {
  const int64_t world = comm_->world_size();
  std::vector<double> busy(world);
  busy[rank_] = sums.seconds - sums.reduce;
  comm_->all_reduce({busy.data(), base::DType::kF64, {world}}, comm::ReduceOp::kSum, wait());
  exchange_->mark();
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

void Rank::tell_times(const feature::DeviceTraffic& traffic) {
  const EpochSums& sums = position_.sums;
  RankTimes times;
  times.rank = rank_;
  if (device_) times.device = device_->get().index;
  times.epoch = position_.epoch;
  times.steps = position_.step;
  show_seconds(sums, times);
  times.idle_seconds = std::max(0.0, sums.seconds - sums.compute - sums.reduce - sums.optimizer);
  times.bus_bytes = sums.bus_bytes + traffic.host_bytes;
  times.rows = traffic.rows;
  times.rows_there = traffic.rows - traffic.host_rows;
  training_.set_times(rank_ - group_.comm->first_rank(), times);
}

void Rank::show() {
  if (position_.step > 0) tell_times();
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
