#include "train/step/eager_step.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "device/launch_order.h"
#include "nn/torch/parallel.h"
#include "train/step/pass.h"

namespace gnnmg::train {

using comm::Phase;

EagerStep::EagerStep(const StepContext& context)
    : Step(context),
      exchange_(StepExchange::create(c_.job.config.deterministic, c_.replica.model(), c_.comm,
                                     c_.position.batches_per_step)) {}

void EagerStep::replace_captured(std::string why) {
  const bool elsewhere = why.empty();
  if (elsewhere) why = "those of another rank cannot be captured";
  if (c_.job.config.capture == Capture::kOn)
    throw base::Error(
        elsewhere ? base::Status::kAborted : base::Status::kUnsupported,
        base::text("capture: steps on ", c_.replica.device()->name(), " cannot be captured: ", why,
                   "; leave the choice to the trainer"));
  c_.job.environment.log.add(
      base::LogLevel::kInfo,
      base::text("rank ", c_.comm.rank(), ": steps are eager, without padding: ", why));
  const int64_t world = c_.comm.world_size();
  c_.feed.time_queue((exchange_->batches_per_step() + world - 1) / world);
}

std::optional<StepResult> EagerStep::run(const StepPlan& plan) {
  began_ = Clock::now();
  StepResult result;
  result.learning_rate = plan.learning_rate;
  sums_ = {};
  const int64_t first = plan.step * exchange_->batches_per_step();
  exchange_->begin(std::min(exchange_->batches_per_step(), plan.num_batches - first));
  c_.feed.begin_step();
  for (bool last = false; !last;) {
    const loader::BatchRef batch = c_.feed.next(result.times, result.bus_bytes);
    c_.comm.note(Phase::kComputing);
    last = batch->last_of_step;
    if (!batch->empty()) pass(batch, batch->number - first, result.times);
  }
  finish_passes(result.times);
  warn_of_lone_row(plan);
  c_.feed.end_passes(result.times);
  exchange(result);
  scale_and_clip(result);
  return result;
}

void EagerStep::pass(const loader::BatchRef& batch, int64_t place, StepSeconds& times) {
  const Clock::time_point got = Clock::now();
  nn::Model& model = c_.replica.model();
  PassSums own;
  {
    // The first pass loads libraries and kernels, which takes memory.
    std::optional<device::MemoryCall> call;
    if (model.device() && !std::exchange(has_run_, true)) call.emplace();
    const PassInput input(c_.job, model, *batch, true);
    at::Tensor total;
    own = add_loss(c_.job, c_.comm, c_.replica.device(), batch->seeds, model.forward(input.args()),
                   total);
    if (total.defined()) {
      const nn::TorchThreads threads(nn::TorchThreads::take_largest());
      total.backward();
    }
  }
  sums_.add(own);
  if (c_.job.config.deterministic) c_.replica.settle();  // else the exchange would wait for it
  const Clock::time_point ran = Clock::now();
  times.compute_seconds += std::chrono::duration<double>(ran - got).count();
  c_.comm.note(Phase::kExchanging);
  exchange_->add(
      own.host, own.device, place,
      model.batch_statistics_width() > 0 ? model.take_batch_statistics()[-1] : at::Tensor());
  times.reduce_seconds += seconds_since(ran);
}

// Once a training: every epoch may have such a mini-batch.
void EagerStep::warn_of_lone_row(const StepPlan& plan) {
  if (!c_.replica.model().take_lone_row() || c_.training.told_of_lone_row.exchange(true)) return;
  c_.job.environment.log.add(
      base::LogLevel::kWarning,
      base::text(
          "step ", plan.step, " of epoch ", plan.epoch,
          ": a batch norm got one row, which has no variance. It took the running statistics "
          "and left them as they are, as it does with every such row from here on; a "
          "batch_size that leaves no short mini-batch, or drop_last, avoids it"));
}

void EagerStep::take_rank_mean() {
  if (by_rank() && sums_.host.weight > 0)
    c_.replica.optimizer().scale_gradients(1 / sums_.host.weight);
}

void EagerStep::exchange(StepResult& result) {
  const Clock::time_point computed = Clock::now();
  take_rank_mean();
  result.sums = sums_.host;
  result.sums.stop = stop_requested();
  result.sums.write_failed = c_.checkpoints.failed();
  c_.comm.note(Phase::kExchanging);
  exchange_->reduce(result.sums, sums_.device);
  result.times.reduce_seconds += seconds_since(computed);
  result.times.peer_wait_seconds = std::min(exchange_->waited(), result.times.reduce_seconds);
}

void EagerStep::scale_and_clip(StepResult& result) {
  reduced_ = Clock::now();
  c_.comm.note(Phase::kUpdating);
  StepSums& sums = result.sums;
  Optimizer& optimizer = c_.replica.optimizer();
  const double share = by_rank()         ? 1.0 / c_.comm.world_size()
                       : sums.weight > 0 ? 1 / sums.weight
                                         : 1.0;
  const double norm = optimizer.scale_gradients(share);
  sums.bad = sums.bad || !std::isfinite(norm);
  const double limit = c_.job.config.clip_norm;
  if (!sums.bad && limit > 0) optimizer.clip(norm, limit);
}

void EagerStep::apply(StepResult& result) {
  if (!result.sums.bad) {
    c_.replica.keep_good();
    if (result.sums.weight > 0) {
      c_.replica.optimizer().set_learning_rate(result.learning_rate);
      c_.replica.optimizer().step();
    }
    fold_statistics();
  }
  result.times.optimizer_seconds = seconds_since(reduced_);
  result.times.seconds = seconds_since(began_);
}

void EagerStep::fold_statistics() {
  for (const at::Tensor& row : exchange_->statistics())
    c_.replica.model().fold_batch_statistics(row.unsqueeze(0));
}

}  // namespace gnnmg::train
