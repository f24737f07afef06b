// Trainings on GPUs with captured steps, compared with the CPU, with the same steps without
// capture, and with unpadded ones; and the steps used if capture is impossible.
#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <thread>
#include <utility>

#include "nn/model/model.h"
#include "support/temp_dir.h"
#include "train/one_thread.h"
#include "train/step/captured/device_capture.h"

namespace gnnmg::test {
namespace {

using base::Status;
using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;
using train::Capture;
using train::OptimizerKind;

void expect_equal(const Recipe& setup, double tolerance, const std::vector<int>& wanted) {
  Recipe alone = setup;
  alone.trainer.num_ranks = 1;
  const std::vector<double> expected = weights_after(alone);
  for (const int world : worlds(wanted)) {
    const Gpus gpus(world);
    EXPECT_LE(largest_difference(gpus.weights_after(captured(setup)), expected), tolerance)
        << world << " GPUs";
    gpus.expect_clean();
  }
}

TEST(DeviceCapture, DoubleWithAdam) {
  Recipe setup = in_f64();
  set_steps(setup, 40);
  expect_equal(setup, 1e-9, {1, 2, 4});
}

TEST(DeviceCapture, SingleWithSgd) {
  Recipe setup;
  setup.trainer.batches_per_step = 4;
  setup.trainer.optimizer = {.kind = OptimizerKind::kSgd, .learning_rate = 0.05};
  set_steps(setup, 50);
  expect_equal(setup, 1e-4, {1, 2});
}

TEST(DeviceCapture, Layers) {
  for (const nn::Architecture architecture :
       {nn::Architecture::kGcn, nn::Architecture::kGin, nn::Architecture::kGraphConv,
        nn::Architecture::kGat}) {
    Recipe setup = in_f64();
    setup.model.architecture = architecture;
    if (architecture == nn::Architecture::kGat) setup.model.dropout = 0;
    // Small steps, so that rounding stays small.
    setup.trainer.optimizer = {.kind = OptimizerKind::kSgd, .learning_rate = 1e-3};
    setup.trainer.clip_norm = 0.5;
    set_steps(setup, 6);
    for (const sample::Expansion expansion :
         {sample::Expansion::kOnce, sample::Expansion::kEveryLayer}) {
      setup.sampler.expansion = expansion;
      SCOPED_TRACE(testing::Message() << "architecture " << static_cast<int>(architecture)
                                      << ", expansion " << static_cast<int>(expansion));
      expect_equal(setup, 1e-9, {2});
    }
  }
}

// Ranks without any mini-batch, a last mini-batch of a single seed, one larger than the split,
// seeds without a label, and weights by rank.
TEST(DeviceCapture, UnevenPlans) {
  struct Case {
    int64_t num_train, batch_size;
  };
  for (const Case c : {Case{40, 32}, Case{10, 100}, Case{1, 1}}) {
    Recipe setup = in_f64();
    setup.dataset = make_small({.num_train = c.num_train});
    setup.trainer.batch_size = c.batch_size;
    set_steps(setup, 10);
    SCOPED_TRACE(testing::Message() << c.num_train << " ids by " << c.batch_size);
    expect_equal(setup, 1e-9, {4});
  }
  Recipe setup = in_f64();
  setup.dataset = make_small({.unlabeled = 40});
  set_steps(setup, 20);
  expect_equal(setup, 1e-9, {2});
  setup.trainer.loss_average = train::LossAverage::kRanks;
  setup.trainer.batches_per_step = 0;
  const Gpus gpus(2);
  setup.trainer.num_ranks = gpus.count();
  const std::vector<double> expected = weights_after(setup);
  EXPECT_LE(largest_difference(gpus.weights_after(captured(setup)), expected), 1e-9);
}

// Epochs with evaluations in between; the best weights are kept.
TEST(DeviceCapture, ReportsAndEvaluations) {
  const auto course = [](const Recipe& recipe, Host& host) {
    Trial run(recipe, host);
    std::vector<train::EpochReport> reports;
    collect(run, reports);
    run.train();
    return reports;
  };
  for (const train::EvaluationMode mode :
       {train::EvaluationMode::kFull, train::EvaluationMode::kSampled}) {
    Recipe setup = in_f64();
    setup.trainer.evaluation = mode;
    Host cpu, host;
    const auto expected = course(setup, cpu);
    const Gpus gpus(2);
    host.devices = &gpus.table();
    const auto found = course(gpus.train(captured(setup)), host);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t e = 0; e < found.size(); ++e) {
      EXPECT_NEAR(found[e].train_loss, expected[e].train_loss, 1e-9);
      EXPECT_EQ(found[e].train_accuracy, expected[e].train_accuracy);
      EXPECT_EQ(found[e].validation.correct, expected[e].validation.correct);
      EXPECT_EQ(found[e].best, expected[e].best);
    }
    const std::vector<std::string> lines = lines_of(host.log);
    for (int rank = 0; rank < gpus.count(); ++rank)
      EXPECT_THAT(lines, Contains(StartsWith(
                             base::text("rank ", rank, ": steps are captured and repeated, for"))));
  }
}

// A checkpoint in the middle of an epoch, and single steps, continued in any mode.
TEST(DeviceCapture, CheckpointsAndSingleSteps) {
  const Recipe setup = in_f64();
  const std::vector<double> expected = weights_after(setup);
  const Gpus gpus(2);
  const TempDir folder;
  Host host;
  host.devices = &gpus.table();
  const Recipe modes[] = {setup, gpus.train(unpadded(setup)), gpus.train(captured(setup)),
                          gpus.train(uncaptured(setup))};
  for (int from = 0; from < 4; ++from) {
    const std::string path = folder.file(std::to_string(from));
    {
      Trial run(modes[from], host);
      ASSERT_EQ(run->step({}, nullptr), Status::kOk);
      ASSERT_EQ(run->step({}, nullptr), Status::kOk);
      ASSERT_EQ(run->step({}, nullptr), Status::kOk);
      run->save(path);
    }
    for (int to = 0; to < 4; ++to) {
      if (from < 2 && to < 2) continue;
      Trial run(modes[to], host);
      run->load(path);
      run.train();
      EXPECT_LE(largest_difference(run.weights(), expected), 1e-9) << from << " to " << to;
    }
  }
  gpus.expect_clean();
}

const device::Table* quick = nullptr;

// A newer checkpoint replaces one that waits to be written, so steps that are fast compared with
// the disk leave few.
device::Table slowed(const Gpus& gpus) {
  quick = &gpus.table();
  device::Table table = gpus.table();
  table.replay = [](device::Queue* queue, const device::Graph* kept) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    quick->replay(queue, kept);
  };
  return table;
}

