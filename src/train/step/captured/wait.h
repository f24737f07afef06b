// Waits of a rank for its device, during which it notices ranks that are lost.
#pragma once

#include <functional>

#include "comm/collectives.h"
#include "device/owners.h"
#include "nn/torch/device.h"

namespace gnnmg::train {

// Use it on the rank's thread. Errors: kTimeout, kCancelled, those of the communicator.
class StepWait {
 public:
  // The arguments must outlive the object. `deadline_ms`: for the text of a timeout.
  StepWait(comm::Collectives& comm, const nn::Device& device, int64_t deadline_ms)
      : comm_(comm), device_(device), deadline_ms_(deadline_ms) {}

  void for_queue(device::Queue* queue, const comm::Wait& wait) const;
  void for_event(const device::OwnedEvent& event, const comm::Wait& wait) const;
  // Waits for the device, also after a failed exchange: a device leaves a canceled one soon.
  void drain(const comm::Wait& wait) const;

 private:
  void until(const std::function<bool()>& over, const comm::Wait& wait) const;

  comm::Collectives& comm_;
  const nn::Device& device_;
  const int64_t deadline_ms_;
};

}  // namespace gnnmg::train
