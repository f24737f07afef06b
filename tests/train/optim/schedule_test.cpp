// Learning rates against their closed forms.
#include "train/optim/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

namespace gnnmg::train {
namespace {

TEST(Schedule, ConstantAfterALinearWarmUp) {
  const Schedule schedule({.warmup_epochs = 2}, 10);
  // Four steps an epoch: eight steps up to the full rate.
  for (int64_t step = 0; step < 8; ++step)
    EXPECT_DOUBLE_EQ(schedule.factor(step / 4, step % 4, 4), (step + 1) / 8.0) << step;
  EXPECT_EQ(schedule.factor(2, 0, 4), 1);
  EXPECT_EQ(schedule.factor(9, 3, 4), 1);
}

TEST(Schedule, Cosine) {
  const Schedule schedule(
      {.kind = ScheduleKind::kCosine, .warmup_epochs = 2, .minimum_factor = 0.1}, 10);
  EXPECT_DOUBLE_EQ(schedule.factor(2, 0, 4), 1);
  EXPECT_DOUBLE_EQ(schedule.factor(6, 0, 4), 0.1 + 0.9 * 0.5);  // half way of the eight
  EXPECT_DOUBLE_EQ(schedule.factor(4, 0, 4), 0.1 + 0.9 * (1 + std::cos(M_PI / 4)) / 2);
  EXPECT_DOUBLE_EQ(schedule.factor(9, 3, 4), 0.1 + 0.9 * (1 + std::cos(M_PI * 7.75 / 8)) / 2);
  double previous = 2;
  for (int64_t step = 8; step < 40; ++step) {
    const double factor = schedule.factor(step / 4, step % 4, 4);
    EXPECT_LT(factor, previous);
    EXPECT_GE(factor, 0.1);
    previous = factor;
  }
}

TEST(Schedule, Step) {
  const Schedule schedule({.kind = ScheduleKind::kStep,
                           .warmup_epochs = 1,
                           .minimum_factor = 0.2,
                           .step_epochs = 3,
                           .factor = 0.5},
                          20);
  for (int64_t epoch = 1; epoch < 20; ++epoch) {
    const double expected = std::max(0.2, std::pow(0.5, (epoch - 1) / 3));
    EXPECT_DOUBLE_EQ(schedule.factor(epoch, 2, 5), expected) << epoch;
  }
}

TEST(Schedule, PlateauCutsAfterPatience) {
  Schedule schedule(
      {.kind = ScheduleKind::kPlateau, .minimum_factor = 0.3, .factor = 0.5, .patience = 2}, 20);
  const auto factor = [&] { return schedule.factor(5, 0, 1); };
  schedule.observe(true);
  schedule.observe(false);
  EXPECT_EQ(factor(), 1);
  schedule.observe(true);  // starts the count anew
  schedule.observe(false);
  EXPECT_EQ(factor(), 1);
  schedule.observe(false);
  EXPECT_EQ(factor(), 0.5);
  schedule.observe(false);
  EXPECT_EQ(factor(), 0.5);
  schedule.observe(false);
  EXPECT_EQ(factor(), 0.3);  // no further down
  schedule.observe(false);
  schedule.observe(false);
  EXPECT_EQ(factor(), 0.3);
}

TEST(Schedule, OtherKindsIgnoreValidations) {
  Schedule schedule({.kind = ScheduleKind::kConstant, .patience = 1}, 20);
  for (int i = 0; i < 5; ++i) schedule.observe(false);
  EXPECT_EQ(schedule.factor(3, 0, 1), 1);
}

}  // namespace
}  // namespace gnnmg::train
