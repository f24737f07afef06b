// Fills the tables of device/table.h by templates over the queue, so that a test can fill the same
// tables with the host's version.
#pragma once

#include "device/table.h"

namespace gnnmg::cuda {

// Returns the queue of a handle in the tables.
template <typename Queue>
Queue& queue_of(device::Queue* queue) {
  return *reinterpret_cast<Queue*>(queue);
}
template <typename Queue>
device::Queue* handle_of(Queue& queue) {
  return reinterpret_cast<device::Queue*>(&queue);
}

}  // namespace gnnmg::cuda
