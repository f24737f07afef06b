// Reported times of steps with and without capture: all parts are present, and the model's queue
// never has more than the time that passed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "train/step/captured/device_capture.h"

namespace gnnmg::test {
namespace {

std::vector<train::EpochReport> reports_of(const Recipe& setup, const Gpus& gpus) {
  Host host;
  host.devices = &gpus.table();
  Trial run(gpus.train(setup), host);
  std::vector<train::EpochReport> reports;
  collect(run, reports);
  run.train();
  return reports;
}

void expect_parts(train::Capture capture) {
  constexpr int64_t kPasses[] = {0, 5};  // mini-batches of all ranks; 0: one each
  for (const int world : worlds({1, 2}))
    for (const int64_t batches_per_step : kPasses)
      for (const bool gather : {false, true}) {
        Recipe setup = with(capture, {});
        setup.trainer.batches_per_step = batches_per_step;
        setup.trainer.num_epochs = 3;
        setup.trainer.evaluate_every = 2;
        setup.trainer.placement.features =
            gather ? loader::FeaturePlacement::kPinned : loader::FeaturePlacement::kDevice;
        setup.trainer.placement.gather = gather;
        const Gpus gpus(world);
        const bool alone = gpus.count() == 1;
        for (const train::EpochReport& report : reports_of(setup, gpus)) {
          ASSERT_EQ(report.ranks.size(), static_cast<size_t>(gpus.count()));
          for (const train::RankTimes& rank : report.ranks) {
            SCOPED_TRACE(testing::Message() << "rank " << rank.rank << " of " << gpus.count()
                                            << ", " << batches_per_step << " a step, gather "
                                            << gather << ", epoch " << rank.epoch);
            EXPECT_GT(rank.sample_seconds, 0);
            EXPECT_GT(rank.compute_seconds, 0);
            EXPECT_GE(rank.wait_seconds, 0);
            EXPECT_EQ(rank.gather_seconds > 0, gather);
            EXPECT_EQ(rank.reduce_seconds > 0, !alone);
            EXPECT_EQ(rank.peer_wait_seconds, 0);
            EXPECT_EQ(rank.optimizer_seconds > 0, !alone || batches_per_step > 1);
            const double busy = rank.compute_seconds + rank.reduce_seconds + rank.optimizer_seconds;
            EXPECT_LE(rank.wait_seconds + busy, rank.seconds * 1.001 + 1e-4);
            EXPECT_NEAR(busy + rank.idle_seconds, rank.seconds, rank.seconds * 1e-3 + 1e-4);
            EXPECT_GT(rank.bus_bytes, 129 / gpus.count() * 8);  // includes the seeds
          }
          EXPECT_EQ(report.sample_seconds, report.ranks[0].sample_seconds);
        }
      }
}

TEST(DeviceTimes, PartsOfCapturedSteps) { expect_parts(train::Capture::kOn); }
TEST(DeviceTimes, PartsOfTheSameKernelAfterKernel) { expect_parts(train::Capture::kOff); }

}  // namespace
}  // namespace gnnmg::test
