// Averages of the weights on GPUs: as on the CPU, also over captured steps and from a checkpoint of
// one to the other.
#include "nn/model/model.h"
#include "support/temp_dir.h"
#include "train/step/captured/device_capture.h"

namespace gnnmg::test {
namespace {

using base::Status;
using testing::Contains;
using testing::HasSubstr;
using train::Average;

Recipe averaging(Average average) {
  Recipe setup = in_f64(4);
  setup.model.norm = nn::Norm::kBatch;
  setup.trainer.batches_per_step = 2;
  setup.trainer.average = average;
  setup.trainer.average_decay = 0.8;
  setup.trainer.average_from = 1;
  return setup;
}

TEST(DeviceAverage, EqualsTheCpus) {
  for (const Average average : {Average::kEma, Average::kSwa})
    for (const bool keeps : {false, true}) {
      Recipe setup = averaging(average);
      setup.trainer.keep_best = keeps;
      const std::vector<double> expected = weights_after(setup);
      for (const int world : worlds({1, 2})) {
        const Gpus gpus(world);
        EXPECT_LE(largest_difference(gpus.weights_after(setup), expected), 1e-9) << world;
        gpus.expect_clean();
      }
    }
}

TEST(DeviceAverage, OverCapturedStepsIsOneOfEpochs) {
  const Gpus gpus(1);
  Recipe setup = averaging(Average::kSwa);
  setup.model.norm = nn::Norm::kNone;
  EXPECT_LE(largest_difference(gpus.weights_after(captured(setup)), weights_after(setup)), 1e-9);
  setup.trainer.average = Average::kEma;
  Host host;
  host.devices = &gpus.table();
  {
    Trial run(gpus.train(setup), host);
    run.train();
    EXPECT_THAT(lines_of(host.log), Contains(HasSubstr("average=ema takes the weights of each")));
  }
  Trial run(gpus.train(captured(setup)), host);
  const Caught refused = caught([&] { run.train(); });
  EXPECT_EQ(refused.status, Status::kUnsupported);
  EXPECT_THAT(refused.text, HasSubstr("average=ema takes the weights of each step"));
}

TEST(DeviceAverage, MovesToTheCpuAndBack) {
  for (const Average average : {Average::kEma, Average::kSwa}) {
    const Recipe setup = averaging(average);
    const std::vector<double> expected = weights_after(setup);
    const Gpus gpus(2);
    const TempDir folder;
    Host host;
    host.devices = &gpus.table();
    for (const bool from_gpus : {true, false}) {
      const std::string path = folder.file(base::text("from", from_gpus));
      const Recipe on_gpus = gpus.train(setup);
      {
        Trial run(from_gpus ? on_gpus : setup, host);
        for (int i = 0; i < 8; ++i) ASSERT_EQ(run->step({}, nullptr), Status::kOk);
        run->save(path);
      }
      Trial run(from_gpus ? setup : on_gpus, host);
      run->load(path);
      run.train();
      EXPECT_LE(largest_difference(run.weights(), expected), 1e-9) << from_gpus;
    }
  }
}

}  // namespace
}  // namespace gnnmg::test
