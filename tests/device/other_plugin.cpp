// Plug-ins of other builds.
#include "device/plugin.h"

#ifdef GNNMG_OTHER_VERSION
extern "C" __attribute__((visibility("default"))) const gnnmg::device::Table*
gnnmg_cuda_device_table() noexcept {
  static const gnnmg::device::Table table = [] {
    gnnmg::device::Table made{};
    made.size = GNNMG_OTHER_SIZE;
    made.version = GNNMG_OTHER_VERSION;
    return made;
  }();
  return &table;
}
#endif
