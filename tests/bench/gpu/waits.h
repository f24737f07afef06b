// How the host of a training waits for its device. A trainer asks again and again whether a mark or
// a queue is reached and sleeps in between, which no count of the runtime's waiting calls shows. So
// it gets a table that stands in front of another one and sees what is asked.
//
// Not every waiting is a fault: the host, which runs ahead, waits for the step before the last
// while the device has the last one to do. It is one, a stall, where the device had nothing left to
// do in the thread's queue when the host went on.
#pragma once

#include <cstdint>

#include "base/device.h"

namespace gnnmg::bench {

// Of threads that have put LibTorch's work into a queue (DeviceTable::use) since the process began.
struct Waits {
  int64_t asked = 0;     // answers that something is not reached yet
  int64_t waitings = 0;  // from the first such answer about it to that it is
  int64_t stalls = 0;    // of these, with nothing left in the thread's queue at their end
  double seconds = 0, stalled_seconds = 0;  // of the waitings, and of the stalls among them
};

// The same device with its waits counted; one table at a time, which has to stay.
const base::DeviceTable& watched(const base::DeviceTable& table);
Waits waits();

}  // namespace gnnmg::bench
