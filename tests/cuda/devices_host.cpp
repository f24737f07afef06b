// The host's implementation of a GPU, with its items in five orders.
#include "cuda/feature/entries.h"
#include "cuda/layer/table.h"
#include "cuda/sample/entries.h"
#include "cuda/update/table.h"
#include "devices.h"
#include "host_table.h"

namespace gnnmg::cuda {
namespace {

template <uint32_t Seed>
TestDevice twin(const char* name) {
  static const device::Table table = [] {
    device::Table members = HostTable<Seed>::make();
    members.set<sample::DeviceSampling>(&sampling_table<HostQueue>());
    members.set<feature::DeviceFeatures>(&features_table<HostQueue>());
    members.set<nn::kernels::DeviceLayers<float>>(&layers_table<HostQueue, float>());
    members.set<nn::kernels::DeviceLayers<double>>(&layers_table<HostQueue, double>());
    members.set<train::DeviceUpdates<float>>(&updates_table<HostQueue, float>());
    members.set<train::DeviceUpdates<double>>(&updates_table<HostQueue, double>());
    return members;
  }();
  return {&table, 0, name};
}

}  // namespace

std::vector<TestDevice> test_devices() {
// Sanitizers are ten times as slow, and check memory and not the order.
#if defined(__SANITIZE_ADDRESS__)
  return {twin<0>("TwinInOrder"), twin<12345>("TwinInStrides")};
#else
  return {twin<0>("TwinInOrder"), twin<1>("TwinBackwards"), twin<12345>("TwinInStrides"),
          twin<2>("TwinInStrides2"), twin<7>("TwinInStrides7")};
#endif
}

bool is_slow() { return false; }

}  // namespace gnnmg::cuda
