// Trainings on GPUs without enough free memory: the error, and success of the same call once there
// is room, or of one that needs less.
#include "train/device_fixture.h"

namespace gnnmg::test {
namespace {

using base::Status;
using testing::HasSubstr;

constexpr int64_t kMiB = int64_t{1} << 20;

TEST(FullGpu, SaysSoAndGoesOnOnceThereIsRoom) {
  const std::vector<double> expected = weights_after(in_f64());
  const Gpus gpus(1);
  Host host;
  host.devices = &gpus.table();
  {
    Trial run(gpus.train(in_f64()), host);
    {
      const FullGpu full(gpus, 0, 0);
      for (int time = 0; time < 2; ++time) {
        const Caught found = caught([&] { run.train(); });
        EXPECT_EQ(found.status, Status::kNoMemory) << found.text;
        EXPECT_THAT(found.text, HasSubstr("GPU 0"));
      }
    }
    expect_goes_on(run, expected);
  }
  gpus.expect_clean();
}

// Weights and gradients of the wide model take 600 MB.
TEST(FullGpu, HasRoomForASmallerTraining) {
  const Gpus gpus(1);
  Host host;
  host.devices = &gpus.table();
  Recipe narrow = gpus.train({});
  narrow.trainer.num_epochs = 1;
  Recipe wide = narrow;
  wide.model.num_layers = 3;
  wide.sampler.fanouts = {2, 2, 2};
  wide.model.hidden_dim = 6144;
  const FullGpu full(gpus, 0, 512 * kMiB);
  const Caught found = caught([&] {
    Trial run(wide, host);
    run.train();
  });
  EXPECT_EQ(found.status, Status::kNoMemory) << found.text;
  EXPECT_THAT(found.text, HasSubstr("GPU 0"));
  gpus.expect_clean();
  Trial run(narrow, host);
  run.train();
}

}  // namespace
}  // namespace gnnmg::test
