// Owners of events of device queues.
#pragma once

#include <memory>

#include "base/device.h"

namespace gnnmg::base {

struct FreeMark {
  const DeviceTable* table;
  void operator()(DeviceMark* mark) const noexcept { table->free_mark(mark); }
};
using Mark = std::unique_ptr<DeviceMark, FreeMark>;

// Errors are those of DeviceTable::make_mark().
inline Mark make_mark(const DeviceTable& table, int device, bool timed = false) {
  return Mark(table.make_mark(device, timed), FreeMark{&table});
}

}  // namespace gnnmg::base