// Checkpoints that become due during the next step hold the step in their name: each continues to
// the same weights.
TEST(DeviceCapture, CheckpointsWithAStepUnderWay) {
  Recipe setup = in_f64();
  setup.trainer.num_epochs = 4;
  setup.trainer.batches_per_step = 2;
  const std::vector<double> expected = weights_after(setup);
  for (const int world : worlds({1, 2})) {
    const Gpus gpus(world);
    const TempDir folder;
    const device::Table table = slowed(gpus);
    Host host;
    host.devices = &table;
    {
      Trial run(gpus.train(captured(setup)), host);
      train::CheckpointConfig keep;
      keep.folder = folder.file("all");
      keep.every_steps = 1;
      keep.keep = 100;
      run->set_checkpoints(keep);
      run.train();
      EXPECT_LE(largest_difference(run.weights(), expected), 1e-9);
    }
    int found = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder.file("all"))) {
      if (!entry.is_directory()) continue;
      ++found;
      Trial run(setup, host);
      run->load(entry.path());
      run.train();
      EXPECT_LE(largest_difference(run.weights(), expected), 1e-9) << entry.path();
    }
    EXPECT_GT(found, 1);
  }
}

TEST(DeviceCapture, DivergesAsEagerStepsDo) {
  Recipe setup = in_f64();
  setup.trainer.batches_per_step = 0;
  setup.dataset = make_small({.nan_features = 3});
  setup.trainer.num_epochs = 50;
  std::vector<std::string> texts;
  std::vector<std::vector<double>> weights;
  for (const Capture capture : {Capture::kUnpadded, Capture::kOn, Capture::kOff}) {
    setup.trainer.capture = capture;
    const Gpus gpus(1);
    Host host;
    host.devices = &gpus.table();
    Trial run(gpus.train(setup), host);
    const Caught failure = caught([&] { run.train(); });
    EXPECT_EQ(failure.status, Status::kDiverged) << failure.text;
    texts.push_back(failure.text);
    weights.push_back(run.weights());
  }
  EXPECT_EQ(texts[0], texts[1]);
  EXPECT_EQ(texts[0], texts[2]);
  EXPECT_LE(largest_difference(weights[0], weights[1]), 1e-9);
  EXPECT_LE(largest_difference(weights[0], weights[2]), 1e-9);
}

