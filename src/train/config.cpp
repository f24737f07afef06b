#include "train/config.h"

#include <algorithm>
#include <string_view>
#include <type_traits>

#include "base/error.h"
#include "train/choices.h"
#include "train/setting_list.h"

namespace gnnmg::train {
namespace {

using base::Status;

template <typename T>
[[noreturn]] void refuse(std::string_view field, T found, std::string_view expected) {
  base::fail(Status::kInvalidArgument, field, " ", found, ": expected ", expected);
}

template <typename Config>
struct CheckSetting {
  const Config& config;

  template <typename T>
  void operator()(const Setting<Config>& setting, const T& value) const {
    if constexpr (std::is_enum_v<T>) {
      const nn::Choices& choices = nn::choices_of(value);
      const auto number = static_cast<int32_t>(value);
      if (!choices.has(number))
        refuse(setting.name, number, base::text(choices.first, " to ", choices.last()));
    } else if constexpr (!std::is_same_v<T, bool>) {
      if (setting.is_read(config) && !setting.range.has(static_cast<double>(value)))
        refuse(setting.name, value, setting.range.expected);
    }
  }
};

}  // namespace

void OptimizerConfig::check() const {
  visit_settings(*this, CheckSetting<OptimizerConfig>{*this});
  if (kind == OptimizerKind::kSgd && nesterov && (momentum <= 0 || dampening != 0))
    base::fail(Status::kInvalidArgument,
               "nesterov: needs a momentum above 0 and a dampening of 0, found momentum ", momentum,
               " and dampening ", dampening);
}

void TrainerConfig::check() const {
  constexpr int32_t kMaxRanks = 256;
  if (num_ranks < 0 || num_ranks > kMaxRanks)
    refuse("num_ranks", num_ranks, base::text("0 to ", kMaxRanks));
  visit_settings(*this, CheckSetting<TrainerConfig>{*this});
  optimizer.check();
  if (batch_nodes > 0 && (partition != loader::Partition::kGlobal || drop_last))
    refuse("batch_nodes", batch_nodes, "0 with a plan by ranks or parts or with drop_last");
  if (deterministic && loss_average != LossAverage::kExact)
    base::fail(
        Status::kInvalidArgument,
        "deterministic: cannot be had with loss_average ranks, which depends on their number");
  if (deterministic && sync_batch_norm)
    base::fail(
        Status::kInvalidArgument,
        "deterministic: cannot be had with sync_batch_norm, whose gradients are those of all "
        "mini-batches of a rank together");
  if (split_index < 0) refuse("split_index", split_index, "0 or more");
  if (schedule.warmup_epochs > num_epochs)
    refuse("warmup_epochs", schedule.warmup_epochs, base::text("at most num_epochs, ", num_epochs));
  if (average != Average::kNone && average_from >= std::max<int64_t>(num_epochs, 1))
    refuse("average_from", average_from, base::text("below num_epochs, ", num_epochs));
  if (evaluate_every == 0 && early_stop_patience > 0)
    refuse("early_stop_patience", early_stop_patience, "0, because evaluate_every is 0");
  if (evaluate_every == 0 && schedule.kind == ScheduleKind::kPlateau)
    base::fail(Status::kInvalidArgument,
               "schedule plateau: needs validations, but evaluate_every is 0");
}

void TrainerConfig::check_world(int64_t world_size) const {
  if (by_ranks(partition) && batches_per_step != 0 && batches_per_step != world_size)
    refuse("batches_per_step", batches_per_step,
           base::text("0 or the number of ranks, ", world_size, ", with a plan by ranks"));
}

}  // namespace gnnmg::train
