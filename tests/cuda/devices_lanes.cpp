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
  static const base::DeviceTable table = [] {
    base::DeviceTable members = HostTable<Seed, LaneQueue>::make();
    members.sampling = &sampling_table<LaneQueue>();
    members.features = &features_table<LaneQueue>();
    members.layers_f32 = &layers_table<LaneQueue, float>();
    members.layers_f64 = &layers_table<LaneQueue, double>();
    members.updates_f32 = &updates_table<LaneQueue, float>();
    members.updates_f64 = &updates_table<LaneQueue, double>();
    return members;
  }();
  return {&table, 0, name};
}

}  // namespace

std::vector<TestDevice> test_devices() { return {lanes_apart<5>("LanesApart")}; }

bool is_slow() { return true; }

}  // namespace gnnmg::cuda
