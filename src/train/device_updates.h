// What a GPU does for the optimisers: the scaling of gradients with their norm, and one fused
// update over the flat buffers, which the plug-in fills in.
//
// All that changes from step to step is read from the device's memory, so that a launch which is
// kept and repeated has each step's own. Pointers are addresses that the queue's device reads; a
// function puts work into its queue, waits for nothing and allocates nothing. One thread a queue.
// Results are the same bits in every run, whatever the size of the launches. Functions throw
// base::Error: kDeviceLost, or kInternal where a launch is refused.
#pragma once

#include <cstdint>

#include "device/table.h"
#include "train/optim/optimizer_config.h"

namespace gnnmg::train {

// In the device's memory.
struct UpdateNumbers {
  // The host's to write, between steps.
  double scale = 1;      // the gradients are multiplied by it
  double clip_norm = 0;  // above 0: the update takes them as if their 2-norm was at most this
  double learning_rate = 0;
  double skip = 0;   // not 0: no update
  double steps = 0;  // updates that were made
  // The kernels'.
  double squares = 0;    // of the scaled gradients, added up; not finite where one of them is not
  double updates = 0;    // not 0: the last step was no skipped one
  double factor = 1;     // of the gradients, for clipping
  double step_size = 0;  // the learning rate over Adam's correction of its first moment
  double root = 1;       // of the correction of the second
  double first = 0;      // not 0: there is no momentum yet
};

// Steps in a row without a finite loss and gradient that end training.
constexpr int64_t kBadSteps = 3;

// What a step of many ranks comes to, in the device's memory, where the update finds it without the
// host. Counts are whole numbers; flags are 0 or 1.
struct StepNumbers {
  // The host's to write, for each step: of this rank ...
  double weight = 0, labelled = 0, seeds = 0;
  double stop = 0, write_failed = 0;
  double own_share = 1;  // the rank's gradients are multiplied by it before they are added up
  // ... and of all.
  double share = 0;  // the sum is multiplied by it; 0: by one over the weight of all
  double learning_rate = 0, clip_norm = 0;
  // The passes' of this rank.
  double loss = 0, correct = 0;
  // The kernels': sums over all ranks.
  double all_loss = 0, all_weight = 0, all_correct = 0, all_labelled = 0, all_seeds = 0;
  double any_stop = 0, any_write_failed = 0;  // above 0: a rank's
  double good = 0;       // the loss and the gradient were finite, and training had not ended
  double bad_steps = 0;  // in a row; at kBadSteps training has ended, and no step changes a thing
};
constexpr int64_t kStepNumbersOfHost = 9;   // that the host writes, from the first
constexpr int64_t kStepNumbersPacked = 14;  // in the form in which ranks add them up

// Parts that a sum over so many elements is made in.
constexpr int64_t kUpdatePart = 2048;
constexpr int64_t num_update_parts(int64_t count) {
  return (count + kUpdatePart - 1) / kUpdatePart;
}

// What is the same in all steps. Weight decay acts on the elements decayed[2 r] to
// decayed[2 r + 1] - 1 of the buffers, r below num_decayed; null: on all.
struct UpdateRule {
  OptimizerConfig config;
  const int64_t* decayed = nullptr;
  int32_t num_decayed = 0;
};

// Flat buffers of equal length: parameters, gradients, and those of the rule's state; others are
// null.
template <typename T>
struct UpdateArrays {
  T* parameters = nullptr;
  const T* gradients = nullptr;
  T* exp_avg = nullptr;
  T* exp_avg_sq = nullptr;
  T* max_exp_avg_sq = nullptr;
  T* momentum_buffer = nullptr;
  T* square_avg = nullptr;
  T* grad_avg = nullptr;
  T* sum = nullptr;
};

template <typename T>
struct DeviceUpdates {
  static constexpr const char* kTable = sizeof(T) == sizeof(float) ? "updates f32" : "updates f64";

  // gradients *= numbers->scale; numbers->squares in f64. `parts`: num_update_parts(count) numbers
  // of room.
  void (*scale)(device::Queue* queue, T* gradients, int64_t count, UpdateNumbers* numbers,
                double* parts);
  // One step of LibTorch's optimiser of this kind, unless `skip` says otherwise or `squares` is not
  // finite: then everything stays, `steps` too.
  void (*update)(device::Queue* queue, const UpdateRule& rule, const UpdateArrays<T>& arrays,
                 int64_t count, UpdateNumbers* numbers);

  // The rank's sums as out[kStepNumbersPacked], each number as two that add up to it: counts up to
  // 2^24 a rank stay exact in f32. numbers->scale becomes own_share.
  void (*pack)(device::Queue* queue, const StepNumbers* step, T* out, UpdateNumbers* numbers);
  // Sums of all ranks from what pack() wrote and they have added up, or, null, of this one alone;
  // numbers->scale, clip_norm and learning_rate become the step's.
  void (*total)(device::Queue* queue, StepNumbers* step, const T* packed, UpdateNumbers* numbers);
  // Behind scale(): whether the step was good, and what `skip` is for update().
  void (*judge)(device::Queue* queue, StepNumbers* step, UpdateNumbers* numbers);
  // `kept` becomes equal to the parameters where the step was good.
  void (*keep)(device::Queue* queue, const StepNumbers* step, const T* parameters, T* kept,
               int64_t count);
};

}  // namespace gnnmg::train
