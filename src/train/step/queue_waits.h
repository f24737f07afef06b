// Measures how long a device's queue waits for mini-batches, by timed events in it. While the host
// waits for a mini-batch, the device may still compute earlier passes; and a mini-batch that the
// host has got may not be complete on the device yet.
#pragma once

#include <optional>
#include <vector>

#include "device/owners.h"

namespace gnnmg::train {

// Use it on one rank's thread.
class QueueWaits {
 public:
  // `most`: mini-batches a step. Makes all events. Errors of device::Table::make_event(), except
  // kUnsupported.
  QueueWaits(const device::Table& table, int device, device::Queue* queue, int64_t most);
  QueueWaits(const QueueWaits&) = delete;
  QueueWaits& operator=(const QueueWaits&) = delete;

  void begin_step() { used_ = 0; }
  // Before the host asks for a mini-batch.
  void begin();
  // After the queue was told to wait for it.
  void end();
  // Seconds from begin() to end() of all mini-batches of the step, in which the queue had no other
  // work. Wait for the device first. Nothing if the device tells no times.
  std::optional<double> seconds() const;

 private:
  struct Stretch {
    device::OwnedEvent begin, end;
  };
  bool told() const { return !stretches_.empty(); }

  const device::Table& table_;
  device::Queue* const queue_;
  std::vector<Stretch> stretches_;
  size_t used_ = 0;
};

}  // namespace gnnmg::train
