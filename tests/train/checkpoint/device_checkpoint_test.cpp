// Trainings that move between GPUs and the CPU by checkpoints, and between host and GPUs step by
// step.
#include <c10/core/GradMode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nn/model/model.h"
#include "support/temp_dir.h"
#include "train/device_fixture.h"

namespace gnnmg::test {
namespace {

using base::Status;

Recipe recipe() {
  Recipe setup;
  setup.model.dtype = base::DType::kF64;
  setup.model.norm = nn::Norm::kBatch;
  setup.trainer.optimizer = {
      .kind = train::OptimizerKind::kSgd, .learning_rate = 0.05, .momentum = 0.9};
  setup.trainer.batches_per_step = 2;
  setup.trainer.num_epochs = 4;
  setup.trainer.keep_best = true;
  return setup;
}

// Steps before the checkpoint: in the middle of an epoch, and before the last.
TEST(DeviceCheckpoint, MovesToTheCpuAndBack) {
  const std::vector<double> expected = weights_after(recipe());
  const Gpus gpus(2);
  const TempDir folder;
  Host host;
  host.devices = &gpus.table();
  for (const int steps : {1, 5, 10}) {
    for (const bool from_gpus : {true, false}) {
      const std::string path = folder.file(base::text(steps, from_gpus));
      const Recipe on_gpus = gpus.train(recipe());
      {
        Trial run(from_gpus ? on_gpus : recipe(), host);
        for (int i = 0; i < steps; ++i) ASSERT_EQ(run->step({}, nullptr), Status::kOk);
        run->save(path);
      }
      Trial run(from_gpus ? recipe() : on_gpus, host);
      run->load(path);
      run.train();
      EXPECT_LE(largest_difference(run.weights(), expected), 1e-9)
          << steps << " steps, " << (from_gpus ? "from" : "to") << " GPUs";
    }
  }
}

// Checkpoints written while ranks work on GPUs; training continues from the newest.
TEST(DeviceCheckpoint, ASeriesFromGpus) {
  Recipe setup = recipe();
  setup.trainer.optimizer = {};  // Adam
  setup.model.norm = nn::Norm::kLayer;
  const std::vector<double> expected = weights_after(setup);
  const Gpus gpus(2);
  const TempDir folder;
  Host host;
  host.devices = &gpus.table();
  {
    Trial run(gpus.train(setup), host);
    run->set_checkpoints(
        train::CheckpointConfig{.folder = folder.file("series"), .every_steps = 2});
    for (int i = 0; i < 7; ++i) ASSERT_EQ(run->step({}, nullptr), Status::kOk);
  }
  Trial run(setup, host);
  run->load(folder.file("series"));
  run.train();
  EXPECT_LE(largest_difference(run.weights(), expected), 1e-9);
  gpus.expect_clean();
}

// Single steps, evaluations and changes by the host in between: the host's model always equals that
// of the GPUs, in both directions.
TEST(DeviceCheckpoint, TheHostChangesWeightsBetweenCommands) {
  Recipe setup = recipe();
  const auto course = [](const Recipe& recipe, Host& host) {
    Trial run(recipe, host);
    std::vector<std::vector<double>> all;
    for (int i = 0; i < 6; ++i) {
      double loss = 0;
      EXPECT_EQ(run->step({}, &loss), Status::kOk);
      all.push_back(run.weights());
      all.back().push_back(loss);
      if (i % 2 == 0) {
        const c10::NoGradGuard no_grad;
        run.model().flat_parameters().mul_(0.9);
      }
    }
    all.push_back({static_cast<double>(run->evaluate(data::SplitPart::kTest, {})->correct)});
    return all;
  };
  Host cpu;
  const auto expected = course(setup, cpu);
  const Gpus gpus(2);
  Host host;
  host.devices = &gpus.table();
  const auto found = course(gpus.train(setup), host);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_LE(largest_difference(found[i], expected[i]), 1e-9) << i;
}

}  // namespace
}  // namespace gnnmg::test
