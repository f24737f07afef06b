// Trainings with products in bf16 or TF32: close to those in f32, on the CPU and on fake GPUs, and
// refused on devices without support.
#include <ATen/Context.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "nn/model/model.h"
#include "train/device_fixture.h"

namespace gnnmg::test {
namespace {

using train::Precision;

struct Course {
  std::vector<double> losses;
  double accuracy = 0;
};
Course course(const Recipe& setup, Host& host) {
  Trial run(setup, host);
  Course course;
  run->set_epoch_function([&](const train::EpochReport& report) {
    course.losses.push_back(report.train_loss);
    return 0;
  });
  run.train();
  course.accuracy = run->evaluate(data::SplitPart::kTest, base::Deadline())->accuracy;
  return course;
}

Recipe recipe(Precision precision) {
  Recipe setup;
  setup.model.dropout = 0;
  setup.trainer.num_epochs = 12;
  setup.trainer.batches_per_step = 2;
  setup.trainer.precision = precision;
  return setup;
}

TEST(Precision, Bf16IsNearF32AndNotTheSame) {
  Host host;
  const Course full = course(recipe(Precision::kFull), host);
  for (const int gpus_used : {0, 1, 2}) {
    const Gpus gpus(std::max(gpus_used, 1));
    Host of_gpus;
    of_gpus.devices = &gpus.table();
    Recipe setup = recipe(Precision::kBf16);
    if (gpus_used > 0) {
      setup = gpus.train(setup);
      setup.trainer.capture = train::Capture::kOn;
    }
    const Course half = course(setup, of_gpus);
    ASSERT_EQ(half.losses.size(), full.losses.size());
    EXPECT_NE(half.losses, full.losses);
    for (size_t e = 0; e < full.losses.size(); ++e)
      EXPECT_NEAR(half.losses[e], full.losses[e], 0.02 * full.losses[0]) << "epoch " << e;
    EXPECT_NEAR(half.accuracy, full.accuracy, 0.03);
  }
}

TEST(Precision, TheModelIsAsItWasBehindATraining) {
  Host host;
  Trial half(recipe(Precision::kBf16), host), full(recipe(Precision::kFull), host);
  half.train();
  full.train();
  Recipe again = recipe(Precision::kFull);
  const std::vector<double> expected = weights_after(again);
  EXPECT_EQ(full.weights(), expected) << "a training in bf16 has changed another's";
}

TEST(Precision, StrictModeGivesTheSameBitsInBf16OnAnyRanksAndThreads) {
  Recipe setup = recipe(Precision::kBf16);
  setup.trainer.deterministic = true;
  setup.trainer.num_epochs = 3;
  const std::vector<double> expected = weights_after(setup);
  setup.trainer.torch_threads = 2;
  EXPECT_EQ(weights_after(setup), expected);
  setup.trainer.num_ranks = 2;
  EXPECT_EQ(weights_after(setup), expected);
}

// The fakes multiply in f32 anyway; LibTorch's setting determines real GPUs.
TEST(Precision, Tf32IsLibTorchsSettingForAsLongAsATrainingOnGpusLasts) {
  const Gpus gpus(2);
  Host host;
  host.devices = &gpus.table();
  Recipe full = recipe(Precision::kFull);
  full.trainer.capture = train::Capture::kOn;
  Recipe tf32 = recipe(Precision::kTf32);
  tf32.trainer.capture = train::Capture::kOn;
  const std::vector<double> expected = gpus.weights_after(full);
  Trial run(gpus.train(tf32), host);
  std::vector<bool> during;
  run->set_epoch_function([&](const train::EpochReport&) {
    during.push_back(at::globalContext().allowTF32CuBLAS());
    return 0;
  });
  run.train();
  EXPECT_THAT(during, testing::AllOf(testing::SizeIs(12), testing::Each(true)));
  EXPECT_FALSE(at::globalContext().allowTF32CuBLAS());
  EXPECT_EQ(run.weights(), expected);
}

TEST(Precision, Bf16SumsAreInF32ForAsLongAsATrainingOnGpusLasts) {
  using Option = at::CuBLASReductionOption;
  const Gpus gpus(2);
  Host host;
  host.devices = &gpus.table();
  const auto trained_under = [&](Precision precision) {
    Trial run(gpus.train(recipe(precision)), host);
    std::vector<Option> during;
    run->set_epoch_function([&](const train::EpochReport&) {
      during.push_back(at::globalContext().allowBF16ReductionCuBLAS());
      return 0;
    });
    run.train();
    return during;
  };
  const Option before = at::globalContext().allowBF16ReductionCuBLAS();
  for (const Option set :
       {Option::AllowReducedPrecisionWithSplitK, Option::DisallowReducedPrecisionAllowSplitK,
        Option::DisallowReducedPrecisionDisallowSplitK}) {
    at::globalContext().setAllowBF16ReductionCuBLAS(
        set == Option::AllowReducedPrecisionWithSplitK,
        set != Option::DisallowReducedPrecisionDisallowSplitK);
    EXPECT_THAT(trained_under(Precision::kBf16),
                testing::AllOf(testing::SizeIs(12),
                               testing::Each(Option::DisallowReducedPrecisionAllowSplitK)));
    EXPECT_EQ(at::globalContext().allowBF16ReductionCuBLAS(), set);
    EXPECT_THAT(trained_under(Precision::kFull), testing::Each(set));
  }
  at::globalContext().setAllowBF16ReductionCuBLAS(
      before == Option::AllowReducedPrecisionWithSplitK,
      before != Option::DisallowReducedPrecisionDisallowSplitK);
}

TEST(Precision, OneSettingServesOneKindOfTrainingAtATime) {
  const Gpus gpus(1);
  Host host, other;
  host.devices = other.devices = &gpus.table();
  Trial tf32(gpus.train(recipe(Precision::kTf32)), host);
  Trial full(gpus.train(recipe(Precision::kFull)), other);
  Caught found;
  tf32->set_epoch_function([&](const train::EpochReport& report) {
    if (report.epoch == 0) std::thread([&] { found = caught([&] { full.train(); }); }).join();
    return 0;
  });
  tf32.train();
  EXPECT_EQ(found.status, base::Status::kUnsupported);
  EXPECT_THAT(found.text, testing::HasSubstr("another trainer of this process works on GPUs with"));
  full.train();
  EXPECT_EQ(full.weights(), gpus.weights_after(recipe(Precision::kFull)));
}

TEST(Precision, WhatCannotBeHadIsRefused) {
  Host host;
  Recipe setup = recipe(Precision::kBf16);
  setup.model.dtype = base::DType::kF64;
  const Caught found = caught([&] { const Trial run(setup, host); });
  EXPECT_EQ(found.status, base::Status::kInvalidArgument);
  EXPECT_THAT(found.text, testing::HasSubstr("precision bf16"));
}

}  // namespace
}  // namespace gnnmg::test
