// The host's implementation of a GPU with separate lanes.
#include "lane_queue.h"
//
#include "cuda/feature/entries.h"
#include "cuda/layer/table.h"
#include "cuda/sample/entries.h"
#include "cuda/update/table.h"
#include "devices.h"
#include "host_table.h"

namespace gnnmg::cuda {
namespace {

template <uint32_t Seed>
TestDevice lanes_apart(const char* name) {
  static const device::Table table = [] {
    device::Table members = HostTable<Seed, LaneQueue>::make();
    members.set<sample::DeviceSampling>(&sampling_table<LaneQueue>());
    members.set<feature::DeviceFeatures>(&features_table<LaneQueue>());
    members.set<nn::kernels::DeviceLayers<float>>(&layers_table<LaneQueue, float>());
    members.set<nn::kernels::DeviceLayers<double>>(&layers_table<LaneQueue, double>());
    members.set<train::DeviceUpdates<float>>(&updates_table<LaneQueue, float>());
    members.set<train::DeviceUpdates<double>>(&updates_table<LaneQueue, double>());
    return members;
  }();
  return {&table, 0, name};
}

}  // namespace

std::vector<TestDevice> test_devices() { return {lanes_apart<5>("LanesApart")}; }

bool is_slow() { return true; }

}  // namespace gnnmg::cuda
