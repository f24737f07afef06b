// Plug-ins of other builds.
#include "base/plugin.h"

#ifdef GNNMG_OTHER_VERSION
extern "C" __attribute__((visibility("default"))) const gnnmg::base::DeviceTable*
gnnmg_cuda_device_table() noexcept {
  static const gnnmg::base::DeviceTable table = [] {
    gnnmg::base::DeviceTable made{};
    made.size = GNNMG_OTHER_SIZE;
    made.version = GNNMG_OTHER_VERSION;
    return made;
  }();
  return &table;
}
#endif
