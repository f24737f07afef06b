// Ranks whose threads are blocked in the driver: a launch finds its queue full after an exchange
// that does not finish. Such a thread can check no deadline and no cancel, so another thread ends
// the exchange in time, and the ranks find the cause.
#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include "train/ranks/device_hang.h"

namespace gnnmg::test {
namespace {

using base::Status;
using fake_gpu::Launches;
using testing::HasSubstr;
using testing::Not;
using train::Capture;

// Each step starts kernels after an exchange that nobody waits for.
Recipe eager(int64_t deadline_ms = kDeadline) {
  Recipe setup = endless(Capture::kOff);
  setup.trainer.deadline_ms = deadline_ms;
  return setup;
}

// Time of the watchdog after a deadline of 0.3 s, on a loaded machine.
constexpr double kInTime = 0.3 + 0.7 + 2;

class DeviceHeldUp : public testing::TestWithParam<int> {
 protected:
  // Ends as for a rank that waits for an exchange, without the loss of a GPU; then continues.
  static void expect_over(Hanging& gpus, Trial& run, const Caught& found, double seconds) {
    EXPECT_LT(seconds, kInTime) << found.text;
    EXPECT_THAT(found.text, Not(HasSubstr("used no more")));
    EXPECT_EQ(found.text.find('\n'), std::string::npos);
    EXPECT_GT(gpus.late().num_held_up(), 0);
    EXPECT_EQ(run->step({}, nullptr), Status::kOk);
  }
  const int world = GetParam();
};
INSTANTIATE_TEST_SUITE_P(Worlds, DeviceHeldUp, testing::Values(2, 4));

// Steps without capture give the same result, whichever rank is blocked.
TEST_P(DeviceHeldUp, ByWorkThatIsDoneInTime) {
  const Recipe setup = in_f64();
  const std::vector<double> expected = weights_after(setup);
  Hanging gpus(world, Launches::kHoldUp);
  {
    Trial run(gpus.train(uncaptured(setup)), gpus.host());
    run.train();
    EXPECT_LE(largest_difference(run.weights(), expected), 1e-9);
    EXPECT_GT(gpus.late().num_held_up(), 0);
  }
  gpus.unblock_and_expect_clean(0);
}

TEST_P(DeviceHeldUp, ByAnExchangeThatHangs) {
  Hanging gpus(world, Launches::kHoldUp);
  {
    Trial run(gpus.train(eager()), gpus.host());
    train_until(run, 2);
    const int last = world - 1;
    fake_nccl::plan({fake_nccl::Fault::kHangs, last, fake_nccl::calls(last) + 5});
    const double start = now();
    const Caught found = caught([&] { run->wait({}); });
    EXPECT_EQ(found.status, Status::kTimeout) << found.text;
    EXPECT_THAT(found.text,
                testing::ContainsRegex("all_(reduce|gather): not done after [0-9.]+ s"));
    EXPECT_THAT(found.text, HasSubstr(" s, though all ranks came"));
    expect_over(gpus, run, found, now() - start);
  }
  gpus.unblock_and_expect_clean(0);
}

TEST_P(DeviceHeldUp, AndCancelled) {
  Hanging gpus(world, Launches::kHoldUp);
  {
    Trial run(gpus.train(eager(60'000)), gpus.host());
    train_until(run, 2);
    fake_nccl::plan({fake_nccl::Fault::kHangs, 0, fake_nccl::calls(0) + 5});
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    const double start = now();
    run->cancel();
    const Caught found = caught([&] { run->wait({}); });
    EXPECT_EQ(found.status, Status::kCancelled) << found.text;
    expect_over(gpus, run, found, now() - start);
  }
  gpus.unblock_and_expect_clean(0);
}

// One rank of the process fails and reports it; the others get its error.
TEST_P(DeviceHeldUp, AndAnotherRankLosesItsGpu) {
  Hanging gpus(world, Launches::kHoldUp);
  {
    Trial run(gpus.train(eager(60'000)), gpus.host());
    train_until(run, 2);
    const int last = world - 1;
    fake_gpu::lose(last);
    const double start = now();
    const Caught found = caught([&] { run->wait({}); });
    EXPECT_EQ(found.status, Status::kDeviceLost) << found.text;
    EXPECT_THAT(found.text, HasSubstr(base::text("rank ", last, ": GPU ", last)));
    fake_gpu::find_again(last);
    expect_over(gpus, run, found, now() - start);
  }
  gpus.unblock_and_expect_clean(0);
}

// All ranks are blocked by a GPU that hangs forever, or by the exchange with it. Only that GPU is
// given up.
TEST_P(DeviceHeldUp, ByAGpuThatHangs) {
  for (const Way way : {Way::kDeadline, Way::kCancel, Way::kFree}) {
    Hanging gpus(world, Launches::kHoldUp);
    const int device = way == Way::kCancel ? 0 : world - 1;
    std::optional<Trial> run;
    run.emplace(gpus.train(eager()), gpus.host());
    train_until(*run, 2);
    gpus.late().hang(device);
    const double start = now();
    if (way == Way::kFree) {
      run.reset();
      EXPECT_LT(now() - start, kLongest);
      gpus.unblock_and_expect_clean(device);
      continue;
    }
    if (way == Way::kCancel) (*run)->cancel();
    const Caught found = caught([&] { (*run)->wait({}); });
    EXPECT_LT(now() - start, kLongest) << found.text;
    EXPECT_EQ(found.status, way == Way::kCancel ? Status::kCancelled : Status::kTimeout)
        << found.text;
    for (int r = 0; r < world; ++r)
      EXPECT_EQ(found.text.find(of_rank(r)) != std::string::npos, r == device) << found.text;
    expect_goes_on_without(device, world, run, gpus.host());
    gpus.unblock_and_expect_clean(device);
    if (HasFailure()) break;
  }
}

// Backward passes that wait for other ranks run on LibTorch's one thread per GPU. Of two trainings
// that could block each other forever, the second is refused.
TEST(DeviceJointNorms, TakeTurns) {
  const Gpus gpus(4);
  Host host;
  host.devices = &gpus.table();
  Recipe setup;
  setup.model.norm = nn::Norm::kBatch;
  setup.trainer.sync_batch_norm = true;
  setup.trainer.num_ranks = 0;
  setup.trainer.num_epochs = 1'000'000;
  const auto on = [&](const std::vector<int32_t>& devices) {
    Recipe own = setup;
    own.trainer.devices.assign(devices.begin(), devices.end());
    return own;
  };
  Trial first(on({0, 1}), host), second(on({1, 2}), host), elsewhere(on({2, 3}), host),
      alone(on({1}), host);
  EXPECT_EQ(second->step({}, nullptr), Status::kOk);
  train_until(first, 1);
  const Caught busy = caught([&] { second->step({}, nullptr); });
  EXPECT_EQ(busy.status, Status::kBusy) << busy.text;
  EXPECT_THAT(busy.text, HasSubstr("another trainer with synchronized batch norms is at work on "
                                   "GPU 1: they take turns"));
  for (Trial* other : {&elsewhere, &alone}) EXPECT_EQ((*other)->step({}, nullptr), Status::kOk);
  first->cancel();
  EXPECT_EQ(caught([&] { first->wait({}); }).status, Status::kCancelled);
  EXPECT_EQ(second->step({}, nullptr), Status::kOk);
}

}  // namespace
}  // namespace gnnmg::test
