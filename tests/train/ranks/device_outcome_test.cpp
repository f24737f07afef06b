// Trainings on GPUs that end early: the error, the state afterwards, another start that continues,
// and no leaks on GPUs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "nn/model/model.h"
#include "train/device_fixture.h"

namespace gnnmg::test {
namespace {

using base::Status;
using testing::HasSubstr;

TEST(DeviceOutcome, AFailingSamplerNamesItself) {
  const Gpus gpus(4);
  Recipe setup = gpus.train(in_f64(6));
  const std::vector<double> expected = weights_after(in_f64(6));
  std::atomic<int> failures{0};
  std::atomic<double> at{0};
  watch(setup, [&](const sample::BatchKey& key, const base::CancelToken&) {
    if (key.epoch == 2 && key.batch == 2 && failures++ == 0) {
      at = now();
      throw base::Error(Status::kCallback, "the host's sampler answered 5");
    }
  });
  Host host;
  host.devices = &gpus.table();
  {
    Trial run(setup, host);
    const Caught found = caught([&] { run.train(); });
    EXPECT_EQ(found.status, Status::kCallback);
    EXPECT_THAT(found.text, HasSubstr("answered 5"));
    EXPECT_LT(now() - at.load(), 5.0);
    expect_goes_on(run, expected);
  }
  gpus.expect_clean();
}

TEST(DeviceOutcome, CancelAndGoOn) {
  for (const int world : worlds({1, 4})) {
    const Gpus gpus(world);
    Recipe setup = gpus.train(in_f64(6));
    const std::vector<double> expected = weights_after(in_f64(6));
    Trial* running = nullptr;
    std::atomic<int> cancels{0};
    std::atomic<double> at{0};
    watch(setup, [&](const sample::BatchKey& key, const base::CancelToken&) {
      if (key.epoch == 3 && key.batch == 1 && cancels++ == 0) {
        at = now();
        (*running)->cancel();
      }
    });
    Host host;
    host.devices = &gpus.table();
    {
      Trial run(setup, host);
      running = &run;
      EXPECT_EQ(caught([&] { run.train(); }).status, Status::kCancelled);
      EXPECT_LT(now() - at.load(), 5.0);
      EXPECT_LT(run->progress().epoch, 6);
      expect_goes_on(run, expected);
    }
    gpus.expect_clean();
  }
}

TEST(DeviceOutcome, DivergenceLeavesTheLastGoodWeights) {
  for (const int world : worlds({1, 2})) {
    const Gpus gpus(world);
    Host host;
    host.devices = &gpus.table();
    Recipe setup;
    setup.dataset = make_small({.regression = true, .huge_target = true});
    setup.trainer.batches_per_step = 8;  // every step has the target
    setup.trainer.optimizer.kind = train::OptimizerKind::kSgd;
    Trial run(gpus.train(setup), host);
    const std::vector<double> before = run.weights();
    const Caught found = caught([&] { run.train(); });
    EXPECT_EQ(found.status, Status::kDiverged) << found.text;
    EXPECT_EQ(run.weights(), before);
  }
}

}  // namespace
}  // namespace gnnmg::test
