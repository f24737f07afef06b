// Marks in the queues of a device, as their owner holds them.
#pragma once

#include <memory>

#include "base/device.h"

namespace gnnmg::train {

struct FreeMark {
  const base::DeviceTable* table;
  void operator()(base::DeviceMark* mark) const noexcept { table->free_mark(mark); }
};
using Mark = std::unique_ptr<base::DeviceMark, FreeMark>;

// Errors as those of DeviceTable::make_mark().
inline Mark make_mark(const base::DeviceTable& table, int device, bool timed) {
  return Mark(table.make_mark(device, timed), FreeMark{&table});
}

}  // namespace gnnmg::train
