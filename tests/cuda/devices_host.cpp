// The host's twin of a GPU, with its items in three orders.
#include "cuda/sample/entries.h"
#include "devices.h"
#include "host_table.h"

namespace gnnmg::cuda {
namespace {

template <uint32_t Seed>
TestDevice twin(const char* name) {
  static const base::DeviceTable table = [] {
    base::DeviceTable members = HostTable<Seed>::make();
    members.sampling = &sampling_table<HostQueue>();
    return members;
  }();
  return {&table, 0, name};
}

}  // namespace

std::vector<TestDevice> test_devices() {
  return {twin<0>("TwinInOrder"), twin<1>("TwinBackwards"), twin<12345>("TwinInStrides")};
}

}  // namespace gnnmg::cuda
