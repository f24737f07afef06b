// Settings that the trainer refuses, and the texts of its errors.
#include "train/config.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/error.h"

namespace gnnmg::train {
namespace {

std::string refusal(const std::function<void(TrainerConfig&)>& change) {
  TrainerConfig config;
  change(config);
  try {
    config.check();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.status(), base::Status::kInvalidArgument);
    return error.what();
  }
  return "accepted";
}

TEST(TrainerConfig, DefaultsAreGood) {
  EXPECT_EQ(refusal([](TrainerConfig&) {}), "accepted");
  EXPECT_EQ(refusal([](TrainerConfig& c) { c.num_ranks = 0; }), "accepted");
}

TEST(TrainerConfig, NamesTheField) {
  const auto expect = [](const char* text, const std::function<void(TrainerConfig&)>& change) {
    EXPECT_EQ(refusal(change), text);
  };
  expect("num_ranks -1: expected 0 to 256", [](auto& c) { c.num_ranks = -1; });
  expect("num_ranks 300: expected 0 to 256", [](auto& c) { c.num_ranks = 300; });
  expect("num_epochs -1: expected 0 or more", [](auto& c) { c.num_epochs = -1; });
  expect("batch_size 0: expected 1 or more", [](auto& c) { c.batch_size = 0; });
  expect("batches_per_step -2: expected 0 or more", [](auto& c) { c.batches_per_step = -2; });
  expect("plan 7: expected 0 to 3",
         [](auto& c) { c.partition = static_cast<loader::Partition>(7); });
  expect("learning_rate -0.1: expected a finite number, 0 or more",
         [](auto& c) { c.optimizer.learning_rate = -0.1; });
  expect("learning_rate nan: expected a finite number, 0 or more",
         [](auto& c) { c.optimizer.learning_rate = std::nan(""); });
  expect("beta2 1: expected a number from 0 to below 1", [](auto& c) { c.optimizer.beta2 = 1; });
  expect(
      "nesterov: needs a momentum above 0 and a dampening of 0, found momentum 0 and dampening 0",
      [](auto& c) {
        c.optimizer.kind = OptimizerKind::kSgd;
        c.optimizer.nesterov = true;
      });
  expect("schedule_factor 1.5: expected above 0, at most 1", [](auto& c) {
    c.schedule.kind = ScheduleKind::kStep;
    c.schedule.factor = 1.5;
  });
  expect("warmup_epochs 11: expected at most num_epochs, 10",
         [](auto& c) { c.schedule.warmup_epochs = 11; });
  expect("clip_norm -1: expected a finite number, 0 or more", [](auto& c) { c.clip_norm = -1; });
  expect("eval_batch_size 0: expected 1 or more", [](auto& c) { c.eval_batch_size = 0; });
  expect("best_by 9: expected 0 to 7", [](auto& c) { c.best_by = static_cast<Metric>(9); });
  expect("early_stop_patience 3: expected 0, because evaluate_every is 0", [](auto& c) {
    c.evaluate_every = 0;
    c.early_stop_patience = 3;
  });
  expect("schedule plateau: needs validations, but evaluate_every is 0", [](auto& c) {
    c.evaluate_every = 0;
    c.schedule.kind = ScheduleKind::kPlateau;
  });
  expect("average 3: expected 0 to 2", [](auto& c) { c.average = static_cast<Average>(3); });
  expect("average_from 10: expected below num_epochs, 10", [](auto& c) {
    c.average = Average::kSwa;
    c.average_from = 10;
  });
  expect("average_decay 1: expected a number from 0 to below 1", [](auto& c) {
    c.average = Average::kEma;
    c.average_decay = 1;
  });
  expect("deadline_ms 0: expected 1 or more", [](auto& c) { c.deadline_ms = 0; });
}

TEST(TrainerConfig, APartitionByRanksWantsAMiniBatchEach) {
  TrainerConfig config;
  config.partition = loader::Partition::kContiguous;
  for (const int64_t good : {0, 3}) {
    config.batches_per_step = good;
    EXPECT_NO_THROW(config.check_world(3));
  }
  try {
    config.check_world(2);
    ADD_FAILURE() << "accepted";
  } catch (const base::Error& error) {
    EXPECT_STREQ(error.what(),
                 "batches_per_step 3: expected 0 or the number of ranks, 2, with a plan by "
                 "ranks");
  }
  // One by parts takes any number.
  config.partition = loader::Partition::kParts;
  EXPECT_NO_THROW(config.check());
  EXPECT_NO_THROW(config.check_world(2));
}

}  // namespace
}  // namespace gnnmg::train
