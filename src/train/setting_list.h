// The settings of optimizers and of the trainer, each once: name, member of the config, range, when
// it is read, whether processes must agree on it. Checks, the copies between the structs of gnnmg.h
// and the configs, their defaults, and the agreed fields are made from these lists. The default is
// the member's own.
#pragma once

#include <limits>

#include "train/config.h"

namespace gnnmg::train {

// Range of a number, and the text that names it. Flags and words have none.
struct Range {
  double low, high;
  const char* expected;
  bool above_low = false, below_high = false;  // these bounds do not belong to it

  bool has(double value) const {
    return (above_low ? value > low : value >= low) && (below_high ? value < high : value <= high);
  }
};

// Tells if the processes of a training must have equal values.
enum class Among { kAll, kEach };

template <typename Config>
struct Setting {
  const char* name;  // the field of the structs in gnnmg.h
  Among among;
  Range range;
  bool (*is_read)(const Config& config);  // else any value is accepted
};

namespace setting_list {

using enum Among;

inline constexpr double kInfinite = std::numeric_limits<double>::infinity();
inline constexpr double kLargest = std::numeric_limits<double>::max();
inline constexpr Range kAny{-kInfinite, kInfinite, ""};
inline constexpr Range kFrom0{0, kInfinite, "0 or more"}, kFrom1{1, kInfinite, "1 or more"};
inline constexpr Range kThreads{0, 1024, "0 to 1024"}, kMany{0, 4096, "0 to 4096"};
inline constexpr Range kNumber{0, kLargest, "a finite number, 0 or more"},
    kPositive{0, kLargest, "a finite number above 0", true};
inline constexpr Range kShare{0, 1, "a number from 0 to 1"},
    kBelow1{0, 1, "a number from 0 to below 1", false, true},
    kFactor{0, 1, "above 0, at most 1", true};

template <typename Config>
constexpr bool always(const Config&) {
  return true;
}
constexpr bool with_moments(const OptimizerConfig& c) {
  return c.kind == OptimizerKind::kAdam || c.kind == OptimizerKind::kAdamW;
}
constexpr bool with_root(const OptimizerConfig& c) { return c.kind != OptimizerKind::kSgd; }
constexpr bool with_momentum(const OptimizerConfig& c) {
  return c.kind == OptimizerKind::kSgd || c.kind == OptimizerKind::kRmsProp;
}
constexpr bool with_dampening(const OptimizerConfig& c) { return c.kind == OptimizerKind::kSgd; }
constexpr bool with_square(const OptimizerConfig& c) { return c.kind == OptimizerKind::kRmsProp; }
constexpr bool in_steps(const TrainerConfig& c) { return c.schedule.kind == ScheduleKind::kStep; }
constexpr bool on_plateau(const TrainerConfig& c) {
  return c.schedule.kind == ScheduleKind::kPlateau;
}
constexpr bool in_cuts(const TrainerConfig& c) { return in_steps(c) || on_plateau(c); }

// clang-format off
//        name                  member                   among  range      read
#define GNNMG_OPTIMIZER_SETTINGS(SETTING)                                                  \
  SETTING(learning_rate,        learning_rate,           kAll,  kNumber,   always)         \
  SETTING(weight_decay,         weight_decay,            kAll,  kNumber,   always)         \
  SETTING(weight_decay_layers,  weight_decay_layers,     kAll,  kFrom0,    always)         \
  SETTING(beta1,                beta1,                   kAll,  kBelow1,   with_moments)   \
  SETTING(beta2,                beta2,                   kAll,  kBelow1,   with_moments)   \
  SETTING(epsilon,              epsilon,                 kAll,  kNumber,   with_root)      \
  SETTING(amsgrad,              amsgrad,                 kAll,  kAny,      always)         \
  SETTING(momentum,             momentum,                kAll,  kNumber,   with_momentum)  \
  SETTING(dampening,            dampening,               kAll,  kShare,    with_dampening) \
  SETTING(nesterov,             nesterov,                kAll,  kAny,      always)         \
  SETTING(alpha,                alpha,                   kAll,  kShare,    with_square)    \
  SETTING(centered,             centered,                kAll,  kAny,      always)

//        name                  member                   among  range      read
#define GNNMG_TRAINER_SETTINGS(SETTING)                                                    \
  SETTING(num_epochs,           num_epochs,              kAll,  kFrom0,    always)         \
  SETTING(batch_size,           batch_size,              kAll,  kFrom1,    always)         \
  SETTING(batch_nodes,          batch_nodes,             kAll,  kFrom0,    always)         \
  SETTING(batches_per_step,     batches_per_step,        kAll,  kFrom0,    always)         \
  SETTING(seed,                 seed,                    kAll,  kAny,      always)         \
  SETTING(partition,            partition,               kAll,  kAny,      always)         \
  SETTING(loss_average,         loss_average,            kAll,  kAny,      always)         \
  SETTING(shuffle,              shuffle,                 kAll,  kAny,      always)         \
  SETTING(drop_last,            drop_last,               kAll,  kAny,      always)         \
  SETTING(loss,                 loss.kind,               kAll,  kAny,      always)         \
  SETTING(label_smoothing,      loss.label_smoothing,    kAll,  kBelow1,   always)         \
  SETTING(huber_delta,          loss.huber_delta,        kAll,  kPositive, always)         \
  SETTING(focal_gamma,          loss.focal_gamma,        kAll,  kNumber,   always)         \
  SETTING(optimizer,            optimizer.kind,          kAll,  kAny,      always)         \
  SETTING(clip_norm,            clip_norm,               kAll,  kNumber,   always)         \
  SETTING(schedule,             schedule.kind,           kAll,  kAny,      always)         \
  SETTING(warmup_epochs,        schedule.warmup_epochs,  kAll,  kFrom0,    always)         \
  SETTING(schedule_minimum,     schedule.minimum_factor, kAll,  kShare,    always)         \
  SETTING(schedule_factor,      schedule.factor,         kAll,  kFactor,   in_cuts)        \
  SETTING(schedule_step_epochs, schedule.step_epochs,    kAll,  kFrom1,    in_steps)       \
  SETTING(schedule_patience,    schedule.patience,       kAll,  kFrom1,    on_plateau)     \
  SETTING(evaluation,           evaluation,              kAll,  kAny,      always)         \
  SETTING(evaluate_every,       evaluate_every,          kAll,  kFrom0,    always)         \
  SETTING(eval_batch_size,      eval_batch_size,         kAll,  kFrom1,    always)         \
  SETTING(best_by,              best_by,                 kAll,  kAny,      always)         \
  SETTING(keep_best,            keep_best,               kAll,  kAny,      always)         \
  SETTING(early_stop_patience,  early_stop_patience,     kAll,  kFrom0,    always)         \
  SETTING(precision,            precision,               kAll,  kAny,      always)         \
  SETTING(deterministic,        deterministic,           kAll,  kAny,      always)         \
  SETTING(sync_batch_norm,      sync_batch_norm,         kAll,  kAny,      always)         \
  SETTING(loader_threads,       loader_threads,          kEach, kThreads,  always)         \
  SETTING(prefetch,             prefetch,                kEach, kMany,     always)         \
  SETTING(torch_threads,        torch_threads,           kEach, kMany,     always)         \
  SETTING(deadline_ms,          deadline_ms,             kEach, kFrom1,    always)         \
  SETTING(stall_limit_ms,       stall_limit_ms,          kEach, kFrom1,    always)         \
  SETTING(capture,              capture,                 kEach, kAny,      always)
// clang-format on

// Calls visit(setting, member) for every setting of the config.
template <typename Visit>
void visit_settings(const OptimizerConfig& config, const Visit& visit) {
#define GNNMG_VISIT(name, member, ...) \
  visit(Setting<OptimizerConfig> { #name, __VA_ARGS__ }, config.member);
  GNNMG_OPTIMIZER_SETTINGS(GNNMG_VISIT)
#undef GNNMG_VISIT
}
template <typename Visit>
void visit_settings(const TrainerConfig& config, const Visit& visit) {
#define GNNMG_VISIT(name, member, ...) \
  visit(Setting<TrainerConfig> { #name, __VA_ARGS__ }, config.member);
  GNNMG_TRAINER_SETTINGS(GNNMG_VISIT)
#undef GNNMG_VISIT
}

// Calls visit(name, field, member) for every setting, with a struct that has a field of its name.
template <typename Fields, typename Config, typename Visit>
void visit_optimizer_fields(Fields& fields, Config& config, const Visit& visit) {
#define GNNMG_VISIT(name, member, ...) visit(#name, fields.name, config.member);
  GNNMG_OPTIMIZER_SETTINGS(GNNMG_VISIT)
#undef GNNMG_VISIT
}
template <typename Fields, typename Config, typename Visit>
void visit_trainer_fields(Fields& fields, Config& config, const Visit& visit) {
#define GNNMG_VISIT(name, member, ...) visit(#name, fields.name, config.member);
  GNNMG_TRAINER_SETTINGS(GNNMG_VISIT)
#undef GNNMG_VISIT
  visit_optimizer_fields(fields, config.optimizer, visit);
}

}  // namespace setting_list

using setting_list::visit_optimizer_fields;
using setting_list::visit_settings;
using setting_list::visit_trainer_fields;

}  // namespace gnnmg::train
