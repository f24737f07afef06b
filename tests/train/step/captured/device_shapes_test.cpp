// Steps over mini-batches of different sizes, so that passes have different shapes, with and
// without capture.
#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temp_dir.h"
#include "train/hubs.h"
#include "train/one_thread.h"
#include "train/step/captured/device_capture.h"

namespace gnnmg::test {
namespace {

using base::Status;
using testing::Contains;
using train::Capture;

Recipe hubs_in_f64() {
  Recipe setup = hub_recipe();
  setup.model.dtype = base::DType::kF64;
  setup.trainer.batches_per_step = 4;
  return setup;
}

// Numbers of mini-batches of each shape, all ranks together, from the log.
std::vector<int64_t> count_passes(const std::vector<std::string>& lines) {
  std::vector<int64_t> sums(3);
  for (const std::string& line : lines) {
    size_t at = line.find(": padded mini-batches: ");
    if (at == std::string::npos) continue;
    at = line.find(": ", at + 2);
    for (int64_t& sum : sums) {
      sum += std::stoll(line.substr(at + 2));
      at = line.find(", ", at + 2);
    }
  }
  return sums;
}

// For any ranks: the same shapes and counts, and weights as with true sizes.
void expect_shapes(Capture capture, const char* said) {
  for (const bool once : {false, true}) {
    Recipe setup = hubs_in_f64();
    setup.trainer.num_epochs = 2;
    setup.sampler.expansion = once ? sample::Expansion::kOnce : sample::Expansion::kEveryLayer;
    setup.trainer.placement.gather = once;
    const std::vector<double> expected = weights_after(setup);
    for (const int world : worlds(once ? std::vector{2} : std::vector{1, 2, 4})) {
      const Gpus gpus(world);
      Host host;
      host.devices = &gpus.table();
      {
        Trial run(gpus.train(with(capture, setup)), host);
        run.train();
        EXPECT_LE(largest_difference(run.weights(), expected), 1e-9) << world << " GPUs";
      }
      gpus.expect_clean();
      const std::vector<std::string> lines = lines_of(host.log);
      for (int rank = 0; rank < gpus.count(); ++rank)
        EXPECT_THAT(lines,
                    Contains(base::text(
                        "rank ", rank, ": steps are ", said,
                        ", for mini-batches of up to 128 nodes and 128 edges, 256 and 256, or ",
                        once ? "1168 and 1152" : "1296 and 1152")));
      std::vector<int64_t> wanted(std::begin(kHubShapes), std::end(kHubShapes));
      for (int64_t& count : wanted) count *= setup.trainer.num_epochs;
      EXPECT_EQ(count_passes(lines), wanted) << world << " GPUs";
    }
  }
}

TEST(DeviceShapes, OfMiniBatchesThatDiffer) {
  expect_shapes(Capture::kOn, "captured and repeated");
}

TEST(DeviceShapes, OfTheSameKernelAfterKernel) {
  expect_shapes(Capture::kOff, "eager, over the shapes of captured ones");
}

// Leftover rows of a larger mini-batch follow those of a smaller one, and are NaN.
TEST(DeviceShapes, WhatLiesBehindRowsIsNotRead) {
  Recipe setup = hubs_in_f64();
  setup.dataset = make_hubs(/*nan_hubs=*/true);
  setup.trainer.batches_per_step = 1;
  setup.trainer.placement.gather = true;
  const std::vector<double> expected = weights_after(setup);
  for (const Recipe& recipe : {captured(setup), uncaptured(setup), unpadded(setup)})
    EXPECT_LE(largest_difference(Gpus(1).weights_after(recipe), expected), 1e-9);
}

// Each shape gives the same bits with and without capture.
TEST(DeviceShapes, TheBitsOfTheSameWorkOneByOne) {
  ASSERT_TRUE(kOneThread);
  for (const int world : {1, 2, 4}) {
    Recipe setup = hub_recipe();
    setup.trainer.num_epochs = 2;
    setup.trainer.batches_per_step = world == 1 ? 0 : 5;
    setup.trainer.placement.gather = world == 2;
    setup.model.input_dropout = 0.1;
    if (world == 2) setup.sampler.expansion = sample::Expansion::kEveryLayer;
    const Gpus gpus(world);
    const std::vector<double> kept = gpus.weights_after(captured(setup));
    EXPECT_EQ(kept, gpus.weights_after(uncaptured(setup)));
    if (world == 2) {
      EXPECT_EQ(kept, after(setup, gpus, refusing(gpus)));
    }
    gpus.expect_clean();
  }
}

// A training that continues from the middle of an epoch has the same shapes, in both modes.
TEST(DeviceShapes, TheBitsOfATrainingThatWasNotInterrupted) {
  ASSERT_TRUE(kOneThread);
  Recipe setup = captured(hub_recipe());
  setup.trainer.num_epochs = 2;
  setup.trainer.batches_per_step = 1;
  const Gpus gpus(1);
  const std::vector<double> expected = gpus.weights_after(setup);
  const TempDir folder;
  for (const int64_t steps : {int64_t{9}, kHubBatches + 10}) {
    Host host;
    host.devices = &gpus.table();
    const std::string path = folder.file(std::to_string(steps));
    {
      Trial run(gpus.train(setup), host);
      for (int64_t i = 0; i < steps; ++i) ASSERT_EQ(run->step({}, nullptr), Status::kOk);
      run->save(path);
    }
    for (const Recipe& recipe : {setup, uncaptured(setup)}) {
      Trial run(gpus.train(recipe), host);
      run->load(path);
      run.train();
      EXPECT_EQ(run.weights(), expected) << steps;
    }
  }
}

}  // namespace
}  // namespace gnnmg::test
