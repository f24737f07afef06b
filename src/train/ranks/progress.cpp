#include "train/ranks/progress.h"

#include <algorithm>
#include <numeric>

namespace gnnmg::train {
namespace {

// Exact, and 0 without labels.
double quotient(int64_t part, int64_t all) {
  return static_cast<double>(part) / static_cast<double>(std::max<int64_t>(all, 1));
}

}  // namespace

RankProgress::RankProgress(Training& training, RankComm& comm, const nn::Device* device,
                           std::shared_ptr<const loader::DeviceSource> source)
    : training_(training), comm_(comm), device_(device), source_(std::move(source)) {
  restart_traffic();
}

feature::DeviceTraffic RankProgress::traffic() const {
  return device_ ? source_->traffic(device_->queue) : feature::DeviceTraffic();
}

void RankProgress::restart_traffic() { traffic_ = traffic(); }

void RankProgress::tell_times(const Position& position,
                              const feature::DeviceTraffic& traffic) const {
  const EpochSums& sums = position.sums;
  RankTimes times;
  static_cast<StepSeconds&>(times) = sums;
  times.rank = comm_.rank();
  if (device_) times.device = device_->index;
  times.epoch = position.epoch;
  times.steps = position.step;
  times.idle_seconds = std::max(
      0.0, sums.seconds - sums.compute_seconds - sums.reduce_seconds - sums.optimizer_seconds);
  times.bus_bytes = sums.bus_bytes + traffic.host_bytes;
  times.rows = traffic.rows;
  times.rows_there = traffic.rows - traffic.host_rows;
  training_.set_times(comm_.number(), times);
}

void RankProgress::end_epoch(const Position& position) const {
  if (!device_) return;  // show() has reported everything
  const feature::DeviceTraffic all = traffic();
  tell_times(position, {all.rows - traffic_.rows, all.host_rows - traffic_.host_rows,
                        all.peer_rows - traffic_.peer_rows, all.host_bytes - traffic_.host_bytes});
}

void RankProgress::show_evaluating() const {
  if (comm_.leads()) training_.set_progress([](Progress& p) { p.evaluating = true; });
}

void RankProgress::show(const Position& position, int64_t num_steps) const {
  if (position.step > 0) tell_times(position, {});
  if (!comm_.leads()) return;
  const EpochSums& sums = position.sums;
  training_.set_progress([&](Progress& p) {
    p.evaluating = false;
    p.epoch = position.epoch;
    p.step = position.step;
    p.num_steps = num_steps;
    p.seeds_done = sums.seeds;
    if (sums.weight > 0) p.loss = sums.mean_loss();
    if (sums.labeled > 0) p.accuracy = quotient(sums.correct, sums.labeled);
    if (sums.seconds > 0) {
      p.seeds_per_second = static_cast<double>(sums.seeds) / sums.seconds;
      static_cast<StepSeconds&>(p) = sums;
    }
    p.has_validation = position.has_validation;
    p.validation = position.last;
    p.best_validation = position.best;
    p.best_epoch = position.best_epoch;
  });
}

void RankProgress::fill(EpochReport& report, const Position& position) const {
  const EpochSums& sums = position.sums;
  static_cast<StepSeconds&>(report) = sums;
  report.epoch = position.epoch;
  report.steps = position.step;
  report.train_loss = sums.loss / std::max(sums.weight, 1e-300);
  report.train_accuracy = quotient(sums.correct, sums.labeled);
  report.learning_rate = sums.learning_rate;
  report.seeds_per_second = static_cast<double>(sums.seeds) / std::max(sums.seconds, 1e-9);
  find_slowest(report, sums);  // collective: all ranks have set their times after it
  report.ranks = training_.times();
}

void RankProgress::find_slowest(EpochReport& report, const EpochSums& sums) const {
  const int64_t world = comm_.world_size();
  std::vector<double> busy(world);
  busy[comm_.rank()] = sums.seconds - sums.reduce_seconds;
  comm_.get().all_reduce({busy.data(), base::DType::kF64, {world}}, comm::ReduceOp::kSum,
                         comm_.wait());
  comm_.restart_busy();
  const auto most = std::ranges::max_element(busy);
  report.slowest_rank = static_cast<int32_t>(most - busy.begin());
  report.most_busy_seconds = *most;
  report.mean_busy_seconds =
      std::accumulate(busy.begin(), busy.end(), 0.0) / static_cast<double>(world);
}

}  // namespace gnnmg::train
