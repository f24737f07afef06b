// Fills the tables of base/device.h by templates over the queue, so that a test can fill the same
// tables with the host's version.
#pragma once

#include "base/device.h"

namespace gnnmg::cuda {

// Returns the queue of a handle in the tables.
template <typename Queue>
Queue& queue_of(base::DeviceQueue* queue) {
  return *reinterpret_cast<Queue*>(queue);
}
template <typename Queue>
base::DeviceQueue* handle_of(Queue& queue) {
  return reinterpret_cast<base::DeviceQueue*>(&queue);
}

}  // namespace gnnmg::cuda
