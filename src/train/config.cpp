#include "train/config.h"

#include <cmath>
#include <string_view>

#include "base/error.h"

namespace gnnmg::train {
namespace {

using base::Status;

template <typename T>
[[noreturn]] void refuse(std::string_view field, T found, std::string_view expected) {
  base::fail(Status::kInvalidArgument, field, " ", found, ": expected ", expected);
}

void at_least(std::string_view field, int64_t found, int64_t least) {
  if (found < least) refuse(field, found, base::text(least, " or more"));
}

void between(std::string_view field, double found, double low, double high) {
  if (!(found >= low && found <= high))
    refuse(field, found, base::text("a number from ", low, " to ", high));
}

void below_one(std::string_view field, double found) {
  if (!(found >= 0 && found < 1)) refuse(field, found, "a number from 0 to below 1");
}

void not_negative(std::string_view field, double found) {
  if (!(found >= 0 && std::isfinite(found))) refuse(field, found, "a finite number, 0 or more");
}

template <typename E>
void one_of(std::string_view field, E found, E last) {
  const int32_t value = static_cast<int32_t>(found);
  if (value < 0 || value > static_cast<int32_t>(last))
    refuse(field, value, base::text("0 to ", static_cast<int32_t>(last)));
}

}  // namespace

void OptimizerConfig::check() const {
  one_of("optimizer", kind, OptimizerKind::kSgd);
  not_negative("learning_rate", learning_rate);
  not_negative("weight_decay", weight_decay);
  at_least("weight_decay_layers", weight_decay_layers, 0);
  if (kind == OptimizerKind::kSgd) {
    not_negative("momentum", momentum);
    between("dampening", dampening, 0, 1);
    if (nesterov && (momentum <= 0 || dampening != 0))
      base::fail(Status::kInvalidArgument,
                 "nesterov: needs a momentum above 0 and a dampening of 0, found momentum ",
                 momentum, " and dampening ", dampening);
  } else {
    below_one("beta1", beta1);
    below_one("beta2", beta2);
    not_negative("epsilon", epsilon);
  }
}

void ScheduleConfig::check() const {
  one_of("schedule", kind, ScheduleKind::kPlateau);
  at_least("warmup_epochs", warmup_epochs, 0);
  between("schedule_minimum", minimum_factor, 0, 1);
  if (kind == ScheduleKind::kStep) at_least("schedule_step_epochs", step_epochs, 1);
  if (kind == ScheduleKind::kPlateau) at_least("schedule_patience", patience, 1);
  if (kind == ScheduleKind::kStep || kind == ScheduleKind::kPlateau)
    if (!(factor > 0 && factor <= 1)) refuse("schedule_factor", factor, "above 0, at most 1");
}

void TrainerConfig::check() const {
  constexpr int32_t kMaxRanks = 256;
  if (num_ranks < 0 || num_ranks > kMaxRanks)
    refuse("num_ranks", num_ranks, base::text("0 to ", kMaxRanks));
  at_least("num_epochs", num_epochs, 0);
  at_least("batch_size", batch_size, 1);
  at_least("batch_nodes", batch_nodes, 0);
  if (batch_nodes > 0 && (partition != loader::Partition::kGlobal || drop_last))
    refuse("batch_nodes", batch_nodes, "0 with a partition by ranks or parts or with drop_last");
  at_least("batches_per_step", batches_per_step, 0);
  one_of("partition", partition, loader::Partition::kParts);
  one_of("loss_average", loss_average, LossAverage::kRanks);
  if (deterministic && loss_average != LossAverage::kExact)
    base::fail(
        Status::kInvalidArgument,
        "deterministic: cannot be had with loss_average ranks, which depends on their number");
  if (deterministic && sync_batch_norm)
    base::fail(
        Status::kInvalidArgument,
        "deterministic: cannot be had with sync_batch_norm, whose gradients are those of all "
        "mini-batches of a rank together");
  one_of("capture", capture, Capture::kUnpadded);
  one_of("precision", precision, Precision::kBf16);
  optimizer.check();
  schedule.check();
  one_of("loss", loss, nn::Loss::kMeanSquaredError);
  not_negative("clip_norm", clip_norm);
  at_least("split_index", split_index, 0);
  at_least("loader_threads", loader_threads, 0);
  at_least("prefetch", prefetch, 0);
  at_least("torch_threads", torch_threads, 0);
  at_least("evaluate_every", evaluate_every, 0);
  one_of("evaluation", evaluation, EvaluationMode::kSampled);
  at_least("eval_batch_size", eval_batch_size, 1);
  one_of("best_by", best_by, Metric::kMae);
  at_least("early_stop_patience", early_stop_patience, 0);
  at_least("deadline_ms", deadline_ms, 1);
  at_least("stall_limit_ms", stall_limit_ms, 1);
  if (schedule.warmup_epochs > num_epochs)
    refuse("warmup_epochs", schedule.warmup_epochs, base::text("at most num_epochs, ", num_epochs));
  if (evaluate_every == 0 && early_stop_patience > 0)
    refuse("early_stop_patience", early_stop_patience, "0, because evaluate_every is 0");
  if (evaluate_every == 0 && schedule.kind == ScheduleKind::kPlateau)
    base::fail(Status::kInvalidArgument,
               "schedule plateau: needs validations, but evaluate_every is 0");
}

void TrainerConfig::check_world(int64_t world_size) const {
  if (by_ranks(partition) && batches_per_step != 0 && batches_per_step != world_size)
    refuse("batches_per_step", batches_per_step,
           base::text("0 or the number of ranks, ", world_size, ", with a partition by ranks"));
}

}  // namespace gnnmg::train
