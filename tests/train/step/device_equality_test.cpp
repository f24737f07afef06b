// Trainings on any number of GPUs equal those on the CPU: weights, evaluations, results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nn/model/model.h"
#include "train/device_fixture.h"
#include "train/small_graphs.h"

namespace gnnmg::test {
namespace {

using train::OptimizerKind;

void expect_equal(const Recipe& setup, double tolerance,
                  const std::vector<int>& wanted = {1, 2, 4}) {
  Recipe alone = setup;
  alone.trainer.num_ranks = 1;
  const std::vector<double> expected = weights_after(alone);
  for (const int world : worlds(wanted)) {
    const Gpus gpus(world);
    EXPECT_LE(largest_difference(gpus.weights_after(setup), expected), tolerance)
        << world << " GPUs";
    gpus.expect_clean();
  }
}

TEST(DeviceEquality, DoubleWithAdam) {
  Recipe setup = in_f64();
  set_steps(setup, 200);
  expect_equal(setup, 1e-9, {1, 2, 4});
}

TEST(DeviceEquality, Labor) {
  Recipe setup = in_f64();
  setup.sampler.fanouts = {4, 3};
  setup.sampler.draw = sample::Draw::kLaborOnce;
  set_steps(setup, 30);
  expect_equal(setup, 1e-9, {1, 2});
}

TEST(DeviceEquality, EightGpus) {
  Recipe setup = in_f64();
  setup.trainer.batch_size = 16;
  setup.trainer.batches_per_step = 8;
  set_steps(setup, 20);
  expect_equal(setup, 1e-9, {8});
}

// One cache over all GPUs; each reads the others' rows.
TEST(DeviceEquality, CachesThatAreSplit) {
  {
    const Gpus gpus(2);
    if (gpus.count() < 2 || !gpus.table().enable_peer(0, 1) || !gpus.table().enable_peer(1, 0))
      GTEST_SKIP() << "no two GPUs that read each other's memory";
  }
  Recipe setup = in_f64();
  setup.trainer.placement.features = loader::FeaturePlacement::kSplit;
  setup.trainer.placement.cache_bytes = 512;
  set_steps(setup, 30);
  expect_equal(setup, 1e-9, {2, 4});
}

TEST(DeviceEquality, SingleWithSgd) {
  Recipe setup;
  setup.trainer.batches_per_step = 4;
  setup.trainer.optimizer = {.kind = OptimizerKind::kSgd, .learning_rate = 0.05};
  set_steps(setup, 50);
  expect_equal(setup, 1e-4);
}

TEST(DeviceEquality, OptimizersOfEveryKind) {
  std::vector<train::OptimizerConfig> kinds(6);
  kinds[0] = {.kind = OptimizerKind::kAdam, .weight_decay = 0.01, .amsgrad = true};
  kinds[1] = {.kind = OptimizerKind::kAdamW, .weight_decay = 0.05};
  kinds[2] = {.kind = OptimizerKind::kSgd,
              .learning_rate = 0.05,
              .weight_decay = 0.02,
              .weight_decay_layers = 1,
              .momentum = 0.9,
              .nesterov = true};
  kinds[3] = {
      .kind = OptimizerKind::kSgd, .learning_rate = 0.05, .momentum = 0.8, .dampening = 0.3};
  kinds[4] = {.kind = OptimizerKind::kRmsProp, .momentum = 0.5, .alpha = 0.9, .centered = true};
  kinds[5] = {.kind = OptimizerKind::kAdagrad, .weight_decay = 0.01};
  for (const train::OptimizerConfig& kind : kinds) {
    Recipe setup = in_f64();
    setup.trainer.optimizer = kind;
    setup.trainer.clip_norm = 0.5;
    set_steps(setup, 30);
    SCOPED_TRACE(static_cast<int>(kind.kind));
    expect_equal(setup, 1e-9, {2});
  }
}

TEST(DeviceEquality, SchedulesAndTheMeanOfRanks) {
  Recipe setup = in_f64();
  setup.dataset = make_small({.unlabeled = 40});
  setup.trainer.schedule = {.kind = train::ScheduleKind::kCosine, .warmup_epochs = 2};
  set_steps(setup, 20);
  expect_equal(setup, 1e-9, {2});
  setup.trainer.loss_average = train::LossAverage::kRanks;
  setup.trainer.batches_per_step = 0;
  const Gpus gpus(2);
  setup.trainer.num_ranks = gpus.count();
  const std::vector<double> expected = weights_after(setup);
  EXPECT_LE(largest_difference(gpus.weights_after(setup), expected), 1e-9);
}

// Fewer mini-batches than ranks, so that some have none; a last one of a single seed; one larger
// than the split.
TEST(DeviceEquality, UnevenPlans) {
  struct Case {
    int64_t num_train, batch_size;
  };
  for (const Case c : {Case{40, 32}, Case{129, 32}, Case{10, 100}, Case{1, 1}}) {
    Recipe setup = in_f64();
    setup.dataset = make_small({.num_train = c.num_train});
    setup.trainer.batch_size = c.batch_size;
    set_steps(setup, 10);
    SCOPED_TRACE(testing::Message() << c.num_train << " ids by " << c.batch_size);
    expect_equal(setup, 1e-9, {4});
  }
}

TEST(DeviceEquality, BatchNormAndItsRunningStatistics) {
  Recipe setup = in_f64();
  setup.model.norm = nn::Norm::kBatch;
  // A bias before batch norm has only rounding as gradient, which Adam would amplify.
  setup.trainer.optimizer = {.kind = OptimizerKind::kSgd, .learning_rate = 0.1};
  set_steps(setup, 30);
  expect_equal(setup, 1e-9);
  setup.trainer.sync_batch_norm = true;
  expect_equal(setup, 1e-9);
}

TEST(DeviceEquality, SparseFeaturesAndARegression) {
  Recipe setup = in_f64();
  setup.dataset = make_small({.num_features = 60, .sparse = true});
  set_steps(setup, 20);
  expect_equal(setup, 1e-9, {2});
  setup.dataset = make_small({.regression = true});
  expect_equal(setup, 1e-9, {2});
}

// Weights and all reports: numbers, counts, results.
TEST(DeviceEquality, EvaluationsAndResults) {
  for (const train::EvaluationMode mode :
       {train::EvaluationMode::kFull, train::EvaluationMode::kSampled}) {
    Recipe setup = in_f64();
    setup.trainer.evaluation = mode;
    setup.trainer.keep_best = true;
    const auto course = [](const Recipe& recipe, Host& host, nn::Metrics& test,
                           std::vector<double>& rows) {
      Trial run(recipe, host);
      std::vector<train::EpochReport> reports;
      run->set_epoch_function([&](const train::EpochReport& report) {
        reports.push_back(report);
        return 0;
      });
      run.train();
      test = *run->evaluate(data::SplitPart::kTest, {});
      const base::Tensor all = *run->embed({});
      const auto values = all.as<const double>();
      rows.assign(values.begin(), values.end());
      return reports;
    };
    Host cpu;
    nn::Metrics expected;
    std::vector<double> expected_rows;
    const auto reports = course(setup, cpu, expected, expected_rows);
    for (const int world : worlds({1, 2, 4})) {
      const Gpus gpus(world);
      Host host;
      host.devices = &gpus.table();
      nn::Metrics test;
      std::vector<double> rows;
      const auto found = course(gpus.train(setup), host, test, rows);
      ASSERT_EQ(found.size(), reports.size());
      for (size_t e = 0; e < found.size(); ++e) {
        EXPECT_NEAR(found[e].train_loss, reports[e].train_loss, 1e-9);
        EXPECT_EQ(found[e].train_accuracy, reports[e].train_accuracy);
        EXPECT_EQ(found[e].validation.correct, reports[e].validation.correct);
        EXPECT_NEAR(found[e].validation.loss, reports[e].validation.loss, 1e-9);
        EXPECT_EQ(found[e].best, reports[e].best);
        EXPECT_GT(found[e].compute_seconds, 0);
      }
      EXPECT_EQ(test.correct, expected.correct) << world;
      EXPECT_EQ(test.count, expected.count);
      EXPECT_NEAR(test.loss, expected.loss, 1e-9);
      EXPECT_LE(largest_difference(rows, expected_rows), 1e-8);
      const std::vector<std::string> lines = lines_of(host.log);
      for (int r = 0; r < gpus.count(); ++r)
        EXPECT_THAT(lines, testing::Contains(testing::HasSubstr(
                               base::text("rank ", r, " works on GPU ", r, " ("))));
    }
  }
}

// Graph classification with evaluation and results of all graphs.
TEST(DeviceEquality, WholeGraphs) {
  Recipe setup = gin(rings_and_stars(130));
  setup.trainer.optimizer = {.kind = OptimizerKind::kSgd, .learning_rate = 1e-3};
  setup.trainer.num_epochs = 6;
  const auto course = [](const Recipe& recipe, Host& host, nn::Metrics& test,
                         std::vector<double>& rows) {
    Trial run(recipe, host);
    run.train();
    test = *run->evaluate(data::SplitPart::kTest, {});
    const base::Tensor all = *run->embed({});
    const auto values = all.as<const double>();
    rows.assign(values.begin(), values.end());
    return run.weights();
  };
  Host cpu;
  nn::Metrics expected, test;
  std::vector<double> expected_rows, rows;
  const std::vector<double> weights = course(setup, cpu, expected, expected_rows);
  for (const int world : worlds({1, 4})) {
    const Gpus gpus(world);
    Host host;
    host.devices = &gpus.table();
    EXPECT_LE(difference(course(gpus.train(setup), host, test, rows), weights), 1e-9) << world;
    EXPECT_EQ(test.correct, expected.correct);
    EXPECT_EQ(test.count, expected.count);
    EXPECT_LE(difference(rows, expected_rows), 1e-8);
    gpus.expect_clean();
  }
}

// The same bits on any number of GPUs.
TEST(DeviceStrict, OneTwoFourAndEightGpus) {
  for (const nn::Norm norm : {nn::Norm::kNone, nn::Norm::kBatch}) {
    Recipe setup;
    setup.trainer.deterministic = true;
    setup.trainer.batches_per_step = 4;
    setup.model.norm = norm;
    const std::vector<double> alone = Gpus(1).weights_after(setup);
    for (const int world : worlds({2, 4, 8}))
      EXPECT_EQ(Gpus(world).weights_after(setup), alone) << world << " GPUs";
    Recipe cpu = setup;
    cpu.model.dtype = setup.model.dtype = base::DType::kF64;
    EXPECT_LE(largest_difference(Gpus(2).weights_after(setup), weights_after(cpu)), 1e-9);
  }
}

}  // namespace
}  // namespace gnnmg::test
