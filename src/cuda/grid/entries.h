// How the tables of base/device.h are filled: by templates over the queue, so that a test can fill
// the same tables with the host's twin.
#pragma once

#include "base/device.h"

namespace gnnmg::cuda {

// The queue behind a handle of the tables.
template <typename Queue>
Queue& queue_of(base::DeviceQueue* queue) {
  return *reinterpret_cast<Queue*>(queue);
}
template <typename Queue>
base::DeviceQueue* handle_of(Queue& queue) {
  return reinterpret_cast<base::DeviceQueue*>(&queue);
}

}  // namespace gnnmg::cuda
