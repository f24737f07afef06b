#include "train/optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace gnnmg::train {

double Schedule::factor(int64_t epoch, int64_t step, int64_t num_steps) const {
  const double steps = static_cast<double>(std::max<int64_t>(num_steps, 1));
  const double warmup = static_cast<double>(config_.warmup_epochs);
  const double t = static_cast<double>(epoch) + static_cast<double>(step) / steps;
  if (epoch < config_.warmup_epochs) return (t + 1 / steps) / warmup;
  switch (config_.kind) {
    case ScheduleKind::kConstant:
      return 1;
    case ScheduleKind::kCosine: {
      const double part = (t - warmup) / (static_cast<double>(num_epochs_) - warmup);
      const double m = config_.minimum_factor;
      return m + (1 - m) * (1 + std::cos(std::numbers::pi * std::min(part, 1.0))) / 2;
    }
    case ScheduleKind::kStep: {
      const int64_t cuts = (epoch - config_.warmup_epochs) / config_.step_epochs;
      return std::max(config_.minimum_factor, std::pow(config_.factor, static_cast<double>(cuts)));
    }
    case ScheduleKind::kPlateau:
      return state_.plateau;
  }
  return 1;
}

void Schedule::observe(bool improved) {
  int64_t& waited = state_.without_improvement;
  waited = improved ? 0 : waited + 1;
  if (config_.kind != ScheduleKind::kPlateau || waited < config_.patience) return;
  state_.plateau = std::max(config_.minimum_factor, state_.plateau * config_.factor);
  waited = 0;
}

}  // namespace gnnmg::train
