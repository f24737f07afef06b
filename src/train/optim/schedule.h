// The learning rate as a factor that depends on the position in training, and on validations for
// the plateau. Alike on all ranks, because all see the same position and the same validations.
#pragma once

#include <cstdint>

#include "train/config.h"

namespace gnnmg::train {

// With t = epoch + step / steps of an epoch, and w warm-up epochs of n in all:
//   t < w      (t + one step) / w, so that the last step of the warm-up has the full rate
//   constant   1
//   cosine     m + (1 - m) (1 + cos(pi (t - w) / (n - w))) / 2, m the minimum
//   step       factor ^ floor((epoch - w) / step_epochs), at least m
//   plateau    cut by `factor` each time `patience` validations in a row brought nothing, at least
//   m
class Schedule {
 public:
  Schedule(const ScheduleConfig& config, int64_t num_epochs)
      : config_(config), num_epochs_(num_epochs) {}
  double factor(int64_t epoch, int64_t step, int64_t num_steps) const;
  // Told after each validation.
  void observe(bool improved);

  // The results of observe().
  struct State {
    int64_t without_improvement = 0;
    double plateau = 1;
  };
  const State& state() const { return state_; }
  void set_state(const State& state) { state_ = state; }

 private:
  ScheduleConfig config_;
  int64_t num_epochs_;
  State state_;
};

}  // namespace gnnmg::train
