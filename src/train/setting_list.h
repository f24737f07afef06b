// The settings of optimizers and of the trainer, each once: name, member of the config, whether
// processes must agree on it, range, when it is read, help for users. Checks, the agreed fields and
// the settings of gnnmg_optimizer_create() and gnnmg_trainer_create() are made from these lists.
// The default is the member's own.
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

// The condition under which a setting has an effect.
template <typename Config>
struct Condition {
  bool (*holds)(const Config& config);
  const char* text;  // such as "with optimizer=sgd"

  constexpr bool operator()(const Config& config) const { return holds(config); }
};

template <typename Config>
struct Setting {
  const char* name;
  Among among;
  Range range;
  Condition<Config> is_read;  // else any value is accepted
  const char* help;
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

struct Always {
  template <typename Config>
  constexpr operator Condition<Config>() const {
    return {[](const Config&) { return true; }, nullptr};
  }
};
// NOLINTBEGIN(readability-identifier-naming): conditions, as the lists below call them
inline constexpr Always always;
using OfOptimizer = Condition<OptimizerConfig>;
using OfTrainer = Condition<TrainerConfig>;
inline constexpr OfOptimizer with_moments{[](const OptimizerConfig& c) {
                                            return c.kind == OptimizerKind::kAdam ||
                                                   c.kind == OptimizerKind::kAdamW;
                                          },
                                          "with optimizer=adam or adamw"};
inline constexpr OfOptimizer with_root{
    [](const OptimizerConfig& c) { return c.kind != OptimizerKind::kSgd; },
    "with optimizer=adam, adamw, rmsprop or adagrad"};
inline constexpr OfOptimizer with_momentum{[](const OptimizerConfig& c) {
                                             return c.kind == OptimizerKind::kSgd ||
                                                    c.kind == OptimizerKind::kRmsProp;
                                           },
                                           "with optimizer=sgd or rmsprop"};
inline constexpr OfOptimizer with_dampening{
    [](const OptimizerConfig& c) { return c.kind == OptimizerKind::kSgd; }, "with optimizer=sgd"};
inline constexpr OfOptimizer on_momentum{
    [](const OptimizerConfig& c) { return with_dampening(c) && c.momentum > 0; },
    "with optimizer=sgd and momentum above 0"};
inline constexpr OfOptimizer with_decay{[](const OptimizerConfig& c) { return c.weight_decay > 0; },
                                        "with weight_decay above 0"};
inline constexpr OfOptimizer with_square{
    [](const OptimizerConfig& c) { return c.kind == OptimizerKind::kRmsProp; },
    "with optimizer=rmsprop"};
inline constexpr OfTrainer with_huber{
    [](const TrainerConfig& c) { return c.loss.kind == nn::Loss::kHuber; }, "with loss=huber"};
inline constexpr OfTrainer smoothed{[](const TrainerConfig& c) {
                                      return c.loss.kind == nn::Loss::kAuto ||
                                             c.loss.kind == nn::Loss::kCrossEntropy;
                                    },
                                    "with loss=cross_entropy"};
inline constexpr OfTrainer validated{[](const TrainerConfig& c) { return c.evaluate_every > 0; },
                                     "with evaluate_every above 0"};
inline constexpr OfTrainer loaded{[](const TrainerConfig& c) { return c.loader_threads > 0; },
                                  "with loader_threads above 0"};
inline constexpr OfTrainer with_focal{
    [](const TrainerConfig& c) { return c.loss.kind == nn::Loss::kFocal; }, "with loss=focal"};
inline constexpr OfTrainer with_ema{
    [](const TrainerConfig& c) { return c.average == Average::kEma; }, "with average=ema"};
inline constexpr OfTrainer averaged{
    [](const TrainerConfig& c) { return c.average != Average::kNone; }, "with average=ema or swa"};
inline constexpr OfTrainer in_steps{
    [](const TrainerConfig& c) { return c.schedule.kind == ScheduleKind::kStep; },
    "with schedule=step"};
inline constexpr OfTrainer on_plateau{
    [](const TrainerConfig& c) { return c.schedule.kind == ScheduleKind::kPlateau; },
    "with schedule=plateau"};
inline constexpr OfTrainer in_cuts{
    [](const TrainerConfig& c) { return in_steps(c) || on_plateau(c); },
    "with schedule=step or plateau"};
inline constexpr OfTrainer scheduled{
    [](const TrainerConfig& c) { return c.schedule.kind != ScheduleKind::kConstant; },
    "with schedule=cosine, step or plateau"};
// NOLINTEND(readability-identifier-naming)

// Help of settings that optimizers and trainers share.
inline constexpr const char* kKindHelp =
    "Kind of the optimizer.\n"
    "adam: Adam.\n"
    "adamw: Adam with decoupled weight decay.\n"
    "sgd: stochastic gradient descent.\n"
    "rmsprop: RMSprop.\n"
    "adagrad: Adagrad.";
inline constexpr const char* kClipHelp =
    "Maximum 2-norm of all gradients together; larger gradients are scaled down. 0: no "
    "limit.";

// clang-format off
//        name                  member                   among  range      read
#define GNNMG_OPTIMIZER_SETTINGS(SETTING)                                                          \
  SETTING(learning_rate,        learning_rate,           kAll,  kNumber,   always,                 \
          "Learning rate.")                                                                        \
  SETTING(weight_decay,         weight_decay,            kAll,  kNumber,   always,                 \
          "Weight decay, or L2 penalty.")                                                          \
  SETTING(weight_decay_layers,  weight_decay_layers,     kAll,  kFrom0,    with_decay,               \
          "Number of first convolutions to whose parameters weight_decay applies. 0: all "         \
          "parameters.")                                                                           \
  SETTING(beta1,                beta1,                   kAll,  kBelow1,   with_moments,           \
          "Adam: decay of the mean.")                                                              \
  SETTING(beta2,                beta2,                   kAll,  kBelow1,   with_moments,           \
          "Adam: decay of the square.")                                                            \
  SETTING(epsilon,              epsilon,                 kAll,  kNumber,   with_root,              \
          "Not SGD: number that is added to the root.")                                            \
  SETTING(amsgrad,              amsgrad,                 kAll,  kAny,      with_moments,           \
          "Adam. 1: keep the largest square.")                                                     \
  SETTING(momentum,             momentum,                kAll,  kNumber,   with_momentum,          \
          "SGD, RMSprop: momentum.")                                                               \
  SETTING(dampening,            dampening,               kAll,  kShare,    on_momentum,            \
          "SGD: dampening of the momentum.")                                                       \
  SETTING(nesterov,             nesterov,                kAll,  kAny,      with_dampening,         \
          "SGD. 1: Nesterov momentum.")                                                            \
  SETTING(alpha,                alpha,                   kAll,  kShare,    with_square,            \
          "RMSprop: decay of the square.")                                                         \
  SETTING(centered,             centered,                kAll,  kAny,      with_square,            \
          "RMSprop. 1: divide by the deviation of the gradient, in place of the root of its "      \
          "mean square.")

//        name                  member                   among  range      read
#define GNNMG_TRAINER_SETTINGS(SETTING)                                                            \
  SETTING(num_epochs,           num_epochs,              kAll,  kFrom0,    always,                 \
          "Passes over the training part.")                                                        \
  SETTING(batch_size,           batch_size,              kAll,  kFrom1,    always,                 \
          "Seeds per mini-batch.")                                                                 \
  SETTING(batch_nodes,          batch_nodes,             kAll,  kFrom0,    always,                 \
          "Data sets of many graphs: maximum nodes of a mini-batch, in addition to "               \
          "batch_size. 0: no limit.")                                                              \
  SETTING(batches_per_step,     batches_per_step,        kAll,  kFrom0,    always,                 \
          "Mini-batches per step, all ranks together. The same number gives the same steps "       \
          "for any number of ranks. 0: one per rank.")                                             \
  SETTING(seed,                 seed,                    kAll,  kAny,      always,                 \
          "Seed of order, draws and dropout.")                                                     \
  SETTING(plan,                 partition,               kAll,  kAny,      always,                 \
          "Division of an epoch's ids among ranks.\n"                                              \
          "global: one permutation, every id exactly once.\n"                                      \
          "distributed_sampler: rule of PyTorch's DistributedSampler, for comparison.\n"           \
          "contiguous: slices as in DGL, for comparison.\n"                                        \
          "parts: ids divided by parts, for data sets in parts: every id exactly once, and "       \
          "all ids of a mini-batch from one part. The mini-batches are the same for any "          \
          "number of ranks and processes. Set batches_per_step to the number of parts.")           \
  SETTING(loss_average,         loss_average,            kAll,  kAny,      always,                 \
          "Mean that is the loss of a step.\n"                                                     \
          "exact: over all seeds of the step, independent of the number of ranks.\n"               \
          "ranks: mean of the ranks' means, as PyTorch's DDP, for comparison.")                    \
  SETTING(shuffle,              shuffle,                 kAll,  kAny,      always,                 \
          "1: new order in each epoch.")                                                           \
  SETTING(drop_last,            drop_last,               kAll,  kAny,      always,                 \
          "1: drop the last mini-batch if it is short.")                                           \
  SETTING(loss,                 loss.kind,               kAll,  kAny,      always,                 \
          "Loss function.\n"                                                                       \
          "auto: loss of the task, one of cross_entropy, binary_cross_entropy and "                \
          "mean_squared_error.\n"                                                                  \
          "cross_entropy: classes.\n"                                                              \
          "binary_cross_entropy: binary targets, from logits.\n"                                   \
          "mean_squared_error: regression.\n"                                                      \
          "mean_absolute_error: regression, torch's L1Loss.\n"                                     \
          "huber: regression, squared, and linear above huber_delta.\n"                            \
          "focal: classes or binary targets, cross-entropy times (1 - p)^focal_gamma, p the "      \
          "label's probability.")                                                                  \
  SETTING(label_smoothing,      loss.label_smoothing,    kAll,  kBelow1,   smoothed,               \
          "loss=cross_entropy: share of each label that is spread over all classes.")                   \
  SETTING(huber_delta,          loss.huber_delta,        kAll,  kPositive, with_huber,             \
          "Huber loss: error above which it is linear.")                                           \
  SETTING(focal_gamma,          loss.focal_gamma,        kAll,  kNumber,   with_focal,             \
          "Focal loss: exponent.")                                                                 \
  SETTING(optimizer,            optimizer.kind,          kAll,  kAny,      always,                 \
          kKindHelp)                                                                               \
  SETTING(clip_norm,            clip_norm,               kAll,  kNumber,   always,                 \
          kClipHelp)                                                                               \
  SETTING(schedule,             schedule.kind,           kAll,  kAny,      always,                 \
          "Change of the learning rate from epoch to epoch.\n"                                     \
          "constant: no change.\n"                                                                 \
          "cosine: half a cosine, down to schedule_minimum.\n"                                     \
          "step: multiply by schedule_factor every schedule_step_epochs.\n"                        \
          "plateau: multiply by schedule_factor when validation stops improving.")                 \
  SETTING(warmup_epochs,        schedule.warmup_epochs,  kAll,  kFrom0,    always,                 \
          "Epochs in which the learning rate rises from 0.")                                       \
  SETTING(schedule_minimum,     schedule.minimum_factor, kAll,  kShare,    scheduled,              \
          "Minimum factor of the learning rate.")                                                  \
  SETTING(schedule_factor,      schedule.factor,         kAll,  kFactor,   in_cuts,                \
          "schedule=step and schedule=plateau: factor of the learning rate.")                      \
  SETTING(schedule_step_epochs, schedule.step_epochs,    kAll,  kFrom1,    in_steps,               \
          "schedule=step: epochs between changes of the rate.")                                    \
  SETTING(schedule_patience,    schedule.patience,       kAll,  kFrom1,    on_plateau,             \
          "schedule=plateau: reduce the rate at this many epochs in a row without improvement "    \
          "(PyTorch's patience + 1).")                                                             \
  SETTING(average,              average,                 kAll,  kAny,      always,                 \
          "Average of the weights, and of batch norm's running statistics, as PyTorch's "          \
          "AveragedModel with use_buffers. Validations, keep_best, evaluations, embeddings and "   \
          "snapshots use it once it has begun, and the trained model ends with it.\n"              \
          "none: no average.\n"                                                                    \
          "ema: exponential moving average over the steps; GPUs then capture no steps.\n"          \
          "swa: plain mean over the ends of epochs.")                                              \
  SETTING(average_decay,        average_decay,           kAll,  kBelow1,   with_ema,               \
          "average=ema: share of the average that each step leaves.")                              \
  SETTING(average_from,         average_from,            kAll,  kFrom0,    averaged,               \
          "Epochs before the average begins.")                                                     \
  SETTING(evaluation,           evaluation,              kAll,  kAny,      always,                 \
          "Neighborhoods of a validation.\n"                                                       \
          "full: all neighbors, layer by layer over the graph.\n"                                  \
          "sampled: drawn by the training sampler.")                                               \
  SETTING(evaluate_every,       evaluate_every,          kAll,  kFrom0,    always,                 \
          "Epochs between validations. 0: never.")                                                 \
  SETTING(eval_batch_size,      eval_batch_size,         kAll,  kFrom1,    always,                 \
          "Nodes per chunk of an evaluation.")                                                     \
  SETTING(top_k,                top_k,                   kAll,  kFrom1,    always,                 \
          "Classes with the largest results among which the label has to be, in top_k_accuracy.")  \
  SETTING(best_by,              best_by,                 kAll,  kAny,      validated,              \
          "Metric that selects the best epoch. Lower is better for loss, rmse and mae, higher "    \
          "for the others. In a regression, accuracy stands for the loss.")                        \
  SETTING(keep_best,            keep_best,               kAll,  kAny,      always,                 \
          "1: the model ends with the weights of the best validation.")                            \
  SETTING(early_stop_patience,  early_stop_patience,     kAll,  kFrom0,    always,                 \
          "Validations in a row without improvement before training ends. 0: no early stop.")      \
  SETTING(precision,            precision,               kAll,  kAny,      always,                 \
          "Precision of matrix products in forward and backward passes of f32 models. "            \
          "Weights, gradients, sums over neighbors and evaluations stay in the model's type.\n"    \
          "float32: type of the model.\n"                                                          \
          "tf32: factors have 10 bits of mantissa in all products on GPUs; as float32 on the "     \
          "CPU. While such a trainer works, this holds for all products of LibTorch on GPUs "      \
          "in the process, and a step of another trainer on GPUs without tf32 is an error.\n"      \
          "bf16: factors of the larger products of SAGE, GCN, GIN, GAT and similar layers are "    \
          "rounded to bf16; sums within a product are f32. On CPUs this is faster only with "      \
          "AMX or AVX-512's bf16 instructions.")                                                   \
  SETTING(deterministic,        deterministic,           kAll,  kAny,      always,                 \
          "1: strict mode. With equal batches_per_step, weights and metrics have the same "        \
          "bits for any number of ranks and threads, and after a resume on another number of "     \
          "ranks, on one kind of CPU or GPU. Ranks gather the gradients of all mini-batches "      \
          "of a step and add them in plan order, with memory for one gradient per rank. "          \
          "LibTorch's operators use one thread per rank; torch_threads then applies to the "       \
          "library's own loops. Not with loss_average=ranks.")                                     \
  SETTING(sync_batch_norm,      sync_batch_norm,         kAll,  kAny,      always,                 \
          "1: batch norm takes its statistics from all mini-batches of a step on all ranks, "      \
          "and updates the running statistics once per step. A rank then keeps its "               \
          "mini-batches of a step in memory, and each batch norm adds two small all-reduces. "     \
          "Not with deterministic.")                                                                   \
  SETTING(loader_threads,       loader_threads,          kEach, kThreads,  always,                 \
          "Threads per rank that sample and gather mini-batches in advance. 0: none; the rank "     \
          "makes each mini-batch itself, before its pass.")                                        \
  SETTING(prefetch,             prefetch,                kEach, kMany,     loaded,                 \
          "Mini-batches that the loader threads of a rank make in advance.")                                                \
  SETTING(torch_threads,        torch_threads,           kEach, kMany,     always,                 \
          "LibTorch threads per rank. 0: the cores of the process (or OMP_NUM_THREADS, if "        \
          "lower) divided by the ranks on this machine.")                                          \
  SETTING(deadline_ms,          deadline_ms,             kEach, kFrom1,    always,                 \
          "Time that ranks wait for each other, and each rank for its GPU, milliseconds.")         \
  SETTING(stall_limit_ms,       stall_limit_ms,          kEach, kFrom1,    always,                 \
          "Time that a callback may make the ranks wait, milliseconds.")                           \
  SETTING(capture,              capture,                 kEach, kAny,      always,                 \
          "GPUs only: capture of training steps as CUDA graphs, which are then replayed. If "      \
          "the steps can be captured and memory suffices, mini-batches are padded to a few "       \
          "shapes; with or without capture such steps have the same bits. Other steps are "        \
          "neither captured nor padded, and the log says why.\n"                                   \
          "auto: captures if possible.\n"                                                          \
          "off: no capture, kernel after kernel over the same shapes.\n"                           \
          "on: captures, or fails with the reason.\n"                                              \
          "unpadded: no capture and no padding, with the least memory, and results equal up "      \
          "to rounding.")
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

}  // namespace setting_list

using setting_list::visit_settings;

}  // namespace gnnmg::train
