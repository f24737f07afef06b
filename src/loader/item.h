// A mini-batch to be made, and its successor.
#pragma once

#include <cstdint>

#include "loader/plan.h"

namespace gnnmg::loader {

// Item number `place` of this rank since the start of the epoch, number `index` of its step.
struct Item {
  int64_t place = 0;
  int64_t number = -1;
  int64_t step = 0;
  int64_t index = 0;
  bool last_of_step = true;
};

// Returns the first item of a step. There is none if `step` is the number of steps.
inline Item first_item(const EpochPlan& plan, int64_t step, int64_t place = 0) {
  if (step >= plan.num_steps()) return {place, -1, step, 0, true};
  return {place, plan.own_batch(step, 0), step, 0, plan.num_own(step) == 1};
}

inline Item item_after(const EpochPlan& plan, const Item& item) {
  if (item.last_of_step) return first_item(plan, item.step + 1, item.place + 1);
  const int64_t index = item.index + 1;
  return {item.place + 1, plan.own_batch(item.step, index), item.step, index,
          index + 1 == plan.num_own(item.step)};
}

}  // namespace gnnmg::loader
