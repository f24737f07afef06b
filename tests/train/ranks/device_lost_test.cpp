// A GPU fails permanently in the middle of a training: the errors now and later, and other GPUs and
// the CPU that continue. A separate program: a real GPU is unusable for the process afterwards.
#include "train/device_fixture.h"

namespace gnnmg::test {
namespace {

using base::Status;
using testing::HasSubstr;

Caught trained(std::vector<int> devices, Host& host) {
  Recipe setup;
  setup.trainer.devices = std::move(devices);
  setup.trainer.num_epochs = 1;
  return caught([&] {
    Trial run(setup, host);
    run.train();
    EXPECT_GT(run->evaluate(data::SplitPart::kTest, base::Deadline())->count, 0);
  });
}

TEST(LostGpu, IsSaidForGoodAndTheRestGoesOn) {
  const Gpus gpus(2);
  const int lost = gpus.count() - 1;
  Host host;
  host.devices = &gpus.table();
  {
    Trial run(gpus.train(in_f64(6)), host);
    run->set_epoch_function([&](const train::EpochReport& report) {
      if (report.epoch == 2) break_gpu(gpus, lost);
      return 0;
    });
    Caught found = caught([&] { run.train(); });
    EXPECT_EQ(found.status, Status::kDeviceLost) << found.text;
    EXPECT_THAT(found.text, HasSubstr(base::text("rank ", lost, ": GPU ", lost, " (")));
    EXPECT_THAT(found.text, HasSubstr("go on in another process"));
    found = caught([&] { run.train(); });
    EXPECT_EQ(found.status, Status::kDeviceLost) << found.text;
    found = caught([&] { run->evaluate(data::SplitPart::kTest, base::Deadline()); });
    EXPECT_EQ(found.status, Status::kDeviceLost) << found.text;
    EXPECT_EQ(trained({lost}, host).status, Status::kDeviceLost);
    for (int other = 0; other < lost; ++other) {
      const Caught on_other = trained({other}, host);
      EXPECT_EQ(on_other.status, Status::kOk) << on_other.text;
    }
    const Caught on_cpu = trained({}, host);
    EXPECT_EQ(on_cpu.status, Status::kOk) << on_cpu.text;
    EXPECT_FALSE(run.weights().empty());
  }
  const Gpus again(2);  // repairs fake GPUs
  again.expect_clean();
}

}  // namespace
}  // namespace gnnmg::test
