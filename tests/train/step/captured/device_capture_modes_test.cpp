// Captured steps in every mode of a training, compared with eager ones on the CPU: losses, weights
// of classes and samples, missing labels, optimizers, schedules, steps of many mini-batches, and an
// early stop.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "data/weights.h"
#include "train/step/captured/device_capture.h"

namespace gnnmg::test {
namespace {

using data::Task;
using testing::Contains;
using testing::StartsWith;
using train::EpochReport;
using train::OptimizerKind;
using train::ScheduleKind;

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

struct Course {
  std::vector<EpochReport> reports;
  std::vector<double> weights;
  int64_t best_epoch = -1;
};
Course course_of(const Recipe& setup, Host& host) {
  Trial run(setup, host);
  Course course;
  run->set_epoch_function([&](const EpochReport& report) {
    course.reports.push_back(report);
    return 0;
  });
  run.train();
  EXPECT_EQ(run->progress().state, train::TrainerState::kFinished);
  course.weights = run.weights();
  course.best_epoch = run->progress().best_epoch;
  return course;
}

void expect_equal(const Recipe& setup, const std::vector<int>& worlds = {1, 2}) {
  const bool by_rank = setup.trainer.loss_average == train::LossAverage::kRanks;
  for (const int world : worlds) {
    Recipe plain = setup;
    plain.trainer.num_ranks = by_rank ? world : 1;
    Host cpu, host;
    const Course expected = course_of(plain, cpu);
    const Gpus gpus(world);
    host.devices = &gpus.table();
    const Course found = course_of(gpus.train(captured(setup)), host);
    SCOPED_TRACE(testing::Message() << world << " GPUs");
    EXPECT_LE(largest_difference(found.weights, expected.weights), 1e-9);
    EXPECT_EQ(found.best_epoch, expected.best_epoch);
    ASSERT_EQ(found.reports.size(), expected.reports.size());
    for (size_t e = 0; e < found.reports.size(); ++e) {
      const EpochReport &here = found.reports[e], &there = expected.reports[e];
      EXPECT_EQ(here.steps, there.steps);
      EXPECT_NEAR(here.train_loss, there.train_loss, 1e-9) << "epoch " << e;
      EXPECT_NEAR(here.train_accuracy, there.train_accuracy, 1e-12) << "epoch " << e;
      EXPECT_EQ(here.learning_rate, there.learning_rate) << "epoch " << e;
      EXPECT_EQ(here.evaluated, there.evaluated);
      EXPECT_EQ(here.validation.correct, there.validation.correct) << "epoch " << e;
      EXPECT_NEAR(here.validation.loss, there.validation.loss, 1e-9) << "epoch " << e;
      EXPECT_EQ(here.best, there.best) << "epoch " << e;
    }
    EXPECT_THAT(lines_of(host.log),
                Contains(StartsWith("rank 0: steps are captured and repeated, for")));
    gpus.expect_clean();
  }
}

// The small graph with three numbers per node in place of its class: 0 or 1, or any. Every fifth is
// missing, and all of every eleventh node.
data::DatasetRef with_targets(Task task, bool missing) {
  constexpr int64_t kTargets = 3;
  const data::DatasetRef small = make_small();
  graph::GraphParts parts = small->graph->parts();
  const int64_t nodes = parts.num_nodes[0];
  const auto classes = std::get<base::Tensor>(parts.node_columns[0].at("y")).as<const int64_t>();
  base::Tensor targets = base::Tensor::empty(base::DType::kF32, {nodes, kTargets});
  for (int64_t i = 0; i < nodes; ++i)
    for (int64_t t = 0; t < kTargets; ++t) {
      const int64_t bit = (classes[i] + 1) >> t & 1;
      float& to = targets.as<float>()[i * kTargets + t];
      to = task == Task::kBinary ? static_cast<float>(bit)
                                 : 0.3f * static_cast<float>(classes[i] * (t + 1)) - 0.5f;
      if (missing && (i % 11 == 0 || (i + t) % 5 == 0)) to = kMissing;
    }
  parts.node_columns[0].insert_or_assign("y", targets);
  return data::make_dataset(graph::Graph::create(std::move(parts)), "x", "y", task == Task::kBinary,
                            small->splits, task == Task::kBinary ? kTargets : 0);
}

data::DatasetRef weighted(const data::DatasetRef& dataset, const std::vector<double>& of_class,
                          bool of_nodes) {
  auto made = std::make_shared<data::Dataset>(*dataset);
  if (!of_class.empty()) made->class_weights = data::make_class_weights(*made, of_class);
  if (of_nodes) {
    base::Tensor weights = base::Tensor::empty(base::DType::kF64, {made->graph->num_nodes(0)});
    for (int64_t i = 0; i < weights.rows(); ++i)
      weights.as<double>()[i] = 0.25 * static_cast<double>(i % 9);  // some weights are 0
    made->sample_weights = data::make_sample_weights(*made, weights.view());
  }
  return made;
}

Recipe of(const data::DatasetRef& dataset) {
  Recipe setup = in_f64();
  setup.dataset = dataset;
  setup.trainer.num_epochs = 6;
  return setup;
}

TEST(DeviceCaptureModes, ClassesWithWeightsAndWithoutLabels) {
  const data::DatasetRef some = make_small({.unlabeled = 40});
  const std::vector<double> of_class{0.2, 1, 3, 0};
  expect_equal(of(weighted(some, of_class, false)));
  expect_equal(of(weighted(some, {}, true)));
  expect_equal(of(weighted(some, of_class, true)));
}

TEST(DeviceCaptureModes, BinaryCrossEntropy) {
  for (const bool missing : {false, true}) {
    SCOPED_TRACE(missing ? "some are missing" : "all are there");
    const data::DatasetRef labels = with_targets(Task::kBinary, missing);
    ASSERT_EQ(labels->task, Task::kBinary);
    expect_equal(of(labels));
    expect_equal(of(weighted(labels, {0.2, 0, 3}, true)));
  }
}

TEST(DeviceCaptureModes, SquaredErrors) {
  for (const bool missing : {false, true}) {
    SCOPED_TRACE(missing ? "some are missing" : "all are there");
    const data::DatasetRef numbers = with_targets(Task::kRegression, missing);
    ASSERT_EQ(numbers->task, Task::kRegression);
    expect_equal(of(numbers));
    expect_equal(of(weighted(numbers, {}, true)));
  }
}

// Each rank divides its loss by its own weight, which is 0 on some.
TEST(DeviceCaptureModes, TheMeanOfRanksWithWeights) {
  for (const data::DatasetRef& dataset :
       {weighted(make_small({.num_train = 70, .unlabeled = 40}), {0.2, 1, 3, 0}, true),
        weighted(with_targets(Task::kBinary, true), {0.2, 0, 3}, true),
        weighted(with_targets(Task::kRegression, true), {}, true)}) {
    Recipe setup = of(dataset);
    setup.trainer.loss_average = train::LossAverage::kRanks;
    setup.trainer.batches_per_step = 0;
    expect_equal(setup, {2, 4});
  }
}

// Rates change from step to step, or by the result of an evaluation, while a step is in flight.
TEST(DeviceCaptureModes, OptimizersWithClippingAndSchedules) {
  const struct {
    train::OptimizerConfig optimizer;
    train::ScheduleConfig schedule;
  } cases[] = {
      {{.kind = OptimizerKind::kAdam, .weight_decay = 0.01, .amsgrad = true},
       {.kind = ScheduleKind::kCosine, .warmup_epochs = 2}},
      {{.kind = OptimizerKind::kAdamW, .weight_decay = 0.05},
       {.kind = ScheduleKind::kStep, .step_epochs = 2, .factor = 0.5}},
      {{.kind = OptimizerKind::kSgd,
        .learning_rate = 0.05,
        .weight_decay = 0.02,
        .weight_decay_layers = 1,
        .momentum = 0.9,
        .nesterov = true},
       {.kind = ScheduleKind::kPlateau, .factor = 0.5, .patience = 1}},
      {{.kind = OptimizerKind::kSgd, .learning_rate = 0.05, .momentum = 0.8, .dampening = 0.3},
       {.kind = ScheduleKind::kConstant, .warmup_epochs = 1}}};
  for (const auto& c : cases) {
    Recipe setup = in_f64();
    setup.dataset = make_small({.label_noise = 0.4});
    setup.trainer.optimizer = c.optimizer;
    setup.trainer.schedule = c.schedule;
    setup.trainer.clip_norm = 0.2;
    setup.trainer.num_epochs = 10;
    SCOPED_TRACE(static_cast<int>(c.schedule.kind));
    expect_equal(setup);
  }
}

// More mini-batches per step than ranks, not divisible by them, and a last step of two, the second
// of which has a single seed.
TEST(DeviceCaptureModes, StepsOfManyMiniBatches) {
  for (const int64_t batches_per_step : {7, 5}) {
    Recipe setup = in_f64();
    setup.trainer.batch_size = 16;
    setup.trainer.batches_per_step = batches_per_step;
    setup.trainer.clip_norm = 0.5;
    setup.trainer.num_epochs = 5;
    SCOPED_TRACE(batches_per_step);
    expect_equal(setup, {1, 2, 4});
  }
  Recipe setup = in_f64();
  setup.trainer.drop_last = true;
  setup.trainer.batches_per_step = 3;
  expect_equal(setup, {1, 2});
}

// The epoch after the last improvement is the last one; the best weights remain.
TEST(DeviceCaptureModes, StopsEarlyWithTheBestWeights) {
  Recipe setup = in_f64();
  setup.dataset = make_small({.label_noise = 0.4});
  setup.trainer.optimizer.learning_rate = 0.03;
  setup.trainer.num_epochs = 40;
  setup.trainer.early_stop_patience = 3;
  setup.trainer.keep_best = true;
  Host cpu;
  const Course expected = course_of(setup, cpu);
  const auto epochs = static_cast<int64_t>(expected.reports.size());
  EXPECT_GT(expected.best_epoch, 0);
  EXPECT_EQ(epochs, expected.best_epoch + 4);
  ASSERT_LT(epochs, 40);
  expect_equal(setup, {1, 2, 4});
}

}  // namespace
}  // namespace gnnmg::test
