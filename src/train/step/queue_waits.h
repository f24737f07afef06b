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
  // Call it before the host asks for a mini-batch.
  void begin();
  // Call it after the queue was made to wait for that mini-batch.
  void end();
  // Seconds from begin() to end() of all mini-batches of the step, in which the queue had no other
  // work. Wait for the device first. Nothing if the device cannot measure times.
  std::optional<double> seconds() const;

 private:
  struct Interval {
    device::OwnedEvent begin, end;
  };
  bool measures() const { return !intervals_.empty(); }

  const device::Table& table_;
  device::Queue* const queue_;
  std::vector<Interval> intervals_;
  size_t used_ = 0;
};

}  // namespace gnnmg::train
