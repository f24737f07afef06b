// Counts how a training's host waits for its device. A trainer polls events and queues and sleeps
// in between, which no count of the runtime's waiting calls shows. So it gets a table that wraps
// another one and sees the queries.
//
// Not every wait is a fault: the host runs ahead and waits for the step before the last while the
// device still has the last one to do. A wait is a fault, a stall, if the device had nothing left
// to do in the thread's queue when the host continued.
#pragma once

#include <cstdint>

#include "device/table.h"

namespace gnnmg::bench {

// Counts for threads that have put LibTorch's work into a queue (device::Table::use) since the
// process began.
struct Waits {
  int64_t asked = 0;     // negative answers to queries
  int64_t waitings = 0;  // waits, each from the first negative answer to the positive one
  int64_t stalls = 0;    // waits with nothing left in the thread's queue at their end
  double seconds = 0, stalled_seconds = 0;  // seconds of all waits, and of the stalls among them
};

// Returns the same device with its waits counted; one table at a time, which must stay.
const device::Table& watched(const device::Table& table);
Waits waits();

}  // namespace gnnmg::bench
