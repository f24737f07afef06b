// The built plug-in over kernels that run on the host, as devices of the tables' cases.
#include <cstdlib>

#include "cuda/devices.h"
#include "fake_cuda/fake_cuda.h"

namespace gnnmg::cuda {

std::vector<TestDevice> test_devices() {
  const device::Table& table = fake_cuda::table();
  return {{&table, 0, "LanesTogether"}, {&table, 1, "LanesApart"}};
}

// GNNMG_PTX_ALL enables the slow cases, which take minutes.
bool is_slow() { return std::getenv("GNNMG_PTX_ALL") == nullptr; }

}  // namespace gnnmg::cuda