std::vector<std::string> lines_of_two_epochs(Recipe setup) {
  setup.trainer.num_epochs = 2;
  const Gpus gpus(1);
  Host host;
  host.devices = &gpus.table();
  Trial run(gpus.train(setup), host);
  run.train();
  return lines_of(host.log);
}

testing::Matcher<std::vector<std::string>> without_padding(const char* why) {
  return Contains(base::text("rank 0: steps are eager, without padding: ", why));
}

TEST(DeviceCapture, WhatCannotBeCapturedIsEagerAndSaysWhy) {
  for (const Capture capture : {Capture::kAuto, Capture::kOff}) {
    const auto lines = [&](const Recipe& setup) {
      return lines_of_two_epochs(with(capture, setup));
    };
    Recipe setup;
    setup.model.norm = nn::Norm::kBatch;
    EXPECT_THAT(lines(setup), without_padding("batch norm takes statistics over all rows"));
    setup = {};
    setup.sampler.fanouts = {5, -1};
    EXPECT_THAT(lines(setup), without_padding("a fan-out of -1 has no bound"));
    setup = {};
    setup.sampler.draw = sample::Draw::kLabor;
    EXPECT_THAT(lines(setup), without_padding("fan-outs of LABOR are means and no bounds"));
    setup = {};
    setup.trainer.placement.features = loader::FeaturePlacement::kHost;
    EXPECT_THAT(lines(setup), without_padding("the host gathers the rows of features"));
    setup = {};
    setup.trainer.placement.graph = loader::GraphPlacement::kHost;
    EXPECT_THAT(lines(setup), without_padding("the host samples"));
    setup = {};
    setup.trainer.deterministic = true;
    EXPECT_THAT(lines(setup),
                without_padding("deterministic training exchanges mini-batch by mini-batch"));
  }
  EXPECT_THAT(lines_of_two_epochs(unpadded({})), without_padding("capture is unpadded"));
  Recipe setup = captured({});
  setup.model.norm = nn::Norm::kBatch;
  const Caught failure = caught([&] { lines_of_two_epochs(setup); });
  EXPECT_EQ(failure.status, Status::kUnsupported);
  EXPECT_THAT(failure.text,
              HasSubstr("cannot be captured: batch norm takes statistics over all rows; leave the "
                        "choice to the trainer"));
}

// The same work without capture has the same bits, for any layers, optimizer, ranks and
// mini-batches per step; by request, or because the device captures nothing.
TEST(DeviceCapture, TheBitsOfTheSameWorkOneByOne) {
  using train::OptimizerConfig;
  const OptimizerConfig optimizers[] = {
      {.kind = OptimizerKind::kAdam, .learning_rate = 0.01},
      {.kind = OptimizerKind::kAdam, .learning_rate = 0.01, .weight_decay = 1e-3, .amsgrad = true},
      {.kind = OptimizerKind::kAdamW, .learning_rate = 0.01, .weight_decay = 0.1},
      {.kind = OptimizerKind::kSgd, .learning_rate = 0.05},
      {.kind = OptimizerKind::kSgd,
       .learning_rate = 0.02,
       .weight_decay = 1e-3,
       .momentum = 0.9,
       .nesterov = true}};
  // Ranks, and mini-batches per step; 0: one each.
  constexpr std::pair<int, int64_t> kSteps[] = {{1, 0}, {2, 0}, {4, 0}, {1, 4}, {2, 5}};
  constexpr nn::Architecture kLayers[] = {nn::Architecture::kSage, nn::Architecture::kGcn,
                                          nn::Architecture::kGin, nn::Architecture::kGraphConv,
                                          nn::Architecture::kGat};
  for (int number = 0; number < 6; ++number) {
    SCOPED_TRACE(number);
    const auto [world, batches_per_step] = kSteps[(number + number / 5) % 5];
    Recipe setup;  // f32, a last mini-batch of one seed, ranks without one
    if (number % 2) setup.sampler.expansion = sample::Expansion::kEveryLayer;
    setup.trainer.torch_threads = 1;
    setup.model.architecture = kLayers[number % 5];
    setup.model.input_dropout = 0.1;
    if (number % 5 == 4) setup.model.dropout = 0;
    setup.trainer.optimizer = optimizers[(number + number / 5 * 2) % 5];
    setup.trainer.batches_per_step = batches_per_step;
    setup.trainer.clip_norm = number % 2 ? 0.1 : 0;
    setup.trainer.schedule.kind =
        number % 3 ? train::ScheduleKind::kCosine : train::ScheduleKind::kStep;
    setup.trainer.schedule.step_epochs = 1;
    setup.trainer.schedule.warmup_epochs = 1;
    setup.trainer.num_epochs = 2;
    setup.trainer.evaluate_every = 0;
    const Gpus gpus(world);
    ASSERT_TRUE(kOneThread);
    const std::vector<double> kept = gpus.weights_after(captured(setup));
    EXPECT_EQ(kept, gpus.weights_after(uncaptured(setup)));
    if (number == 2) {
      EXPECT_EQ(kept, after(setup, gpus, refusing(gpus)));
    }
    gpus.expect_clean();
  }
}

