// Failures of fake GPUs and of the fake NCCL in trainings: the error, the state afterwards, another
// start that continues, and no leaks on GPUs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_gpu.h"
#include "fake_nccl/fake_nccl.h"
#include "nn/model/model.h"
#include "train/device_fixture.h"

namespace gnnmg::test {
namespace {

using base::Status;
using comm::nccl::Result;
using fake_nccl::Fault;
using testing::AnyOf;
using testing::HasSubstr;

TEST(DeviceFault, DevicesThatCannotBeMeant) {
  const Gpus gpus(2);
  Host host, without;
  host.devices = &gpus.table();
  const auto refused = [&](std::vector<int> devices, int num_ranks, Host& at) {
    Recipe setup;
    setup.trainer.devices = std::move(devices);
    setup.trainer.num_ranks = num_ranks;
    return caught([&] { const Trial run(setup, at); });
  };
  Caught found = refused({0, 0}, 0, host);
  EXPECT_EQ(found.status, Status::kInvalidArgument);
  EXPECT_THAT(found.text, HasSubstr("ranks 0 and 1 are both on GPU 0"));
  EXPECT_THAT(found.text, HasSubstr("wait for each other"));
  found = refused({0, 2}, 0, host);
  EXPECT_EQ(found.status, Status::kNotFound);
  EXPECT_THAT(found.text, HasSubstr("no GPU 2"));
  found = refused({0, 1}, 3, host);
  EXPECT_EQ(found.status, Status::kInvalidArgument);
  EXPECT_THAT(found.text, HasSubstr("num_ranks 3"));
  found = refused({0}, 0, without);
  EXPECT_EQ(found.status, Status::kDependency);
  device::Table no_nccl = gpus.table();
  no_nccl.set<comm::nccl::Table>(nullptr);
  host.devices = &no_nccl;
  EXPECT_EQ(refused({0, 1}, 0, host).status, Status::kDependency);
  EXPECT_EQ(refused({1}, 1, host).status, Status::kOk);
}

class DeviceNcclFault : public testing::TestWithParam<int> {
 protected:
  const int world = GetParam();
};
INSTANTIATE_TEST_SUITE_P(Gpus, DeviceNcclFault, testing::Values(2, 4, 8));

// NCCL fails in every way, early and late, on the first rank and on others.
TEST_P(DeviceNcclFault, NcclFailsAtAnyCall) {
  const std::vector<double> expected = weights_after(in_f64(6));
  const std::vector<int> calls =
      world == 2 ? std::vector<int>{1, 2, 3, 5, 8, 13, 21} : std::vector<int>{3, 16, 21};
  for (const Fault::Kind kind : {Fault::kFails, Fault::kPollFails, Fault::kBreaks}) {
    for (const int call : calls) {
      const Gpus gpus(world);
      const int rank = call % world;
      fake_nccl::plan(
          {kind, rank, call, call % 3 == 0 ? Result::kRemoteError : Result::kSystemError});
      Host host;
      host.devices = &gpus.table();
      SCOPED_TRACE(testing::Message()
                   << "kind " << kind << ", call " << call << " of rank " << rank);
      {
        Trial run(gpus.train(in_f64(6)), host);
        const Caught found = caught([&] { run.train(); });
        EXPECT_THAT(found.status, AnyOf(Status::kIo, Status::kPeerLost, Status::kAborted))
            << found.text;
        EXPECT_THAT(found.text, HasSubstr("rank"));
        expect_goes_on(run, expected);
      }
      gpus.expect_clean();
    }
  }
}

TEST_P(DeviceNcclFault, ACollectiveThatHangsEndsAtItsDeadline) {
  const Gpus gpus(world);
  fake_nccl::plan({Fault::kHangs, world - 1, 9, Result::kSystemError});
  Recipe setup = gpus.train(in_f64(6));
  setup.trainer.deadline_ms = 200 * world;
  Host host;
  host.devices = &gpus.table();
  {
    Trial run(setup, host);
    const double start = now();
    const Caught found = caught([&] { run.train(); });
    EXPECT_EQ(found.status, Status::kTimeout) << found.text;
    EXPECT_LT(now() - start, 5);
    expect_goes_on(run, weights_after(in_f64(6)));
  }
  gpus.expect_clean();
}

// The k-th allocation on a GPU fails, in any code: the training reports it, nothing leaks, and the
// next start continues.
TEST(DeviceFault, MemoryThatRunsOut) {
  Recipe plain = in_f64(6);
  plain.trainer.num_epochs = 2;
  const std::vector<double> expected = weights_after(plain);
  int failures = 0;
  bool all = false;
  for (int64_t k = 0; !all; k = k < 40 ? k + 1 : k + 1 + k / 7) {
    const Gpus gpus(2);
    Host host;
    host.devices = &gpus.table();
    const int device = static_cast<int>(k % 2);
    SCOPED_TRACE(testing::Message() << "allocation " << k << " of GPU " << device);
    {
      Trial run(gpus.train(plain), host);
      const int64_t before = fake_gpu::num_allocations(device);
      fake_gpu::fail_allocation(device, k);
      const Caught found = caught([&] { run.train(); });
      fake_gpu::fail_allocation(device, -1);
      all = fake_gpu::num_allocations(device) - before < k;
      // Features that do not fit are placed elsewhere.
      if (found.status != Status::kOk) {
        ++failures;
        EXPECT_EQ(found.status, Status::kNoMemory) << found.text;
        expect_goes_on(run, expected);
      } else {
        EXPECT_LE(largest_difference(run.weights(), expected), 1e-9);
      }
    }
    gpus.expect_clean();
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GT(failures, 10);
}

TEST(DeviceFault, GpusThatCannotReadEachOther) {
  const Gpus gpus(2);
  Recipe setup = gpus.train(in_f64(6));
  setup.trainer.placement.features = loader::FeaturePlacement::kSplit;
  setup.trainer.placement.cache_bytes = 512;
  Host host;
  host.devices = &gpus.table();
  {
    Trial run(setup, host);
    for (const auto& [device, peer] : {std::pair(0, 1), std::pair(1, 0)}) {
      fake_gpu::refuse_peer(device, peer);
      const Caught found = caught([&] { run.train(); });
      fake_gpu::refuse_peer(device, peer, false);
      EXPECT_EQ(found.status, Status::kUnsupported);
      EXPECT_THAT(found.text, HasSubstr(base::text("GPU ", device, " cannot read memory of GPU ",
                                                   peer, ": this machine has no way")));
      EXPECT_THAT(found.text, HasSubstr("set feature placement to cached"));
    }
    expect_goes_on(run, weights_after(in_f64(6)));
  }
  {
    Recipe alone = in_f64(6);
    alone.trainer.placement = setup.trainer.placement;
    alone.trainer.devices = {1};
    Trial run(alone, host);
    const Caught found = caught([&] { run.train(); });
    EXPECT_EQ(found.status, Status::kUnsupported);
    EXPECT_THAT(found.text, HasSubstr("GPU 1 has no other to share a cache with"));
  }
  gpus.expect_clean();
}

// Rows of the lost GPU in a split cache are missing for the others, too.
TEST(DeviceFault, AGpuIsLostWhoseRowsOthersRead) {
  const std::vector<double> expected = weights_after(in_f64(6));
  for (const int lost : {0, 1}) {
    const Gpus gpus(2);
    Recipe setup = gpus.train(in_f64(6));
    setup.trainer.placement.features = loader::FeaturePlacement::kSplit;
    setup.trainer.placement.cache_bytes = 512;
    Host host;
    host.devices = &gpus.table();
    {
      Trial run(setup, host);
      run->set_epoch_function([&](const train::EpochReport& report) {
        if (report.epoch == 2) fake_gpu::lose(lost);
        return 0;
      });
      const Caught found = caught([&] { run.train(); });
      EXPECT_EQ(found.status, Status::kDeviceLost) << found.text;
      EXPECT_THAT(found.text, HasSubstr(base::text("GPU ", lost)));
      fake_gpu::find_again(lost);
      run->set_epoch_function({});
      expect_goes_on(run, expected);
      fake_gpu::lose(lost);  // freed while lost
    }
    fake_gpu::find_again(lost);
    gpus.expect_clean();
  }
}

// The loss is permanent until the GPU is found again; others and the CPU continue meanwhile.
TEST(DeviceFault, AGpuIsLost) {
  const std::vector<double> expected = weights_after(in_f64(6));
  for (const int lost : {0, 1}) {
    const Gpus gpus(2);
    Host host;
    host.devices = &gpus.table();
    SCOPED_TRACE(testing::Message() << "GPU " << lost);
    {
      Trial run(gpus.train(in_f64(6)), host);
      run->set_epoch_function([&](const train::EpochReport& report) {
        if (report.epoch == 2) fake_gpu::lose(lost);
        return 0;
      });
      for (int time = 0; time < 2; ++time) {
        const Caught found = caught([&] { run.train(); });
        EXPECT_EQ(found.status, Status::kDeviceLost) << found.text;
        if (time == 0) {
          EXPECT_THAT(found.text, HasSubstr(base::text("rank ", lost, ": GPU ", lost, " (")));
        }
        if (time == 0 && lost == 0) {
          EXPECT_THAT(found.text, HasSubstr("step 0 of epoch 3"));
        }
      }
      {
        Recipe other;
        other.trainer.devices = {1 - lost};
        other.trainer.num_epochs = 1;
        Trial on_other(other, host);
        on_other.train();
      }
      {
        Recipe cpu;
        cpu.trainer.num_epochs = 1;
        Trial on_cpu(cpu, host);
        on_cpu.train();
      }
      EXPECT_EQ(run.weights().size(), expected.size());
      fake_gpu::find_again(lost);
      run->set_epoch_function({});
      expect_goes_on(run, expected);
      fake_gpu::lose(lost);  // freed while lost
    }
    fake_gpu::find_again(lost);
    gpus.expect_clean();
  }
}

}  // namespace
}  // namespace gnnmg::test
