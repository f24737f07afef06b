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

#include "base/device.h"
#include "train/optimizer_config.h"

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

// Flat buffers of equal length; the last four where the rule has them, else null.
template <typename T>
struct UpdateArrays {
  T* parameters = nullptr;
  const T* gradients = nullptr;
  T* exp_avg = nullptr;
  T* exp_avg_sq = nullptr;
  T* max_exp_avg_sq = nullptr;
  T* momentum_buffer = nullptr;
};

template <typename T>
struct DeviceUpdates {
  // gradients *= numbers->scale; numbers->squares in f64. `parts`: num_update_parts(count) numbers
  // of room.
  void (*scale)(base::DeviceQueue* queue, T* gradients, int64_t count, UpdateNumbers* numbers,
                double* parts);
  // One step of LibTorch's optimiser of this kind, unless `skip` says otherwise or `squares` is not
  // finite: then everything stays, `steps` too.
  void (*update)(base::DeviceQueue* queue, const UpdateRule& rule, const UpdateArrays<T>& arrays,
                 int64_t count, UpdateNumbers* numbers);
};

}  // namespace gnnmg::train