// Unpadded mini-batches give the same up to rounding, on any number of ranks.
TEST(DeviceCapture, MiniBatchesAsTheyAreWithinRounding) {
  for (const int world : worlds({1, 2, 4})) {
    Recipe setup = in_f64();
    setup.model.input_dropout = 0.1;
    setup.trainer.batches_per_step = 0;
    setup.trainer.evaluate_every = 0;
    const Gpus gpus(world);
    const std::vector<double> expected = gpus.weights_after(uncaptured(setup));
    EXPECT_LE(largest_difference(gpus.weights_after(unpadded(setup)), expected), 1e-9) << world;
    gpus.expect_clean();
  }
}

// Interrupted captured steps continue from their checkpoint without capture and end with the same
// weights, and the reverse.
TEST(DeviceCapture, TheBitsOfATrainingThatGoesOnInTheOtherWay) {
  ASSERT_TRUE(kOneThread);
  const TempDir folder;
  for (const int world : worlds({1, 2})) {
    Recipe setup;
    setup.trainer.torch_threads = 1;
    setup.trainer.num_epochs = 3;
    setup.trainer.batches_per_step = 2;
    setup.trainer.clip_norm = 0.1;
    const Gpus gpus(world);
    const Recipe ways[] = {gpus.train(captured(setup)), gpus.train(uncaptured(setup))};
    const std::vector<double> expected = gpus.weights_after(captured(setup));
    Host host;
    host.devices = &gpus.table();
    for (int from = 0; from < 2; ++from) {
      const std::string path = folder.file(base::text(world, " ", from));
      {
        Trial run(ways[from], host);
        for (int i = 0; i < 4; ++i) ASSERT_EQ(run->step({}, nullptr), Status::kOk);
        run->save(path);
      }
      Trial run(ways[1 - from], host);
      run->load(path);
      run.train();
      EXPECT_EQ(run.weights(), expected) << world << " ranks, from " << from;
    }
    gpus.expect_clean();
  }
}

// Features in every placement, also gathered ones.
TEST(DeviceCapture, RowsThatAreGathered) {
  std::vector<std::vector<double>> weights;
  using Placement = loader::FeaturePlacement;
  for (const Placement placement : {Placement::kDevice, Placement::kPinned, Placement::kCached})
    for (const bool gather : {false, true}) {
      Recipe setup = in_f64();
      setup.trainer.num_epochs = 3;
      setup.trainer.placement.features = placement;
      setup.trainer.placement.cache_bytes = placement == Placement::kCached ? 4096 : 0;
      setup.trainer.placement.gather = gather;
      setup.trainer.placement.gather_multiprocessors = 1;
      const Gpus gpus(2);
      weights.push_back(gpus.weights_after(captured(setup)));
      EXPECT_LE(largest_difference(weights.back(), weights[0]), 1e-9);
    }
}

TEST(DeviceCapture, OtherLosses) {
  Recipe setup = in_f64();
  setup.dataset = make_small({.regression = true});
  set_steps(setup, 20);
  expect_equal(setup, 1e-9, {1, 2});
}

}  // namespace
}  // namespace gnnmg::test
