// Optimizer kernels of a GPU: scaling gradients with their norm, and one fused update over the flat
// buffers. The plug-in fills in this table.
//
// Values that change between steps are read from device memory, so that a captured launch can be
// repeated. Pointers are device addresses. Functions enqueue work, wait for nothing and allocate
// nothing. One thread per queue. Results have the same bits in every run, for any launch size.
// Functions throw base::Error: kDeviceLost, or kInternal for a refused launch.
#pragma once

#include <cstdint>

#include "device/table.h"
#include "train/optim/optimizer_config.h"

namespace gnnmg::train {

// Lives in device memory.
struct UpdateNumbers {
  // Written by the host between steps.
  double scale = 1;      // factor of the gradients
  double clip_norm = 0;  // above 0: bound of the gradients' 2-norm
  double learning_rate = 0;
  double skip = 0;   // not 0: no update
  double steps = 0;  // updates done
  // Written by kernels.
  double squares = 0;    // sum over the scaled gradients; not finite if one of them is not
  double updates = 0;    // not 0: the last step was not skipped
  double factor = 1;     // factor of the gradients that clips them
  double step_size = 0;  // learning rate / Adam's first bias correction
  double root = 1;       // root of Adam's second bias correction
  double first = 0;      // not 0: no momentum yet
};

// Training ends after this number of consecutive steps without a finite loss and gradient.
constexpr int64_t kBadSteps = 3;

// Numbers of a step of many ranks, in device memory, where the update reads them without the host.
// Counts are whole numbers; flags are 0 or 1.
struct StepNumbers {
  // Written by the host for each step: of this rank ...
  double weight = 0, labeled = 0, seeds = 0;
  double stop = 0, write_failed = 0;
  double own_share = 1;  // factor of the rank's gradients before the sum
  // ... and of all ranks.
  double share = 0;  // factor of the sum; 0: 1 / weight of all ranks
  double learning_rate = 0, clip_norm = 0;
  // Written by this rank's passes.
  double loss = 0, correct = 0;
  // Written by kernels: sums over all ranks.
  double all_loss = 0, all_weight = 0, all_correct = 0, all_labeled = 0, all_seeds = 0;
  double any_stop = 0, any_write_failed = 0;  // above 0: set on some rank
  double good = 0;       // loss and gradient were finite, and training had not ended
  double bad_steps = 0;  // consecutive; at kBadSteps training has ended and steps change nothing
};
constexpr int64_t kStepNumbersOfHost = 9;   // leading fields, written by the host
constexpr int64_t kStepNumbersPacked = 14;  // numbers in the form that ranks add up

// Elements per part of a sum.
constexpr int64_t kUpdatePart = 2048;
constexpr int64_t num_update_parts(int64_t count) {
  return (count + kUpdatePart - 1) / kUpdatePart;
}

// Constants of all steps. Weight decay acts on elements decayed[2 r] to decayed[2 r + 1] - 1 of the
// buffers, r below num_decayed; null: on all.
struct UpdateRule {
  OptimizerConfig config;
  const int64_t* decayed = nullptr;
  int32_t num_decayed = 0;
};

// Flat buffers of equal length: parameters, gradients, and the state of the rule's kind; the others
// are null.
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

  // gradients *= numbers->scale; sets numbers->squares, in f64. `parts`: scratch,
  // num_update_parts(count) numbers.
  void (*scale)(device::Queue* queue, T* gradients, int64_t count, UpdateNumbers* numbers,
                double* parts);
  // One step of LibTorch's optimizer of this kind. Changes nothing, not even `steps`, if `skip` is
  // set or `squares` is not finite.
  void (*update)(device::Queue* queue, const UpdateRule& rule, const UpdateArrays<T>& arrays,
                 int64_t count, UpdateNumbers* numbers);

  // Writes the rank's sums to out[kStepNumbersPacked]. Each number is split into two that add up to
  // it: counts up to 2^24 per rank stay exact in f32. Sets numbers->scale to own_share.
  void (*pack)(device::Queue* queue, const StepNumbers* step, T* out, UpdateNumbers* numbers);
  // Reads the sums of all ranks from the all-reduced output of pack(), or with null from this rank
  // alone. Sets the step's scale, clip_norm and learning_rate in `numbers`.
  void (*total)(device::Queue* queue, StepNumbers* step, const T* packed, UpdateNumbers* numbers);
  // After scale(): decides whether the step was good, and sets `skip` for update().
  void (*judge)(device::Queue* queue, StepNumbers* step, UpdateNumbers* numbers);
  // Copies the parameters to `kept` if the step was good.
  void (*keep)(device::Queue* queue, const StepNumbers* step, const T* parameters, T* kept,
               int64_t count);
};

}  // namespace gnnmg::train
