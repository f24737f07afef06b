// All GPUs of this machine, through the plug-in.
#include "base/error.h"
#include "devices.h"
#include "support/plugin.h"

namespace gnnmg::cuda {

std::vector<TestDevice> test_devices() {
  if (!device::has_driver()) return {{nullptr, 0, "NoDriver"}};
  static const device::Plugin plugin = device::open_plugin_at(test::plugin_path());
  if (plugin.table == nullptr) base::fail(base::Status::kDependency, plugin.why);
  std::vector<TestDevice> devices;
  const int count = plugin.table->num_devices();
  for (int device = 0; device < count; ++device)
    devices.push_back({plugin.table, device, base::text("Gpu", device)});
  if (devices.empty()) devices.push_back({nullptr, 0, "NoGpu"});
  return devices;
}

bool is_slow() { return false; }

}  // namespace gnnmg::cuda
