// Threads of a trainer's GPUs stay on the cores next to these; other threads do not.
#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <mutex>
#include <set>

#include "device/affinity.h"
#include "support/data.h"
#include "support/sysfs.h"
#include "train/device_fixture.h"

namespace gnnmg::test {
namespace {

using testing::HasSubstr;
using Cores = std::vector<int>;

Cores own_cores() {
  cpu_set_t set;
  EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  Cores cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

// Records the cores on which loader threads sample.
struct Sampled {
  std::set<Cores> on;
  std::vector<std::string> said;
};
Sampled train_on(const Gpus& gpus, bool stay, int32_t loader_threads) {
  Recipe setup = gpus.train({});
  setup.trainer.num_epochs = 1;
  setup.trainer.loader_threads = loader_threads;
  Sampled sampled;
  std::mutex mutex;
  watch(setup, [&](const sample::BatchKey&, const base::CancelToken&) {
    const std::lock_guard lock(mutex);
    sampled.on.insert(own_cores());
  });
  Host host;
  host.devices = &gpus.table();
  host.stay_beside_devices = stay;
  Trial run(setup, host);
  const Cores before = own_cores();
  run->set_epoch_function([&](const train::EpochReport&) {
    EXPECT_EQ(own_cores(), before) << "a thread of the host's";
    return 0;
  });
  run.train();
  EXPECT_EQ(own_cores(), before);
  sampled.said = lines_of(host.log);
  return sampled;
}

TEST(DeviceAffinity, ThreadsOfAGpuStayBesideIt) {
  const Cores all = own_cores();
  GNNMG_NEEDS(all.size() >= 2, "two cores");
  const Cores first = {all[0]}, second = {all[1]};
  const Sysfs sysfs(
      {{"/sys/bus/pci/devices/0000:01:00.0/numa_node", "0\n"},
       {"/sys/bus/pci/devices/0000:02:00.0/numa_node", "1\n"},
       {"/sys/devices/system/node/node0/cpulist", device::text_of_cores(first) + "\n"},
       {"/sys/devices/system/node/node1/cpulist", device::text_of_cores(second) + ",4000-4007\n"}});
  const Gpus gpus(2);
  for (const int32_t loader_threads : {0, 2}) {
    const Sampled sampled = train_on(gpus, true, loader_threads);
    EXPECT_EQ(sampled.on, (std::set<Cores>{first, second}));
    for (const auto& [gpu, cores] : {std::pair(0, first), std::pair(1, second)})
      EXPECT_THAT(sampled.said,
                  testing::Contains(base::text("GPU ", gpu, "'s threads stay on core ", cores[0],
                                               ", beside it (memory node ", gpu, ")")));
  }
  EXPECT_EQ(train_on(gpus, false, 2).on, std::set<Cores>{all});

  // LibTorch's threads for devices, which run all later passes of the process, are not bound.
  Cores backward;
  at::Tensor x = at::ones({3}, at::TensorOptions(at::Device(at::kPrivateUse1, 1)));
  x.requires_grad_(true);
  at::Tensor y = x * x;
  y.register_hook([&](const at::Tensor&) { backward = own_cores(); });
  y.sum().backward();
  EXPECT_EQ(backward, all);
}

TEST(DeviceAffinity, WhereTheSystemDoesNotTellNothingIsBound) {
  const Sysfs sysfs({{"/sys/bus/pci/devices/0000:01:00.0/numa_node", "-1\n"},
                     {"/sys/devices/system/node/node0/cpulist", "0\n"}});
  const Gpus gpus(2);
  const Sampled sampled = train_on(gpus, true, 1);
  EXPECT_EQ(sampled.on, std::set<Cores>{own_cores()});
  EXPECT_THAT(sampled.said, testing::Not(testing::Contains(HasSubstr("stay on"))));
}

}  // namespace
}  // namespace gnnmg::test
